"""3mm: three matrix products, G becomes (A @ B) @ (C @ D)."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

NI, NJ, NK, NL, NM = af.symbols("NI NJ NK NL NM")


@af.kernel
def three_mm(
    E: af.f64[NI, NJ],
    A: af.f64[NI, NK],
    B: af.f64[NK, NJ],
    F: af.f64[NJ, NL],
    C: af.f64[NJ, NM],
    D: af.f64[NM, NL],
    G: af.f64[NI, NL],
):
    """The first two products are kept in E and F."""
    with af.for_(NI) as i, af.for_(NJ) as j:
        E[i, j] = 0.0
        with af.for_(NK) as k:
            E[i, j] += A[i, k] * B[k, j]
    with af.for_(NJ) as i, af.for_(NL) as j:
        F[i, j] = 0.0
        with af.for_(NM) as k:
            F[i, j] += C[i, k] * D[k, j]
    with af.for_(NI) as i, af.for_(NL) as j:
        G[i, j] = 0.0
        with af.for_(NJ) as k:
            G[i, j] += E[i, k] * F[k, j]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1 / 5."""
    ni, nj, nk, nl, nm = (sizes[name] for name in ("NI", "NJ", "NK", "NL", "NM"))
    i, j = indices(ni, nk)
    a = (i * j + 1) % ni / (5 * ni)
    i, j = indices(nk, nj)
    b = (i * (j + 1) + 2) % nj / (5 * nj)
    i, j = indices(nj, nm)
    c = i * (j + 3) % nl / (5 * nl)
    i, j = indices(nm, nl)
    d = (i * (j + 2) + 2) % nk / (5 * nk)
    return {"E": unset(ni, nj), "A": a, "B": b, "F": unset(nj, nl), "C": c, "D": d, "G": unset(ni, nl)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"G": (given["A"] @ given["B"]) @ (given["C"] @ given["D"])}


KERNEL = Benchmark(
    name="3mm",
    kernel=three_mm,
    sizes=table(
        "NI NJ NK NL NM",
        (16, 18, 20, 22, 24),
        (40, 50, 60, 70, 80),
        (180, 190, 200, 210, 220),
        (800, 900, 1000, 1100, 1200),
        (1600, 1800, 2000, 2200, 2400),
    ),
    arrays=arrays,
    live_out=("G",),
    reference=reference,
)
