"""All of PolyBench in its order, and one kernel of it by name."""

from difflib import get_close_matches

from benchmarks.polybench.benchmark import Benchmark
from benchmarks.polybench.kernels import (
    adi,
    atax,
    bicg,
    cholesky,
    correlation,
    covariance,
    deriche,
    doitgen,
    durbin,
    fdtd_2d,
    floyd_warshall,
    gemm,
    gemver,
    gesummv,
    gramschmidt,
    heat_3d,
    jacobi_1d,
    jacobi_2d,
    lu,
    ludcmp,
    mvt,
    nussinov,
    seidel_2d,
    symm,
    syr2k,
    syrk,
    three_mm,
    trisolv,
    trmm,
    two_mm,
)

SUITE: tuple[Benchmark, ...] = (
    # data mining
    correlation.KERNEL,
    covariance.KERNEL,
    # linear algebra: products
    two_mm.KERNEL,
    three_mm.KERNEL,
    atax.KERNEL,
    bicg.KERNEL,
    doitgen.KERNEL,
    mvt.KERNEL,
    # linear algebra: as in BLAS
    gemm.KERNEL,
    gemver.KERNEL,
    gesummv.KERNEL,
    symm.KERNEL,
    syr2k.KERNEL,
    syrk.KERNEL,
    trmm.KERNEL,
    # linear algebra: solvers
    cholesky.KERNEL,
    durbin.KERNEL,
    gramschmidt.KERNEL,
    lu.KERNEL,
    ludcmp.KERNEL,
    trisolv.KERNEL,
    # images, paths, molecules
    deriche.KERNEL,
    floyd_warshall.KERNEL,
    nussinov.KERNEL,
    # stencils
    adi.KERNEL,
    fdtd_2d.KERNEL,
    heat_3d.KERNEL,
    jacobi_1d.KERNEL,
    jacobi_2d.KERNEL,
    seidel_2d.KERNEL,
)


def named(name: str) -> Benchmark:
    """The benchmark of this name, spelled as PolyBench does: `2mm`, `jacobi-2d`.

    Raises
    ------
    ValueError
        If there is none, with the nearest name, or all of them.
    """
    found = {benchmark.name: benchmark for benchmark in SUITE}
    if name not in found:
        near = get_close_matches(name.replace("_", "-").lower(), found, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(found)}"
        raise ValueError(f"PolyBench has no kernel '{name}': {hint}")
    return found[name]
