"""Letters of sequences and numbers of tables, counted."""

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
K, M, N = af.symbols("K M N")


@af.kernel
def bases_g_and_c(text: af.u8[N], counts: af.i64[2]):
    """How often two letters stand in a sequence."""
    g = af.var(af.i64(0))
    c = af.var(af.i64(0))
    with af.for_(N) as i:
        with af.if_(text[i] == 71):
            g += 1
        with af.elif_(text[i] == 67):
            c += 1
    counts[0] = g
    counts[1] = c


def _text(r: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return r.choice(np.array([65, 67, 71, 84], "u1"), n), np.zeros(2, "i8")


@LOOPS.beside(bases_g_and_c, _text, 2000000)
def _(text, counts):
    g = 0
    c = 0
    for i in range(len(text)):
        if text[i] == 71:
            g += 1
        elif text[i] == 67:
            c += 1
    counts[0] = g
    counts[1] = c


@af.kernel
def letters_that_differ(words: af.u8[M, N], apart: af.i32[M, M]):
    """In how many letters each two words differ."""
    with af.for_(M) as i, af.for_(M) as j:
        count = af.var(af.i32(0))
        with af.for_(N) as k, af.if_(words[i, k] != words[j, k]):
            count += 1
        apart[i, j] = count


@LOOPS.beside(letters_that_differ, lambda r, n: (r.integers(0, 4, (n, 200), "u1"), np.zeros((n, n), "i4")), 300)
def _(words, apart):
    for i in range(len(words)):
        for j in range(len(words)):
            count = 0
            for k in range(words.shape[1]):
                if words[i, k] != words[j, k]:
                    count += 1
            apart[i, j] = count


@af.kernel
def words_of_six(text: af.u8[N], counts: af.i32[4096]):
    """How often each word of six letters stands in a sequence of four."""
    with af.for_(N - 5) as i:
        code = af.var(af.i32(0))
        with af.for_(6) as k:
            code.set(code * 4 + af.i32(text[i + k]))
        counts[code] += 1


@LOOPS.beside(words_of_six, lambda r, n: (r.integers(0, 4, n + 5, "u1"), np.zeros(4096, "i4")), 1000000)
def _(text, counts):
    for i in range(len(text) - 5):
        code = 0
        for k in range(6):
            code = code * 4 + np.int64(text[i + k])  # NumPy adds numbers of 8 bits in 8 bits
        counts[code] += 1


@af.kernel
def edit_distances(a: af.u8[M], b: af.u8[N], table: af.i32[M + 1, N + 1]):
    """How many letters must be changed to get from the beginning of one word to that of another: the whole table."""
    with af.for_(M + 1) as i:
        table[i, 0] = af.cast(i, af.i32)
    with af.for_(N + 1) as j:
        table[0, j] = af.cast(j, af.i32)
    with af.for_(1, M + 1) as i, af.for_(1, N + 1) as j:
        with af.if_(a[i - 1] == b[j - 1]):
            table[i, j] = table[i - 1, j - 1]
        with af.else_():
            table[i, j] = 1 + af.min(af.min(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])


@LOOPS.beside(
    edit_distances,
    lambda r, n: (r.integers(0, 4, n, "u1"), r.integers(0, 4, n, "u1"), np.zeros((n + 1, n + 1), "i4")),
    1200,
)
def _(a, b, table):
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(min(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])


@af.kernel
def numbers_below(x: af.f64[N], edge: af.f64[K], below: af.i64[K]):
    """How many numbers are less than each of some edges."""
    with af.for_(N) as i, af.for_(K) as k, af.if_(x[i] < edge[k]):
        below[k] += 1


@LOOPS.beside(numbers_below, lambda r, n: (r.normal(size=n), np.linspace(-2, 2, 20), np.zeros(20, "i8")), 100000)
def _(x, edge, below):
    for i in range(len(x)):
        for k in range(len(edge)):
            if x[i] < edge[k]:
                below[k] += 1
