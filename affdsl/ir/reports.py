"""What is said of values that a kernel prints, or that stand with an assertion that does not hold."""

from __future__ import annotations

import struct


def with_report(message: str, report: str) -> str:
    """A message of an assertion with what is printed for it."""
    return f"{message} ({report.strip()})" if report.strip() else message


def shown_float(x: float, bits: int) -> str:
    """A float with as few digits as tell it from all others of so many bits, as C prints it.

    >>> shown_float(0.1, 64), shown_float(0.10000000149011612, 32), shown_float(-float("nan"), 64)
    ('0.1', '0.1', 'nan')
    """
    if x != x:
        return "nan"
    texts = [f"{x:.{digits}g}" for digits in range(1, 18)]
    return next((text for text in texts if _rounded(float(text), bits) == x), texts[-1])


def _rounded(x: float, bits: int) -> float:
    if bits == 64:
        return x
    try:
        found: float = struct.unpack("=f", struct.pack("=f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else -float("inf")
    return found
