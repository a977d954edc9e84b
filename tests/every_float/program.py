"""A program in C that computes a function of floats on vectors and one by one, and counts what differs.

One by one, the C library computes it for a double, and the result is rounded. The program is told where to begin, where
to end and how far apart the floats are, all by the bits of these.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affdsl.codegen.c.unit import Unit
from affdsl.codegen.c.vector_helpers import TARGETS, has_row
from tests.harness.batch import WARNINGS, C
from tests.harness.machines import MACHINES, runnable

FLOATS = 1 << 32
LANES = (4, 8, 16)
LISTED = 20
"""So many floats of those that differ are printed."""
NEAREST = 2
"""How many units in the last place of a double lie between a result and the middle between two floats at most, where
the float is a hard one."""

_MAIN = """\
static float one_by_one(float x)
{
    return (float)KIND(x);
}

/* how far a double lies from the middle between two floats that are neighbours, in units in its last place */
static uint64_t from_middle(double y)
{
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits &= 0x1fffffff;
    return bits < 0x10000000 ? 0x10000000 - bits : bits - 0x10000000;
}

static int is_same(float a, float b)
{
    return a != a ? b != b : memcmp(&a, &b, sizeof a) == 0;
}

int main(int count, char **words)
{
    if (count != 4)
        return 2;
    const uint64_t first = strtoull(words[1], NULL, 0), end = strtoull(words[2], NULL, 0);
    const uint64_t step = strtoull(words[3], NULL, 0);
    uint64_t wrong = 0;
    for (uint64_t k = first; k < end; k += LANES * step) {
        VECTOR given;
        for (unsigned lane = 0; lane < LANES; ++lane) {
            const uint32_t bits = (uint32_t)(k + lane * step);
            float x;
            memcpy(&x, &bits, sizeof x);
            given[lane] = x;
        }
        const VECTOR found = FUNCTION(&given);
        for (unsigned lane = 0; lane < LANES; ++lane) {
            const float x = given[lane], wanted = one_by_one(x);
            if (!is_same(found[lane], wanted) && wrong++ < LISTED)
                (void)printf("%a is %a and not %a\\n", (double)x, (double)found[lane], (double)wanted);
            if (HARD && fabsf(wanted) >= 0x1p-126f && fabsf(wanted) < INFINITY && from_middle(KIND(x)) <= HARD)
                (void)printf("hard %a\\n", (double)x);
        }
    }
    (void)printf("%llu\\n", (unsigned long long)wrong);
    return 0;
}
"""


@dataclass(frozen=True)
class Trial:
    """A function of floats on so many lanes, compiled in a way."""

    kind: str
    lanes: int
    way: C

    def __str__(self) -> str:
        flags = " ".join(flag for flag in self.way.flags if not flag.startswith("-Wno"))
        return f"{self.kind} on {self.lanes} lanes by {self.way.compiler} {flags}"


def trials(kinds: Sequence[str], machines: Sequence[str]) -> Iterator[Trial]:
    """All that have a form of their own: on each machine with registers of its width, by each compiler."""
    for target in (each for each in TARGETS if each.name in machines):
        for kind in kinds:
            lanes = target.width // 32
            if has_row(kind, "f32", lanes):
                yield from (Trial(kind, lanes, runnable(target.name, way)) for way in MACHINES[target.name])


def fused_by_compilers(trial: Trial) -> Trial:
    """The same where the compiler may make one operation of a product and a sum, as gcc does if nobody says no."""
    return replace(trial, way=replace(trial.way, flags=(*trial.way.flags, "-ffp-contract=fast")))


def text(trial: Trial, *, hard: bool = False) -> str:
    """The program. With `hard`, it prints which floats have results near the middle between two others."""
    unit = Unit()
    function = unit.vector_helper(trial.kind, "f32", trial.lanes)
    for header in ("math.h", "stdio.h", "stdlib.h", "string.h"):
        unit.header(header)
    words = {"KIND": trial.kind, "FUNCTION": function, "VECTOR": f"f32x{trial.lanes}", "LISTED": str(LISTED)}
    main = _MAIN.replace("LANES", str(trial.lanes)).replace("HARD", str(NEAREST if hard else 0))
    for word, meaning in words.items():
        main = main.replace(word, meaning)
    return unit.file(main)


def compiled(trial: Trial, folder: Path, *, hard: bool = False) -> Path:
    """The program, made in a folder."""
    (folder / "program.c").write_text(text(trial, hard=hard), encoding="utf-8")
    command = [
        trial.way.path(),
        "-O2",
        "-ffp-contract=off",
        *WARNINGS,
        *trial.way.flags,
        "program.c",
        "-o",
        "program",
        "-lm",
    ]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "program"


def differing(program: Path, trial: Trial, first: int = 0, end: int = FLOATS, step: int = 1) -> list[str]:
    """What the program says of floats; the last line is how many differ."""
    command = [*trial.way.runner, str(program), str(first), str(end), str(step)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
