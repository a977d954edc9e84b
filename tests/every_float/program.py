"""A program in C that computes functions of floats on vectors and one by one, and counts what differs.

One by one, the C library computes them for a double, and the result is rounded. The program is told which function, and
where to begin, where to end and how far apart the floats are, all by the bits of these.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affdsl.codegen.c.unit import Unit
from affdsl.codegen.c.vector_helpers import TARGETS, has_row
from affdsl.passes.lowering.in_doubles import FARTHEST, KINDS
from tests.harness.batch import WARNINGS, C
from tests.harness.machines import MACHINES, runnable

FLOATS = 1 << 32
LISTED = 20
"""So many floats of those that differ are printed."""
NEAREST = 2
"""How many units in the last place of a double lie between a result and the middle between two floats at most, where
the float is a hard one."""

_COMMON = """\
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

/* how many doubles lie between two, which both are normal and have one sign */
static uint64_t apart(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x < y ? y - x : x - y;
}

static VECTOR floats_from(uint64_t first, uint64_t step)
{
    VECTOR found;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        const uint32_t bits = (uint32_t)(first + lane * step);
        float x;
        memcpy(&x, &bits, sizeof x);
        found[lane] = x;
    }
    return found;
}
"""
_OF_KIND = """
/* how far the doubles are from those of the library, before they are rounded */
static uint64_t farthest_KIND(const VECTOR *given)
{
    uint64_t found = 0;
    for (unsigned half = 0; half < LANES; half += LANES / 2) {
        WIDE wide;
        for (unsigned lane = 0; lane < LANES / 2; ++lane)
            wide[lane] = (*given)[half + lane];
        wide = near_KIND_WIDE(&wide);
        for (unsigned lane = 0; lane < LANES / 2; ++lane) {
            const double x = (*given)[half + lane], wanted = KIND(x);
            if (x >= LEAST && x <= MOST && isnormal(wanted) && apart(wide[lane], wanted) > found)
                found = apart(wide[lane], wanted);
        }
    }
    return found;
}

static void try_KIND(uint64_t first, uint64_t end, uint64_t step)
{
    uint64_t wrong = 0, farthest = 0;
    for (uint64_t k = first; k < end; k += LANES * step) {
        const VECTOR given = floats_from(k, step), found = KIND_VECTOR(&given);
        const uint64_t here = farthest_KIND(&given);
        farthest = here > farthest ? here : farthest;
        for (unsigned lane = 0; lane < LANES; ++lane) {
            const float x = given[lane], wanted = (float)KIND(x);
            if (!is_same(found[lane], wanted) && wrong++ < LISTED)
                (void)printf("%a is %a and not %a\\n", (double)x, (double)found[lane], (double)wanted);
            if (HARD && fabsf(wanted) >= 0x1p-126f && fabsf(wanted) < INFINITY && from_middle(KIND(x)) <= HARD)
                (void)printf("hard %a\\n", (double)x);
        }
    }
    (void)printf("%llu\\n%llu\\n", (unsigned long long)wrong, (unsigned long long)farthest);
}
"""
_MAIN = """
int main(int count, char **words)
{
    if (count != 5)
        return 2;
    const uint64_t first = strtoull(words[2], NULL, 0), end = strtoull(words[3], NULL, 0);
    const uint64_t step = strtoull(words[4], NULL, 0);
CHOICES
    return 0;
}
"""


@dataclass(frozen=True)
class Trial:
    """Functions of floats on so many lanes, compiled in a way."""

    lanes: int
    way: C

    def __str__(self) -> str:
        flags = " ".join(flag for flag in self.way.flags if not flag.startswith("-Wno"))
        return f"{self.lanes} lanes by {self.way.compiler} {flags}"


def trials(machines: Sequence[str]) -> Iterator[Trial]:
    """Those that have a form of their own: on each machine with registers of its width, by each compiler."""
    for target in (each for each in TARGETS if each.name in machines):
        lanes = target.width // 32
        if has_row("exp", "f32", lanes):
            yield from (Trial(lanes, runnable(target.name, way)) for way in MACHINES[target.name])


def fused_by_compilers(trial: Trial) -> Trial:
    """The same where the compiler may make one operation of a product and a sum, as gcc does if nobody says no."""
    return replace(trial, way=replace(trial.way, flags=(*trial.way.flags, "-ffp-contract=fast")))


def text(trial: Trial, kinds: Sequence[str], *, hard: bool = False) -> str:
    """The program. With `hard`, it prints which floats have results near the middle between two others."""
    unit = Unit()
    for header in ("math.h", "stdio.h", "stdlib.h", "string.h"):
        unit.header(header)
    parts = [_COMMON]
    for kind in kinds:
        unit.vector_helper(kind, "f32", trial.lanes)
        least, most = map(str, KINDS[kind].ends or (-FARTHEST, FARTHEST))
        parts.append(_OF_KIND.replace("KIND", kind).replace("LEAST", least).replace("MOST", most))
    choices = [f'    if (strcmp(words[1], "{kind}") == 0)\n        try_{kind}(first, end, step);' for kind in kinds]
    made = "".join([*parts, _MAIN.replace("CHOICES", "\n".join(choices))])
    words = {"VECTOR": f"f32x{trial.lanes}", "WIDE": f"f64x{trial.lanes // 2}", "LANES": str(trial.lanes)}
    for word, meaning in (words | {"HARD": str(NEAREST if hard else 0), "LISTED": str(LISTED)}).items():
        made = made.replace(word, meaning)
    return unit.file(made)


def compiled(trial: Trial, kinds: Sequence[str], folder: Path, *, level: str = "-O2", hard: bool = False) -> Path:
    """The program, made in a folder."""
    (folder / "program.c").write_text(text(trial, kinds, hard=hard), encoding="utf-8")
    flags = [level, "-ffp-contract=off", *WARNINGS, *trial.way.flags]
    subprocess.run([*trial.way.command(), *flags, "program.c", "-o", "program", "-lm"], cwd=folder, check=True)
    return folder / "program"


@dataclass(frozen=True)
class Found:
    """What the program says of a function.

    Attributes
    ----------
    wrong
        How many floats have other results than those of the C library.
    apart
        How many doubles lie between one of the C library and one that is computed, at most, before they are rounded.
    said
        The first ones that are wrong, and hard ones.
    """

    wrong: int
    apart: int
    said: list[str]


def found(program: Path, trial: Trial, kind: str, step: int = 1) -> Found:
    """What the program says of floats."""
    command = [*trial.way.runner, str(program), kind, "0", str(FLOATS), str(step)]
    *said, wrong, apart = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return Found(int(wrong), int(apart), said)
