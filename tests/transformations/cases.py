"""Steps that are legal, and steps that are not, over all primitives: the table that the service must get right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine
from affdsl.ir.interpreter import Argument
from affdsl.ir.types import FloatType, IndexType, MemRefType
from tests.transformations.primitives import PRIMITIVES, Chosen, Primitive, Setting
from tests.transformations.programs import module_of, steps

Expected = Literal["legal", "counterexample"]
SIZES = (0, 1, 2, 3, 5, 7)
"""The sizes of each case; with two of them, all pairs of a few."""
FEW = (0, 1, 3)
NEGATIVE = -2


@dataclass(frozen=True)
class Case:
    """A step on a program: a primitive, the loops by their names, other numbers, and what is to be said.

    Attributes
    ----------
    step
        The name of the primitive, then the loops; where it takes a buffer, that comes first, after an @.
    expected
        Whether the step is legal or must be refused with two iterations; or what the reason of a refusal says, where
        that is no dependence.
    """

    program: str
    step: str
    numbers: tuple[int, ...] = ()
    expected: Expected | str = "legal"
    reassociate: bool = False

    def __str__(self) -> str:
        numbers = f" {','.join(map(str, self.numbers))}" if self.numbers else ""
        return f"{self.program}: {self.step}{numbers}{' reassociated' if self.reassociate else ''}"

    @property
    def module(self) -> func.Module:
        return module_of(self.program)

    @property
    def function(self) -> func.Func:
        return self.module.functions[-1]

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return next(n for n in sorted(PRIMITIVES, key=len, reverse=True) if f"{self.step} ".startswith(f"{n} "))

    @property
    def primitive(self) -> Primitive:
        return PRIMITIVES[self.name]

    @property
    def chosen(self) -> Chosen:
        """The loops and buffers by their numbers."""
        at = Setting(self.function, self.module)
        words = self.step.removeprefix(self.name).split()
        loops = [loop.iv.hint for loop in at.loops]
        buffers = [b.hint for b in at.buffers]
        found = tuple(loops.index(word) for word in words if not word.startswith("@"))
        return found, (*(buffers.index(word[1:]) for word in words if word.startswith("@")), *self.numbers)

    def done(self, function: func.Func, module: func.Module) -> func.Func:
        """The step, which may be refused."""
        return self.primitive.apply(Setting(function, module, self.reassociate), *self.chosen)

    def forced(self, function: func.Func, module: func.Module) -> func.Func:
        """The step, whether it is legal or not."""
        do = self.primitive.force or self.primitive.apply
        return do(Setting(function, module, reassociate=True), *self.chosen)

    def sizes(self) -> list[tuple[int, ...]]:
        """The numbers for the index arguments of each run."""
        count = sum(a.type == IndexType() for a in self.function.args)
        # A contract promises that sizes are not negative; other numbers may be.
        below = () if self.function.shapes else (NEGATIVE,)
        return list(product((*below, *(SIZES if count == 1 else FEW)), repeat=count))

    def arguments(self, sizes: Sequence[int], seed: int = 0) -> list[Argument]:
        """New arguments of these sizes."""
        return arguments(self.function, sizes, seed)


def arguments(function: func.Func, sizes: Sequence[int], seed: int = 0) -> list[Argument]:
    """Arguments of a function: numbers for its sizes, and arrays of whole numbers as large as its contract says."""
    random, left = np.random.default_rng(seed), list(sizes)
    env = {a: left.pop(0) for a in function.args if isinstance(a.type, IndexType)}
    given: list[Argument] = []
    for k, argument in enumerate(function.args):
        match argument.type:
            case IndexType():
                given.append(env[argument])
            case MemRefType(shape, element):
                promised = function.shapes[k] if function.shapes else None
                known = [Affine.of(e).evaluate(env) for e in promised] if promised is not None else list(shape)
                high = 9 if isinstance(element, IndexType) else 1000
                kind = np.float64 if isinstance(element, FloatType) else np.int64
                given.append(random.integers(0, high, known).astype(kind))
            case _:
                given.append(int(random.integers(1, 9)))
    return given


def at_witness(function: func.Func, params: Mapping[str, int]) -> tuple[int, ...]:
    """The sizes of a counterexample; those that it leaves open are 5."""
    return tuple(params.get(a.hint, 5) for a in function.args if isinstance(a.type, IndexType))


BY_ORDER = (
    "tile", "tile by symbols", "strip_mine", "interchange", "permute", "skew", "shift", "reverse", "distribute",
    "fuse", "index_set_split", "peel", "unroll", "unroll_full", "unroll_jam", "coalesce", "normalize", "normalize all",
    "reroll", "parallelize", "map_gpu", "specialize", "unswitch",
)  # fmt: skip
"""The primitives that bring accesses into another order and do nothing else: what is legal is seen by looking."""


def case(program: str, step: str, expected: str) -> Case:
    """A case from its text: the primitive and its loops, numbers, and whether another rounding is allowed."""
    words, reassociated = step.removesuffix(" reassociated"), step.endswith(" reassociated")
    name, _, last = words.rpartition(" ")
    if re.fullmatch(r"-?\d+(,-?\d+)*", last):
        return Case(program, name, tuple(map(int, last.split(","))), expected, reassociated)
    return Case(program, words, (), expected, reassociated)


CASES = tuple(case(*given) for given in steps())

FALSE_REFUSALS: dict[str, str] = {
    "views to n: reverse i": "beyond n = 16 the two views would meet, and that the program is in bounds is not assumed",
}
"""Cases that are legal and refused, with the reason."""
