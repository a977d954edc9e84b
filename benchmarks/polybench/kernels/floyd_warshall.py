"""floyd-warshall: the lengths of all shortest paths in a directed graph."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def floyd_warshall(path: af.i32[N, N]):
    """path[i, j] is the length of the edge from i to j, and becomes that of the shortest path of one edge or more."""
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        path[i, j] = af.min(path[i, j], path[i, k] + path[k, j])


def arrays(sizes: Sizes) -> Arguments:
    """Lengths from 1 to 7, and some of 999; no shortest path is longer than 3."""
    n = sizes["N"]
    i, j = indices(n, n)
    absent = ((i + j) % 7 == 0) | ((i + j) % 11 == 0) | ((i + j) % 13 == 0)
    return {"path": np.where(absent, 999, i * j % 7 + 1).astype(np.int32)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy: paths of up to 1, 2, 4, 8, ... edges, until none gets shorter."""
    path, longer = None, given["path"]
    while path is None or (longer != path).any():
        path = longer
        longer = path.copy()
        for k in range(len(path)):
            np.minimum(longer, path[:, k, None] + path[k], out=longer)
    return {"path": path.copy()}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """A ring of short edges among long ones: the best paths have many edges, and all lengths differ."""
    n = sizes["N"]
    path = rng.integers(1000, 10_000, (n, n), dtype=np.int32)
    order = rng.permutation(n)
    path[order, np.roll(order, 1)] = rng.integers(1, 200, n)
    return {"path": path}


KERNEL = Benchmark(
    name="floyd-warshall",
    kernel=floyd_warshall,
    sizes=table("N", (60,), (180,), (500,), (2800,), (5600,)),
    arrays=arrays,
    live_out=("path",),
    reference=reference,
    tolerance=0.0,
    random=random,
)
