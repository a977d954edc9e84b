"""Pictures, pixel by pixel and with neighbours."""

import math

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
M, N, P, Q = af.symbols("M N P Q")


@af.kernel
def rgb_to_gray(photo: af.u8[M, N, 3], gray: af.f32[M, N]):
    """How bright each pixel is."""
    with af.for_(M) as i, af.for_(N) as j:
        gray[i, j] = 0.299 * af.f32(photo[i, j, 0]) + 0.587 * af.f32(photo[i, j, 1]) + 0.114 * af.f32(photo[i, j, 2])


@LOOPS.beside(
    rgb_to_gray, lambda r, n: (r.integers(0, 256, (n, n, 3), "u1"), np.zeros((n, n), "f4")), 1200, tolerance=1e-5
)
def _(photo, gray):
    for i in range(photo.shape[0]):
        for j in range(photo.shape[1]):
            red, green, blue = np.float32(photo[i, j, 0]), np.float32(photo[i, j, 1]), np.float32(photo[i, j, 2])
            gray[i, j] = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue


@af.kernel
def histogram(image: af.u8[M, N], counts: af.i64[256]):
    """How often each value occurs."""
    with af.for_(M) as i, af.for_(N) as j:
        counts[image[i, j]] += 1


@LOOPS.beside(histogram, lambda r, n: (r.integers(0, 256, (n, n), "u1"), np.zeros(256, "i8")), 2000)
def _(image, counts):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            counts[image[i, j]] += 1


@af.kernel
def threshold_and_count(image: af.f32[M, N], level: af.f32, mask: af.u8[M, N], count: af.i64[1]):
    """Which pixels are bright, and how many."""
    with af.for_(M) as i, af.for_(N) as j:
        with af.if_(image[i, j] > level):
            mask[i, j] = 1
            count[0] += 1
        with af.else_():
            mask[i, j] = 0


@LOOPS.beside(
    threshold_and_count,
    lambda r, n: (r.random((n, n), "f4"), np.float32(0.7), np.zeros((n, n), "u1"), np.zeros(1, "i8")),
    2000,
)
def _(image, level, mask, count):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            if image[i, j] > level:
                mask[i, j] = 1
                count[0] += 1
            else:
                mask[i, j] = 0


@af.kernel
def bilinear_resize(image: af.f32[M, N], out: af.f32[P, Q], sy: af.f32, sx: af.f32):
    """A picture of another size: between four pixels."""
    with af.for_(P) as i, af.for_(Q) as j:
        y, x = af.f32(i) * sy, af.f32(j) * sx
        y0, x0 = af.i32(y), af.i32(x)
        fy, fx = y - af.f32(y0), x - af.f32(x0)
        above = image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx
        below = image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx
        out[i, j] = above * (1 - fy) + below * fy


@LOOPS.beside(
    bilinear_resize,
    lambda r, n: (r.random((n, n), "f4"), np.zeros((n, n), "f4"), np.float32(0.7), np.float32(0.7)),
    1400,
    tolerance=1e-5,
)
def _(image, out, sy, sx):
    one = np.float32(1)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            y, x = np.float32(i) * sy, np.float32(j) * sx
            y0, x0 = np.int32(y), np.int32(x)
            fy, fx = y - np.float32(y0), x - np.float32(x0)
            above = image[y0, x0] * (one - fx) + image[y0, x0 + 1] * fx
            below = image[y0 + 1, x0] * (one - fx) + image[y0 + 1, x0 + 1] * fx
            out[i, j] = above * (one - fy) + below * fy


@af.kernel
def bilateral_filter(image: af.f32[M, N], out: af.f32[M, N], near: af.f32, alike: af.f32):
    """A mean of neighbours that counts those more that are near and alike."""
    with af.for_(2, M - 2) as i, af.for_(2, N - 2) as j:
        total = af.var(af.f32(0))
        weights = af.var(af.f32(0))
        with af.for_(-2, 3) as p, af.for_(-2, 3) as q:
            apart = image[i + p, j + q] - image[i, j]
            far = af.f32(p) * af.f32(p) + af.f32(q) * af.f32(q)
            weight = af.exp(-(far * near + apart * apart * alike))
            total += weight * image[i + p, j + q]
            weights += weight
        out[i, j] = total / weights


@LOOPS.beside(
    bilateral_filter,
    lambda r, n: (r.random((n, n), "f4"), np.zeros((n, n), "f4"), np.float32(0.2), np.float32(8)),
    300,
    tolerance=1e-5,
)
def _(image, out, near, alike):
    for i in range(2, image.shape[0] - 2):
        for j in range(2, image.shape[1] - 2):
            total = np.float32(0)
            weights = np.float32(0)
            for p in range(-2, 3):
                for q in range(-2, 3):
                    apart = image[i + p, j + q] - image[i, j]
                    weight = math.exp(-(np.float32(p * p + q * q) * near + apart * apart * alike))
                    total += weight * image[i + p, j + q]
                    weights += weight
            out[i, j] = total / weights


def middle_of_nine(p, low, high):
    """The middle one of nine numbers, by Paeth's exchanges (Graphics Gems, 1990)."""
    p = list(p)
    for a, b in (
        (1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3),
        (5, 8), (4, 7), (3, 6), (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2),
    ):  # fmt: skip
        p[a], p[b] = low(p[a], p[b]), high(p[a], p[b])
    return p[4]


@af.kernel
def median_of_nine(image: af.u8[M, N], out: af.u8[M, N]):
    """The middle one of each pixel and its neighbours."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        out[i, j] = middle_of_nine((image[i + p, j + q] for p in (-1, 0, 1) for q in (-1, 0, 1)), af.min, af.max)


@LOOPS.beside(median_of_nine, lambda r, n: (r.integers(0, 256, (n, n), "u1"), np.zeros((n, n), "u1")), 2000)
def _(image, out):
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            p0, p1, p2 = image[i - 1, j - 1], image[i - 1, j], image[i - 1, j + 1]
            p3, p4, p5 = image[i, j - 1], image[i, j], image[i, j + 1]
            p6, p7, p8 = image[i + 1, j - 1], image[i + 1, j], image[i + 1, j + 1]
            p1, p2 = min(p1, p2), max(p1, p2)
            p4, p5 = min(p4, p5), max(p4, p5)
            p7, p8 = min(p7, p8), max(p7, p8)
            p0, p1 = min(p0, p1), max(p0, p1)
            p3, p4 = min(p3, p4), max(p3, p4)
            p6, p7 = min(p6, p7), max(p6, p7)
            p1, p2 = min(p1, p2), max(p1, p2)
            p4, p5 = min(p4, p5), max(p4, p5)
            p7, p8 = min(p7, p8), max(p7, p8)
            p3 = max(p0, p3)
            p5 = min(p5, p8)
            p4, p7 = min(p4, p7), max(p4, p7)
            p6 = max(p3, p6)
            p4 = max(p1, p4)
            p2 = min(p2, p5)
            p4 = min(p4, p7)
            p4, p2 = min(p4, p2), max(p4, p2)
            p4 = max(p6, p4)
            out[i, j] = min(p4, p2)


@af.kernel
def edges(image: af.f32[M, N], out: af.f32[M, N]):
    """How steep a picture is, by Sobel's operators."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        gx = (
            image[i - 1, j + 1] - image[i - 1, j - 1]
            + 2 * (image[i, j + 1] - image[i, j - 1])
            + image[i + 1, j + 1] - image[i + 1, j - 1]
        )  # fmt: skip
        gy = (
            image[i + 1, j - 1] - image[i - 1, j - 1]
            + 2 * (image[i + 1, j] - image[i - 1, j])
            + image[i + 1, j + 1] - image[i - 1, j + 1]
        )  # fmt: skip
        out[i, j] = af.sqrt(gx * gx + gy * gy)


@LOOPS.beside(edges, lambda r, n: (r.random((n, n), "f4"), np.zeros((n, n), "f4")), 1500, tolerance=1e-5)
def _(image, out):
    two = np.float32(2)
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            gx = (
                image[i - 1, j + 1] - image[i - 1, j - 1]
                + two * (image[i, j + 1] - image[i, j - 1])
                + image[i + 1, j + 1] - image[i + 1, j - 1]
            )  # fmt: skip
            gy = (
                image[i + 1, j - 1] - image[i - 1, j - 1]
                + two * (image[i + 1, j] - image[i - 1, j])
                + image[i + 1, j + 1] - image[i - 1, j + 1]
            )  # fmt: skip
            out[i, j] = np.sqrt(gx * gx + gy * gy)


@af.kernel
def blend_of_pictures(above: af.u8[M, N, 4], below: af.u8[M, N, 4], out: af.u8[M, N, 4]):
    """One picture over another, as opaque as it says."""
    with af.for_(M) as i, af.for_(N) as j:
        alpha = af.i32(above[i, j, 3])
        with af.for_(3) as c:
            mixed = af.i32(above[i, j, c]) * alpha + af.i32(below[i, j, c]) * (255 - alpha)
            out[i, j, c] = af.cast((mixed + 127) // 255, af.u8)
        out[i, j, 3] = 255


@LOOPS.beside(
    blend_of_pictures,
    lambda r, n: (*r.integers(0, 256, (2, n, n, 4), "u1"), np.zeros((n, n, 4), "u1")),
    700,
)
def _(above, below, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            alpha = np.int32(above[i, j, 3])
            for c in range(3):
                mixed = np.int32(above[i, j, c]) * alpha + np.int32(below[i, j, c]) * (np.int32(255) - alpha)
                out[i, j, c] = (mixed + np.int32(127)) // np.int32(255)
            out[i, j, 3] = 255
