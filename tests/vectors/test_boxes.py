"""Random nests as vectors of several dimensions, by every way to run them, in arrays of no element too many."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import vectorize
from tests.effort import some
from tests.harness.judges import copied, same_but_nan
from tests.harness.reading import function
from tests.oracles import require
from tests.vectors.check import TARGETS
from tests.vectors.together import by_c, by_mlir

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8}


class _Program:
    """A nest of two or three loops, perhaps with a sum inside, over arrays that are as large as it needs."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.element = random.choice((*TYPES,))
        self.kind = "f" if self.element[0] == "f" else "i"
        self.loops = {iv: (random.choice((0, 0, 1)), random.randint(0, 9)) for iv in "ijk"[: random.choice((2, 2, 3))]}
        self.widths = tuple(random.randint(2, 5) for _ in self.loops)
        self.shapes: dict[str, list[int]] = {}
        self.known = dict(self.loops)
        stored = self._access("B", full=True)
        self.divides = random.random() < 0.3
        body = [*self._values(), self._sum() if random.random() < 0.4 else self._combined("%v", "%x", "%y")]
        if self.divides:
            body += self._counted()
        body.append(f"affine.store %v, {stored}")
        self.lines = body

    @property
    def text(self) -> str:
        types = {name: f"memref<{'x'.join(map(str, shape))}x{self.element}>" for name, shape in self.shapes.items()}
        heads = [f"affine.for %{iv} = {low} to {high} {{" for iv, (low, high) in self.loops.items()]
        lines = "\n".join((*heads, *self.lines, *("}" for _ in heads)))
        for name, type in types.items():
            lines = lines.replace(f": {name}?", f": {type}")
        arguments = ", ".join(f"%{name}: {types[name]}" for name in sorted(types))
        return f"func.func @f({arguments}) {{\n{lines}\nreturn\n}}"

    def arrays(self) -> list[np.ndarray]:
        numbers = np.random.default_rng(0)
        return [numbers.integers(1, 50, self.shapes[name]).astype(TYPES[self.element]) for name in sorted(self.shapes)]

    def _access(self, name: str, *, full: bool = False, inside: str = "") -> str:
        """Elements at a random offset, in a random order of the loops, of all of them if `full`."""
        if name not in self.shapes:
            self.shapes[name] = [1] * (len(self.loops) if full or name == "B" else self.random.choice((1, 2)))
        shape, of = self.shapes[name], [*self.loops, *inside]
        self.random.shuffle(of)
        index = []
        for k in range(len(shape)):
            iv = of.pop() if full or (of and self.random.random() < 0.8) else ""
            offset = self.random.choice((0, 0, 1, 2))
            last = self.known[iv][1] - 1 if iv else 0
            shape[k] = max(shape[k], last + offset + 1)
            index.append(f"%{iv} + {offset}" if iv else str(offset))
        return f"%{name}[{', '.join(index)}] : {name}?"

    def _values(self) -> list[str]:
        names = ("B", "A", "C", "D") if self.random.random() < 0.5 and not self.divides else ("A", "C", "D")
        return [f"%{value} = affine.load {self._access(self.random.choice(names))}" for value in ("x", "y")]

    def _combined(self, result: str, left: str, right: str) -> str:
        return (
            f"{result} = arith.{self.random.choice(('add', 'mul', 'sub'))}{self.kind} {left}, {right} : {self.element}"
        )

    def _sum(self) -> str:
        self.known["l"] = (0, 3)
        loaded = self._access("E", inside="l")
        return f"""%v = affine.for %l = 0 to {self.known["l"][1]} iter_args(%s = %x) -> ({self.element}) {{
          %e = affine.load {loaded}
          {self._combined("%p", "%e", "%y")}
          {self._combined("%t", "%s", "%p")}
          affine.yield %t : {self.element}
        }}"""

    def _counted(self) -> list[str]:
        """What depends on the counters as numbers, and may fail where an iteration does not run."""
        if self.kind == "f":
            return []
        iv = self.random.choice((*self.loops,))
        return [
            f"%w = arith.index_cast %{iv} : index to {self.element}",
            f"%q = arith.divsi %w, %y : {self.element}",
            f"affine.store %q, {self._access('F', full=True)}",
        ]


def _vectorized(seed: int) -> tuple[_Program, Func, Func] | None:
    program = _Program(seed)
    before = function(program.text)
    ivs = [op.iv for op in walk(before) if isinstance(op, affine.For)][: len(program.loops)]
    try:
        made = vectorize(before, ivs, program.widths, tail="masked")
    except IllegalTransform:
        return None
    verify(parse(str(made)))
    return program, before, made


@pytest.mark.parametrize("seeds", some([range(k, k + 17) for k in range(0, 1020, 17)], 1))
def test_boxes_do_the_same(seeds: Sequence[int]) -> None:
    require("mlir-opt-22")
    found = [each for each in map(_vectorized, seeds) if each is not None]
    assert len(found) >= len(seeds) / 3
    runs = [[program.arrays()] for program, _, _ in found]
    wanted = [copied(given) for (given,) in runs]
    for (_, before, made), given in zip(found, wanted, strict=True):
        again = copied(given)
        run(before, *given)
        run(made, *again)
        assert all(map(same_but_nan, given, again)), str(before)
    functions = [made for _, _, made in found]
    for left in (by_c(functions, runs, TARGETS["native"][0]), by_mlir(functions, runs)):
        for (_, before, _), expected, ((arrays),) in zip(found, wanted, left, strict=True):
            assert not isinstance(arrays, str), f"{arrays}: {before}"
            assert all(map(same_but_nan, expected, arrays)), str(before)
