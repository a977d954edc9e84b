"""C += A @ B as a library computes it, by nothing but steps of a schedule: tiles for caches, panels, and registers."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

M, N, K = af.symbols("M N K")
HERE = af.native_target()
"""The vector registers of this machine: 32 of 64 bytes, or 16 of 32, or what every machine has."""


@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    """The three loops of the definition."""
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


def scheduled(kernel: af.Kernel, bits: int) -> af.Schedule:
    """Tiles for the caches, copies of A and B that are read in order, and tiles of rows by 2 vectors for the registers.

    The sums run over k in the order of the text, each product and sum rounded once where there is an instruction.
    """
    rows, lanes = HERE.registers // 4, HERE.lanes(bits)
    s = af.Schedule(kernel).tile(("i", "j", "k"), (128, 4096, 384)).permute(("k_tile", "j_tile", "i_tile"))
    s.copy("B", "j_tile", layout=(1, 0), panels={1: 2 * lanes}).copy("A", "i", panels={0: rows})
    s.parallel("i_tile").parallel("B0")
    return s.register_tile("i", "j", "k", rows=rows, vectors=2, lanes=lanes, contract=HERE.has_fma)


packed_matmul = scheduled(matmul, 32).kernel()


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
