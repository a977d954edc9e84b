"""The table that a profile is when it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from affdsl.shown import html_table

if TYPE_CHECKING:
    from affdsl.seeing.profile import Measured, Profile

HEAD = ("nest", "line", "time", "share", "runs", "flop", "GFLOP/s", "moved", "GB/s", "flop/B", "of the roof", "bound")
ABOVE = 1.005
"""A larger share of the roof is shown as more than 100 %."""
BUSY = 0.3
"""Of so many cores that others use it is said that times suffer."""
_LEFT = 2
"""So many columns are texts, which begin at the left."""


def table(of: Profile) -> str:
    """The nests of a call, a row each, then the whole call, and what is to be known to read the numbers."""
    return "\n".join([_title(of), *_aligned([HEAD, *_rows(of)]), *_notes(of)])


def html(of: Profile) -> str:
    """The same for notebooks."""
    rows = [(*row, *[""] * (len(HEAD) - len(row))) for row in _rows(of)]
    return html_table(HEAD, rows, title=_title(of), notes=[*_notes(of)], code=(0,), numbers=range(_LEFT, len(HEAD) - 1))


def _title(of: Profile) -> str:
    sizes = ", ".join(f"{name} = {number}" for name, number in of.sizes.items())
    head = f"{of.kernel}{f' with {sizes}' if sizes else ''}"
    took = f"{seconds_text(of.whole.seconds)}, the median of {of.repeats} run{'s' * (of.repeats > 1)}"
    return f"{head}: {took}"


def _rows(of: Profile) -> list[tuple[str, ...]]:
    beside = of.seconds_beside
    rest = ("beside the nests", "", seconds_text(beside), _percent(beside, of.whole.seconds))
    return [*(_row(nest, of) for nest in of.nests), rest, _row(of.whole, of)]


def seconds_text(seconds: float) -> str:
    """A time in the unit in which it is best read.

    >>> seconds_text(0.00123), seconds_text(2.5), seconds_text(4.2e-7)
    ('1.230 ms', '2.500 s', '420 ns')
    """
    if seconds >= 1:
        return f"{seconds:.3f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3f} ms"
    if seconds >= 1e-6:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e9:.0f} ns"


def _called(nest: Measured, of: Profile) -> str:
    return "whole call" if nest is of.whole else nest.name


def _row(nest: Measured, of: Profile) -> tuple[str, ...]:
    at_most = "<= " if nest.at_most else ""
    bound = nest.level if nest.bound == "memory" else "compute"
    if nest.threads > 1:
        bound += f", {nest.threads} threads"
    return (
        _called(nest, of),
        "" if nest.location is None else str(nest.location),
        seconds_text(nest.seconds),
        _percent(nest.seconds, of.whole.seconds),
        str(nest.runs),
        _number(nest.flops),
        f"{nest.flops_per_second * 1e-9:.2f}" if nest.flops else "",
        f"{at_most}{_number(nest.bytes_moved, 'B')}",
        f"{nest.bytes_per_second * 1e-9:.2f}" if nest.bytes_moved else "",
        f"{nest.intensity:.2f}" if nest.bytes_moved and nest.flops else "",
        _percent(nest.seconds_at_best, nest.seconds),
        bound if nest.flops or nest.bytes_moved else "",
    )


def _notes(of: Profile) -> Iterator[str]:
    """What the numbers mean, as far as this call needs it."""
    rows = (*of.nests, of.whole)
    types = {type for _, type in of.whole.work}
    for threads, roof in sorted(of.rooflines.items()):
        if all(nest.threads != threads for nest in rows):
            continue
        rates = [f"{rate * 1e-9:.0f} GFLOP/s of {kind}" for kind, rate in roof.flops.items() if kind in types]
        levels = [f"{level.name} {level.bandwidth * 1e-9:.0f} GB/s" for level in roof.levels]
        yield f"The roof of {threads} thread{'s' * (threads > 1)}: {', '.join((*rates, *levels))}."
    doubtful = max((roof.others for roof in of.rooflines.values() if roof.is_doubtful), default=0.0)
    if doubtful:
        yield (
            f"The roof is doubtful: others used {doubtful:.1f} cores while it was measured. "
            "The next profile on a quiet machine measures it again."
        )
    above = [_called(nest, of) for nest in rows if nest.share > ABOVE]
    if above:
        yield f"Above the roof, which was measured again for that: {'; '.join(above)}. So it is still measured too low."
    if of.others > BUSY:
        yield f"Others used {of.others:.1f} cores while this ran, so it took longer than on a quiet machine."
    by_run = [nest.name for nest in of.nests if nest.is_counted_by_run]
    if by_run:
        yield f"Counted while it ran, as data decides how often something is done: {'; '.join(by_run)}."
    at_most = dict.fromkeys(name for nest in of.nests for name in nest.at_most)
    if at_most:
        yield f"Data or a mask decides which elements are touched, so whole rows or arrays count: {', '.join(at_most)}."
    if any(nest.functions for nest in rows):
        yield f"{_number(of.whole.functions)} functions as exp and pow are computed, which count as no flop."
    if not any(nest.flops for nest in rows) and of.whole.integer_operations:
        yield f"{_number(of.whole.integer_operations)} operations on integers."
    kinds = {kind for kind, _ in of.whole.work}
    if of.whole.bound == "compute" and {"mulf", "addf"} <= kinds and "fma" not in kinds:
        yield "Products and sums are apart, as they round: contract=True may make one operation of both."


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def _number(count: int, unit: str = "") -> str:
    """A number in the size of unit in which it is best read.

    >>> _number(999), _number(1234), _number(5_600_000, "B"), _number(7, "B")
    ('999', '1.23 k', '5.60 MB', '7 B')
    """
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.2f} {prefix}{unit}"
    return f"{count} {unit}".rstrip()


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their columns below each other; numbers end at the right."""
    width = [max((len(row[k].rstrip()) for row in rows if k < len(row)), default=0) for k in range(len(HEAD))]
    lines = []
    for row in rows:
        cells = [row[k].rstrip() if k < len(row) else "" for k in range(len(HEAD))]
        shown = [c.ljust(w) if k < _LEFT else c.rjust(w) for k, (c, w) in enumerate(zip(cells, width, strict=True))]
        lines.append("  ".join((*shown[:-1], cells[-1])).rstrip())
    return lines
