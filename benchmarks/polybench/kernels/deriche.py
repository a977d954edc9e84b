"""deriche: an edge filter of infinite response, run over an image along both axes, forward and backward."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

W, H = af.symbols("W H")


@af.kernel
def deriche(
    alpha: af.f32,
    imgIn: af.f32[W, H],
    imgOut: af.f32[W, H],
    y1: af.f32[W, H],
    y2: af.f32[W, H],
):
    """Along each row a forward and a backward recurrence of order two, added up; then the same along each column."""
    decay = af.exp(-alpha)
    k = (1 - decay) * (1 - decay) / (1 + 2 * alpha * decay - af.exp(2 * alpha))
    a1 = k
    a2 = k * decay * (alpha - 1)
    a3 = k * decay * (alpha + 1)
    a4 = -k * af.exp(-2 * alpha)
    a5, a6, a7, a8 = a1, a2, a3, a4
    b1 = af.pow(2, -alpha)
    b2 = -af.exp(-2 * alpha)
    c1 = af.f32(1)
    c2 = c1
    zeros = [af.f32(0)] * 3

    with af.for_(W) as i, af.for_(H, iter_args=zeros) as (j, xm1, ym1, ym2):
        y1[i, j] = a1 * imgIn[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
        af.yield_(imgIn[i, j], y1[i, j], ym1)
    with af.for_(W) as i, af.for_(H, iter_args=[*zeros, af.f32(0)]) as (back, xp1, xp2, yp1, yp2):
        j = H - 1 - back
        y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
        af.yield_(imgIn[i, j], xp1, y2[i, j], yp1)
    with af.for_(W) as i, af.for_(H) as j:
        imgOut[i, j] = c1 * (y1[i, j] + y2[i, j])

    with af.for_(H) as j, af.for_(W, iter_args=zeros) as (i, tm1, ym1, ym2):
        y1[i, j] = a5 * imgOut[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
        af.yield_(imgOut[i, j], y1[i, j], ym1)
    with af.for_(H) as j, af.for_(W, iter_args=[*zeros, af.f32(0)]) as (back, tp1, tp2, yp1, yp2):
        i = W - 1 - back
        y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
        af.yield_(imgOut[i, j], tp1, y2[i, j], yp1)
    with af.for_(W) as i, af.for_(H) as j:
        imgOut[i, j] = c2 * (y1[i, j] + y2[i, j])


def arrays(sizes: Sizes) -> Arguments:
    """A picture of slanted ramps from 0 to 1."""
    w, h = sizes["W"], sizes["H"]
    i, j = indices(w, h)
    image = ((313 * i + 991 * j) % 65536).astype(np.float32) / np.float32(65535)
    return {"alpha": 0.25, "imgIn": image} | {name: unset(w, h, dtype=np.float32) for name in ("imgOut", "y1", "y2")}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy: as the recurrences are linear, a matrix for each axis, in double precision."""
    image = np.asarray(given["imgIn"], np.float64)
    w, h = image.shape
    return {"imgOut": response(given["alpha"], w) @ image @ response(given["alpha"], h).T}


def response(alpha: float, n: int) -> Array:
    """The n-by-n matrix that one axis is multiplied with: what both recurrences make of each unit vector."""
    decay, b1, b2 = np.exp(-alpha), 2**-alpha, -np.exp(-2 * alpha)
    k = (1 - decay) ** 2 / (1 + 2 * alpha * decay - np.exp(2 * alpha))
    one, ago = np.eye(n), np.eye(n, k=-1)
    ahead = ago.T
    forward = np.linalg.solve(one - b1 * ago - b2 * ago @ ago, k * (one + decay * (alpha - 1) * ago))
    backward = np.linalg.solve(
        one - b1 * ahead - b2 * ahead @ ahead, k * (decay * (alpha + 1) * ahead - decay**2 * ahead @ ahead)
    )
    return forward + backward


KERNEL = Benchmark(
    name="deriche",
    kernel=deriche,
    sizes=table("W H", (64, 64), (192, 128), (720, 480), (4096, 2160), (7680, 4320)),
    arrays=arrays,
    live_out=("imgOut",),
    reference=reference,
    tolerance=1e-5,
)
