"""Loops that were unrolled by hand, as short ones again: what is made of these needs no shuffles, and fits anyway."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import holders
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take_all(s: Schedule) -> Schedule:
    """The schedule with each innermost loop rerolled whose body does the same several times.

    for i < N step 4: { t += x[i]; t += x[i + 1]; ... }   ->   for i < N: t += x[i]
    """
    for name in [*_unrolled(s)]:
        for has_variables in (False, True):
            made = copy(s)
            with suppress(IllegalTransform, ScheduleError):
                if has_variables:
                    made.scalar_replace(name)
                s = made.reroll(name)
                break
    return s


def _unrolled(s: Schedule) -> Iterator[str]:
    """The innermost loops that move on by several elements of an array, and access each of these."""
    names = {row.iv: row.names[0] for row in s.loops()}
    for loop in [op for op in holders(s.function) if isinstance(op, affine.For) and op.iv in names]:
        if any(any(True for _ in op.blocks()) for op in loop.body):
            continue
        accesses = [op for op in loop.body if isinstance(op, affine.Access) and op.index]
        moves = [(op.index[-1].substitute({loop.iv: loop.iv + 1}) - op.index[-1]) * loop.step for op in accesses]
        wide = {op.memref for op, by in zip(accesses, moves, strict=True) if by.is_constant and abs(by.constant) > 1}
        if any(sum(op.memref is v for op in accesses) > 1 for v in wide):
            yield names[loop.iv]
