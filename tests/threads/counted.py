"""A process that calls kernels with several numbers of threads, and prints what it counts, as JSON.

The threads are counted by the system: those that the OpenMP library keeps for the next loop are there after a call.
"""

import asyncio
import contextlib
import ctypes
import hashlib
import importlib
import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import affdsl as af

N = af.symbols("N")


@af.kernel
def twice(x: af.f64[N], y: af.f64[N]):
    with af.parallel(N) as i:
        y[i] = 2.0 * x[i]


@af.kernel
def prefix(x: af.f64[N], y: af.f64[N]) -> af.f64:
    """Loops that threads share, and one that they do not, with a sum that is in order."""
    twice(x, y)
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        total += y[i] / 3
    return total


X = np.random.default_rng(0).random(2_000_000)
Y = np.zeros_like(X)


def count() -> int:
    return len(os.listdir("/proc/self/task"))


ALONE = count()


def ran() -> int:
    """On how many threads a call runs; of one that runs on one, the threads of the call before are kept."""
    Y[:] = 0
    total = prefix(X, Y)
    BITS.add(hashlib.sha256(Y.tobytes() + np.float64(total).tobytes()).hexdigest())
    until = time.monotonic() + 5
    while count() - ALONE + 1 != af.get_threads() > 1 and time.monotonic() < until:
        time.sleep(0.001)  # threads that are too many are about to end
    return count() - ALONE + 1


BITS: set[str] = set()


def calls() -> dict[str, object]:
    """What is counted for numbers that are set in all ways."""
    found: dict[str, object] = {}
    with af.threads(1):
        found["one"] = [ran(), af.get_threads()]
    found["unset"] = [ran(), af.get_threads()]
    with af.threads(3):
        found["with"] = [ran(), af.get_threads()]
        with af.threads(2):
            found["within"] = [ran(), af.get_threads()]
        with af.threads(None):
            found["left to OpenMP"] = [ran(), af.get_threads()]
        found["with again"] = [ran(), af.get_threads()]
    with contextlib.suppress(KeyError), af.threads(4):
        raise KeyError
    found["after an error"] = [ran(), af.get_threads()]
    af.set_threads(4)
    found["set"] = [ran(), af.get_threads()]
    try:
        af.set_threads(0)
    except ValueError:
        found["refused"] = [ran(), af.get_threads()]
    af.set_threads(None)
    found["unset again"] = [ran(), af.get_threads()]
    return found


def elsewhere() -> dict[str, object]:
    """What another thread and another task see of a number that is not theirs."""
    found: dict[str, object] = {}

    async def one() -> None:
        with af.threads(3):
            await asyncio.sleep(0)
            found["task"] = af.get_threads()

    async def both() -> None:
        task = asyncio.create_task(one())
        await asyncio.sleep(0)
        found["other task"] = af.get_threads()
        await task

    asyncio.run(both())
    with af.threads(3):
        other = threading.Thread(target=lambda: found.update(thread=af.get_threads()))
        other.start()
        other.join()
    return found


def neighbours() -> dict[str, object]:
    """What others in this process have while kernels run with numbers of their own: OpenMP's and NumPy's BLAS."""
    found: dict[str, list[int]] = {}
    askers = {"openmp": ctypes.CDLL("libgomp.so.1").omp_get_max_threads}
    names = ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads", "openblas_get_num_threads64_")
    for file in {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "openblas" in line}:
        library = ctypes.CDLL(file)
        askers |= {f"{file} {name}": getattr(library, name) for name in names if hasattr(library, name)}
    if "numba" in sys.argv:
        numba = importlib.import_module("numba")
        numba.get_num_threads()  # which begins its threads, and tells OpenMP how many
        askers["numba"] = numba.get_num_threads
    for number in (None, 3):
        with af.threads(number):
            ran()
            for name, ask in askers.items():
                found.setdefault(name, []).append(ask())
    return dict(found)


def forked() -> int:
    """On how many threads a child runs a loop, of a process whose OpenMP has one thread and a kernel had three."""
    with af.threads(3):
        ran()
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of threads
            child = os.fork()
        if child == 0:
            before = count()
            prefix(X, Y)
            os.write(write, bytes([count() - before + 1]))
            os._exit(0)
        os.waitpid(child, 0)
        return os.read(read, 1)[0]


if __name__ == "__main__":
    answer = {"calls": calls(), "elsewhere": elsewhere(), "neighbours": neighbours(), "forked": forked()}
    print(json.dumps({**answer, "results": len(BITS)}))
