"""Which loops mlir-opt's vectorizer takes together: so many inside of each other, of the form that it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType, Type
from affdsl.ir.written import Tree
from affdsl.passes.affine.arithmetic import written

ANY = -1
"""No dimension of arrays that a loop must run along, or none that it runs along."""


class Match(FrozenValue):
    """A loop, and those inside of it that are vectorized with it, each with its own."""

    loop: affine.For
    inner: tuple[Match, ...] = ()

    def dims(self, depth: int = 0) -> dict[Value, int]:
        """The dimension of the vectors that each loop becomes, by its induction variable."""
        found = {self.loop.iv: depth}
        for match in self.inner:
            found |= match.dims(depth + 1)
        return found


def buckets(
    function: Func, along: Sequence[int], may_be: Callable[[affine.For], bool], makers: Makers
) -> list[list[Match]]:
    """What may be vectorized, innermost first; of matches that share loops, which are together, one at most.

    `along` has for each loop of a match, outermost first, the dimension of arrays, counted from the last, that it must
    run along, or ANY.
    """
    found: list[list[Match]] = []
    roots: list[affine.For] = []
    inside: dict[Value, set[Value]] = {}
    forms: dict[Value, int | None] = {}

    def form(loop: affine.For) -> int | None:
        if loop.iv not in forms:
            forms[loop.iv] = _dimension(loop, makers) if may_be(loop) and is_known(loop) else None
        return forms[loop.iv]

    def match(loop: affine.For, depth: int) -> Match | None:
        dimension = form(loop)
        if dimension is None or (ANY not in (dimension, along[depth]) and dimension != along[depth]):
            return None
        if depth + 1 == len(along):
            return Match(loop)
        inner = tuple(m for each in _loops(loop) if each is not loop and (m := match(each, depth + 1)) is not None)
        return Match(loop, inner) if inner else None

    for loop in _loops(function):
        inside[loop.iv] = {each.iv for each in _loops(loop)}
        new = match(loop, 0)
        if new is None:
            continue
        for number, root in enumerate(roots):
            if loop.iv in inside[root.iv] or root.iv in inside[loop.iv]:
                roots[number] = root if loop.iv in inside[root.iv] else loop
                found[number].append(new)
                break
        else:
            roots.append(loop)
            found.append([new])
    return found


def is_known(loop: affine.For) -> bool:
    """Whether a loop holds nothing but loops and operations on numbers and on arrays of numbers; no conditions."""
    return all(
        (isinstance(op, affine.For) or next(op.blocks(), None) is None)
        and all(_is_scalar(v.type) for v in op.mentions())
        and all(_is_scalar(v.type) and not isinstance(v.type, MemRefType) for v in op.defines())
        for op in walk(loop)
    )


def _is_scalar(type: Type) -> bool:
    element = type.element if isinstance(type, MemRefType) else type
    return isinstance(element, IntegerType | IndexType | FloatType)


def _loops(op: Op) -> Iterator[affine.For]:
    """The loops in an operation, each behind those inside of it."""
    for block in op.blocks():
        for inner in block:
            yield from _loops(inner)
    if isinstance(op, affine.For):
        yield op


class Makers:
    """How the values of a function are made: numbers, and what affine.apply computes."""

    def __init__(self, function: Func) -> None:
        self.constants = {op.result: op for op in walk(function) if isinstance(op, arith.Constant)}
        self.applied = {op.result: op.expr for op in walk(function) if isinstance(op, affine.Apply)}
        self._known: dict[Value, Affine] = {}

    def expr(self, value: Value) -> Affine:
        """A value over what is not computed by affine.apply."""
        if value not in self._known:
            expr = self.applied.get(value)
            self._known[value] = Affine.of(value) if expr is None else self.resolved(expr)
        return self._known[value]

    def resolved(self, expr: Affine) -> Affine:
        """An expression over what is not computed by affine.apply."""
        return expr.substitute({v: self.expr(v) for v in dict.fromkeys(expr.values()) if v in self.applied})


def _dimension(loop: affine.For, makers: Makers) -> int | None:
    """The dimension, counted from the last, along which a loop runs in all its accesses; ANY if it stays in place.

    None where it runs along several, or arrays have a layout. As mlir-opt has it, a value counts that stands in a
    subscript, not what becomes of it.
    """
    found = ANY
    for op in walk(loop):
        if not isinstance(op, affine.Load | affine.Store):
            continue
        type, map = op.memref.type, written(op, "index")
        if not isinstance(type, MemRefType) or type.layout is not None:
            return None
        varying = [
            len(map.trees) - 1 - axis
            for axis, tree in enumerate(map.trees)
            for position in _positions(tree)
            if loop.iv in makers.expr(map.value(position)).values()
        ]
        if len(varying) > 1 or (varying and found not in (ANY, varying[0])):
            return None
        found = varying[0] if varying else found
    return found


def _positions(tree: Tree) -> Iterator[str]:
    """The positions in a tree, each as often as it stands there."""
    match tree:
        case str():
            yield tree
        case (_, left, right):
            yield from _positions(left)
            yield from _positions(right)
