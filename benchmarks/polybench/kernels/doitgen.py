"""doitgen: the last axis of a three-dimensional array times a matrix, A becomes A @ C4."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

NQ, NR, NP = af.symbols("NQ NR NP")


@af.kernel
def doitgen(A: af.f64[NR, NQ, NP], C4: af.f64[NP, NP], sum: af.f64[NP]):
    """Row by row, in place: sum holds the new row while the old one is read."""
    with af.for_(NR) as r, af.for_(NQ) as q:
        with af.for_(NP) as p:
            sum[p] = 0.0
            with af.for_(NP) as s:
                sum[p] += A[r, q, s] * C4[s, p]
        with af.for_(NP) as p:
            A[r, q, p] = sum[p]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1; the first row and the first column of C4 are 0."""
    nq, nr, np_ = sizes["NQ"], sizes["NR"], sizes["NP"]
    i, j, k = indices(nr, nq, np_)
    a = (i * j + k) % np_ / np_
    i, j = indices(np_, np_)
    return {"A": a, "C4": i * j % np_ / np_, "sum": unset(np_)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"A": np.einsum("rqs,sp->rqp", given["A"], given["C4"])}


KERNEL = Benchmark(
    name="doitgen",
    kernel=doitgen,
    sizes=table("NQ NR NP", (8, 10, 12), (20, 25, 30), (40, 50, 60), (140, 150, 160), (220, 250, 270)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
)
