"""One side of a race: a process that makes kernels with the affdsl that it finds, and times calls of them when asked.

It says by an empty JSON object that it is there, then reads one a line, `{"do": "make", ...}`, `{"do": "place", ...}`
or `{"do": "time", ...}`, and answers each by one. What a kernel prints goes to stderr.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import median

import numpy as np

import affdsl as af
from benchmarks.ratchet.programs import Raced, programs

LINE, PAGE, BEHIND, LARGE = 64, 4096, 16, 128 << 10
"""Bytes of a line of the cache and of a page; how far behind a page NumPy places arrays of `LARGE` bytes and more."""
PERMISSIONS = ("contract", "reassociate", "reciprocal", "approximate")
Answer = dict[str, object]


class Worker:
    """The kernel and the arguments at hand."""

    def __init__(self, threads: int) -> None:
        self.clock = time.process_time if threads == 1 else time.perf_counter
        self.threads = threads

    def make(self, suite: str, name: str, row: str) -> Answer:
        """Make a kernel: `written`, `strict`, or `all`, or names of permissions with commas between."""
        self.program = _all(suite)[name]
        kernel = self.program.kernel
        start = time.perf_counter()
        if row == "written":
            self.kernel = kernel
        else:
            allowed = {"strict": (), "all": PERMISSIONS}.get(row, row.split(","))
            self.kernel = kernel.optimize(threads=self.threads, **dict.fromkeys(allowed, True))
        return {"optimized in": time.perf_counter() - start}

    def place(self, size: str, placement: str) -> Answer:
        """Make the arguments of a size, place them, and call the kernel once, which compiles it."""
        made = self.program.arguments[size]()
        self.given = [x.copy() if isinstance(x, np.ndarray) else x for x in made]
        self.placed = placed(self.given, {"numpy": BEHIND, "lines": 0}[placement])
        self._call()
        arrays = [x for x in self.placed if isinstance(x, np.ndarray)]
        digest = hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest()
        return {"digest": digest, "norms": [_norm(x) for x in arrays], "seconds": self._call()}

    def time(self, seconds: float) -> Answer:
        """Call for so long, at least once: the time in the middle, in seconds, and how many calls there were.

        What runs on one thread stays on one core, which is that of the other side, too.
        """
        cores = os.sched_getaffinity(0)
        if self.threads == 1:
            os.sched_setaffinity(0, {max(cores)})
        taken, start = [self._call()], time.perf_counter()
        while time.perf_counter() - start < seconds:
            taken.append(self._call())
        os.sched_setaffinity(0, cores)
        return {"seconds": median(taken), "calls": len(taken)}

    def _call(self) -> float:
        for into, of in zip(self.placed, self.given, strict=True):
            if isinstance(into, np.ndarray) and isinstance(of, np.ndarray):
                into[...] = of
        start = self.clock()
        self.kernel(*self.placed)
        return self.clock() - start


@cache
def _all(suite: str) -> Mapping[str, Raced]:
    return {program.name: program for program in programs(suite)}


def _norm(array: np.ndarray) -> float:
    """The largest finite number of an array."""
    known = np.abs(array[np.isfinite(array)]) if array.dtype.kind in "fc" else np.abs(array.astype(np.float64))
    return float(known.max(initial=0))


def placed(arguments: Sequence[object], behind: int) -> list[object]:
    """Copies of arrays, each so many bytes behind the start of a line; large ones behind the start of a page.

    >>> a, b = placed([np.zeros(3), np.zeros(100_000)], 16)
    >>> a.ctypes.data % LINE, b.ctypes.data % PAGE
    (16, 16)
    """
    found: list[object] = []
    for x in arguments:
        if not isinstance(x, np.ndarray):
            found.append(x)
            continue
        grid = PAGE if x.nbytes >= LARGE else LINE
        room = np.empty(x.nbytes + grid + behind, np.uint8)
        first = -room.ctypes.data % grid + behind
        array = room[first : first + x.nbytes].view(x.dtype).reshape(x.shape)
        array[...] = x
        found.append(array)
    return found


def main(threads: int) -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker(threads)
    verbs: Mapping[str, Callable[..., Answer]] = {"make": worker.make, "place": worker.place, "time": worker.time}
    print("{}", file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = verbs[asked.pop("do")](**asked)
        except (af.AffdslError, RecursionError, MemoryError, TypeError, AttributeError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
