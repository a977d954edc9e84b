"""Kernels for images, which `affdsl build` makes a library of: the projects beside this file use it."""

import affdsl as af

M, N = af.symbols("M N")


@af.kernel
def smooth(image: af.f32[M, N], out: af.f32[M, N]):
    """The mean of each pixel and its four neighbours. The frame of `out` stays as it is."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        around = image[i - 1, j] + image[i + 1, j] + image[i, j - 1] + image[i, j + 1]
        out[i, j] = (image[i, j] + around) * 0.2


@af.kernel
def brightest(image: af.f32[M, N], rows: af.f32[M]) -> af.f32:
    """The brightest pixel, and that of each row, of an image in which none is darker than 0."""
    total = af.var(af.f32(0))
    with af.for_(M) as i:
        rows[i] = 0.0
        with af.for_(N) as j:
            rows[i] = af.max(rows[i], image[i, j])
        total.set(af.max(total, rows[i]))
    return total
