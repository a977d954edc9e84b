"""Steps that are legal, and steps that are not, over all primitives: the table that the service must get right."""

from __future__ import annotations

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
from tests.transformations.programs import module_of

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
    "index_set_split", "peel", "unroll", "unroll_full", "unroll_jam", "coalesce", "normalize", "normalize all",
    "parallelize", "unswitch",
)  # fmt: skip
"""The primitives that bring accesses into another order and do nothing else: what is legal is seen by looking."""

NO = "counterexample"

CASES: tuple[Case, ...] = (
    Case("heat", "interchange t s", (), NO),
    Case("heat", "tile t s", (0, 2, 2), NO),
    Case("heat", "tile t s", (0, 1, 3)),
    Case("heat", "tile by symbols t s", (0, 2, 3), NO),
    Case("heat", "unroll_jam t", (2,), NO),
    Case("heat", "vectorize t", (2, 0), NO),
    Case("heat", "reverse t", (), NO),
    Case("heat", "reverse s"),
    Case("heat", "parallelize t", (), NO),
    Case("heat", "parallelize s"),
    Case("heat", "skew t s", (1,)),
    Case("heat", "unroll_jam s", (3,)),
    Case("heat", "vectorize s", (3, 0)),
    Case("heat", "vectorize s", (4, 1)),
    Case("jacobi", "distribute t", (), NO),
    Case("jacobi", "reverse t", (), NO),
    Case("jacobi", "parallelize s"),
    Case("jacobi", "unroll_jam t", (2,), NO),
    Case("seidel", "interchange t s", (), NO),
    Case("seidel", "parallelize s", (), NO),
    Case("seidel", "tile t s", (1, 3, 2), NO),
    Case("seidel", "tile t s", (1, 1, 4)),
    Case("seidel", "skew t s", (2,)),
    Case("seidel_2d", "interchange i j"),
    Case("seidel_2d", "tile i j", (1, 2, 3)),
    Case("seidel_2d", "tile by symbols i j", (1, 3, 2)),
    Case("seidel_2d", "unroll_jam i", (2,)),
    Case("seidel_2d", "reverse i", (), NO),
    Case("seidel_2d", "reverse j", (), NO),
    Case("seidel_2d", "parallelize j", (), NO),
    Case("diagonal", "interchange i j", (), NO),
    Case("diagonal", "permute j i", (), NO),
    Case("diagonal", "tile i j", (0, 2, 2), NO),
    Case("diagonal", "unroll_jam i", (2,), NO),
    Case("diagonal", "reverse j"),
    Case("diagonal", "parallelize j"),
    Case("diagonal", "shift j", (3,)),
    Case("prefix", "reverse i", (), NO),
    Case("prefix", "parallelize i", (), NO),
    Case("chain", "scalar_replace i"),
    Case("prefix", "scalar_replace i"),
    Case("carried", "demote i"),
    Case("float_carried", "demote i"),
    Case("carried", "demote first i", (5,)),
    Case("fibonacci", "demote k"),
    Case("rows", "demote j"),
    Case("rows", "demote i", (), "it carries no value"),
    Case("prefix", "unroll i", (3,)),
    Case("prefix", "strip_mine i", (3,)),
    Case("prefix", "peel i", (1, 2)),
    Case("prefix", "index_set_split i", (0, 3)),
    Case("far", "reverse i", (), NO),
    Case("far", "unroll_jam i", (4,)),
    Case("far", "vectorize i", (2, 1)),
    Case("far", "parallelize i", (), NO),
    Case("ahead", "reverse i", (), NO),
    Case("ahead", "parallelize i", (), NO),
    Case("ahead", "unroll_jam i", (2,)),
    Case("ahead", "vectorize i", (2, 0)),
    Case("halves", "reverse i"),
    Case("halves", "parallelize i"),
    Case("parity", "parallelize i"),
    Case("backwards", "reverse i", (), NO),
    Case("overwritten", "interchange i j", (), NO),
    Case("overwritten", "parallelize i", (), NO),
    Case("overwritten", "reverse j"),
    Case("overwritten", "coalesce i j"),
    Case("transposed", "interchange i j"),
    Case("transposed", "tile i j", (1, 2, 2)),
    Case("transposed", "parallelize i"),
    Case("transposed", "coalesce i j", (), "the bounds of loop %j depend on loop %i"),
    Case("forward", "interchange i j"),
    Case("forward", "parallelize i", (), NO),
    Case("forward", "reverse i", (), NO),
    Case("forward", "unroll_jam i", (2,)),
    Case("upper", "interchange i j"),
    Case("upper", "reverse i", (), NO),
    Case("upper", "tile i j", (0, 2, 2)),
    Case("falling", "interchange i j", (), NO),
    Case("falling", "unroll_jam i", (2,), NO),
    Case("falling", "tile i j", (0, 2, 3), NO),
    Case("update", "permute k j i"),
    Case("update", "permute i j k"),
    Case("update", "tile k i j", (1, 2, 2, 3)),
    Case("update", "parallelize k", (), NO),
    Case("product", "permute k i j"),
    Case("product", "permute k j i", reassociate=True),
    Case("product", "tile i j k", (0, 2, 3, 2)),
    Case("product", "parallelize k", (), "all iterations update the same elements"),
    Case("product", "parallelize j"),
    Case("product", "unroll_jam i", (2,)),
    Case("product", "vectorize j", (2, 1)),
    Case("product", "vectorize i", (2, 0)),
    Case("product", "data_copy @B i", (0,)),
    Case("product", "data_copy @C k", (0,)),
    Case("float_product", "reverse k", (), NO),
    Case("float_product", "reverse k", reassociate=True),
    Case("float_total", "interchange i j", (), NO),
    Case("float_total", "interchange i j", reassociate=True),
    Case("total", "parallelize i", (), "all iterations update the same elements"),
    Case("carried", "parallelize i"),
    Case("carried", "unroll i", (4,)),
    Case("carried", "unroll_jam i", (2,)),
    Case("carried", "vectorize i", (2, 1)),
    Case("carried", "reverse i"),
    Case("float_carried", "parallelize i", (), "is rounded in another way"),
    Case("float_carried", "parallelize i", reassociate=True),
    Case("fibonacci", "parallelize k", (), "is used in the next"),
    Case("fibonacci", "unroll k", (3,)),
    Case("rows", "unroll_jam i", (2,)),
    Case("rows", "parallelize i"),
    Case("counted", "parallelize i", (), NO),
    Case("counted", "reverse i", (), NO),
    Case("copied", "coalesce i j"),
    Case("square", "coalesce i j"),
    Case("copied", "permute j i"),
    Case("copied", "data_copy @A j", (0,)),
    Case("rectangle", "pipeline @B i j"),
    Case("straight", "pipeline @A i j", (), "is not known"),
    Case("stepped", "normalize i"),
    Case("stepped", "normalize all", (0,)),
    Case("stepped", "tile i j", (0, 2, 2)),
    Case("stepped", "interchange i j"),
    Case("stepped", "parallelize i"),
    Case("wavefront", "reverse t", (), NO),
    Case("wavefront", "strip_mine t", (2,)),
    Case("nested", "parallelize i", (), NO),
    Case("nested", "parallelize j"),
    Case("guarded", "interchange i j", (), NO),
    Case("guarded", "tile i j", (0, 2, 1), NO),
    Case("guarded", "tile i j", (0, 2, 2)),
    Case("guarded_away", "interchange i j"),
    Case("guarded_away", "tile i j", (0, 2, 2)),
    Case("first_only", "unswitch i"),
    Case("on_the_edge", "unswitch i", (), "which is only known inside"),
    Case("pairs", "distribute i"),
    Case("pairs", "reverse i", (), NO),
    Case("cycle", "distribute i", (), NO),
    Case("crossed", "distribute i", (), NO),
    Case("crossed", "parallelize i", (), NO),
    Case("imperfect", "unroll_jam i", (2,), NO),
    Case("imperfect", "tile i j", (0, 2, 2), "nothing else"),
    Case("invariant", "hoist i"),
    Case("varying", "hoist i", (), "writes"),
    Case("varying", "parallelize i", (), NO),
    Case("varying", "reverse i", (), NO),
    Case("outside", "sink i"),
    Case("outside", "hoist i", (), "uses"),
    Case("beside", "make_perfect i j"),
    Case("imperfect", "make_perfect i j"),
    Case("reused", "scalrep"),
    Case("reused", "reverse i"),
    Case("scratch", "privatize @t i"),
    Case("scratch", "expand @t i"),
    Case("scratch", "parallelize i", (), NO),
    Case("scratch", "data_copy @t i", (0,)),
    Case("scratch", "interchange i j", (), "nothing else"),
    Case("handed_on", "privatize @t i", (), NO),
    Case("handed_on", "expand @t i"),
    Case("kept", "privatize @t i", (), NO),
    Case("kept", "expand @t i", (), NO),
    Case("handed_on", "reverse i", (), NO),
    Case("clipped", "interchange i j", (), NO),
    Case("clipped", "reverse j"),
    Case("clipped", "unroll j", (2,)),
    Case("never", "interchange i j"),
    Case("never", "reverse i"),
    Case("never", "unroll_full i"),
    Case("once", "reverse i"),
    Case("once", "reverse j", (), NO),
    Case("seven", "unroll_full j"),
    Case("seven", "unroll j", (2,)),
    Case("seven", "tile i j", (0, 3, 2), NO),
    Case("seven", "unroll_jam i", (2,), NO),
    Case("late", "unroll_jam i", (4,)),
    Case("late", "unroll_jam i", (2,), NO),
    Case("late", "vectorize i", (2, 0), NO),
    Case("few", "unroll_jam j", (3,)),
    Case("few", "unroll_jam j", (2,), NO),
    Case("straight", "unroll_jam i", (2,)),
    Case("straight", "interchange i j"),
    Case("counted twice", "normalize all", (1,)),
    Case("modulo", "parallelize i", (), NO),
    Case("modulo", "reverse i", (), NO),
    Case("blocks", "parallelize i"),
    Case("scattered", "parallelize i", (), "%k is not affine"),
    Case("linear", "parallelize i"),
    Case("views", "interchange i j", (), NO),
    Case("views", "reverse i", (), NO),
    Case("views apart", "reverse i"),
    Case("views apart", "parallelize j"),
    Case("views to n", "reverse i"),
    Case("casts", "reverse i", (), NO),
    Case("casts", "parallelize i", (), NO),
    Case("flat", "parallelize i", (), NO),
    Case("handles", "distribute i", (), "use each other's values"),
    Case("handles", "reverse i", (), NO),
    Case("calls", "parallelize i", (), NO),
    Case("other calls", "parallelize i"),
    Case("vectors", "reverse i"),
    Case("lanes", "reverse i", (), NO),
    Case("lanes", "interchange i j", (), NO),
)
"""All cases."""

FALSE_REFUSALS: dict[str, str] = {
    "views to n: reverse i": "beyond n = 16 the two views would meet, and that the program is in bounds is not assumed",
}
"""Cases that are legal and refused, with the reason."""
