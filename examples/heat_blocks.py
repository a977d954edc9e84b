"""Heat in a plate that is larger than the memory of any one process: a dask array, on a cluster, block by block.

Run it as `python -m examples.heat_blocks [rows columns]`; it needs `pip install affdsl[cluster]`.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

import affdsl as af
from examples.case import Array, Case

if TYPE_CHECKING:
    from dask.array import Array as Blocks

M, N = af.symbols("M N")
SIZE, BLOCKS = (6000, 8000), (750, 1000)
"""The plate, which has 384 MB then, and the blocks of it."""
LIMIT = "350MB"
"""How much memory each of the two workers may take, Python and all its packages included."""
STEPS = 3


@af.kernel
def heat(A: af.f64[M, N], B: af.f64[M, N]):
    """One step in time, from A to B. The border keeps its temperature."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        B[i, j] = A[i, j] + 0.1 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - 4.0 * A[i, j])


def step(block: Array) -> Array:
    """One step of a block. dask puts some of its neighbours around it before, and cuts that off afterwards."""
    warmer = block.copy()
    heat(block, warmer)
    return warmer


def in_blocks(plate: "Blocks", steps: int) -> "Blocks":
    """Some steps. Each block is given as much of its neighbours as the kernel reads beyond it."""
    for _ in range(steps):
        plate = plate.map_overlap(step, depth=heat.halo("A"), boundary="none", dtype=plate.dtype, meta=plate._meta)
    return plate


def reference(plate: Array, steps: int) -> Array:
    """The same with NumPy's slices of the whole: the same sums in the same order."""
    for _ in range(steps):
        old, plate = plate, plate.copy()
        if min(old.shape) >= 3:
            around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
            plate[1:-1, 1:-1] = old[1:-1, 1:-1] + 0.1 * (around - 4.0 * old[1:-1, 1:-1])
    return plate


def cases() -> Iterator[Case]:
    """Plates with and without inner points."""
    rng = np.random.default_rng(4)
    for shape in [(0, 0), (1, 5), (2, 2), (3, 3), (7, 12)]:
        plate = rng.uniform(-1, 1, shape)
        yield Case(heat, (plate, plate.copy()), {"B": reference(plate, 1)})


def first(i: Array, j: Array) -> Array:
    """The temperature at the beginning."""
    return np.sin(i * 0.03) * np.cos(j * 0.02) + i % 7


def check(block: Array, corner: tuple[int, int], size: tuple[int, int]) -> None:
    """Raise AssertionError unless a block of the result is what NumPy makes of the elements that bear on it."""
    low = [max(c - STEPS, 0) for c in corner]
    high = [min(c + n + STEPS, whole) for c, n, whole in zip(corner, block.shape, size, strict=True)]
    made = reference(first(*np.ogrid[low[0] : high[0], low[1] : high[1]]), STEPS)
    rows, columns = (slice(c - a, c - a + n) for c, a, n in zip(corner, low, block.shape, strict=True))
    np.testing.assert_array_equal(block, made[rows, columns])


def main() -> None:
    """Check a small plate as a whole, and a large one on a cluster of two workers, each block as it is done."""
    array, distributed = import_module("dask.array"), import_module("dask.distributed")
    small = np.random.default_rng(1).random((70, 90))
    made = in_blocks(array.from_array(small, chunks=(20, 31)), STEPS).compute(scheduler="threads")
    np.testing.assert_array_equal(made, reference(small, STEPS))
    print(f"70 x 90 in blocks of 20 x 31: equal to NumPy on the whole after {STEPS} steps; halo {heat.halo('A')}")
    size = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) == 3 else SIZE
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        plate = array.fromfunction(first, shape=size, chunks=BLOCKS, dtype=np.float64)
        blocks = client.compute(list(in_blocks(plate, STEPS).to_delayed().ravel()))
        corners = [(r, c) for r in range(0, size[0], BLOCKS[0]) for c in range(0, size[1], BLOCKS[1])]
        corner_of = dict(zip(blocks, corners, strict=True))
        del blocks
        for done in distributed.as_completed(list(corner_of)):
            check(done.result(), corner_of.pop(done), size)
    print(f"{size[0]} x {size[1]}, {plate.nbytes / 1e6:.0f} MB, on two workers of {LIMIT} each: equal")


if __name__ == "__main__":
    main()
