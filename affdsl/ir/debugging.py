"""What `vector.print` and `cf.assert` say: operations without a class, of which it is known what they do."""

from __future__ import annotations

from affdsl.frozen import FrozenValue
from affdsl.ir.attributes import OpaqueAttr, StringAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk

MARKS = {"newline": "\n", "no_punctuation": "", "comma": ", ", "open": "( ", "close": " )"}
"""What follows the value that is printed."""


class Printed(FrozenValue):
    """A value, if there is one, and the text after it."""

    value: Value | None
    text: str


def printed(op: Op) -> Printed | None:
    """What an operation prints; None if it is no vector.print."""
    if not isinstance(op, Opaque) or op.kind != "vector.print":
        return None
    said = dict((*op.properties, *op.attributes))
    match said.get("stringLiteral"), said.get("punctuation"):
        case StringAttr(text), _:
            return Printed(None, text)
        case _, OpaqueAttr(mark):
            name = mark.removeprefix("#vector.punctuation<").removesuffix(">")
        case _:
            name = "newline"
    return Printed(op.operands[0] if op.operands else None, MARKS.get(name, "\n"))


def asserted(op: Op) -> str | None:
    """The message of a cf.assert; None if an operation is none."""
    if not isinstance(op, Opaque) or op.kind != "cf.assert":
        return None
    message = dict((*op.properties, *op.attributes)).get("msg")
    return message.value if isinstance(message, StringAttr) else ""


def is_known(op: Opaque) -> bool:
    """Whether an operation without a class is one of these."""
    return op.kind in ("vector.print", "cf.assert")


def why_in_order(op: Op, inside: Op) -> str:
    """Why nothing that matters to an operation moves past it, and what to do; empty for operations of other kinds.

    What is printed for an assertion is part of that: `inside` is an operation around, in which it is looked for.
    """
    for around in walk(inside) if printed(op) is not None else ():
        for block in around.blocks():
            op = next((assertion for assertion, before in reports(block).items() if op in before), op)
    line = f" at line {op.location.line}" if op.location is not None else ""
    if printed(op) is not None:
        return f"vector.print{line} prints in the order of iterations: {_INSTEAD}"
    if asserted(op) is not None:
        return f"cf.assert{line} ends the call where it does not hold, before what comes after it: {_INSTEAD}"
    return ""


_INSTEAD = "move it to a loop of its own, or leave it out"


def reports(block: Block) -> dict[Op, tuple[Op, ...]]:
    """For each assertion of a block what is printed right before it: that is part of its message."""
    found: dict[Op, tuple[Op, ...]] = {}
    before: tuple[Op, ...] = ()
    for op in block:
        if printed(op) is not None:
            before += (op,)
        elif asserted(op) is not None:
            found[op], before = before, ()
        else:
            before = ()
    return found
