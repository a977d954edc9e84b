"""Folds and rewrites of integer arithmetic in arith."""

from __future__ import annotations

import re
from collections.abc import Callable

from affdsl.ir import semantics
from affdsl.ir.attributes import Attribute, OpaqueAttr
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.numeric import signed, unsigned, wrap
from affdsl.ir.types import I1, IndexType, IntegerType, Type, same_shape
from affdsl.passes.cleanup.canonicalize.comparisons import NOT
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import (
    Numbers,
    all_lanes,
    binary,
    element_of,
    extremes,
    integer,
    known,
    lanes,
    numbers,
)
from affdsl.passes.cleanup.canonicalize.rules import Folded, Known, Rules

Integer = IntegerType | IndexType
COMMUTATIVE = frozenset({
    "addi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui",
    "addf", "mulf", "maximumf", "maxnumf", "minimumf", "minnumf",
    "addui_extended", "mulsi_extended", "mului_extended",
})  # fmt: skip
_DIVISIONS = frozenset({"divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui"})
_SHIFTS = frozenset({"shli", "shrsi", "shrui"})

_IDENTITY: dict[str, Callable[[Integer], int]] = {
    "addi": lambda t: 0, "subi": lambda t: 0, "muli": lambda t: 1, "xori": lambda t: 0,
    "divsi": lambda t: 1, "divui": lambda t: 1, "floordivsi": lambda t: 1, "ceildivsi": lambda t: 1,
    "ceildivui": lambda t: 1, "shli": lambda t: 0, "shrsi": lambda t: 0, "shrui": lambda t: 0,
    "andi": lambda t: extremes(t)[2], "ori": lambda t: 0,
    "maxsi": lambda t: extremes(t)[0], "minsi": lambda t: extremes(t)[1],
    "maxui": lambda t: 0, "minui": lambda t: extremes(t)[2],
}  # fmt: skip
"""The right operand with which each kind gives its left operand."""
_ABSORBING: dict[str, Callable[[Integer], int]] = {
    "muli": lambda t: 0, "andi": lambda t: 0, "ori": lambda t: extremes(t)[2],
    "maxsi": lambda t: extremes(t)[1], "minsi": lambda t: extremes(t)[0],
    "maxui": lambda t: extremes(t)[2], "minui": lambda t: 0,
}  # fmt: skip
"""The right operand that each kind gives, whatever the left one is."""
_IDEMPOTENT = frozenset({"maxsi", "minsi", "maxui", "minui"})
_IDEMPOTENT_BITS = frozenset({"andi", "ori"})
_ZERO_ON_EQUAL = frozenset({"subi", "xori"})


def fold_binary(graph: Graph, op: arith.Binary) -> Folded:
    """An integer operation as one of its operands, or as a constant."""
    element = element_of(op.result.type)
    if not isinstance(element, Integer):
        return None
    if op.left is op.right and op.kind in _ZERO_ON_EQUAL:
        return Known(_zero(element))
    n = integer(graph, op.right)
    if n is not None:
        if op.kind in _IDENTITY and n == _IDENTITY[op.kind](element):
            return op.left
        if op.kind in _ABSORBING and n == _ABSORBING[op.kind](element):
            return known(n, op.result.type) if op.kind == "ori" else op.right
        if op.kind in ("remsi", "remui") and n == 1:
            return Known(_zero(element))
    if op.left is op.right and op.kind in _IDEMPOTENT:
        return op.left
    for found in (_by_definition(graph, op), _of_product(graph, op), _computed(graph, op, element)):
        if found is not None:
            return found
    return op.left if op.left is op.right and op.kind in _IDEMPOTENT_BITS else None


def _zero(element: Integer) -> int | bool:
    return False if element == I1 else 0


def _by_definition(graph: Graph, op: arith.Binary) -> Folded:
    """An operation that takes back what made one of its operands."""
    left, right = graph.definition(op.left), graph.definition(op.right)
    match op.kind, left, right:
        case "addi", arith.Binary(kind="subi", left=x, right=y), _ if y is op.right:
            return x
        case "addi", _, arith.Binary(kind="subi", left=x, right=y) if y is op.left:
            return x
        case "subi", arith.Binary(kind="addi", left=x, right=y), _ if op.right in (x, y):
            return x if y is op.right else y
        case "xori", arith.Binary(kind="xori", left=x, right=y), _ if op.right in (x, y):
            return x if y is op.right else y
        case "xori", _, arith.Binary(kind="xori", left=x, right=y) if op.left in (x, y):
            return x if y is op.left else y
        case "andi", _, arith.Binary(kind="andi", left=x, right=y) if op.left in (x, y):
            return op.right
        case "andi", arith.Binary(kind="andi", left=x, right=y), _ if op.right in (x, y):
            return op.left
        case "andi" | "ori", _, _ if _is_not(graph, left, op.right) or _is_not(graph, right, op.left):
            element = element_of(op.result.type)
            assert isinstance(element, Integer)
            if op.kind == "andi":
                return Known(_zero(element))
            return Known(True if element == I1 else -1)
    return None


_PROMISE = {"divsi": "nsw", "divui": "nuw"}
"""What a product promises if it does not wrap as each division takes its operands."""


def _of_product(graph: Graph, op: arith.Binary) -> Folded:
    """`(x * 5) / 5` as x, where the product promises not to wrap.

    Not `(x * y) / y` for an unknown y, which may be 0: then the quotient is 0.
    """
    divisor = numbers(graph, op.right)
    if op.kind not in _PROMISE or divisor is None or not all_lanes(lambda n: n != 0, divisor):
        return None
    match graph.definition(op.left):
        case arith.Binary(kind="muli", left=x, right=y) as product if _PROMISE[op.kind] in flags(product):
            if y is op.right or x is op.right:
                return x if y is op.right else y
    return None


def _is_not(graph: Graph, op: object, value: Value) -> bool:
    """Whether an operation is value with all bits turned."""
    match op:
        case arith.Binary(kind="xori", left=x, right=y) if x is value:
            element = element_of(value.type)
            return isinstance(element, Integer) and integer(graph, y) == extremes(element)[2]
    return False


def _computed(graph: Graph, op: arith.Binary, element: Integer) -> Folded:
    """Both operands constants, and nothing about the result that MLIR leaves open."""
    left, right = numbers(graph, op.left), numbers(graph, op.right)
    if left is None or right is None:
        return None
    least = extremes(element)[0]
    width = 64 if isinstance(element, IndexType) else element.width
    if op.kind in _DIVISIONS and not all_lanes(lambda a, b: b != 0, left, right):
        return None
    if op.kind in ("divsi", "floordivsi") and not all_lanes(
        lambda a, b: a != least or signed(b, width) != -1, left, right
    ):
        return None
    if op.kind == "ceildivsi" and not all_lanes(lambda a, b: a == 0 or least not in (a, b), left, right):
        return None
    if op.kind in _SHIFTS and not all_lanes(lambda a, b: unsigned(b, width) < width, left, right):
        return None
    return known(lanes(binary(op.kind, op.result.type), left, right), op.result.type)


_JOINED: dict[tuple[str, str, str, str], tuple[str, str, str, bool]] = {
    ("addi", "right", "addi", "right"): ("addi", "right", "addi", False),
    ("addi", "right", "subi", "right"): ("addi", "right", "subi", True),
    ("addi", "right", "subi", "left"): ("subi", "left", "addi", False),
    ("subi", "right", "addi", "right"): ("addi", "right", "subi", False),
    ("subi", "left", "addi", "right"): ("subi", "left", "subi", True),
    ("subi", "right", "subi", "right"): ("subi", "right", "addi", False),
    ("subi", "right", "subi", "left"): ("subi", "left", "subi", False),
    ("subi", "left", "subi", "right"): ("subi", "left", "addi", False),
    ("subi", "left", "subi", "left"): ("addi", "right", "subi", True),
    ("muli", "right", "muli", "right"): ("muli", "right", "muli", False),
}
"""(kind, side of its constant b, kind of the other operand, side of its constant a): what they are together - the kind,
the side of the new constant, and how that is computed: a <kind> b, or b <kind> a where the last part is True."""


def join_constants(graph: Graph, node: OpNode, op: arith.Binary) -> bool:
    """`(x + 3) - 4` as `x + (3 - 4)`, and all other ways in which two constants can meet."""
    for side, constant, other in (("right", op.right, op.left), ("left", op.left, op.right)):
        second, inner = integer(graph, constant), graph.definition(other)
        if second is None or not isinstance(inner, arith.Binary):
            continue
        for inner_side, inner_constant, x in (("right", inner.right, inner.left), ("left", inner.left, inner.right)):
            row = _JOINED.get((op.kind, side, inner.kind, inner_side))
            first = integer(graph, inner_constant)
            if row is None or first is None:
                continue
            kind, new_side, how, is_reversed = row
            a, b = (second, first) if is_reversed else (first, second)
            type = op.result.type
            new = graph.constant(known(lanes(binary(how, type), a, b), type).payload, type, node)
            kept = (flags(op) & flags(inner)) - _wrapping(how, type, a, b)
            operands = (new, x) if new_side == "left" else (x, new)
            graph.update(
                node, arith.Binary(op.result, kind, *operands, location=op.location, attributes=_flagged(kept))
            )
            return True
    return False


def _wrapping(kind: str, type: Type, a: Numbers, b: Numbers) -> frozenset[str]:
    """The promises that a sum, difference or product does not keep with `a <kind> b` for two constants a and b.

    If that wraps as signed numbers, none. If it wraps as unsigned ones, nuw: `(x - 5) + 3` is `x + (3 - 5)`, which
    wraps for all x from 2 on.
    """
    element = element_of(type)
    assert isinstance(element, Integer)
    width = 64 if isinstance(element, IndexType) else element.width
    row = semantics.INTEGER_BINARY[kind]
    if not all_lanes(lambda x, y: wrap(row(x, y, width), width) == row(x, y, width), a, b):
        return frozenset({"nsw", "nuw"})

    def fits(x: int, y: int) -> bool:
        return 0 <= row(unsigned(x, width), unsigned(y, width), width) < 1 << width

    return frozenset() if all_lanes(fits, a, b) else frozenset({"nuw"})


def flags(op: object) -> frozenset[str]:
    """What an operation promises about overflow: nsw, nuw."""
    for name, attribute in getattr(op, "attributes", ()):
        if name == "overflowFlags" and isinstance(attribute, OpaqueAttr):
            return frozenset(re.findall(r"\b(nsw|nuw)\b", attribute.text))
    return frozenset()


def _flagged(kept: frozenset[str]) -> tuple[tuple[str, Attribute], ...]:
    """The attribute that says a promise about overflow."""
    if not kept:
        return ()
    return (("overflowFlags", OpaqueAttr(f"#arith.overflow<{', '.join(sorted(kept))}>")),)


def constants_right(graph: Graph, node: OpNode, op: arith.Binary | arith.Extended) -> bool:
    """`3 + x` as `x + 3`, where the order does not matter."""
    if op.kind in COMMUTATIVE and graph.payload(op.left) is not None and graph.payload(op.right) is None:
        graph.set(node, left=op.right, right=op.left)
        return True
    return False


def negated_operand(graph: Graph, node: OpNode, op: arith.Binary) -> bool:
    """`x + y * -1` as `x - y`; `(a - b) - a` as `0 - b`."""
    if op.kind == "addi":
        for value, other in ((op.right, op.left), (op.left, op.right)):
            match graph.definition(value):
                case arith.Binary(kind="muli", left=y, right=factor):
                    element = element_of(op.result.type)
                    assert isinstance(element, Integer)
                    if integer(graph, factor) == extremes(element)[2]:
                        graph.update(node, arith.Binary(op.result, "subi", other, y, location=op.location))
                        return True
    if op.kind == "subi":
        match graph.definition(op.left):
            case arith.Binary(kind="subi", left=a, right=b) if a is op.right:
                element = element_of(op.result.type)
                assert isinstance(element, Integer)
                zero = graph.constant(_zero(element), op.result.type, node)
                graph.update(node, arith.Binary(op.result, "subi", zero, b, location=op.location))
                return True
    return False


def bits_of_extended(graph: Graph, node: OpNode, op: arith.Binary) -> bool:
    """`extui(x) & extui(y)` as `extui(x & y)`, and likewise for extsi, or and xor."""
    if op.kind not in ("andi", "ori", "xori"):
        return False
    left, right = graph.definition(op.left), graph.definition(op.right)
    match left, right:
        case arith.Cast(kind="extui" | "extsi" as cast, operand=x), arith.Cast(kind=again, operand=y):
            if cast == again and x.type == y.type:
                narrow = Value(x.type, op.result.hint, op.location)
                graph.insert(arith.Binary(narrow, op.kind, x, y, location=op.location), node)
                graph.update(node, arith.Cast(op.result, cast, narrow, location=op.location))
                return True
    return False


def not_of_compare(graph: Graph, node: OpNode, op: arith.Binary) -> bool:
    """A comparison of integers with all bits turned is the opposite comparison."""
    if op.kind != "xori" or element_of(op.result.type) != I1 or integer(graph, op.right) != 1:
        return False
    match graph.definition(op.left):
        case arith.Compare(kind="cmpi", predicate=predicate, left=a, right=b):
            graph.update(node, arith.Compare(op.result, "cmpi", NOT[predicate], a, b, location=op.location))
            return True
    return False


def fold_extended(graph: Graph, node: OpNode, op: arith.Extended) -> bool:
    """A sum with its carry, a product with its upper half, of constants and of numbers that change nothing."""
    left, right = numbers(graph, op.left), numbers(graph, op.right)
    element = element_of(op.low.type)
    assert isinstance(element, Integer)
    n = integer(graph, op.right)
    if op.kind == "addui_extended" and n == 0:
        graph.replace(node, (op.left, graph.constant(False, op.high.type, node)))
        return True
    if op.kind != "addui_extended" and n == 0:
        zero = graph.constant(_zero(element), op.low.type, node)
        graph.replace(node, (zero, graph.constant(_zero(element), op.low.type, node)))
        return True
    if op.kind == "mului_extended" and n == 1:
        graph.replace(node, (op.left, graph.constant(_zero(element), op.high.type, node)))
        return True
    if left is None or right is None:
        return constants_right(graph, node, op)
    function = semantics.extended(op.kind, element)
    low = lanes(lambda a, b: function(int(a), int(b))[0], left, right)
    high = lanes(lambda a, b: function(int(a), int(b))[1], left, right)
    if op.kind == "addui_extended":
        high = lanes(lambda n: n & 1, high)
    values = [graph.constant(known(n, v.type).payload, v.type, node) for n, v in ((low, op.low), (high, op.high))]
    graph.replace(node, values)
    return True


def half_of_extended(graph: Graph, node: OpNode, op: arith.Extended) -> bool:
    """One whose second result nobody reads is a plain sum or product; a signed product with 1 has its sign above."""
    if not graph.uses(op.high):
        kind = "addi" if op.kind == "addui_extended" else "muli"
        plain = Value(op.low.type, op.low.hint, op.location)
        graph.insert(arith.Binary(plain, kind, op.left, op.right, location=op.location), node)
        graph.rename(op.low, plain)
        graph.erase(node)
        return True
    element = element_of(op.low.type)
    if op.kind == "mulsi_extended" and integer(graph, op.right) == 1 and element != I1:
        zero = graph.constant(0, op.low.type, node)
        negative, sign = Value(same_shape(op.low.type, I1)), Value(op.high.type)
        graph.insert(arith.Compare(negative, "cmpi", "slt", op.left, zero, location=op.location), node)
        graph.insert(arith.Cast(sign, "extsi", negative, location=op.location), node)
        graph.replace(node, (op.left, sign))
        return True
    return False


INTEGERS = Rules(
    rules={arith.Extended: (fold_extended, half_of_extended)},
)
INTEGER_RULES = (constants_right, join_constants, negated_operand, bits_of_extended, not_of_compare)
