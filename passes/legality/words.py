"""What a refusal says: which two statements, how they depend, and two iterations that anybody can check."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.debugging import why_in_order
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import op_name
from affdsl.ir.spelling import called, hint, spell
from affdsl.ir.traverse import definitions
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, Distance, Witness

_VERBS = {"flow": "feeds", "anti": "must come before", "output": "is overwritten by", "input": "reads the same as"}
_BEFORE = {"read": "reads", "write": "writes"}
_AFTER = {"flow": "reads", "anti": "writes", "output": "writes again", "input": "reads again"}


class Message(FrozenValue):
    """A refusal in words: where, what cannot be done, of which kernel, why, and what can be done instead.

    >>> print(Message("k.py:4", "swap i and j", ("they are one loop",), "leave them"))
    k.py:4: cannot swap i and j
        they are one loop
        legal: leave them
    """

    place: str
    what: str
    reasons: tuple[str, ...]
    alternative: str = ""
    of: str = ""

    @property
    def unplaced(self) -> str:
        """All of it but where."""
        legal = [f"legal: {self.alternative}"] if self.alternative else []
        return "\n    ".join([f"cannot {self.what}{self.of}", *self.reasons, *legal])

    def __str__(self) -> str:
        return f"{self.place}: {self.unplaced}" if self.place else self.unplaced


def explained(dependence: Dependence, witness: Witness | None) -> str:
    """Why a dependence is in the way: its statements, its distance, and two iterations with the element they share."""
    source, sink = dependence.source, dependence.sink
    ordered = why_in_order(source.op, source.op) or why_in_order(sink.op, sink.op)
    if ordered:
        return ordered
    vector = ", ".join(map(_distance, dependence.distances))
    kind = dependence.kind
    if isinstance(source.op, affine.Yield) and source.op is sink.op:
        return f"{source.buffer.name} is carried from each iteration of its loop to the next, in this order"
    distance = f" with distance ({vector})" if vector else ""
    text = f"{access_name(source)} {_VERBS[kind]} {access_name(sink)}{distance}"
    if dependence.unknown:
        return f"it may be that {text}:\n" + "; ".join(dict.fromkeys(dependence.unknown))
    if witness is None:
        return f"{text}; no two iterations are known"
    element = f"{source.buffer.name}[{', '.join(map(str, witness.element))}]"
    first, second = iteration_name(source.ivs, witness.source), iteration_name(sink.ivs, witness.sink)
    example = f"e.g. {first} {_BEFORE[source.kind]} {element}, which {second} {_AFTER[kind]}"
    sizes = ", ".join(f"{name} = {number}" for name, number in witness.params.items())
    return f"{text},\n{example}{f' (for {sizes})' if sizes else ''}; the new order does not run them in this order"


def shared(dependence: Dependence) -> str:
    """What iterations have to do with each other, in half a sentence for who wrote them."""
    source, sink = dependence.source, dependence.sink
    if isinstance(source.op, affine.Yield) and source.op is sink.op:
        return f"each iteration needs the {source.buffer.name} that the one before it hands on"
    first, second = in_source(source), in_source(sink)
    both = " and ".join(dict.fromkeys((first, second)))
    match dependence.kind:
        case "flow" if first != second:
            text = f"an iteration reads {second}, which one before it stores as {first}"
        case "anti" if first != second:
            text = f"an iteration reads {first}, which a later one stores as {second}"
        case "flow" | "anti":
            text = f"one iteration after the other reads and stores {both}"
        case "output":
            text = f"several iterations store the same elements: {both}"
        case _:
            text = f"several iterations read the same elements: {both}"
    return f"it is not known whether {text}: {dependence.unknown[0]}" if dependence.unknown else text


def in_source(access: Access) -> str:
    """The element that an access touches as its author wrote it, and its line: "x[i - 1] (line 9)"."""
    what = element_in_source(access.op) or access.buffer.name
    return f"{what} (line {access.location.line})" if access.location is not None else what


def element_in_source(op: Op) -> str:
    """The element that a load or a store touches, as its author wrote it; empty for other operations."""
    element = re.sub("^the (vector )?(load|store) ", "", accessed_element(op))
    return element.replace(" floordiv ", " // ").replace(" mod ", " % ").removesuffix("[]")


def access_name(access: Access) -> str:
    """An access as its author wrote it, and where."""
    by = f"the call of {access.op.callee}" if isinstance(access.op, func.Call) else op_name(access.op)
    what = accessed_element(access.op) or f"the {access.kind} of {access.buffer.name} by {by}"
    return f"{what} at line {access.location.line}" if access.location is not None else what


def accessed_element(op: Op) -> str:
    """A load or a store as its author wrote it: "the load A[i, j]"; empty for other operations."""
    match op:
        case affine.Load(memref=buffer, index=index):
            return f"the load {_element(buffer, index)}"
        case affine.Store(memref=buffer, index=index):
            return f"the store {_element(buffer, index)}"
        case memref.Load(memref=buffer, indices=indices):
            return f"the load {_element(buffer, tuple(map(Affine.of, indices)))}"
        case memref.Store(memref=buffer, indices=indices):
            return f"the store {_element(buffer, tuple(map(Affine.of, indices)))}"
        case affine.VectorLoad(memref=buffer, index=index):
            return f"the vector load {_element(buffer, index)}"
        case affine.VectorStore(memref=buffer, index=index):
            return f"the vector store {_element(buffer, index)}"
    return ""


def _element(buffer: Value, index: Sequence[Affine]) -> str:
    return f"{buffer.hint or 'memref'}[{', '.join(map(_subscript, index))}]"


def _subscript(expr: Affine) -> str:
    """A subscript as its author wrote it; "..." where it has values of which only the operation is known."""
    names = {value: value.hint or hint(value) for value in expr.values()}
    if any(text.startswith(("a value ", "the ")) for text in names.values()):
        return "..."
    if expr.value is None:
        return spell(expr, lambda value: names[value])
    return names[expr.value].removeprefix("(").removesuffix(")")


def iteration_name(ivs: Sequence[Value], numbers: Sequence[int]) -> str:
    """What messages call an iteration of some loops: "i = 2", "(i, j) = (2, 0)".

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> iteration_name((i, j), (2, 0)), iteration_name((i,), (2,)), iteration_name((), ())
    ('(i, j) = (2, 0)', 'i = 2', 'the only iteration')
    """
    match ivs:
        case ():
            return "the only iteration"
        case (iv,):
            return f"{name(iv)} = {numbers[0]}"
    return f"({', '.join(map(name, ivs))}) = ({', '.join(map(str, numbers))})"


def name(value: Value) -> str:
    """What messages call a value: a loop, an array, a number."""
    return hint(value).removeprefix("%")


def described(value: Value, inside: Op) -> str:
    """What messages call a value that may have no name: what makes it, where that is an operation inside of another."""
    return called(value).removeprefix("%") or made_by(value, definitions(inside).get(value)) or hint(value)


def made_by(value: Value, op: Op | None) -> str:
    """What messages call a value by the operation that defines it; empty where that does not say."""
    if isinstance(op, affine.For) and value in op.carried:
        return f"a value that {called(op.iv)} carries"
    if op is None or value not in op.defines():
        return ""
    at = f" at line {op.location.line}" if op.location is not None else ""
    return f"{accessed_element(op) or f'the result of {op_name(op)}'}{at}"


def _distance(distance: Distance) -> str:
    return str(distance.value) if distance.value is not None else f"{_end(distance.low)}..{_end(distance.high)}"


def _end(number: int | None) -> str:
    return "*" if number is None else str(number)
