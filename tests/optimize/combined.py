"""Random loops that combine, choose, count and keep, as if long: `python -m tests.optimize.combined --count 500`.

What threads share from many iterations on is shared from a few, so that small arrays reach it. Each loop is optimized
in one way, and made parallel where that is legal; numbers are such that no order rounds, so all bits are the loop's.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

import affdsl as af
from affdsl.ir import parts
from affdsl.optimize.threads import long_sums
from affdsl.passes.transforms import chosen_in_parts, private_copies, scanned_in_parts
from tests.harness.command import Watch, parser, seeds
from tests.harness.judges import copied

N = af.symbols("N")
TYPES = {"int8": af.i8, "uint16": af.u16, "int32": af.i32, "int64": af.i64, "float32": af.f32, "float64": af.f64}
"""The types of numbers, as NumPy calls them."""
INTEGERS = ("sum", "difference", "product", "greatest", "least", "and", "or", "xor")
FLOATS = ("sum", "difference", "greatest", "least")
SIZES = (0, 1, 3, 9, 70, 331)
STARTS = {"product": 3, "greatest": -90, "least": 90, "and": 77}


@contextmanager
def short_is_long() -> Iterator[None]:
    """Threads share what has a few iterations, in parts of a few, and no decision of before is taken over."""
    with (
        patch.multiple(long_sums, LEAST=4, SCANNED=4, PAID=0, CHUNK=64),
        patch.object(parts, "IN_A_ROW", 4),
        patch.object(chosen_in_parts, "IN_A_ROW", 4),
        patch.object(private_copies, "IN_A_ROW", 4),
        patch.object(scanned_in_parts, "LENGTH", 4),
        patch.dict("os.environ", AFFDSL_DECISIONS="0"),
    ):
        yield


class Drawn:
    """A random loop: what it carries, where something sees it, and under which conditions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        self.type = pick([*TYPES])
        self.is_float = self.type[0] == "f"
        ways = FLOATS if self.is_float else INTEGERS
        self.key = pick((*ways, *[""] * 8)) if self.is_float else pick((*ways, *[""] * 16))
        self.carried = [pick((*ways, "place", "count")) for _ in range(pick((0, 0, 1) if self.key else (1, 1, 2, 3)))]
        self.seen = [pick(("", "", "before", "after")) for _ in self.carried]
        self.under = [pick((None, None, 3, 20)) for _ in self.carried]
        self.is_last = pick((True, False))
        self.low, self.step = pick((0, 0, 0, 1, 3)), pick((1, 1, 1, 2, 3))
        self.in_memory = pick((True, False, False, False))
        self.stores = pick((True, False, False))
        self.kernel = self._kernel()

    def _kernel(self) -> af.Kernel:
        T, drawn = TYPES[self.type], self

        @af.kernel
        def combined(x: T[N], k: af.i64[N], h: T[5], y: T[4, N], out: T[4], at: af.i64[4]):
            numbers = [af.var(out[n]) for n in range(len(drawn.carried))]
            places = [af.var(at[n]) for n in range(len(drawn.carried))]
            with af.for_(drawn.low, N, drawn.step) as i:
                for n, way in enumerate(drawn.carried):
                    number = out[n] if drawn.in_memory and way in INTEGERS else numbers[n]
                    if drawn.seen[n] == "before" and way != "count":
                        y[n, i] = number + 0
                    if drawn.under[n] is None:
                        drawn.one(way, out if drawn.in_memory else None, n, numbers[n], places[n], x[i], i)
                    else:
                        with af.if_(x[i] > drawn.under[n]):
                            drawn.one(way, out if drawn.in_memory else None, n, numbers[n], places[n], x[i], i)
                    number = out[n] if drawn.in_memory and way in INTEGERS else numbers[n]
                    if drawn.seen[n] == "after" and way != "count":
                        y[n, i] = number + 0
                if drawn.stores:
                    y[3, i] = x[i]
                if drawn.key:
                    h[k[i]] = drawn.together(drawn.key, h[k[i]], x[i])
            for n, way in enumerate(drawn.carried):
                at[n] = places[n]
                if not (drawn.in_memory and way in INTEGERS):
                    out[n] = numbers[n]

        return combined

    def one(self, way, memory, n, number, place, value, i) -> None:
        """What an iteration does to one of the numbers."""
        if way == "count":
            place += 1
        elif way == "place":
            with af.if_(value >= number if self.is_last else value > number):
                number.set(value)
                place.set(af.i64(i))
        elif memory is not None:
            memory[n] = self.together(way, memory[n], value)
        else:
            number.set(self.together(way, number, value))

    def together(self, way, a, b):
        """Two numbers combined."""
        match way:
            case "sum":
                return a + b
            case "difference":
                return a - b
            case "product":
                return a * b
            case "greatest":
                return af.max(a, b)
            case "least":
                return af.min(b, a)
            case "and":
                return a & b
            case "or":
                return b | a
        return a ^ b

    def way(self) -> dict[str, object]:
        """A way to optimize it in which no bit changes."""
        pick = self.random.choice
        names = ("reassociate", "contract", "no_nans", "no_signed_zeros") if self.is_float else ("reassociate",)
        allowed = {name: True for name in names if pick((True, False))}
        return {"target": pick(("native", "avx2", "baseline")), "threads": pick((1, 2, 2, 3)), **allowed}

    def arguments(self, n: int, allowed: dict[str, object]) -> tuple[np.ndarray, ...]:
        """Arrays for a size; with NaN and zeros of both signs where these count."""
        rng, type = np.random.default_rng(n), np.dtype(self.type)
        low = 0 if type.kind == "u" else -99
        x = rng.integers(low, 99, n).astype(type)
        special = self.is_float and not {"no_nans", "no_signed_zeros", "reassociate"} & allowed.keys()
        if special and not {"sum", "difference"} & {*self.carried, self.key}:
            x[rng.random(n) < 0.05] = np.nan
            x[rng.random(n) < 0.2] = -0.0
        starts = [STARTS.get(way, -7) for way in (*self.carried, *["or"] * 4)][:4]
        out = np.array(starts).astype(type)
        h = np.full(5, STARTS.get(self.key, 1)).astype(type)
        return x, rng.integers(0, 5, n), h, np.zeros((4, n), type), out, np.arange(4) - 9


def wrong(seed: int, seen: Counter[str]) -> str:
    """What is wrong with the loop of a seed; nothing if all ways agree."""
    drawn = Drawn(seed)
    way = drawn.way()
    ways = {}
    with short_is_long():
        try:
            made = drawn.kernel.optimize(**way)
            ways["optimized"] = made
            if seed % 5 == 0:
                ways["optimized, interpreted"] = made.interpret
        except Exception as error:  # noqa: BLE001 - an internal error is as wrong as another result
            return f"optimize({way}) raises {error!r}"
        seen["with threads"] += "affine.parallel" in made.mlir()
        try:
            s = af.Schedule(drawn.kernel).parallel("i", reassociate=True, copies=2 if drawn.key else 0)
            ways["parallel"] = s.kernel()
            seen["parallel"] += 1
        except (af.IllegalTransform, af.ScheduleError):
            seen["refused"] += 1
    for n in SIZES:
        given = drawn.arguments(n, way)
        wanted = copied(given)
        drawn.kernel.interpret(*wanted)
        for name, run in ways.items():
            found = copied(given)
            run(*found)
            for parameter, a, b in zip("x k h y out at".split(), found, wanted, strict=True):
                if a.tobytes() != b.tobytes():
                    return f"{name} {way}, N = {n}: {parameter}\n{a}\n{b}\n{drawn.kernel.mlir()}"
    return ""


def main(given: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen = parser("tests.optimize.combined", __doc__, 200).parse_args(given)
    watch, failures, seen = Watch(), 0, Counter[str]()
    for count, seed in enumerate(seeds(chosen), 1):
        if found := wrong(seed, seen):
            failures += 1
            print(f"seed {seed}: {found}", flush=True)
        if count % 50 == 0:
            watch.say(count, "loops", failures)
    print(f"{chosen.count} loops, {failures} failures: {', '.join(f'{n} {what}' for what, n in seen.most_common())}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
