"""Random kernels with parts of arrays, early ends, sums so far and types: `python -m tests.parts.run --count 500`.

Each is interpreted and compiled, every fourth optimized, and every tenth lowered by mlir-opt, for small sizes. A call
leaves what plain Python leaves, and is refused if and only if a part leaves its array, sizes differ, or parts overlap.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

import affdsl as af
from tests.harness.command import Watch, parser, seeds
from tests.loops.ways import lowered
from tests.parts.programs import Drawn, arguments
from tests.parts.strict import WrongError

SIZES = ((0, 0), (1, 1), (0, 2), (2, 0), (1, 3), (3, 2), (4, 4), (2, 5))


def wrong(seed: int, seen: Counter[str], *, more: bool = True) -> str:
    """What is wrong with the program of a seed; nothing if all ways agree."""
    drawn = Drawn(seed)
    plain = drawn.plain()
    try:
        kernel = drawn.kernel()
    except af.ProgramError as error:
        return _wrongly_refused(drawn, plain, error, seen)
    ways: dict[str, Callable[..., object]] = {"interpreted": kernel.interpret}
    if more or seed % 4 == 0:
        ways["compiled"] = kernel
    if more and seed % 4 == 0:
        ways["optimized"] = kernel.optimize()
    if more and seed % 10 == 0:
        ways["lowered"] = lowered(kernel)
    seen["built"] += 1
    for sizes in SIZES:
        expected, is_refused = arguments(drawn.type, *sizes), False
        try:
            plain(*expected)
        except WrongError:
            is_refused = True
        for way, run in ways.items():
            if way == "lowered" and is_refused:
                continue
            given = arguments(drawn.type, *sizes)
            seen["refused calls" if is_refused else "calls"] += 1
            try:
                run(*given)
            except af.AffdslError as error:
                if not is_refused:
                    return f"{way}, {sizes}: refused: {error}\n{drawn.text}"
                continue
            if is_refused:
                return f"{way}, {sizes}: not refused\n{drawn.text}"
            if any(not np.array_equal(a, b) for a, b in zip(given, expected, strict=True)):
                return f"{way}, {sizes}: other results\n{drawn.text}"
    return ""


def _wrongly_refused(drawn: Drawn, plain: Callable[..., None], error: af.ProgramError, seen: Counter[str]) -> str:
    """What is refused when it is built is wrong for most sizes, or asks for a contiguous array."""
    said = str(error).partition(": ")[2]
    known = ("is contiguous, and", "ends before it starts", "but that dimension has", "same length", "twice, as x",
             "sizes of a call", "ends at a minimum", "a slice with a step",
             "has no type")  # fmt: skip
    kind = next((each for each in known if each in said), "")
    seen[f"not built: {kind or 'proved wrong'}"] += 1
    if kind:
        return ""
    for sizes in ((3, 2), (4, 4), (2, 5), (5, 6), (7, 7)):
        try:
            plain(*arguments(drawn.type, *sizes))
        except WrongError:
            return ""
    return f"refused though nothing is wrong: {error}\n{drawn.text}"


def main(given: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen = parser("tests.parts.run", __doc__, 500).parse_args(given)
    watch, failures, seen = Watch(), 0, Counter[str]()
    for count, seed in enumerate(seeds(chosen), 1):
        if found := wrong(seed, seen):
            failures += 1
            print(f"seed {seed}: {found}")
        if count % 50 == 0:
            watch.say(count, "programs", failures)
    print(f"{chosen.count} programs, {failures} failures: {', '.join(f'{n} {what}' for what, n in seen.most_common())}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
