"""Whether the counter of a loop fits into 64 bits, also where it steps out of the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine
from affdsl.ir.magnitude import NUMBER

LARGEST = 2**63 - 1


def too_large(lower: Sequence[Affine], upper: Sequence[Affine], step: int) -> str:
    """What is wrong with the numbers of a loop; nothing where its counter always fits, and its number of iterations.

    Bounds that are no constants are below 2**62 in every call that is not refused.

    >>> too_large([Affine.of(0)], [Affine.of(2**63 - 1)], 1)
    ''
    >>> too_large([Affine.of(0)], [Affine.of(10)], 2**63 - 1)
    ''
    >>> too_large([Affine.of(1)], [Affine.of(10)], 2**63 - 1)
    'the counter of a loop from 1 to 10 by 9223372036854775807 goes past 2**63 - 1'
    """
    if not lower or not upper or step < 1:
        return ""
    lows, highs = ([e.constant for e in bounds if e.is_constant] for bounds in (lower, upper))
    low, high = max(lows, default=1 - NUMBER), min(highs, default=NUMBER - 1)
    last = low + (high - 1 - low) // step * step if len(lows) == len(lower) else high - 1
    text = f"a loop from {low if lows else '...'} to {high if highs else '...'} by {step}"
    if max(map(abs, (*lows, *highs)), default=0) > LARGEST + 1 or (high > low and last + step > LARGEST):
        return f"the counter of {text} goes past 2**63 - 1"
    return f"{text} is longer than 2**63 - 1" if high - low > LARGEST else ""


def too_large_in(op: Op) -> Iterator[str]:
    """What is wrong with the numbers of the loops that an affine operation is."""
    match op:
        case affine.For():
            loops = [(op.lower, op.upper, op.step)]
        case affine.Parallel():
            loops = [*zip(op.lower, op.upper, op.steps, strict=False)]
        case _:
            return
    yield from filter(None, (too_large(*loop) for loop in loops))
