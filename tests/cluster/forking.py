"""A program that forks after it ran a parallel loop, or before: run as a script, see test_forks.

    forking.py KIND RAN METHODS...

KIND is what runs: a "kernel" of affdsl, a shared "library" that ctypes loads, or the package of a "wheel". RAN is 1
where the parent runs it before, too. For each method it prints the worst time that a call in a child took. With OTHER,
the parent runs the parallel region of that library before, and only children load what they run.
"""

import ctypes
import importlib
import os
import sys
import time
from array import array
from collections.abc import Callable
from multiprocessing import get_context

KINDS = ("kernel", "library", "wheel")
SIZE = 300_000
"""So many numbers are enough for threads to share them."""


def _kernel() -> Callable[[], float]:
    import numpy as np  # noqa: PLC0415 - the others do without it

    import affdsl as af  # noqa: PLC0415

    N = af.symbols("N")

    @af.kernel
    def twice(x: af.f64[N], y: af.f64[N]):
        with af.parallel(N) as i:
            y[i] = 2.0 * x[i]

    def call() -> float:
        x, y = np.ones(SIZE), np.zeros(SIZE)
        twice(x, y)
        return float(y.sum())

    return call


def _library() -> Callable[[], float]:
    function = ctypes.CDLL(os.environ["TWICE"]).twice
    function.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]

    def call() -> float:
        x, y = array("d", [1.0]) * SIZE, array("d", [0.0]) * SIZE
        function(SIZE, x.buffer_info()[0], y.buffer_info()[0])
        return sum(y)

    return call


def _wheel() -> Callable[[], float]:
    import numpy as np  # noqa: PLC0415

    function = importlib.import_module("twice").twice

    def call() -> float:
        x, y = np.ones(SIZE), np.zeros(SIZE)
        function(x, y)
        return float(y.sum())

    return call


_made: dict[str, Callable[[], float]] = {}


def run(kind: str) -> float:
    """Call it, and say how long that took."""
    if kind not in _made:
        _made[kind] = {"kernel": _kernel, "library": _library, "wheel": _wheel}[kind]()
        if os.getpid() != _parent:
            _made[kind]()  # which may compile
    start = time.perf_counter()
    found = _made[kind]()
    assert found == 2.0 * SIZE, found
    return time.perf_counter() - start


def again(kind: str) -> float:
    """Call it here, in a child of this process, and here again."""
    return max(run(kind), forked(run, kind), run(kind))


def forked(function: Callable[[str], float], kind: str) -> float:
    """What a function gives in a child; it has a second for itself."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, str(function(kind)).encode())
        os._exit(0)
    os.close(write)
    with open(read) as file:
        found = float(file.read())
    assert os.waitpid(child, 0)[1] == 0
    return found


def main(kind: str, ran: str, *methods: str) -> None:
    """Print how long children took."""
    if "OTHER" in os.environ:
        assert ctypes.CDLL(os.environ["OTHER"]).other() == 2
    if ran == "1":
        run(kind)
        assert len(os.listdir("/proc/self/task")) > 1, "the parent has no threads"
    for method in methods:
        if method == "os.fork":
            seconds = forked(again, kind)
        elif method.startswith("pool "):
            with get_context(method.removeprefix("pool ")).Pool(2) as pool:
                seconds = max(pool.map_async(again, [kind] * 3).get(60))
        else:
            context = get_context(method)
            there, here = context.Pipe()
            process = context.Process(target=_send, args=(here, kind))
            process.start()
            assert there.poll(60), "it hangs"
            seconds = there.recv()
            process.join()
        print(f"{method}: {seconds:.3f}", flush=True)
    if ran == "1":
        run(kind)


def _send(connection: object, kind: str) -> None:
    connection.send(again(kind))  # type: ignore[attr-defined]


_parent = os.getpid()
if __name__ == "__main__":
    main(*sys.argv[1:])
