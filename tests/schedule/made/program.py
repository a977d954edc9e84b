"""A program that is made for one verb, and what writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.numeric import dtype
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import IndexType, MemRefType
from affdsl.lang.annotations import ArrayType

SYMBOLS = "NMK"
SIZES = (0, 1, 2, 3, 4, 5, 7, 9)
FLOATS = ("f32", "f64")
NUMBERS = (*FLOATS, *FLOATS, "f16", "i64", "i32", "u32", "i16", "u16", "i8", "u8", "u64")
RUNS = 3


@dataclass(frozen=True)
class Made:
    """A kernel, steps that prepare it, and a step that is legal, but for what is planted.

    Attributes
    ----------
    planted
        What is in the way of the step, by its name in the table of the verb; empty where nothing is.
    loop, array
        What a refusal must name; an empty text for what it need not.
    alias
        Two arrays of which the first is made another name of the second.
    approximated
        The arrays that hold results of functions that may be approximated, with the function and what it is of.
    """

    verb: str
    planted: str
    text: str
    before: tuple[str, ...]
    step: str
    loop: str
    array: str = ""
    alias: tuple[str, str] | None = None
    approximated: tuple[tuple[str, str, str], ...] = ()

    def __str__(self) -> str:
        steps = "".join(f"\ns.{step}" for step in (*self.before, self.step))
        alias = f"  # {self.alias[0]} is {self.alias[1]}" if self.alias else ""
        return f"{self.text}{alias}\ns = af.Schedule(f){steps}"

    def kernel(self) -> af.Kernel:
        """The kernel, before any step."""
        names: dict[str, object] = {"af": af, **dict(zip(SYMBOLS, af.symbols(" ".join(SYMBOLS)), strict=True))}
        exec(compile(self.text, "made.py", "exec"), names)
        kernel = names["f"]
        assert isinstance(kernel, af.Kernel)
        return aliased(kernel, *self.alias) if self.alias else kernel


def aliased(kernel: af.Kernel, name: str, of: str) -> af.Kernel:
    """A kernel in which one array is another name of another one of the same type."""
    module = kernel.module
    old = module.functions[-1]
    known = {a.hint: a for a in old.args}
    view = Value(known[of].type, name)
    inside = renamed(with_fields(old, args=()), {known[name]: view})
    new = with_fields(inside, args=old.args, body=(memref.Cast(view, known[of]), *inside.body), shapes=old.shapes)
    return kernel.with_module(with_fields(module, body=tuple(new if op is old else op for op in module.body)))


def runs(kernel: af.Kernel, seed: int, count: int = RUNS) -> list[list[Any]]:
    """Arguments of the function of a kernel for some runs, of random sizes: the first ones are not empty."""
    made = []
    for k in range(count):
        random = Random(f"{seed} {k}")
        sizes = {name: random.choice(SIZES if k else SIZES[4:]) for name in SYMBOLS}
        made.append(_arguments(kernel, sizes, np.random.default_rng(100 * seed + k)))
    return made


def _arguments(kernel: af.Kernel, sizes: dict[str, int], random: np.random.Generator) -> list[Any]:
    function = kernel.func
    kinds = {p.name: p.type.dtype.numpy for p in kernel.program.parameters if isinstance(p.type, ArrayType)}
    known = {a: sizes.get(a.hint, 3) for a in function.args if isinstance(a.type, IndexType)}
    shapes = function.shapes or (None,) * len(function.args)
    found: list[Any] = []
    for argument, shape in zip(function.args, shapes, strict=True):
        type = argument.type
        if argument in known:
            found.append(known[argument])
        elif isinstance(type, MemRefType):
            lengths = [Affine.of(e).evaluate(known) for e in shape] if shape is not None else type.shape
            numbers = random.integers(-24, 25, lengths)
            kind = kinds[argument.hint] or dtype(type.element)
            found.append(((numbers / 4) if kind.kind in "fc" else abs(numbers)).astype(kind))
        else:
            found.append(dtype(type).type(3))
    return found


@dataclass(frozen=True)
class Maker:
    """What makes programs for a verb, and by what may be planted in them what a refusal says of it."""

    make: Callable[[Random, str], Made]
    refusals: Mapping[str, str]

    def made(self, seed: int) -> Made:
        """The program of a seed: in every second one something is planted, each in turn."""
        kinds = list(self.refusals)
        planted = kinds[seed // 2 % len(kinds)] if seed % 2 else ""
        return self.make(Random(f"{self.make.__name__} {seed}"), planted)


@dataclass
class Writer:
    """Writes one kernel as Python, and counts what it has drawn."""

    random: Random
    planted: str = ""
    types: Sequence[str] = NUMBERS
    lines: list[str] = field(default_factory=list)
    arrays: dict[str, str] = field(default_factory=dict)
    indent: int = 1

    def __post_init__(self) -> None:
        self.type = self.random.choice(self.types)

    @property
    def text(self) -> str:
        """The kernel."""
        sizes = {symbol.lower(): symbol for symbol in SYMBOLS}
        given = ", ".join(f"{name}: {kind}" for name, kind in (sizes | self.arrays).items())
        return "\n".join(["@af.kernel", f"def f({given}):", *self.lines]) + "\n"

    def array(self, name: str, shape: str, type: str = "") -> str:
        """An argument that is an array."""
        self.arrays[name] = f"af.{type or self.type}[{shape}]"
        return name

    def scalar(self, name: str, type: str = "") -> str:
        """An argument that is a number."""
        self.arrays[name] = f"af.{type or self.type}"
        return name

    def say(self, *lines: str) -> None:
        """Lines of the body."""
        self.lines += [f"{'    ' * self.indent}{line}" for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block, whose body is what is said inside."""
        self.say(f"with {head}:")
        self.indent += 1
        yield
        self.indent -= 1

    def loop(self, name: str, *bounds: object) -> Any:
        """A loop, whose body is what is said inside."""
        return self.block(f"af.for_({', '.join(map(str, bounds))}) as {name}")

    def chance(self, share: float) -> bool:
        """Whether something that so many have comes."""
        return self.random.random() < share

    def pick(self, *of: Any) -> Any:
        """One of some."""
        return self.random.choice(of)

    def number(self) -> str:
        """A factor that keeps numbers small."""
        return self.pick("0.5", "0.25", "2.0") if self.type[0] == "f" else self.pick("1", "2", "3")

    @contextmanager
    def maybe(self, share: float, head: str) -> Iterator[None]:
        """Perhaps a block around what is said inside."""
        if self.chance(share):
            with self.block(head):
                yield
        else:
            yield
