"""Printing and assertions as C statements."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.c.checks import note
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, call, invert
from affdsl.codegen.c.sites import Assertion
from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.debugging import asserted, printed
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.types import FloatType, IndexType, IntegerType


def known(c: Context, op: Opaque) -> None:
    """An operation without a class of which it is known what it does."""
    message = asserted(op)
    if message is not None:
        _assertion(c, op, message, c.reports[op])
    elif op not in c.told:
        _print(c, op)


def _print(c: Context, op: Opaque) -> None:
    """`printf(...);`"""
    says = printed(op)
    assert says is not None, "the plan refuses all others"
    c.unit.header("stdio.h")
    if says.value is not None:
        shown = c.values.of(says.value)
        bits = _bits(says.value)
        if bits:
            c.lines.add(f"{c.unit.helper(f'affdsl_print_f{bits}')}({shown});")
        else:
            c.lines.add(f'printf("%lld", (long long)({shown}));')
    if says.text:
        c.lines.add(f"fputs({_literal(says.text)}, stdout);")
    if says.text.endswith("\n"):
        c.lines.add("fflush(stdout);")


def _assertion(c: Context, op: Opaque, message: str, before: Sequence[Op]) -> None:
    """`if (!condition) { ... return 3; }`"""
    says = [each for each in map(printed, before) if each is not None]
    values = [each.value for each in says if each.value is not None]
    made = c.definitions.get(op.operands[0])
    is_never = isinstance(made, arith.Constant) and made.value is False
    condition = c.values.of(op.operands[0])
    numbers = [_number(c, value) for value in values]
    pieces = tuple((each.text, -1 if each.value is None else _bits(each.value)) for each in says)
    site = Assertion(c.words.where(op), message, pieces)
    if is_never:
        c.lines.drop(condition)
        note(c, site, numbers)
        return
    with c.lines.block(f"if ({invert(condition)})"):
        note(c, site, numbers)


def _number(c: Context, value: Value) -> Code:
    """A value in the 64 bits of a note."""
    shown, bits = c.values.of(value), _bits(value)
    if not bits:
        return call("(int64_t)", shown)
    return call(c.unit.helper("bits_f64"), shown if bits == 64 else call("(double)", shown))


def _bits(value: Value) -> int:
    """How many bits a float has; 0 for an integer."""
    match value.type:
        case FloatType(width=32 | 64 as width):
            return width
        case IntegerType(width=1 | 8 | 16 | 32 | 64) | IndexType():
            return 0
    raise UnsupportedError(f"C output does not print values of type {value.type}")


def _literal(text: str) -> str:
    """text as a C string."""
    shown = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()]
    return f'"{"".join(shown)}"'
