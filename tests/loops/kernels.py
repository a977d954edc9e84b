"""Kernels with loops that end when they are done, run down, or choose among several, and the same in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import affdsl as af

K, M, N = af.symbols("K M N")


@dataclass(frozen=True)
class Case:
    """A kernel, what does the same, and arguments for a size."""

    kernel: af.Kernel
    wanted: Callable[..., object]
    arguments: Callable[[np.random.Generator, int], tuple[object, ...]]

    def __str__(self) -> str:
        return self.kernel.name


CASES: list[Case] = []


def case(kernel: af.Kernel, arguments: Callable[[np.random.Generator, int], tuple[object, ...]]):
    """Says that the function below does the same as a kernel."""

    def made(wanted: Callable[..., object]) -> Callable[..., object]:
        CASES.append(Case(kernel, wanted, arguments))
        return wanted

    return made


@af.kernel
def newton(a: af.f64[N], x: af.f64[N], steps: af.i32[N]):
    """Square roots, until two steps agree."""
    with af.for_(N) as i:
        k = af.var(af.i32(0))
        with af.while_(lambda x, old: (x != old) & (k < 60), iter_args=(a[i], af.f64(0))) as (y, _):
            k += 1
            af.yield_((y + a[i] / y) / 2, y)
        x[i] = y
        steps[i] = k


@case(newton, lambda r, n: (r.uniform(0.1, 9, n), np.zeros(n), np.zeros(n, "i4")))
def _(a, x, steps):
    for i in range(len(a)):
        y, old, k = a[i], 0.0, 0
        while y != old and k < 60:
            y, old, k = (y + a[i] / y) / 2, y, k + 1
        x[i], steps[i] = y, k


@af.kernel
def collatz(n: af.i64[N], steps: af.i32[N]):
    with af.for_(N) as i:
        k = af.var(af.i32(0))
        with af.while_(lambda x: x != 1, iter_args=n[i]) as x:
            k += 1
            with af.if_(x % 2 == 0, af.i64) as y:
                af.yield_(x // 2)
            with af.else_():
                af.yield_(3 * x + 1)
            af.yield_(y)
        steps[i] = k


@case(collatz, lambda r, n: (r.integers(1, 999, n), np.zeros(n, "i4")))
def _(n, steps):
    for i, x in enumerate(n.tolist()):
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps[i] += 1


@af.kernel
def bisect(table: af.f64[N], asked: af.f64[M], place: af.i64[M]):
    """Where each number belongs in a sorted table."""
    with af.for_(M) as i:
        start = af.index(0)
        with af.while_(lambda lo, hi: lo < hi, iter_args=(start, start + N)) as (lo, hi):
            middle = (lo + hi) // 2
            with af.if_(table[middle] < asked[i], af.index, af.index) as (low, high):
                af.yield_(middle + 1, hi)
            with af.else_():
                af.yield_(lo, middle)
            af.yield_(low, high)
        place[i] = af.i64(lo)


@case(bisect, lambda r, n: (np.sort(r.normal(size=n)), r.normal(size=7), np.zeros(7, "i8")))
def _(table, asked, place):
    place[:] = np.searchsorted(table, asked)


@af.kernel
def mandelbrot(re: af.f64[N], im: af.f64[M], count: af.i32[N, M], limit: af.i32 = 50):
    with af.for_(N) as i, af.for_(M) as j:
        x = af.var(af.f64(0))
        y = af.var(af.f64(0))
        k = af.var(af.i32(0))
        with af.while_(lambda: (x * x + y * y <= 4) & (k < limit)):
            t = x * x - y * y + re[i]
            y.set(2 * x * y + im[j])
            x.set(t)
            k += 1
        count[i, j] = k


@case(mandelbrot, lambda r, n: (np.linspace(-2, 0.5, n), np.linspace(-1, 1, 5), np.zeros((n, 5), "i4"), 50))
def _(re, im, count, limit):
    for i, j in np.ndindex(count.shape):
        x = y = k = 0
        while x * x + y * y <= 4 and k < limit:
            x, y, k = x * x - y * y + re[i], 2 * x * y + im[j], k + 1
        count[i, j] = k


@af.kernel
def divisors(a: af.i64[N], b: af.i64[N], common: af.i64[N]):
    """Euclid's algorithm."""
    with af.for_(N) as i:
        with af.while_(lambda x, y: y != 0, iter_args=(a[i], b[i])) as (x, y):
            af.yield_(y, x % y)
        common[i] = x


@case(divisors, lambda r, n: (r.integers(0, 999, n), r.integers(0, 999, n), np.zeros(n, "i8")))
def _(a, b, common):
    common[:] = np.gcd(a, b)


@af.kernel
def root_of_cubic(c: af.f64[N], x: af.f64[N]):
    """x ** 3 + x = c by bisection: the ends change places where they must."""
    with af.for_(N) as i:
        with af.while_(lambda lo, hi: hi - lo > 1e-9, iter_args=(af.f64(-4), af.f64(4))) as (lo, hi):
            m = (lo + hi) / 2
            below = m * m * m + m < c[i]
            af.yield_(af.select(below, m, lo), af.select(below, hi, m))
        x[i] = lo


@case(root_of_cubic, lambda r, n: (r.uniform(-50, 50, n), np.zeros(n)))
def _(c, x):
    for i in range(len(c)):
        lo, hi = -4.0, 4.0
        while hi - lo > 1e-9:
            m = (lo + hi) / 2
            lo, hi = (m, hi) if m * m * m + m < c[i] else (lo, m)
        x[i] = lo


@af.kernel
def jacobi(A: af.f64[N, N], b: af.f64[N], x: af.f64[N], tolerance: af.f64 = 1e-6):
    """Sweeps until the largest change is small: loops in a while loop, and arrays that it changes."""
    t = af.alloc(af.f64[N])
    change = af.var(af.f64(1))
    sweeps = af.var(af.i32(0))
    with af.while_(lambda: (change > tolerance) & (sweeps < 99)):
        sweeps += 1
        change.set(0.0)
        with af.for_(N) as i:
            t[i] = b[i]
            with af.for_(N) as j, af.if_((j < i) | (j > i)):
                t[i] -= A[i, j] * x[j]
        with af.for_(N) as i:
            new = t[i] / A[i, i]
            change.set(af.max(change, af.abs(new - x[i])))
            x[i] = new
    return sweeps


def _dominant(r: np.random.Generator, n: int) -> tuple[object, ...]:
    return r.uniform(-1, 1, (n, n)) + 2 * n * np.eye(n), r.normal(size=n), np.zeros(n), 1e-6


@case(jacobi, _dominant)
def _(A, b, x, tolerance):
    n, change, sweeps = len(b), 1.0, 0
    while change > tolerance and sweeps < 99:
        sweeps, change, t = sweeps + 1, 0.0, b.copy()
        for i in range(n):
            for j in range(n):
                if j != i:
                    t[i] -= A[i, j] * x[j]
        for i in range(n):
            new = t[i] / A[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
    return sweeps


@af.kernel
def bubble_sort(x: af.i32[N]):
    """Passes over an array until one exchanges nothing."""
    again = af.var(af.bool_(True))
    with af.while_(lambda: again):
        again.set(False)
        with af.for_(N - 1) as i, af.if_(x[i] > x[i + 1]):
            t = x[i]
            x[i] = x[i + 1]
            x[i + 1] = t
            again.set(True)


@case(bubble_sort, lambda r, n: (r.integers(0, 9, n, "i4"),))
def _(x):
    x.sort()


@af.kernel
def insertion_sort(x: af.f64[N]):
    with af.for_(1, N) as i:
        t = x[i]
        place = af.index(i)
        still = af.bool_(True)
        with af.while_(lambda j, still: still, iter_args=(place, still)) as (j, still):
            with af.if_(j > 0, af.bool_) as larger:
                af.yield_(x[j - 1] > t)
            with af.else_():
                af.yield_(False)
            with af.if_(larger):
                x[j] = x[j - 1]
            af.yield_(af.select(larger, j - 1, j), larger)
        x[j] = t


@case(insertion_sort, lambda r, n: (r.normal(size=n),))
def _(x):
    x.sort()


@af.kernel
def find(x: af.i32[N], asked: af.i32[M], place: af.i64[M]):
    """The first place of each number, or the size: the search ends where it is found."""
    with af.for_(M) as i:
        k = af.var(af.i64(0))
        found = af.var(af.bool_(False))
        with af.while_(lambda: (k < af.i64(N)) & ~found):
            with af.if_(x[k] == asked[i]):
                found.set(True)
            with af.else_():
                k += 1
        place[i] = k


@case(find, lambda r, n: (r.integers(0, 9, n, "i4"), np.arange(-1, 8, dtype="i4"), np.zeros(9, "i8")))
def _(x, asked, place):
    for i, a in enumerate(asked):
        place[i] = x.tolist().index(a) if a in x else len(x)


@af.kernel
def merge(a: af.f64[M], b: af.f64[N], out: af.f64[M + N]):
    """Two sorted arrays as one: the nearer end decides, then what is left is copied."""
    zero = af.index(0)
    with af.while_(lambda i, j: (i < M) & (j < N), iter_args=(zero, zero)) as (i, j):
        with af.if_(b[j] < a[i], af.index, af.index) as (p, q):
            out[i + j] = b[j]
            af.yield_(i, j + 1)
        with af.else_():
            out[i + j] = a[i]
            af.yield_(i + 1, j)
        af.yield_(p, q)
    with af.for_(i, M) as p:
        out[p + j] = a[p]
    with af.for_(j, N) as q:
        out[M + q] = b[q]


@case(merge, lambda r, n: (np.sort(r.normal(size=n)), np.sort(r.normal(size=5)), np.zeros(n + 5)))
def _(a, b, out):
    out[:] = np.sort(np.concatenate([a, b]))


@af.kernel
def flag(x: af.i32[N]):
    """The Dutch national flag: three kinds in one pass."""
    zero = af.index(0)
    with af.while_(lambda lo, mid, hi: mid < hi, iter_args=(zero, zero, zero + N)) as (lo, mid, hi):
        t = x[mid]
        with af.if_(t == 0, af.index, af.index, af.index) as (a, b, c):
            x[mid] = x[lo]
            x[lo] = t
            af.yield_(lo + 1, mid + 1, hi)
        with af.elif_(t == 1):
            af.yield_(lo, mid + 1, hi)
        with af.else_():
            x[mid] = x[hi - 1]
            x[hi - 1] = t
            af.yield_(lo, mid, hi - 1)
        af.yield_(a, b, c)


@case(flag, lambda r, n: (r.integers(0, 3, n, "i4"),))
def _(x):
    x.sort()


@af.kernel
def power_mod(base: af.i64[N], exponent: af.i64[N], out: af.i64[N], modulus: af.i64 = 1009):
    with af.for_(N) as i:
        one = af.i64(1)
        with af.while_(lambda e, b, r: e > 0, iter_args=(exponent[i], base[i] % modulus, one)) as (e, b, r):
            af.yield_(e // 2, b * b % modulus, af.select(e % 2 == 1, r * b % modulus, r))
        out[i] = r


@case(power_mod, lambda r, n: (r.integers(0, 10**6, n), r.integers(0, 10**6, n), np.zeros(n, "i8"), 1009))
def _(base, exponent, out, modulus):
    out[:] = [pow(int(b), int(e), modulus) for b, e in zip(base, exponent, strict=True)]


@af.kernel
def cycle(following: af.i32[N], start: af.i32, found: af.i32[2]):
    """Floyd's tortoise and hare: how long a sequence takes to come round, and where it begins to."""
    with af.if_(N > 0):
        one, two = following[start], following[following[start]]
        with af.while_(lambda slow, fast: slow != fast, iter_args=(one, two)) as (slow, fast):
            af.yield_(following[slow], following[following[fast]])
        mu = af.var(af.i32(0))
        with af.while_(lambda a, b: a != b, iter_args=(af.cast(start, af.i32) + 0, fast)) as (a, b):
            mu += 1
            af.yield_(following[a], following[b])
        length = af.var(af.i32(1))
        with af.while_(lambda c: c != a, iter_args=following[a]) as c:
            length += 1
            af.yield_(following[c])
        found[0] = mu
        found[1] = length


@case(cycle, lambda r, n: (r.integers(0, max(n, 1), n, "i4"), 0, np.zeros(2, "i4")))
def _(following, start, found):
    seen = []
    x = start
    while len(following) and x not in seen:
        seen.append(x)
        x = int(following[x])
    if seen:
        found[:] = seen.index(x), len(seen) - seen.index(x)


@af.kernel
def hashed(keys: af.i64[N], table: af.i64[2 * N + 1], probes: af.i32[N]):
    """A hash table with linear probing: -1 is free."""
    with af.for_(2 * N + 1) as i:
        table[i] = -1
    with af.for_(N) as i:
        size = af.i64(2 * N + 1)
        first = keys[i] * 31 % size
        with af.while_(lambda p: (table[p] != -1) & (table[p] != keys[i]), iter_args=first) as p:
            probes[i] += 1
            af.yield_((p + 1) % size)
        table[p] = keys[i]


@case(hashed, lambda r, n: (r.integers(0, 99, n), np.zeros(2 * n + 1, "i8"), np.zeros(n, "i4")))
def _(keys, table, probes):
    table[:] = -1
    for i, key in enumerate(keys.tolist()):
        p = key * 31 % len(table)
        while table[p] not in (-1, key):
            p = (p + 1) % len(table)
            probes[i] += 1
        table[p] = key


@af.kernel
def sieve(prime: af.bool_[N]):
    """A while loop around a loop whose start and step go with its number."""
    with af.for_(N) as i:
        prime[i] = i >= 2
    with af.while_(lambda p: p * p < N, iter_args=af.index(2)) as p:
        with af.if_(prime[p]):
            with af.while_(lambda m: m < N, iter_args=p * p) as m:
                prime[m] = False
                af.yield_(m + p)
        af.yield_(p + 1)


@case(sieve, lambda r, n: (np.zeros(9 * n, bool),))
def _(prime):
    for i in range(len(prime)):
        prime[i] = i >= 2 and all(i % k for k in range(2, i))


@af.kernel
def reached(grid: af.i32[M, N], distance: af.i32[M, N]):
    """How far each cell is from the corner, through free cells: a queue, until it is empty."""
    queue = af.alloc(af.i32[M * N + 1])
    with af.for_(M) as i, af.for_(N) as j:
        distance[i, j] = -1
    last = af.var(af.i32(0))
    with af.if_((M > 0) & (N > 0)):
        queue[0] = 0
        last += 1
        distance[0, 0] = 0
    width = af.i32(N)
    with af.while_(lambda head: head < last, iter_args=af.i32(0)) as head:
        r = queue[head] // width
        c = queue[head] % width
        with af.for_(4) as side:
            step = af.i32(side % 2 * 2 - 1)
            is_row = af.i32(side) < 2
            y = r + af.select(is_row, step, 0)
            x = c + af.select(is_row, 0, step)
            with af.if_((y >= 0) & (y < af.i32(M)) & (x >= 0) & (x < width)):
                with af.if_((grid[y, x] == 0) & (distance[y, x] < 0)):
                    distance[y, x] = distance[r, c] + 1
                    queue[last] = y * width + x
                    last += 1
        af.yield_(head + 1)


@case(reached, lambda r, n: ((r.uniform(size=(n, 6)) < 0.3).astype("i4"), np.zeros((n, 6), "i4")))
def _(grid, distance):
    distance[:] = -1
    queue = [(0, 0)] if grid.size else []
    for r, c in queue:
        distance[0, 0] = 0
        for y, x in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            inside = 0 <= y < grid.shape[0] and 0 <= x < grid.shape[1]
            if inside and grid[y, x] == 0 and distance[y, x] < 0:
                distance[y, x] = distance[r, c] + 1
                queue.append((y, x))


@af.kernel
def next_permutation(x: af.i32[N]):
    """The next one in the order of words: two searches from the end, and a reversal."""
    with af.if_(N > 1):
        start = af.index(N - 1)
        ends = af.bool_(True)
        with af.while_(lambda k, go: go, iter_args=(start, ends)) as (k, _):
            with af.if_(k > 0, af.bool_) as falls:
                af.yield_(x[k - 1] >= x[k])
            with af.else_():
                af.yield_(False)
            af.yield_(af.select(falls, k - 1, k), falls)
        with af.if_(k > 0):
            with af.while_(lambda m: x[m] <= x[k - 1], iter_args=start) as m:
                af.yield_(m - 1)
            t = x[m]
            x[m] = x[k - 1]
            x[k - 1] = t
        with af.for_((N - k) // 2) as i:
            t = x[k + i]
            x[k + i] = x[N - 1 - i]
            x[N - 1 - i] = t


@case(next_permutation, lambda r, n: (r.permutation(n).astype("i4"),))
def _(x):
    n = len(x)
    k = n - 1
    while k > 0 and x[k - 1] >= x[k]:
        k -= 1
    if k > 0:
        m = max(m for m in range(k, n) if x[m] > x[k - 1])
        x[k - 1], x[m] = x[m], x[k - 1]
    x[max(k, 0) :] = x[max(k, 0) :][::-1].copy()


@af.kernel
def symmetric_sweeps(A: af.f64[N, N], b: af.f64[N], x: af.f64[N], sweeps: af.index = 3):
    """Gauss-Seidel forward and backward."""
    with af.for_(sweeps):
        with af.for_(N) as i:
            s = af.var(b[i])
            with af.for_(N) as j, af.if_((j < i) | (j > i)):
                s -= A[i, j] * x[j]
            x[i] = s / A[i, i]
        with af.for_(N - 1, -1, -1) as i:
            s = af.var(b[i])
            with af.for_(N - 1, -1, -1) as j, af.if_((j < i) | (j > i)):
                s -= A[i, j] * x[j]
            x[i] = s / A[i, i]


@case(symmetric_sweeps, lambda r, n: (*_dominant(r, n)[:3], 2))
def _(A, b, x, sweeps):
    n = len(b)
    for _ in range(sweeps):
        for order in (range(n), range(n - 1, -1, -1)):
            for i in order:
                s = b[i]
                for j in order:
                    if j != i:
                        s -= A[i, j] * x[j]
                x[i] = s / A[i, i]


@af.kernel
def knapsack(weight: af.i32[N], value: af.i64[N], best: af.i64[M + 1]):
    """Each thing once: the capacities from the largest down, in place."""
    with af.for_(N) as i, af.for_(M, -1, -1) as c:
        w = weight[i]
        with af.if_(w <= af.i32(c)):
            best[c] = af.max(best[c], best[af.i32(c) - w] + value[i])


@case(knapsack, lambda r, n: (r.integers(1, 6, n, "i4"), r.integers(1, 99, n), np.zeros(12, "i8")))
def _(weight, value, best):
    for w, v in zip(weight.tolist(), value.tolist(), strict=True):
        for c in range(len(best) - 1, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)


@af.kernel
def grades(points: af.f64[N], out: af.i8[N], counts: af.i64[5]):
    with af.for_(N) as i:
        with af.if_(points[i] >= 90, af.i8) as grade:
            af.yield_(0)
        with af.elif_(points[i] >= 75):
            af.yield_(1)
        with af.elif_(points[i] >= 60):
            af.yield_(2)
        with af.elif_(points[i] >= 50):
            af.yield_(3)
        with af.else_():
            af.yield_(4)
        out[i] = grade
        counts[grade] += 1


@case(grades, lambda r, n: (r.uniform(0, 100, n), np.zeros(n, "i1"), np.zeros(5, "i8")))
def _(points, out, counts):
    for i, p in enumerate(points):
        out[i] = 0 if p >= 90 else 1 if p >= 75 else 2 if p >= 60 else 3 if p >= 50 else 4
        counts[out[i]] += 1


@af.kernel
def adaptive(y: af.f64[N], until: af.f64, tolerance: af.f64, steps: af.i32[N]):
    """y' = -y * y by Heun's method; the step shrinks where the error is large, and grows else."""
    with af.for_(N) as i:
        zero = af.f64(0)
        with af.while_(lambda t, h, u: t < until, iter_args=(zero, zero + 0.5, y[i])) as (t, h, u):
            steps[i] += 1
            a = -u * u
            e = u + h * a
            b = -e * e
            error = af.abs(h * (b - a)) / 2
            good = error <= tolerance
            with af.if_(good, af.f64, af.f64, af.f64) as (t1, h1, u1):
                af.yield_(t + h, h * 1.5, u + h * (a + b) / 2)
            with af.else_():
                af.yield_(t, h / 2, u)
            af.yield_(t1, h1, u1)
        y[i] = u


@case(adaptive, lambda r, n: (r.uniform(0.1, 3, n), 1.0, 1e-3, np.zeros(n, "i4")))
def _(y, until, tolerance, steps):
    for i in range(len(y)):
        t, h, u = 0.0, 0.5, y[i]
        while t < until:
            steps[i] += 1
            a = -u * u
            e = u + h * a
            b = -e * e
            if abs(h * (b - a)) / 2 <= tolerance:
                t, h, u = t + h, h * 1.5, u + h * (a + b) / 2
            else:
                h /= 2
        y[i] = u


@af.kernel
def labels(image: af.i32[M, N], label: af.i32[M, N]):
    """Connected regions: labels flow forward and backward until none changes."""
    with af.for_(M) as i, af.for_(N) as j:
        label[i, j] = af.i32(i * N + j) + 1
    changed = af.var(af.bool_(True))
    with af.while_(lambda: changed):
        changed.set(False)
        with af.for_(M) as i, af.for_(N) as j:
            with af.if_(i > 0):
                with af.if_((image[i - 1, j] == image[i, j]) & (label[i - 1, j] < label[i, j])):
                    label[i, j] = label[i - 1, j]
                    changed.set(True)
            with af.if_(j > 0):
                with af.if_((image[i, j - 1] == image[i, j]) & (label[i, j - 1] < label[i, j])):
                    label[i, j] = label[i, j - 1]
                    changed.set(True)
        with af.for_(M - 1, -1, -1) as i, af.for_(N - 1, -1, -1) as j:
            with af.if_(i < M - 1):
                with af.if_((image[i + 1, j] == image[i, j]) & (label[i + 1, j] < label[i, j])):
                    label[i, j] = label[i + 1, j]
                    changed.set(True)
            with af.if_(j < N - 1):
                with af.if_((image[i, j + 1] == image[i, j]) & (label[i, j + 1] < label[i, j])):
                    label[i, j] = label[i, j + 1]
                    changed.set(True)


@case(labels, lambda r, n: (r.integers(0, 2, (n, 5), "i4"), np.zeros((n, 5), "i4")))
def _(image, label):
    label[:] = np.arange(1, image.size + 1).reshape(image.shape)
    for start in np.ndindex(image.shape):
        todo = [start]
        while todo:
            i, j = todo.pop()
            for y, x in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                is_same = 0 <= y < image.shape[0] and 0 <= x < image.shape[1] and image[y, x] == image[i, j]
                if is_same and label[y, x] > label[i, j]:
                    label[y, x] = label[i, j]
                    todo.append((y, x))


@af.kernel
def factored(n: af.i64[N], largest: af.i64[N]):
    """While loops in a while loop: the largest prime factor."""
    with af.for_(N) as i:
        with af.while_(lambda rest, p: p * p <= rest, iter_args=(n[i], af.i64(2))) as (rest, p):
            with af.while_(lambda r: (r % p == 0) & (r > p), iter_args=rest) as r:
                af.yield_(r // p)
            af.yield_(r, p + 1)
        largest[i] = rest


@case(factored, lambda r, n: (r.integers(2, 9999, n), np.zeros(n, "i8")))
def _(n, largest):
    for i, rest in enumerate(n.tolist()):
        p = 2
        while p * p <= rest:
            while rest % p == 0 and rest > p:
                rest //= p
            p += 1
        largest[i] = rest


def arguments(chosen: Case, sizes: tuple[int, ...]) -> Iterator[tuple[object, ...]]:
    """Arguments for the sizes, the same ones each time."""
    for n in sizes:
        yield chosen.arguments(np.random.default_rng(n), n)
