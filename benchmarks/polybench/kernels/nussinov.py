"""nussinov: how many bases of an RNA sequence can pair at most, for each of its sections."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def nussinov(seq: af.i8[N], table: af.i32[N, N]):
    """Bases are 0 to 3, and pair if their sum is 3 and they are not neighbours; table[i, j] is for those from i to j.

    A section is best without its last base, without its first, with both paired, or as two sections. Below its
    diagonal the table is 0 and stays so; on it, and just below, it is read.
    """
    with af.for_(N) as back:
        i = N - 1 - back
        with af.for_(i + 1, N) as j:
            table[i, j] = af.max(table[i, j], table[i, j - 1])
            table[i, j] = af.max(table[i, j], table[i + 1, j])
            with af.if_(i < j - 1):
                pair = af.select(seq[i] + seq[j] == 3, af.i32(1), 0)
                table[i, j] = af.max(table[i, j], table[i + 1, j - 1] + pair)
            with af.else_():
                table[i, j] = af.max(table[i, j], table[i + 1, j - 1])
            with af.for_(i + 1, j) as k:
                table[i, j] = af.max(table[i, j], table[i, k] + table[k + 1, j])


def arrays(sizes: Sizes) -> Arguments:
    """The four bases in turn."""
    n = sizes["N"]
    (i,) = indices(n)
    return {"seq": ((i + 1) % 4).astype(np.int8), "table": np.zeros((n, n), np.int32)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy: shorter sections first, each cut at all of its places at once."""
    seq, best = given["seq"], given["table"].copy()
    n = len(seq)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            paired = best[i + 1, j - 1] + int(length > 1 and seq[i] + seq[j] == 3)
            best[i, j] = max(best[i, j], paired, (best[i, i:j] + best[i + 1 : j + 1, j]).max())
    return {"table": best}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """Bases as they come."""
    n = sizes["N"]
    return {"seq": rng.integers(0, 4, n, dtype=np.int8), "table": np.zeros((n, n), np.int32)}


KERNEL = Benchmark(
    name="nussinov",
    kernel=nussinov,
    sizes=table("N", (60,), (180,), (500,), (2500,), (5500,)),
    arrays=arrays,
    live_out=("table",),
    reference=reference,
    tolerance=0.0,
    random=random,
    triangle="upper",
)
