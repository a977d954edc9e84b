"""fdtd-2d: an electromagnetic wave in two dimensions, by finite differences in the time domain."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

TMAX, NX, NY = af.symbols("TMAX NX NY")


@af.kernel
def fdtd_2d(ex: af.f64[NX, NY], ey: af.f64[NX, NY], hz: af.f64[NX, NY], fict: af.f64[TMAX]):
    """In each time step fict drives an edge of the electric field; this and the magnetic field drive each other."""
    af.assume(NX >= 1)  # row 0 of ey is set on its own
    with af.for_(TMAX) as t:
        with af.for_(NY) as j:
            ey[0, j] = fict[t]
        with af.for_(1, NX) as i, af.for_(NY) as j:
            ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        with af.for_(NX) as i, af.for_(1, NY) as j:
            ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        with af.for_(NX - 1) as i, af.for_(NY - 1) as j:
            hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def arrays(sizes: Sizes) -> Arguments:
    """A hyperbolic paraboloid in each field, and a ramp that drives them."""
    nx, ny = sizes["NX"], sizes["NY"]
    i, j = indices(nx, ny)
    fict = np.arange(sizes["TMAX"], dtype=np.float64)
    return {"ex": i * (j + 1) / nx, "ey": i * (j + 2) / ny, "hz": i * (j + 3) / nx, "fict": fict}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy, a whole field at a time."""
    ex, ey, hz = (given[name].copy() for name in ("ex", "ey", "hz"))
    for driven in given["fict"]:
        ey[0] = driven
        ey[1:] -= np.diff(hz, axis=0) / 2
        ex[:, 1:] -= np.diff(hz, axis=1) / 2
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


KERNEL = Benchmark(
    name="fdtd-2d",
    kernel=fdtd_2d,
    sizes=table("TMAX NX NY", (20, 20, 30), (40, 60, 80), (100, 200, 240), (500, 1000, 1200), (1000, 2000, 2600)),
    arrays=arrays,
    live_out=("ex", "ey", "hz"),
    reference=reference,
)
