"""bicg: the two matrix-vector products of the biconjugate gradient method, s becomes r @ A and q becomes A @ p."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

M, N = af.symbols("M N")


@af.kernel
def bicg(A: af.f64[N, M], s: af.f64[M], q: af.f64[N], p: af.f64[M], r: af.f64[N]):
    """Both products in one pass over A."""
    with af.for_(M) as i:
        s[i] = 0.0
    with af.for_(N) as i:
        q[i] = 0.0
        with af.for_(M) as j:
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1; the first elements of p and r and the first row of A are 0."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(n, m)
    (along,) = indices(m)
    (down,) = indices(n)
    return {"A": i * (j + 1) % n / n, "s": unset(m), "q": unset(n), "p": along % m / m, "r": down % n / n}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"s": given["r"] @ given["A"], "q": given["A"] @ given["p"]}


KERNEL = Benchmark(
    name="bicg",
    kernel=bicg,
    sizes=table("M N", (38, 42), (116, 124), (390, 410), (1900, 2100), (1800, 2200)),
    arrays=arrays,
    live_out=("s", "q"),
    reference=reference,
)
