"""Random kernels, run part by part with their halos: `python -m tests.halo.run --count 500 --seed 1`.

They have several arrays and stages, steps in time, branches on places and on data, clamped subscripts, sums and updates
in place. Where a kernel has a halo, parts give what the whole gives; where it is refused, some part must be at risk: a
halo is also counted as too wide, if less would do for all parts and data that are tried.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random

import affdsl as af
from tests.halo.parts import arguments, in_parts, whole
from tests.harness.command import Watch, parser, seeds

N = af.symbols("N")
SIZE = 17


def program(seed: int) -> af.Kernel:
    """The kernel of a seed, from array A to array B."""
    random = Random(seed)
    stages = random.randint(1, 3)

    @af.kernel
    def drawn(A: af.f64[N], B: af.f64[N], c: af.f64[N]):
        made = af.alloc(af.f64[N])
        with af.for_(N) as i:
            made[i] = 0.0
        arrays = [A, made, B]

        def element(i):
            array, off = random.choice([A, made, B, c]), random.randint(-2, 2)
            kind = random.random()
            if kind < 0.1:
                return array[af.min(af.max(i + off, 0), N - 1)]
            if kind < 0.13:
                return array[N - 1 - i]
            return array[i + off]

        def statement(i):
            target = random.choice(arrays[1:] if random.random() < 0.85 else arrays)
            value = element(i) * 0.5 + element(i)
            kind = random.random()
            if kind < 0.15:
                with af.if_(i < random.randint(1, 6)):
                    target[i] = value
                with af.else_():
                    target[i] = value + 1.0
            elif kind < 0.3:
                with af.if_(element(i) > 0):
                    target[i] = value
            elif kind < 0.4:
                with af.for_(random.randint(2, 3), iter_args=value) as (k, s):
                    af.yield_(s * 0.5 + A[i + k])
                target[i] = s
            elif kind < 0.45:
                with af.if_(i % 2 == 0):
                    target[i] = value
            elif kind < 0.6:
                target[i] += value
            else:
                target[i] = value

        def stage():
            low, high = random.randint(2, 4), random.randint(2, 5)
            step = 2 if random.random() < 0.05 else 1
            with af.for_(low, N - high, step) as i:
                for _ in range(random.randint(1, 2)):
                    statement(i)

        for _ in range(stages):
            if random.random() < 0.25:
                with af.for_(random.randint(2, 3)):
                    stage()
            else:
                stage()
        with af.for_(2, N - 2) as i:
            B[i] = made[i] + element(i)

    return drawn


def wrong(seed: int) -> tuple[str, str]:
    """What is wrong with the halo of a kernel; and "refused" where it has none, or "wide" where less would do."""
    kernel, random = program(seed), Random(seed)
    try:
        found = kernel.halo("A", "B", "c", of="B")
    except af.ProgramError:
        return "", "refused"
    needed = 0
    for attempt in range(3):
        given = arguments(kernel, SIZE, seed + attempt)
        expected = whole(kernel, given, "B")
        cuts = [sorted(random.sample(range(1, SIZE), 3))]
        got = in_parts(kernel, given, "B", found, cuts)
        if not (got == expected).all():
            return f"with {found}, cut at {cuts}: {got.tolist()} instead of {expected.tolist()}\n{kernel.mlir()}", ""
        for side in range(2):
            less = list(found[0])
            less[side] = max(less[side] - 1, 0)
            needed |= (1 << side) * bool((in_parts(kernel, given, "B", [less], cuts) != expected).any())
    is_wide = any(found[0][side] and not needed & 1 << side for side in range(2))
    return "", "wide" if is_wide else ""


def main(command: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen = parser("tests.halo.run", __doc__, 100).parse_args(command)
    watch, failures, notes = Watch(), 0, {"refused": 0, "wide": 0, "": 0}
    for seed in seeds(chosen):
        said, note = wrong(seed)
        notes[note] += 1
        if said:
            failures += 1
            print(f"seed {seed}: {said}")
    watch.say(chosen.count, "kernels", failures)
    print(f"{notes['refused']} have no halo; for {notes['wide']} less did on what was tried")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
