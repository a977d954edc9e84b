"""2mm: two matrix products, D becomes alpha * A @ B @ C + beta * D."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

NI, NJ, NK, NL = af.symbols("NI NJ NK NL")


@af.kernel
def two_mm(
    alpha: af.f64,
    beta: af.f64,
    tmp: af.f64[NI, NJ],
    A: af.f64[NI, NK],
    B: af.f64[NK, NJ],
    C: af.f64[NJ, NL],
    D: af.f64[NI, NL],
):
    """The first product is kept in tmp."""
    with af.for_(NI) as i, af.for_(NJ) as j:
        tmp[i, j] = 0.0
        with af.for_(NK) as k:
            tmp[i, j] += alpha * A[i, k] * B[k, j]
    with af.for_(NI) as i, af.for_(NL) as j:
        D[i, j] *= beta
        with af.for_(NJ) as k:
            D[i, j] += tmp[i, k] * C[k, j]


def arrays(sizes: Sizes) -> Arguments:
    """Small fractions, with zeros in some rows and columns."""
    ni, nj, nk, nl = (sizes[name] for name in ("NI", "NJ", "NK", "NL"))
    i, j = indices(ni, nk)
    a = (i * j + 1) % ni / ni
    i, j = indices(nk, nj)
    b = i * (j + 1) % nj / nj
    i, j = indices(nj, nl)
    c = (i * (j + 3) + 1) % nl / nl
    i, j = indices(ni, nl)
    d = i * (j + 2) % nk / nk
    return {"alpha": 1.5, "beta": 1.2, "tmp": unset(ni, nj), "A": a, "B": b, "C": c, "D": d}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"D": given["alpha"] * (given["A"] @ given["B"] @ given["C"]) + given["beta"] * given["D"]}


KERNEL = Benchmark(
    name="2mm",
    kernel=two_mm,
    sizes=table(
        "NI NJ NK NL",
        (16, 18, 22, 24),
        (40, 50, 70, 80),
        (180, 190, 210, 220),
        (800, 900, 1100, 1200),
        (1600, 1800, 2200, 2400),
    ),
    arrays=arrays,
    live_out=("D",),
    reference=reference,
)
