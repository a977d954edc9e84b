"""What a random program means: Python that runs it, over a memory that evaluates, or over one that only watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from tests.fuzz.affine import Expr
from tests.fuzz.program import (
    Apply,
    Binary,
    Buffer,
    Cast,
    Constant,
    Extreme,
    For,
    If,
    Let,
    Load,
    Name,
    Outlined,
    Program,
    Statement,
    Store,
    Value,
    with_indices,
)

LIMIT = 3000
"""Iterations of all loops together, in one run."""
LARGEST = 40
"""The largest size of a dimension."""
EXACT = 1 << 50
"""Every f64 is an integer below this, so that no order of additions rounds."""

BINARY = {
    "addi": "wrap({} + {})", "subi": "wrap({} - {})", "muli": "wrap({} * {})", "maxsi": "max({}, {})",
    "minsi": "min({}, {})", "xori": "({} ^ {})", "andi": "({} & {})", "ori": "({} | {})",
    "addf": "wrap({} + {})", "subf": "wrap({} - {})", "maximumf": "max({}, {})", "minimumf": "min({}, {})",
}  # fmt: skip


class UnusableError(Exception):
    """The program is of no use: too long, out of bounds, reading what nobody wrote, or not exact."""


def python(program: Program) -> str:
    """The program as a Python function `run(load, store, loop, wrap, *sizes)`."""
    parameters = ", ".join(("load", "store", "loop", "wrap", *program.symbols))
    return "\n".join([f"def run({parameters}):", *_block(program.body)])


def _block(body: tuple[Statement, ...]) -> Iterator[str]:
    for line in [line for statement in body for line in _statement(statement)] or ["pass"]:
        yield f"    {line}"


def _statement(statement: Statement) -> Iterator[str]:
    match statement:
        case For(iv, lower, upper, step, carried, body):
            names, results = (", ".join(getattr(c, key) for c in carried) for key in ("name", "result"))
            if carried:
                yield f"{names} = {', '.join(_value(c.init) for c in carried)}"
            yield f'for {iv} in loop("{iv}", {_one("max", lower)}, {_one("min", upper)}, {step}):'
            yield from _block(body)
            if carried:
                yield f"    {names} = {', '.join(_value(c.update) for c in carried)}"
                yield f"{results} = {names}"
        case If(conditions, then, orelse):
            tests = [f"{c.expr.python()} {'==' if c.is_equality else '>='} 0" for c in conditions]
            yield f"if {' and '.join(tests)}:"
            yield from _block(then)
            if orelse:
                yield "else:"
                yield from _block(orelse)
        case Let(name, value):
            yield f"{name} = {_value(value)}"
        case Apply(name, expr):
            yield f"{name} = {expr.python()}"
        case Store(buffer, index, value):
            yield f'store("{buffer}", {_value(value)}, {", ".join(e.python() for e in index)})'
        case Outlined(_, body):
            for inner in body:
                yield from _statement(inner)


def _value(value: Value) -> str:
    match value:
        case Constant(number):
            return str(number)
        case Name(name):
            return name
        case Cast(index):
            return f"({index.python()})"
        case Extreme(kind, exprs):
            return f"({_one(kind, exprs)})"
        case Load(buffer, index):
            return f'load("{buffer}", {", ".join(e.python() for e in index)})'
        case Binary(kind, left, right):
            return BINARY[kind].format(_value(left), _value(right))


def _one(kind: str, exprs: tuple[Expr, ...]) -> str:
    parts = [e.python() for e in exprs]
    return parts[0] if len(parts) == 1 else f"{kind}({', '.join(parts)})"


class Watch:
    """Runs loops and nothing else: every element is zero."""

    def __init__(self) -> None:
        self.iterations = 0

    def loop(self, iv: str, lower: int, upper: int, step: int) -> Iterator[int]:
        for i in range(lower, upper, step):
            self.iterations += 1
            if self.iterations > LIMIT:
                raise UnusableError("too many iterations")
            yield i

    def load(self, buffer: str, *index: int) -> int:
        return 0

    def store(self, buffer: str, value: int, *index: int) -> None:
        pass

    def wrap(self, value: int) -> int:
        """Nothing that is looked at depends on values, and those that a loop squares again and again would be long."""
        return 0

    def run(self, program: Program) -> None:
        """Run the program once with each valuation."""
        function = _compiled(program)
        for sizes in program.valuations:
            self.iterations = 0
            function(self.load, self.store, self.loop, self.wrap, *sizes)


class Trace(Watch):
    """Remembers the least and greatest index in each dimension of each buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.ranges: dict[str, list[tuple[int, int]]] = {}
        self.stores = 0

    def load(self, buffer: str, *index: int) -> int:
        known = self.ranges.get(buffer)
        self.ranges[buffer] = (
            [(n, n) for n in index]
            if known is None
            else [(min(low, n), max(high, n)) for (low, high), n in zip(known, index, strict=True)]
        )
        return 0

    def store(self, buffer: str, value: int, *index: int) -> None:
        self.load(buffer, *index)
        self.stores += 1


class Memory(Watch):
    """Elements as integers, without a type of Python's own: what each operation gives is wrapped to the type."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.buffers = {b.name: b for b in program.buffers}
        self.contents: dict[str, list[Any]] = {
            b.name: [None] * b.size if b.is_local else b.initial() for b in program.buffers
        }
        self.half = {"i32": 1 << 31, "i64": 1 << 63, "f64": None}[program.element]

    def load(self, buffer: str, *index: int) -> int:
        value: int | None = self.contents[buffer][self.place(buffer, index)]
        if value is None:
            raise UnusableError("a local buffer is read where nobody wrote it")
        return value

    def store(self, buffer: str, value: int, *index: int) -> None:
        self.contents[buffer][self.place(buffer, index)] = value

    def place(self, buffer: str, index: tuple[int, ...]) -> int:
        place = 0
        for n, size in zip(index, self.buffers[buffer].shape, strict=True):
            if not 0 <= n < size:
                raise UnusableError("out of bounds")
            place = place * size + n
        return place

    def wrap(self, value: int) -> int:
        if self.half is not None:
            return (value + self.half) % (2 * self.half) - self.half
        if abs(value) > EXACT:
            raise UnusableError("not exact as f64")
        return value


class Conflicts(Watch):
    """Whether iterations of one loop touch the same element, and one of them writes it."""

    def __init__(self, iv: str) -> None:
        super().__init__()
        self.iv = iv
        self.iteration: int | None = None
        self.readers: dict[tuple[object, ...], set[int]] = {}
        self.writers: dict[tuple[object, ...], set[int]] = {}
        self.found = False

    def loop(self, iv: str, lower: int, upper: int, step: int) -> Iterator[int]:
        if iv != self.iv:
            yield from super().loop(iv, lower, upper, step)
            return
        self.readers, self.writers = {}, {}
        for self.iteration in super().loop(iv, lower, upper, step):
            yield self.iteration
        self.iteration = None

    def load(self, buffer: str, *index: int) -> int:
        if self.iteration is not None:
            element = (buffer, *index)
            self.found |= bool(self.writers.get(element, set()) - {self.iteration})
            self.readers.setdefault(element, set()).add(self.iteration)
        return 0

    def store(self, buffer: str, value: int, *index: int) -> None:
        if self.iteration is not None:
            element = (buffer, *index)
            others = self.readers.get(element, set()) | self.writers.get(element, set())
            self.found |= bool(others - {self.iteration})
            self.writers.setdefault(element, set()).add(self.iteration)


def _compiled(program: Program) -> Callable[..., None]:
    scope: dict[str, Any] = {}
    exec(compile(python(program), f"<program {program.seed}>", "exec"), scope)
    return scope["run"]  # type: ignore[no-any-return]


def placed(program: Program, random: Random | None = None) -> Program:
    """The program with every access moved into bounds, and buffers as large as it takes, or a little larger.

    All accesses to a buffer move by the same, so that which of them meet does not change. Raises UnusableError.
    """
    trace = Trace()
    trace.run(program)
    if not trace.stores:
        raise UnusableError("stores nothing")
    buffers: list[Buffer] = []
    shift: dict[str, tuple[int, ...]] = {}
    for b in program.buffers:
        ranges = trace.ranges.get(b.name, [(0, 3)] * b.rank)
        slack = [random.choice((0, 0, 0, 1, 3)) if random else 0 for _ in ranges]
        shape = tuple(high - low + 1 + more for (low, high), more in zip(ranges, slack, strict=True))
        if max(shape) > LARGEST:
            raise UnusableError("too large")
        buffers.append(replace(b, shape=shape))
        shift[b.name] = tuple(-low for low, _ in ranges)
    return with_indices(replace(program, buffers=tuple(buffers)), shift)


def evaluate(program: Program) -> tuple[dict[str, list[int]], ...]:
    """What stands in each buffer argument after the run with each valuation. Raises UnusableError."""
    function = _compiled(program)
    found = []
    for sizes in program.valuations:
        memory = Memory(program)
        function(memory.load, memory.store, memory.loop, memory.wrap, *sizes)
        found.append({b.name: memory.contents[b.name] for b in program.arguments})
    return tuple(found)


def races(program: Program, iv: str) -> bool:
    """Whether two iterations of a loop, in some run, touch the same element and one of them writes it."""
    conflicts = Conflicts(iv)
    conflicts.run(program)
    return conflicts.found
