"""How integers are held at run time, as `affdsl.ir.numeric` has it: their width, their range and their signs."""

from __future__ import annotations

from affdsl.ir.types import IndexType, ScalarType


def width(type: ScalarType) -> int:
    """The bits of a number; index has 64."""
    return 64 if isinstance(type, IndexType) else type.width


def wrap(number: int, width: int) -> int:
    """The integer of `width` bits that number is equal to modulo 2**width."""
    if width == 1:
        return number & 1
    half = 1 << (width - 1)
    return ((number + half) & (2 * half - 1)) - half


def signed(number: int, width: int) -> int:
    """A held integer as the signed number that it stands for: it is that already, but for i1."""
    return -number if width == 1 else number


def unsigned(number: int, width: int) -> int:
    """A held integer as the unsigned number with the same bits."""
    return number & ((1 << width) - 1)
