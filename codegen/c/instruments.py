"""Clocks around the loops of a kernel, and counters in its blocks, in a copy of it that is compiled to be looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from affdsl.codegen.c.context import Context, Rows
from affdsl.codegen.c.unit import Unit
from affdsl.ir.core import Op

FLAGS = ("-D_POSIX_C_SOURCE=200809L",)
"""What the headers need to know before they declare the clock."""
BEGIN, END = "affdsl_begin", "affdsl_end"
NAMES = (BEGIN, END, "affdsl_now", "affdsl_numbers", "affdsl_noted", "timespec", "clock_gettime")
"""What no function of a kernel may be called in such a copy."""

_TEXT = """\
/* For each clock the nanoseconds that it ran and how often it was started, and then the counters. */
static _Thread_local int64_t affdsl_noted[ROOM];

static inline int64_t affdsl_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void affdsl_begin(int clock)
{
    ++affdsl_noted[2 * clock + 1];
    affdsl_noted[2 * clock] -= affdsl_now();
}

static inline void affdsl_end(int clock)
{
    affdsl_noted[2 * clock] += affdsl_now();
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
void affdsl_numbers(int64_t *numbers);

void affdsl_numbers(int64_t *numbers)
{
    memcpy(numbers, affdsl_noted, sizeof affdsl_noted);
    memset(affdsl_noted, 0, sizeof affdsl_noted);
}

"""


@dataclass
class Instruments:
    """What a copy of a kernel notes of itself while it runs.

    Attributes
    ----------
    clocks
        The operations that are timed, by their numbers: from 1 on, as 0 is the whole call.
    counters
        For each operation the counter that is raised when the first one of its block runs: a block counts once.
    """

    clocks: Mapping[Op, int] = field(default_factory=dict)
    counters: Mapping[Op, int] = field(default_factory=dict)

    @property
    def room(self) -> int:
        """How many numbers there are."""
        return 2 * (1 + len(self.clocks)) + max(self.counters.values(), default=-1) + 1

    def rows(self, rows: Rows) -> Rows:
        """What writes each operation, with its clock and its counter."""
        written: set[tuple[int, int]] = set()
        return {kind: self._row(row, written) for kind, row in rows.items()}

    def define(self, unit: Unit) -> None:
        """Put what the instruments are into a file."""
        unit.header("time.h")
        unit.header("string.h")
        unit.define(_TEXT.replace("ROOM", str(self.room)))

    def _row(self, row: Callable[..., None], written: set[tuple[int, int]]) -> Callable[..., None]:
        first = 2 * (1 + len(self.clocks))

        def write(c: Context, op: Op) -> None:
            counter, clock = self.counters.get(op), self.clocks.get(op)
            if counter is not None and (id(c), counter) not in written:
                written.add((id(c), counter))
                c.lines.add(f"++affdsl_noted[{first + counter}];")
            if clock is not None:
                c.lines.add(f"{BEGIN}({clock});")
            row(c, op)
            if clock is not None:
                c.lines.add(f"{END}({clock});")

        return write
