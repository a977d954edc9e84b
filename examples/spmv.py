"""A sparse matrix (compressed rows, CSR) times a vector: loop bounds and an index that are data."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, random_array

import affdsl as af
from examples.case import Case, report

M, N, NNZ = af.symbols("M N NNZ")


@af.kernel
def spmv(rowptr: af.i32[M + 1], colidx: af.i32[NNZ], values: af.f64[NNZ], x: af.f64[N], y: af.f64[M]):
    """The nonzeros of row i are those from rowptr[i] to rowptr[i + 1]; colidx says in which column each stands."""
    with af.parallel(M) as i:
        with af.for_(rowptr[i], rowptr[i + 1], iter_args=[af.f64(0)]) as (p, total):
            af.yield_(total + values[p] * x[colidx[p]])
        y[i] = total


def reference(rowptr, colidx, values, x):
    """The same by SciPy."""
    return csr_array((values, colidx, rowptr), shape=(len(rowptr) - 1, len(x))) @ x


def cases() -> Iterator[Case]:
    """Small whole numbers, so that all sums are exact; some rows are empty."""
    rng = np.random.default_rng(10)
    for m, n, density in [(0, 0, 0.0), (3, 0, 0.0), (1, 1, 1.0), (1, 8, 0.5), (9, 4, 0.0), (10, 10, 0.2), (7, 25, 0.4)]:
        matrix = random_array((m, n), density=density, format="csr", rng=rng)
        rowptr, colidx = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        values, x = (rng.integers(-99, 100, size).astype(np.float64) for size in (matrix.nnz, n))
        y = np.full(m, np.nan)
        yield Case(spmv, (rowptr, colidx, values, x, y), {"y": reference(rowptr, colidx, values, x)})


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
