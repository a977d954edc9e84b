"""Colours and brightness of pictures, in bytes and by tables."""

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
K, M, N = af.symbols("K M N")


@af.kernel
def mix_of_pictures(a: af.u8[N], b: af.u8[N], share: af.f32, out: af.u8[N]):
    """A share of one picture and the rest of another, rounded to bytes."""
    with af.for_(N) as i:
        out[i] = af.cast(af.f32(a[i]) * share + af.f32(b[i]) * (1 - share) + 0.5, af.u8)


@LOOPS.beside(
    mix_of_pictures,
    lambda r, n: (*r.integers(0, 256, (2, n), "u1"), np.float32(0.3), np.zeros(n, "u1")),
    2000000,
    tolerance=0.01,
)
def _(a, b, share, out):
    for i in range(len(a)):
        out[i] = np.uint8(np.float32(a[i]) * share + np.float32(b[i]) * (np.float32(1) - share) + np.float32(0.5))


@af.kernel
def rgb_to_yuv(photo: af.u8[M, N, 3], out: af.u8[M, N, 3]):
    """Brightness and two differences of colour, in whole numbers."""
    with af.for_(M) as i, af.for_(N) as j:
        r, g, b = (af.i32(photo[i, j, c]) for c in range(3))
        out[i, j, 0] = af.cast((77 * r + 150 * g + 29 * b + 128) >> 8, af.u8)
        out[i, j, 1] = af.cast(((-43 * r - 85 * g + 128 * b + 128) >> 8) + 128, af.u8)
        out[i, j, 2] = af.cast(((128 * r - 107 * g - 21 * b + 128) >> 8) + 128, af.u8)


@LOOPS.beside(rgb_to_yuv, lambda r, n: (r.integers(0, 256, (n, n, 3), "u1"), np.zeros((n, n, 3), "u1")), 1000)
def _(photo, out):
    for i in range(photo.shape[0]):
        for j in range(photo.shape[1]):
            r, g, b = np.int32(photo[i, j, 0]), np.int32(photo[i, j, 1]), np.int32(photo[i, j, 2])
            out[i, j, 0] = (77 * r + 150 * g + 29 * b + 128) >> 8
            out[i, j, 1] = ((-43 * r - 85 * g + 128 * b + 128) >> 8) + 128
            out[i, j, 2] = ((128 * r - 107 * g - 21 * b + 128) >> 8) + 128


@af.kernel
def integral_of_a_picture(image: af.u8[M, N], sums: af.i64[M + 1, N + 1]):
    """The sum of all pixels above and to the left of each."""
    with af.for_(M) as i:
        row = af.var(af.i64(0))
        with af.for_(N) as j:
            row += af.i64(image[i, j])
            sums[i + 1, j + 1] = sums[i, j + 1] + row


@LOOPS.beside(
    integral_of_a_picture,
    lambda r, n: (r.integers(0, 256, (n, n), "u1"), np.zeros((n + 1, n + 1), "i8")),
    500,
)
def _(image, sums):
    for i in range(image.shape[0]):
        row = 0
        for j in range(image.shape[1]):
            row += np.int64(image[i, j])  # NumPy adds numbers of 8 bits in 8 bits
            sums[i + 1, j + 1] = sums[i, j + 1] + row


@af.kernel
def tone_curve(x: af.f32[N], curve: af.f32[K + 1], out: af.f32[N]):
    """Brightness through a curve, which is a table with straight lines in between."""
    with af.for_(N) as i:
        at = x[i] * af.f32(K)
        k = af.cast(at, af.i32)
        part = at - af.f32(k)
        out[i] = curve[k] + part * (curve[k + 1] - curve[k])


@LOOPS.beside(
    tone_curve,
    lambda r, n: (r.random(n, "f4"), np.sqrt(np.linspace(0, 1, 257)).astype("f4"), np.zeros(n, "f4")),
    1000000,
    tolerance=1e-5,
)
def _(x, curve, out):
    scale = np.float32(len(curve) - 1)
    for i in range(len(x)):
        at = x[i] * scale
        k = np.int32(at)
        part = at - np.float32(k)
        out[i] = curve[k] + part * (curve[k + 1] - curve[k])


@af.kernel
def equalized(image: af.u8[M, N], out: af.u8[M, N], counts: af.i32[256], table: af.u8[256]):
    """A picture whose values occur about equally often."""
    with af.for_(M) as i, af.for_(N) as j:
        counts[image[i, j]] += 1
    total = af.var(af.i64(0))
    with af.for_(256) as k:
        total += af.i64(counts[k])
        table[k] = af.cast(total * 255 // af.i64(M * N), af.u8)
    with af.for_(M) as i, af.for_(N) as j:
        out[i, j] = table[image[i, j]]


@LOOPS.beside(
    equalized,
    lambda r, n: (
        r.integers(0, 256, (n, n), "u1"), np.zeros((n, n), "u1"), np.zeros(256, "i4"), np.zeros(256, "u1")
    ),
    1500,
)  # fmt: skip
def _(image, out, counts, table):
    m, n = image.shape
    for i in range(m):
        for j in range(n):
            counts[image[i, j]] += 1
    total = 0
    for k in range(256):
        total += counts[k]
        table[k] = total * 255 // (m * n)
    for i in range(m):
        for j in range(n):
            out[i, j] = table[image[i, j]]


@af.kernel
def spins(spin: af.i32[M, N], chance: af.f32[M, N], accept: af.f32[9], colour: af.index):
    """Half of the spins of a magnet, as on a chess-board, turned as Metropolis says."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j, af.if_((i + j) % 2 == colour):
        energy = spin[i, j] * (spin[i - 1, j] + spin[i + 1, j] + spin[i, j - 1] + spin[i, j + 1])
        with af.if_(chance[i, j] < accept[energy + 4]):
            spin[i, j] = -spin[i, j]


def _magnet(r: np.random.Generator, n: int) -> tuple[object, ...]:
    accept = np.exp(-0.8 * np.arange(-4, 5)).astype("f4")
    return r.choice(np.array([-1, 1], "i4"), (n, n)), r.random((n, n), "f4"), accept, 1


@LOOPS.beside(spins, _magnet, 500)
def _(spin, chance, accept, colour):
    for i in range(1, spin.shape[0] - 1):
        for j in range(1, spin.shape[1] - 1):
            if (i + j) % 2 == colour:
                energy = spin[i, j] * (spin[i - 1, j] + spin[i + 1, j] + spin[i, j - 1] + spin[i, j + 1])
                if chance[i, j] < accept[energy + 4]:
                    spin[i, j] = -spin[i, j]
