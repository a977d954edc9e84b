"""Edges that clamp, wrap or reflect, and conditions on the index."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

IDIOMS = Group("ends")


@af.kernel
def wrapped_neighbours(x: af.f64[N], y: af.f64[N]):
    """The mean of both neighbours on a ring."""
    with af.for_(N) as i:
        y[i] = 0.5 * (x[(i - 1) % N] + x[(i + 1) % N])


@IDIOMS.beside(
    wrapped_neighbours,
    c="for (int64_t i = 0; i < N; ++i) y[i] = 0.5 * (x[i == 0 ? N - 1 : i - 1] + x[i == N - 1 ? 0 : i + 1]);",
    N=1_000_000,
)
def _(x, y):
    y[:] = 0.5 * (np.roll(x, 1) + np.roll(x, -1))


@af.kernel
def clamped_neighbours(x: af.f32[N], y: af.f32[N]):
    """The second difference, where each edge is repeated."""
    with af.for_(N) as i:
        y[i] = x[af.max(i - 1, 0)] - 2 * x[i] + x[af.min(i + 1, N - 1)]


@IDIOMS.beside(
    clamped_neighbours,
    c="for (int64_t i = 0; i < N; ++i) y[i] = x[i > 0 ? i - 1 : 0] - 2 * x[i] + x[i < N - 1 ? i + 1 : N - 1];",
    tolerance=1e-6,
    N=100_000,
)
def _(x, y):
    edged = np.concatenate((x[:1], x, x[-1:]))
    y[:] = edged[:-2] - 2 * x + edged[2:]


@af.kernel
def differences_with_a_first(x: af.f64[N], y: af.f64[N]):
    """What was added by each number; the first is kept."""
    with af.for_(N) as i:
        with af.if_(i == 0):
            y[i] = x[i]
        with af.else_():
            y[i] = x[i] - x[i - 1]


@IDIOMS.beside(differences_with_a_first, N=300_000)
def _(x, y):
    y[0] = x[0]
    y[1:] = x[1:] - x[:-1]


@af.kernel
def window_in_the_middle(x: af.f64[N], y: af.f64[N]):
    """The middle half is doubled, the rest is kept."""
    with af.for_(N) as i:
        with af.if_((i >= N // 4) & (i < 3 * (N // 4))):
            y[i] = 2 * x[i]
        with af.else_():
            y[i] = x[i]


@IDIOMS.beside(window_in_the_middle, N=200_000)
def _(x, y):
    n = len(x)
    y[:] = x
    y[n // 4 : 3 * (n // 4)] *= 2


@af.kernel
def alternating_signs(x: af.f64[N], y: af.f64[N]):
    """Every other number changes its sign."""
    with af.for_(N) as i:
        with af.if_(i % 2 == 0):
            y[i] = x[i]
        with af.else_():
            y[i] = -x[i]


@IDIOMS.beside(alternating_signs, N=100_000)
def _(x, y):
    y[::2] = x[::2]
    y[1::2] = -x[1::2]


@af.kernel
def rotated_by_some(x: af.i32[N], y: af.i32[N]):
    """A ring that is turned by a number of places."""
    with af.for_(N) as i:
        y[i] = x[(i + 12345) % N]


@IDIOMS.beside(rotated_by_some, c="for (int64_t i = 0; i < N; ++i) y[i] = x[(i + 12345) % N];", N=500_000)
def _(x, y):
    y[:] = np.roll(x, -12345)


@af.kernel
def reflected_padding(x: af.f32[N], y: af.f32[N + 16]):
    """A signal with eight numbers more on each side, as a mirror shows them."""
    with af.for_(N + 16) as i:
        left = af.max(i - 8, 8 - i)
        y[i] = x[af.min(left, 2 * (N - 1) - i + 8)]


@IDIOMS.beside(
    reflected_padding,
    c="""for (int64_t i = 0; i < N + 16; ++i) {
    int64_t k = i < 8 ? 8 - i : i - 8;
    y[i] = x[k < N ? k : 2 * (N - 1) - k];
}""",
    N=200_000,
)
def _(x, y):
    y[8:-8] = x
    y[:8] = x[8:0:-1]
    y[-8:] = x[-2:-10:-1]


@af.kernel
def blur_with_repeated_edges(x: af.f32[M, N], y: af.f32[M, N]):
    """The mean of each pixel and its four neighbours; at the edges, the pixel stands for those that are missing."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.2 * (
            x[i, j] + x[af.max(i - 1, 0), j] + x[af.min(i + 1, M - 1), j]
            + x[i, af.max(j - 1, 0)] + x[i, af.min(j + 1, N - 1)]
        )  # fmt: skip


@IDIOMS.beside(
    blur_with_repeated_edges,
    c="""for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j)
        y[i * N + j] = 0.2f * (x[i * N + j] + x[(i > 0 ? i - 1 : 0) * N + j] + x[(i < M - 1 ? i + 1 : i) * N + j]
            + x[i * N + (j > 0 ? j - 1 : 0)] + x[i * N + (j < N - 1 ? j + 1 : j)]);""",
    tolerance=1e-6,
    M=600,
    N=800,
)
def _(x, y):
    e = np.pad(x, 1, mode="edge")
    y[:] = np.float32(0.2) * (x + e[:-2, 1:-1] + e[2:, 1:-1] + e[1:-1, :-2] + e[1:-1, 2:])


@af.kernel
def neighbours_on_a_torus(x: af.i32[M, N], y: af.i32[M, N]):
    """How many of the eight neighbours live, where edges meet."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = (
            x[(i - 1) % M, (j - 1) % N] + x[(i - 1) % M, j] + x[(i - 1) % M, (j + 1) % N]
            + x[i, (j - 1) % N] + x[i, (j + 1) % N]
            + x[(i + 1) % M, (j - 1) % N] + x[(i + 1) % M, j] + x[(i + 1) % M, (j + 1) % N]
        )  # fmt: skip


@IDIOMS.beside(
    neighbours_on_a_torus,
    c="""for (int64_t i = 0; i < M; ++i) {
    const int32_t *up = x + (i == 0 ? M - 1 : i - 1) * N, *at = x + i * N, *down = x + (i == M - 1 ? 0 : i + 1) * N;
    for (int64_t j = 0; j < N; ++j) {
        int64_t l = j == 0 ? N - 1 : j - 1, r = j == N - 1 ? 0 : j + 1;
        y[i * N + j] = up[l] + up[j] + up[r] + at[l] + at[r] + down[l] + down[j] + down[r];
    }
}""",
    M=512,
    N=512,
)
def _(x, y):
    rows = np.roll(x, 1, 0) + x + np.roll(x, -1, 0)
    y[:] = rows + np.roll(rows, 1, 1) + np.roll(rows, -1, 1) - x


@af.kernel
def upper_triangle_kept(A: af.f64[N, N]):
    """All below the diagonal becomes zero."""
    with af.for_(N) as i, af.for_(N) as j, af.if_(j < i):
        A[i, j] = 0.0


@IDIOMS.beside(upper_triangle_kept, N=700)
def _(A):
    A[:] = np.triu(A)


@af.kernel
def every_kth_is_marked(x: af.f64[N], y: af.f64[N]):
    """Each tenth number is replaced by zero."""
    with af.for_(N) as i:
        y[i] = af.select(i % 10 == 0, af.f64(0), x[i])


@IDIOMS.beside(every_kth_is_marked, N=100_000)
def _(x, y):
    y[:] = x
    y[::10] = 0


@af.kernel
def convolution_of_full_length(x: af.f64[N], h: af.f64[K], y: af.f64[N + K - 1]):
    """All shifts at which two signals overlap, also in part."""
    with af.for_(N + K - 1) as i:
        y[i] = 0.0
        with af.for_(af.max(0, i - K + 1), af.min(i + 1, N)) as k:
            y[i] += x[k] * h[i - k]


@IDIOMS.beside(convolution_of_full_length, tolerance=1e-11, N=20_000, K=31)
def _(x, h, y):
    y[:] = np.convolve(x, h)
