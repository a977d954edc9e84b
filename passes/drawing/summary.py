"""An operation with all that is inside of it, in a few lines that a person reads at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import definitions, walk
from affdsl.mlir.naming import loop_names, names_of
from affdsl.passes.analysis.effects import effects, is_pure
from affdsl.passes.analysis.nodes import ivs_of
from affdsl.passes.drawing.expressions import Expressions

WIDEST = 46
"""How many characters a line has at most; what is longer goes on below."""
LONGEST = 2 * WIDEST
"""How many characters of a statement are shown."""
MOST_LINES = 6
"""How many lines are shown of what is inside of an operation."""
INDENT = "  "

_STORES = (affine.Store, affine.VectorStore, memref.Store, vector.Store, vector.TransferWrite)


class OpSummaries:
    """Summaries of the operations of one function."""

    def __init__(self, function: func.Func) -> None:
        names = names_of(function)
        loops = loop_names(function, [iv for op in walk(function) for iv in ivs_of(op)])
        renamed = {iv: name for iv, name in loops.items() if iv.hint and names[iv] != iv.hint}
        self.names: Mapping[Value, str] = {**names, **renamed}  # loops as in the source, where MLIR has i_0, too
        self.makers: Mapping[Value, Op] = {
            value: op for value, op in definitions(function).items() if value in set(op.defines())
        }
        self.words = Expressions(self.names, self.makers)

    def of(self, op: Op) -> tuple[str, tuple[str, ...]]:
        """A title, and the lines below it: what a loop runs over, and the statements inside.

        >>> from affdsl.mlir.readers import parse
        >>> function = parse('''func.func @f(%A: memref<8x9xf32>, %B: memref<8xf32>) {
        ...   affine.for %i = 0 to 8 { affine.for %j = 0 to 9 {
        ...     %a = affine.load %A[%i, %j] : memref<8x9xf32>
        ...     %b = affine.load %B[%i] : memref<8xf32>
        ...     %c = arith.mulf %a, %a : f32
        ...     %d = arith.addf %b, %c : f32
        ...     affine.store %d, %B[%i] : memref<8xf32>
        ...   } }
        ...   return
        ... }''').functions[0]
        >>> OpSummaries(function).of(function.body[0])
        ('for i, j', ('B[i] += A[i, j] * A[i, j]',))
        """
        (title, *lines) = self._lines(op)
        if all(line.startswith(INDENT) for line in lines):
            lines = [line.removeprefix(INDENT) for line in lines]
        wrapped = [part for line in lines for part in wrap(_cut(line))]
        if len(wrapped) > MOST_LINES:
            more = len(wrapped) - MOST_LINES + 1
            wrapped = [*wrapped[: MOST_LINES - 1], f"... {more} more lines"]
        return _cut(title.removesuffix(":"), WIDEST), tuple(wrapped)

    def _block(self, block: Block, prefix: str = INDENT) -> Iterator[str]:
        for op in block:
            if isinstance(op, affine.Yield | scf.Yield) and op.values:
                yield f"{prefix}yield {', '.join(map(self.words.value, op.values))}"
            elif not op.is_terminator and not _only_computes(op):
                first, *rest = self._lines(op)
                if len(rest) == 1 and first.endswith(":"):
                    yield f"{prefix}{first} {rest[0].lstrip()}"  # what has one statement stands on one line
                else:
                    yield from (prefix + line for line in (first, *rest))

    def _lines(self, op: Op) -> Iterator[str]:
        """The operation itself, then what is inside."""
        match op:
            case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                yield from self._loop(op)
            case affine.If(condition=condition, then=then, orelse=orelse):
                yield f"if {self.words.condition(condition)}:"
                yield from self._block(then)
                yield from self._else(orelse)
            case scf.If(condition=condition, then=then, orelse=orelse):
                yield f"if {self.words.value(condition)}:"
                yield from self._block(then)
                yield from self._else(orelse or ())
            case _ if isinstance(op, _STORES):
                yield self.words.assignment(op, op.value)
            case memref.Copy(source=source, target=target):
                yield f"copy {self.words.name(source)} to {self.words.name(target)}"
            case memref.Alloc(result=result) | memref.Alloca(result=result):
                yield f"{self.words.name(result)} = {op_name(op).removeprefix('memref.')} : {result.type}"
            case memref.Dealloc(memref=freed):
                yield f"free {self.words.name(freed)}"
            case func.Call(callee=callee, args=args):
                yield f"call {callee}({', '.join(map(self.words.name, args))})"
            case _:
                yield self._other(op)
                for block in op.blocks():
                    yield from self._block(block)

    def _loop(self, op: affine.For | affine.Parallel | scf.For | scf.Parallel) -> Iterator[str]:
        """A band of loops, each the only one in the one around it."""
        word = "parallel" if isinstance(op, affine.Parallel | scf.Parallel) else "for"
        ivs = [*ivs_of(op)]
        body = op.body
        while word == "for" and not getattr(op, "carried", ()) and (inner := _only_loop(body)) is not None:
            op, body = inner, inner.body
            ivs.append(inner.iv)
        carried: tuple[Value, ...] = getattr(op, "carried", ())
        with_ = f" with {', '.join(map(self.words.name, carried))}" if carried else ""
        yield f"{word} {', '.join(map(self.words.name, ivs))}{with_}:"
        if carried and (last := next(iter(body[::-1]), None)) is not None and last.is_terminator:
            yield from self._block(body[:-1])
            for value, new in zip(carried, last.reads(), strict=True):
                yield f"{INDENT}{self.words.name(value)} = {self.words.value(new)}"
        else:
            yield from self._block(body)

    def _else(self, block: Block) -> Iterator[str]:
        if any(not op.is_terminator for op in block):
            yield "else:"
            yield from self._block(block)

    def _other(self, op: Op) -> str:
        element = self.words.element(op)
        results = ", ".join(map(self.words.name, op.defines()))
        if element is not None:
            return f"{results} = {element}"
        operands = ", ".join(dict.fromkeys(map(self.words.name, op.reads())))
        what = f"{op_name(op)}({operands})"
        value = next(op.defines(), None)
        if is_pure(op) and value is not None and next(op.blocks(), None) is None:
            what = self.words.value(value)
            what = what if what != results else f"{op_name(op)}({operands})"
        return f"{results} = {what}" if results else what


def wrap(line: str, widest: int = WIDEST) -> list[str]:
    """A line as several, none longer than it should be, broken at spaces where there are some.

    >>> wrap("C[i, j] += A[i, k] * B[k, j]", 20)
    ['C[i, j] += A[i, k]', '    * B[k, j]']
    """
    start = " " * (len(line) - len(line.lstrip()))
    rest, found = line, []
    while len(rest) > widest:
        at = _break(rest, widest)
        found.append(rest[:at].rstrip())
        rest = f"{start}    {rest[at:].lstrip()}"
    return [*found, rest]


def _break(line: str, widest: int) -> int:
    """Where a line is broken: rather before an operator than elsewhere, and rather not inside of subscripts."""
    least = len(line) - len(line.lstrip()) + 1
    places, inside = [], 0
    for at, character in enumerate(line[: widest + 1]):
        inside += {"[": 1, "]": -1}.get(character, 0)
        if character == " " and at >= max(least, widest // 2):
            places.append((not inside, not inside and line[at + 1 : at + 2] in "+-*/%&|^<>", at))
    return max(places)[2] if places else widest


def _cut(line: str, longest: int = LONGEST) -> str:
    return line if len(line) <= longest else f"{line[: longest - 4].rstrip()} ..."


def _only_loop(body: Block) -> affine.For | scf.For | None:
    """The loop in a block that has nothing else but values for it."""
    loops = [op for op in body if not op.is_terminator and not _only_computes(op)]
    if len(loops) == 1 and isinstance(loops[0], affine.For | scf.For) and not loops[0].results:
        return loops[0]
    return None


def _only_computes(op: Op) -> bool:
    """Whether an operation does nothing but give values: those are shown where they are used."""
    if next(op.blocks(), None) is not None:
        return False
    found = effects(op)
    return not (found.unknown or found.writes or found.frees or found.allocates)
