"""C += A @ B as a library computes it, by nothing but steps of a schedule: B in panels, 8 x 2 vectors in registers."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

M, N, K = af.symbols("M N K")
LANES = 16
"""How many numbers a vector register has: 64 bytes of them."""


@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    """The three loops of the definition."""
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


def schedule() -> af.Schedule:
    """Tiles for the caches, a copy of B that is read in order, and tiles of 8 rows and 2 vectors for the registers.

    Full tiles have loops of their own (`separate`); what is left at the edges, `i_2` and `j_2`, has shorter vectors,
    of 8 rows at once where there are so many.
    The sums run over k in the order of the text, each product and sum rounded once (`contract`).
    """
    s = af.Schedule(matmul)
    s.tile(("i", "j", "k"), (128, 256, 256)).permute(("k_tile", "j_tile", "i_tile"))
    s.copy("B", "j_tile", layout=(1, 0), panels={1: 2 * LANES})
    s.tile(("i", "j"), (8, 2 * LANES), names=("i_block", "j_block"), separate=True)
    s.permute(("k", "i", "j")).vectorize("j", LANES).unroll("j").unroll("i")
    s.scalar_replace("k").contract("k")
    s.vectorize("j_2", 4).unroll_jam("i_2", 8).scalar_replace("k_2").contract("k_2")
    return s.parallel("i_tile")


packed_matmul = schedule().kernel()


def reference(a, b, c):
    """The same in NumPy, in double precision."""
    return (np.asarray(a, np.float64) @ np.asarray(b, np.float64) + c).astype(np.float32)


def cases() -> Iterator[Case]:
    """Numbers between -1 and 1; each of K roundings is off by at most 2**-24 of a sum below K + 1."""
    rng = np.random.default_rng(1)
    for m, n, k in [(0, 0, 0), (0, 3, 2), (2, 3, 0), (1, 1, 1), (8, 32, 5), (9, 33, 7), (130, 33, 2), (9, 35, 258)]:
        a, b, c = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in [(m, k), (k, n), (m, n)])
        yield Case(packed_matmul, (a, b, c), {"C": reference(a, b, c)}, atol=(k + 1) * (k + 1) * 2**-24)


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
