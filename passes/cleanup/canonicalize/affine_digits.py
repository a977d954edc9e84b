"""Rules for affine.delinearize_index and affine.linearize_index: numbers as digits in mixed-radix systems."""

from __future__ import annotations

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.mixed import Mixed, unmixed
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number
from affdsl.passes.cleanup.canonicalize.rules import Folded, Known, Rules

Digits = affine.DelinearizeIndex | affine.LinearizeIndex
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def constant_basis(graph: Graph, node: OpNode, op: Digits) -> bool:
    """Numbers of the basis that are constants become part of the operation."""
    known: Mixed = tuple([_known(graph, radix) for radix in op.radices])
    if known == op.radices:
        return False
    static, values = unmixed(known)
    graph.update(node, with_fields(op, basis=values, static_basis=static))
    return True


def _known(graph: Graph, radix: int | Value) -> int | Value:
    number = index_number(graph, radix) if isinstance(radix, Value) else None
    return radix if number is None else number


def _inner(count: int, radices: Mixed) -> Mixed:
    """The basis without a number for the first digit."""
    return radices[1:] if len(radices) == count else radices


def constant_digits(graph: Graph, node: OpNode, op: affine.DelinearizeIndex) -> bool:
    """The digits of a constant, and the one digit of any number."""
    if len(op.results) == 1:
        graph.replace(node, (op.linear_index,))
        return True
    rest, digits = index_number(graph, op.linear_index), list[int]()
    for radix in reversed(_inner(len(op.results), op.radices)):
        if rest is None or not isinstance(radix, int) or radix <= 0:
            return False
        rest, digit = divmod(rest, radix)
        digits.append(digit)
    if rest is None:
        return False
    made = [graph.constant(n, INDEX, node) for n in (rest, *reversed(digits))]
    graph.replace(node, made)
    return True


def digits_of_linearized(graph: Graph, node: OpNode, op: affine.DelinearizeIndex) -> bool:
    """The digits that a number was made of, in the same basis, from the last one on."""
    made = graph.definition(op.linear_index)
    if not isinstance(made, affine.LinearizeIndex) or not made.disjoint:
        return False
    count = 0
    for a, b in zip(reversed(made.radices), reversed(op.radices), strict=False):
        if a != b:
            break
        count += 1
    if count == 0:
        return False
    if count == len(made.radices) == len(op.radices) and len(made.indices) == len(op.results):
        graph.replace(node, made.indices)
        return True
    if count >= min(len(made.indices), len(op.results)):
        return False
    static, values = unmixed(made.radices[:-count])
    rest = Value(INDEX, "", op.location)
    graph.insert(
        affine.LinearizeIndex(rest, made.indices[:-count], values, static, made.disjoint, location=op.location), node
    )
    static, values = unmixed(op.radices[:-count])
    for old, new in zip(op.results[-count:], made.indices[-count:], strict=True):
        graph.rename(old, new)
    graph.update(node, affine.DelinearizeIndex(op.results[:-count], rest, values, static, location=op.location))
    return True


def unit_digits(graph: Graph, node: OpNode, op: affine.DelinearizeIndex) -> bool:
    """Digits of which there is only one are 0, but for the first: a number may be too large for it (decision 20)."""
    radices = op.radices
    outer = len(radices) == len(op.results)
    of_digit: Mixed = radices if outer else (0, *radices)
    kept = [k for k, radix in enumerate(of_digit) if k == 0 or radix != 1]
    if len(kept) == len(op.results):
        return False
    zero = graph.constant(0, INDEX, node)
    for k, result in enumerate(op.results):
        if k not in kept:
            graph.rename(result, zero)
    static, values = unmixed([of_digit[k] for k in kept if outer or k])
    results = tuple([op.results[k] for k in kept])
    graph.update(node, affine.DelinearizeIndex(results, op.linear_index, values, static, location=op.location))
    return True


def fold_linearize(graph: Graph, op: affine.LinearizeIndex) -> Folded:
    """A number with one digit is that digit; one whose digits and basis are known is a constant."""
    if not op.indices:
        return Known(0)
    if len(op.indices) == 1:
        return op.indices[0]
    total = index_number(graph, op.indices[0])
    for value, radix in zip(op.indices[1:], _inner(len(op.indices), op.radices), strict=True):
        digit = index_number(graph, value)
        if total is None or digit is None or not isinstance(radix, int):
            return None
        total = total * radix + digit
    return Known(total) if total is not None and _LEAST <= total <= _MOST else None


def leading_zero(graph: Graph, node: OpNode, op: affine.LinearizeIndex) -> bool:
    """A first digit that is 0 is left out."""
    if len(op.indices) < 2 or index_number(graph, op.indices[0]) != 0:
        return False
    static, values = unmixed(_inner(len(op.indices), op.radices))
    graph.update(
        node, affine.LinearizeIndex(op.result, op.indices[1:], values, static, op.disjoint, location=op.location)
    )
    return True


def linearized_digits(graph: Graph, node: OpNode, op: affine.LinearizeIndex) -> bool:
    """All digits of a number, in its basis, are that number."""
    made = graph.definition(op.indices[0])
    if not isinstance(made, affine.DelinearizeIndex) or made.results != op.indices:
        return False
    count = len(op.indices)
    if _inner(count, op.radices) != _inner(count, made.radices):
        return False
    graph.replace(node, (made.linear_index,))
    return True


def unit_components(graph: Graph, node: OpNode, op: affine.LinearizeIndex) -> bool:
    """Digits of which there is only one are left out, where they are known to be 0."""
    radices = op.radices
    outer = len(radices) == len(op.indices)
    of_digit: Mixed = radices if outer else (0, *radices)

    def is_kept(k: int, index: Value, radix: int | Value) -> bool:
        return radix != 1 or not (op.disjoint or index_number(graph, index) == 0)

    kept = [k for k, (v, radix) in enumerate(zip(op.indices, of_digit, strict=True)) if is_kept(k, v, radix)]
    if len(kept) == len(of_digit):
        return False
    if not kept:
        graph.replace(node, (graph.constant(0, INDEX, node),))
        return True
    static, values = unmixed([of_digit[k] for k in kept if outer or k])
    indices = tuple([op.indices[k] for k in kept])
    graph.update(node, affine.LinearizeIndex(op.result, indices, values, static, op.disjoint, location=op.location))
    return True


AFFINE_DIGITS = Rules(
    folds={affine.LinearizeIndex: fold_linearize},
    rules={
        affine.DelinearizeIndex: (constant_basis, constant_digits, digits_of_linearized, unit_digits),
        affine.LinearizeIndex: (constant_basis, linearized_digits, leading_zero, unit_components),
    },
)
