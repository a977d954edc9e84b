"""Kernels in texts with rows above them: what is done to each, what must come out, and that it does what it did.

`# ----- name` begins a kernel. Then come, in comments, the sizes for which it is called (`# sizes M N: 0 3, 9 1..5`),
what its arrays hold where that matters (`# values x: 0 to 9, y: 0 to 9 rising`, `# values whole`, `# values hard`), and
rows. What stands before the colon of a row only the tests of its folder know. Behind it is what is to be there, or not
(`no`), or so many times, in some text, as in `mlir 2 "affine.for"; steps no ".tile("`; behind an r is a regular
expression. A row goes on in lines that begin with three spaces. `so A` is short for what `# so, A = B` says in front.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import affdsl as af
from affdsl.lang.annotations import ArrayType
from affdsl.lang.dtypes import DType
from tests.harness.judges import copied, same_but_nan

SYMBOLS = "B C H K M N W"
PLACES = "says", "steps", "loops", "module", "mlir", "c"
EXPECTED = re.compile(rf"""({"|".join(PLACES)}) (?:(no|\d+) )?(r?)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?:; |$)""")
FEW = 3000
"""The interpreter runs the kernels as written where they touch so many elements, and their C where these are more."""
Expected = list[tuple[str, str, bool, str]]
"""Where to look, how often or "no", whether it is a regular expression, and the text."""


@dataclass(frozen=True)
class Program:
    """A kernel with the sizes and the numbers with which it is called.

    Attributes
    ----------
    names, sizes
        Of its sizes and index arguments, and what these are in each call.
    own
        Makes arguments where no sizes are given.
    """

    name: str
    kernel: af.Kernel
    names: list[str] = field(default_factory=list)
    sizes: list[tuple[int, ...]] = field(default_factory=list)
    values: str = ""
    own: Callable[[np.random.Generator], Sequence[Any]] | None = None

    def arguments(self, sizes: Mapping[str, int], seed: int) -> list[Any]:
        """New arguments."""
        random = np.random.default_rng(seed)
        if not sizes and self.own is not None:
            return copied(self.own(random))
        found: list[Any] = []
        for parameter in self.kernel.program.parameters:
            match parameter.type:
                case ArrayType(dtype=dtype, shape=shape):
                    known = [e.evaluate({v: sizes[v.hint] for v in e.values()}) for e in shape]
                    found.append(self._array(parameter.name, dtype.numpy, known, random))
                case DType() as dtype:
                    number = random.uniform(0.25, 2) if dtype.numpy.kind == "f" else 3
                    found.append(sizes.get(parameter.name, dtype.numpy.type(number)))
                case _:
                    symbol = parameter.symbol
                    found.append(sizes[parameter.name if symbol is None else symbol.hint])
        return found

    @property
    def is_whole(self) -> bool:
        """Whether its arrays hold small whole numbers, of which no sum rounds."""
        return self.values.endswith("whole")

    def _array(self, name: str, dtype: np.dtype[Any], shape: list[int], random: np.random.Generator) -> Any:
        said = re.search(rf"\b{name}: (-?\d+) to (-?\d+)( rising)?", self.values)
        if said or self.is_whole:
            numbers = random.integers(*(map(int, said.groups()[:2]) if said else (-9, 9)), shape).astype(dtype)
            return np.sort(numbers) if said and said[3] else numbers
        if dtype.kind == "c":
            return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
        if dtype.kind == "f":
            found = random.standard_normal(shape).astype(dtype)
            return np.where(random.random(shape) < 0.1, np.nan, found).astype(dtype) if self.values == "hard" else found
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if self.values == "hard":
            edges = [x for x in (least, least + 1, -1, 0, 1, 254, 255, 256, most) if least <= x <= most]
            return random.choice(edges, shape).astype(dtype)
        return random.integers(max(least, -100), min(most, 255) + 1, shape).astype(dtype)

    def difference(self, made: Callable[..., Any], *, exact: bool = True, **fixed: int) -> str:
        """Where what is made of the kernel leaves something else in its arguments; "" if nowhere.

        exact
            Whether all bits are to be the same, but for which NaN; they are nearly where sums may be in any order.
        """
        for seed, sizes in enumerate(self.sizes):
            known = {**dict(zip(self.names, sizes, strict=True)), **fixed}
            given = self.arguments(known, seed)
            wanted, found = copied(given), copied(given)
            steps = math.prod(max(1, x) for x in given if isinstance(x, int))
            is_small = steps * sum(x.size for x in given if isinstance(x, np.ndarray)) <= FEW
            with np.errstate(all="ignore"):
                (self.kernel.interpret if is_small else self.kernel)(*wanted)
            made(*found)
            for name, a, b in zip((p.name for p in self.kernel.program.parameters), wanted, found, strict=True):
                if not (same_but_nan(a, b) if exact or self.is_whole else _near(a, b)):
                    return f"{name} for {known} is {b}\ninstead of {a}"
        return ""


def _near(a: Any, b: Any) -> bool:
    far = 2e-4 if np.asarray(a).dtype.itemsize == 4 else 1e-9
    return bool(np.allclose(a, b, rtol=far, atol=far * float(np.abs(a).max(initial=0))))


@cache
def kernels(path: Path) -> dict[str, af.Kernel]:
    """The kernels of a text, by name."""
    names = {"af": af, "np": np, **dict(zip(SYMBOLS.split(), af.symbols(SYMBOLS), strict=True))}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
    return {name: each for name, each in names.items() if isinstance(each, af.Kernel)}


def programs(path: Path, elsewhere: Mapping[str, Program] | None = None) -> Iterator[tuple[Program, list[str]]]:
    """The programs of a text, each with its rows; those without a kernel stand elsewhere."""
    text = path.read_text(encoding="utf-8").replace("\n#   ", " ")
    front, *chunks = re.split(r"^# ----- ", text, flags=re.M)
    shorter = dict(re.findall(r"^# so, (.*?) = (.*)$", front, re.M))
    names = [chunk.partition("\n")[0] for chunk in chunks]
    assert len({*names}) == len(names), f"two programs of one name in {path}"
    for name, chunk in zip(names, chunks, strict=True):
        said = dict(re.findall(r"^# (sizes|values) (.*)$", chunk, re.M))
        order, _, sizes = said.get("sizes", "").partition(": ")
        listed = [each for group in sizes.split(", ") for each in product(*map(_range, group.split()))]
        known = elsewhere[name] if elsewhere and name in elsewhere else None
        kernel, own = (known.kernel, known.own) if known else (kernels(path)[name], None)
        rows = re.findall(r"^# (?!sizes |values )(.*)$", chunk, re.M)
        yield (
            Program(name, kernel, order.split(), listed, said.get("values", ""), own),
            [re.sub(r"(: |; )so ([^;]+)", lambda m: m[1] + shorter[m[2]], row) for row in rows],
        )


def _range(word: str) -> range:
    """2 is 2 alone, 0..3 all from 0 to 3."""
    first, _, last = word.partition("..")
    return range(int(first), int(last or first) + 1)


def expected(text: str) -> Expected:
    """What a row says is to be there.

    >>> expected('steps no ".tile("; mlir 2 "affine.for"')
    [('steps', 'no', False, '.tile('), ('mlir', '2', False, 'affine.for')]
    """
    assert not (left := EXPECTED.sub("", text)), f"not understood: {left}"
    return [(where, times, bool(r), ast.literal_eval(r + quoted)) for where, times, r, quoted in EXPECTED.findall(text)]


def missing(wanted: Expected, made: af.Kernel, s: af.Schedule) -> list[str]:
    """What is not as expected of a kernel and its schedule."""
    texts = {
        "says": lambda: str(made.explain()),
        "steps": lambda: str(s),
        "loops": lambda: "\n".join(f"{'  ' * row.depth}{row.text}" for row in s.loops()),
        "module": lambda: str(made.module),
        "mlir": made.mlir,
        "c": made.c,
    }
    found = []
    for where, times, is_pattern, text in wanted:
        shown = texts[where]()
        count = len(re.findall(text, shown, re.S)) if is_pattern else shown.count(text)
        if (count > 0) != (times != "no") if times in ("", "no") else count != int(times):
            found.append(f"{where} {times} {text!r}, which is there {count} times:\n{shown}")
    return found
