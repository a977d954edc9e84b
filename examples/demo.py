"""What `make demo` shows: five things that people write loops for, beside NumPy, SciPy, and numba where it is.

Run it as `python -m examples.demo [folder]`. Each result is compared with the peer's before anything is timed.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from skimage import data

import affdsl as af
from affdsl.progress import progress
from benchmarks.everyday import LOOPS
from examples import packed_matmul, unsharp_sobel

try:
    import numba
except ImportError:  # an extra
    numba = None

FOLDER = "output/demo"
SIZE = 768
"""Rows and columns of the matrices."""
SECONDS, LEAST = 1.0, 5
"""How long all sides of a row take turns, and how many turns there are at least."""
PAGE_SECONDS = 4.0
"""How long the page of a kernel tries things."""
SHOWN, WIDTH = 10, 112
"""So many lines of a text are shown, and so many characters of each."""
VECTORS = re.compile(r"vector<|\b[fi]\d+x\d+\b")
"""What a line on vectors has, in MLIR or in C."""


@dataclass(frozen=True)
class Row:
    """What is computed, and by whom.

    Attributes
    ----------
    kernel
        The loops as they are written.
    given
        What all sides are called with.
    out
        Which argument holds the result afterwards; none where it is returned.
    library, peer
        Who else computes it, and how.
    tolerance
        How far apart results may be: libraries round in ways of their own.
    allowed
        What may round in another way here.
    loops
        The same loops in plain Python, for numba.
    """

    what: str
    kernel: af.Kernel
    given: Sequence[object]
    out: int | None
    library: str
    peer: Callable[..., object]
    tolerance: float
    allowed: Sequence[str] = ()
    loops: Callable[..., object] | None = None


def rows() -> list[Row]:
    """What is shown."""
    loops, random = {loop.name: loop for loop in LOOPS}, np.random.default_rng(0)
    a, b = random.uniform(-1, 1, (2, SIZE, SIZE)).astype("f4")
    wave, softmax, distances = (loops[name] for name in ("wave equation", "softmax of rows", "pairwise distances"))
    return [
        Row("distances of 450 and 449 points", distances.kernel, distances.arguments(random, distances.size), 2,
            "SciPy's cdist", lambda x, y, out: cdist(x, y, out=out), 1e-12, loops=distances.function),
        Row("softmax of 700 rows", softmax.kernel, softmax.arguments(random, softmax.size), 1,
            "NumPy, in place", softmax_in_place, 1e-6, loops=softmax.function),
        Row("a photograph: unsharp mask and edges", unsharp_sobel.unsharp_sobel, (data.coffee(),), None,
            "NumPy and SciPy", lambda photo: unsharp_sobel.reference(photo, np.float32), 1),
        Row("20 steps of a wave on a membrane", wave.kernel, wave.arguments(random, wave.size), 0,
            "NumPy's slices", wave_by_slices, 1e-4, loops=wave.function),
        Row(f"a product of {SIZE} x {SIZE} matrices", packed_matmul.matmul, (a, b, np.zeros_like(a)), 2,
            f"NumPy with {blas()}", lambda x, y, out: np.matmul(x, y, out=out), 1e-3, ("contract",)),
    ]  # fmt: skip


def wave_by_slices(u, v, c, steps):
    """The membrane by NumPy."""
    for _ in range(steps):
        v[1:-1, 1:-1] += c * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u[1:-1, 1:-1] += v[1:-1, 1:-1]


def softmax_in_place(x, y):
    """Softmax by NumPy."""
    np.subtract(x, x.max(1, keepdims=True), out=y)
    np.exp(y, out=y)
    np.divide(y, y.sum(1, keepdims=True), out=y)


def main() -> None:
    """Compute, compare, time and write; an AssertionError would say what is wrong."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # those that wait leave the core to the next side
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"Loops in Python after optimize(), {threads()}, beside libraries{' and numba' * (numba is not None)}:\n")
    shown = rows()
    with progress("compiling, comparing, timing", total=len(shown)) as bar:
        for row in shown:
            bar.at(row.what)
            print(line(row, measured(row)), flush=True)
            bar.advance()
    print(
        "\nThe quickest of calls in turns; all results agree. All but the product are the same to the bit as the loops"
    )
    print("as written; in the product a multiplication and an addition may be one operation, as in the library's.\n")
    write(shown[0].kernel.optimize(), "Distances", folder)
    picture = folder / "photograph.png"
    unsharp_sobel.write_png(picture)
    print(f"The photograph, sharpened, and its edges: {picture.resolve()}")
    page = shown[0].kernel.optimize().report(folder / "distances.html", *fresh(shown[0].given), seconds=PAGE_SECONDS)
    print(f"Why the distances are as fast as they are, and what to try next: {page.resolve()}")


def measured(row: Row) -> dict[str, float]:
    """Milliseconds of the quickest call of each side, after all of them have computed the same."""
    fast = row.kernel.optimize(**dict.fromkeys(row.allowed, True))
    calls = {"affdsl": fast, "library": row.peer}
    if numba is not None and row.loops is not None:
        calls["numba"] = numba.njit(row.loops)
    given = {name: fresh(row.given) for name in calls}
    results = {name: result(row, call, given[name]) for name, call in calls.items()}
    for name, found in results.items():
        for x, y in zip(found, results["affdsl"], strict=True):
            np.testing.assert_allclose(x, y, row.tolerance, row.tolerance, err_msg=f"{row.what}: {name}")
    if not row.allowed:
        for x, y in zip(result(row, row.kernel, fresh(row.given)), results["affdsl"], strict=True):
            assert x.tobytes() == y.tobytes(), f"{row.what}: not the same to the bit"
    taken: dict[str, list[float]] = {name: [] for name in calls}
    began = time.perf_counter()
    while len(taken["affdsl"]) < LEAST or time.perf_counter() - began < SECONDS:
        for name, call in calls.items():
            for into, of in zip(given[name], row.given, strict=True):
                if isinstance(into, np.ndarray):
                    into[...] = of
            start = time.perf_counter()
            call(*given[name])
            taken[name].append(1e3 * (time.perf_counter() - start))
    return {name: min(each) for name, each in taken.items()}


def fresh(given: Sequence[object]) -> list[object]:
    """Arguments of their own."""
    return [x.copy() if isinstance(x, np.ndarray) else x for x in given]


def result(row: Row, call: Callable[..., object], given: Sequence[object]) -> list[np.ndarray]:
    """What a call computes."""
    returned = call(*given)
    if row.out is not None:
        return [np.array(given[row.out])]
    return [np.array(x) for x in (returned if isinstance(returned, tuple) else (returned,))]


def line(row: Row, times: dict[str, float]) -> str:
    """A row of the table."""
    ours, theirs = times["affdsl"], times["library"]
    said = f"{row.what:38}{ours:8.2f} ms,{theirs / ours:6.1f} x as fast as {row.library}"
    return said + (f",{times['numba'] / ours:6.1f} x as numba" if "numba" in times else "")


def write(kernel: af.Kernel, what: str, folder: Path) -> None:
    """Write what a kernel is in MLIR and in C, and show the first lines of its innermost loop on vectors."""
    for name, text, loop in (("MLIR", kernel.mlir(), "affine.for"), ("C", kernel.c(), "for (")):
        path = folder / f"{kernel.name}.{name.lower()}"
        path.write_text(text, encoding="utf-8")
        lines = text.splitlines()
        depth = {k: len(each) - len(each.lstrip()) for k, each in enumerate(lines) if each.lstrip().startswith(loop)}
        start = max(depth, key=lambda k: (bool(VECTORS.search("".join(lines[k : k + 3]))), depth[k], -k))
        print(f"{what} in {name}, {len(lines)} lines: {path.resolve()}\n")
        for each in lines[start : start + SHOWN]:
            print(f"    {each[depth[start] :][:WIDTH]}")
        print("    ...\n")


def threads() -> str:
    """On how many threads the compiled kernels run."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = int(os.environ.get("OMP_NUM_THREADS", str(available)).split(",")[0])
    return f"on up to {count} threads" if count > 1 else "on one thread"


def blas() -> str:
    """The library that NumPy multiplies matrices with."""
    return str(np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"])


if __name__ == "__main__":
    main()
