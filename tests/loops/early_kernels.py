"""Kernels with loops that end early, and iterations that do, and the same in Python."""

from __future__ import annotations

import numpy as np

import affdsl as af
from tests.loops.kernels import Case

K, M, N, R = af.symbols("K M N R")
CASES: list[Case] = []


def case(kernel, arguments):
    """Says that the function below does the same as a kernel."""

    def made(wanted):
        CASES.append(Case(kernel, wanted, arguments))
        return wanted

    return made


def integers(r: np.random.Generator, n: int, low: int = -3, high: int = 9) -> np.ndarray:
    """Whole numbers, as arguments."""
    return r.integers(low, high, n)


@af.kernel
def first_above(x: af.i64[N], t: af.i64):
    found = af.var(af.i64(-1))
    with af.for_(N) as i, af.if_(x[i] > t):
        found.set(af.i64(i))
        af.break_()
    return found


@case(first_above, lambda r, n: (integers(r, n), 6))
def _(x, t):
    found = -1
    for i in range(len(x)):
        if x[i] > t:
            found = i
            break
    return found


@af.kernel
def sum_until_negative(x: af.f64[N], so_far: af.f64[N]):
    """What is carried is what it was when the iteration began that breaks."""
    with af.for_(N, iter_args=(af.f64(0), af.i32(0))) as (i, s, k):
        so_far[i] = s
        with af.if_(x[i] < 0):
            af.break_()
        af.yield_(s + x[i], k + 1)
    return s, k


@case(sum_until_negative, lambda r, n: (r.uniform(-0.2, 1, n), np.zeros(n)))
def _(x, so_far):
    s, k = 0.0, 0
    for i in range(len(x)):
        so_far[i] = s
        if x[i] < 0:
            break
        s, k = s + x[i], k + 1
    return s, k


@af.kernel
def boxes_that_meet(low: af.i64[N, K], high: af.i64[N, K], inside: af.i32[N]):
    """Bounding boxes next to each other: the first dimension in which they are apart decides."""
    with af.for_(1, N) as b:
        inside[b] = 1
        with af.for_(K) as d:
            with af.if_(high[b - 1, d] < low[b, d]):
                inside[b] = 0
                af.break_()
            with af.if_(high[b, d] < low[b - 1, d]):
                inside[b] = 0
                af.break_()


def _boxes(r, n):
    low = r.integers(0, 9, (n, 3))
    return low, low + r.integers(0, 6, (n, 3)), np.full(n, 7, "i4")


@case(boxes_that_meet, _boxes)
def _(low, high, inside):
    for b in range(1, len(low)):
        inside[b] = ((high[b - 1] >= low[b]) & (high[b] >= low[b - 1])).all()


@af.kernel
def bisection(target: af.f64[N], root: af.f64[N], steps: af.i32[N]):
    """A loop that nothing but a break ends."""
    with af.for_(N) as i:
        low, high, k = af.var(af.f64(0)), af.var(af.f64(16)), af.var(af.i32(0))
        with af.while_(lambda: True):
            middle = (low + high) / 2
            with af.if_((high - low < 1e-9) | (middle * middle == target[i])):
                af.break_()
            k += 1
            with af.if_(middle * middle < target[i]):
                low.set(middle)
                af.continue_()
            high.set(middle)
        root[i] = (low + high) / 2
        steps[i] = k


@case(bisection, lambda r, n: (r.integers(0, 90, n).astype(float), np.zeros(n), np.zeros(n, "i4")))
def _(target, root, steps):
    for i in range(len(target)):
        low, high, k = 0.0, 16.0, 0
        while True:
            middle = (low + high) / 2
            if high - low < 1e-9 or middle * middle == target[i]:
                break
            k += 1
            if middle * middle < target[i]:
                low = middle
                continue
            high = middle
        root[i], steps[i] = (low + high) / 2, k


@af.kernel
def newton(a: af.f64[N], x: af.f64[N]):
    with af.for_(N) as i:
        y = af.var(a[i])
        with af.for_(50):
            step = (y * y - a[i]) / (2 * y)
            with af.if_(af.abs(step) < 1e-9):
                af.break_()
            y -= step
        x[i] = y


@case(newton, lambda r, n: (r.uniform(0.1, 9, n), np.zeros(n)))
def _(a, x):
    for i in range(len(a)):
        y = a[i]
        for _ in range(50):
            step = (y * y - a[i]) / (2 * y)
            if abs(step) < 1e-9:
                break
            y -= step
        x[i] = y


@af.kernel
def mandelbrot(cx: af.f64[N], cy: af.f64[N], steps: af.i64[N]):
    with af.for_(N) as i:
        steps[i] = 40
        with af.for_(40, iter_args=(af.f64(0), af.f64(0))) as (k, x, y):
            xx, yy = x * x, y * y
            with af.if_(xx + yy > 4):
                steps[i] = af.i64(k)
                af.break_()
            af.yield_(xx - yy + cx[i], 2 * x * y + cy[i])


@case(mandelbrot, lambda r, n: (r.uniform(-2, 1, n), r.uniform(-1, 1, n), np.zeros(n, "i8")))
def _(cx, cy, steps):
    for i in range(len(cx)):
        x = y = 0.0
        steps[i] = 40
        for k in range(40):
            xx, yy = x * x, y * y
            if xx + yy > 4:
                steps[i] = k
                break
            x, y = xx - yy + cx[i], 2 * x * y + cy[i]


@af.kernel
def find_text(text: af.u8[N], word: af.u8[3]):
    """The inner break leaves the inner loop only; the outer one comes behind it."""
    at = af.var(af.i64(-1))
    with af.for_(N - 2) as i:
        same = af.var(af.i32(0))
        with af.for_(3) as j:
            with af.if_(text[i + j] != word[j]):
                af.break_()
            same += 1
        with af.if_(same == 3):
            at.set(af.i64(i))
            af.break_()
    return at


@case(find_text, lambda r, n: (r.integers(97, 99, n, "u1"), np.frombuffer(b"abb", "u1").copy()))
def _(text, word):
    return bytes(text).find(bytes(word))


@af.kernel
def collisions(x: af.f64[N], radius: af.f64[N], met: af.i32[N]):
    with af.for_(N) as i:
        with af.if_(radius[i] == 0):
            af.continue_()
        with af.for_(N) as j:
            with af.if_(j == i):
                af.continue_()
            with af.elif_(radius[j] == 0):
                af.continue_()
            with af.if_(af.abs(x[i] - x[j]) > radius[i] + radius[j]):
                af.continue_()
            met[i] += 1


@case(collisions, lambda r, n: (r.uniform(0, 9, n), r.choice([0, 0.5, 1], n), np.zeros(n, "i4")))
def _(x, radius, met):
    for i in range(len(x)):
        for j in range(len(x)):
            if radius[i] and radius[j] and i != j and abs(x[i] - x[j]) <= radius[i] + radius[j]:
                met[i] += 1


@af.kernel
def run_lengths(x: af.i64[N], values: af.i64[N], lengths: af.i64[N]):
    """Loops whose bounds are data, in a loop that skips what they have gone through."""
    runs, until = af.var(af.i64(0)), af.var(af.i64(0))
    with af.for_(N) as i:
        with af.if_(af.i64(i) < until):
            af.continue_()
        length = af.var(af.i64(0))
        with af.for_(i, N) as j:
            with af.if_(x[j] != x[i]):
                af.break_()
            length += 1
        r = af.index(runs)
        values[r] = x[i]
        lengths[r] = length
        runs += 1
        until += length
    return runs


@case(run_lengths, lambda r, n: (integers(r, n, 0, 2), np.zeros(n, "i8"), np.zeros(n, "i8")))
def _(x, values, lengths):
    runs = []
    for each in x.tolist():
        if runs and runs[-1][0] == each:
            runs[-1][1] += 1
        else:
            runs.append([each, 1])
    for k, (value, length) in enumerate(runs):
        values[k], lengths[k] = value, length
    return len(runs)


@af.kernel
def until_sentinel(x: af.i64[N], y: af.i64[N]):
    """The statements before a break are done in its iteration, too."""
    with af.for_(N) as i:
        y[i] = 2 * x[i]
        with af.if_(x[i] == 0):
            y[i] = -1
            af.break_()
        y[i] += 1


@case(until_sentinel, lambda r, n: (integers(r, n, 0), integers(r, n)))
def _(x, y):
    for i in range(len(x)):
        if x[i] == 0:
            y[i] = -1
            break
        y[i] = 2 * x[i] + 1


@af.kernel
def find_in_matrix(A: af.i64[M, N], t: af.i64, place: af.i64[2]):
    found = af.var(af.bool_(False))
    with af.for_(M) as i:
        with af.for_(N) as j, af.if_(A[i, j] == t):
            place[0] = af.i64(i)
            place[1] = af.i64(j)
            found.set(True)
            af.break_()
        with af.if_(found):
            af.break_()
    return found


@case(find_in_matrix, lambda r, n: (r.integers(0, 40, (n, n + 1)), 7, np.full(2, -1)))
def _(A, t, place):
    at = np.argwhere(t == A)
    if len(at):
        place[:] = at[0]
    return bool(len(at))


@af.kernel
def sieve(composite: af.bool_[N], primes: af.i64[N]):
    count = af.var(af.i64(0))
    with af.for_(2, N) as p:
        with af.if_(composite[p]):
            af.continue_()
        primes[af.index(count)] = af.i64(p)
        count += 1
        with af.for_(2, N) as k:
            multiple = af.i64(p) * af.i64(k)
            with af.if_(multiple >= af.i64(N)):
                af.break_()
            composite[af.index(multiple)] = True
    return count


@case(sieve, lambda r, n: (np.zeros(5 * n, "?"), np.zeros(5 * n, "i8")))
def _(composite, primes):
    found = [p for p in range(2, len(composite)) if all(p % q for q in range(2, p))]
    primes[: len(found)] = found
    for p in range(2, len(composite)):
        composite[p] = p not in found
    return len(found)


@af.kernel
def rows_with(first: af.i64[R + 1], columns: af.i64[N], wanted: af.i64, has: af.i32[R]):
    """A search in each row of a sparse matrix: bounds that are data."""
    with af.for_(R) as r:
        has[r] = 0
        with af.for_(af.index(first[r]), af.index(first[r + 1])) as k:
            with af.if_(columns[k] == wanted):
                has[r] = 1
                af.break_()
            with af.if_(columns[k] > wanted):
                has[r] = -1
                af.break_()


def _sparse(r, n):
    first = np.sort(r.integers(0, 3 * n + 1, n + 1))
    return first, r.integers(0, 6, 3 * n + 1), 3, np.zeros(n, "i4")


@case(rows_with, _sparse)
def _(first, columns, wanted, has):
    for r in range(len(has)):
        has[r] = 0
        for k in range(first[r], first[r + 1]):
            if columns[k] >= wanted:
                has[r] = 1 if columns[k] == wanted else -1
                break


@af.kernel
def collatz(start: af.i64[N], steps: af.i64[N]):
    """Breaks and continues of a while loop in all blocks of a branch, so that nothing comes behind it."""
    with af.for_(N) as i:
        x, k = af.var(start[i]), af.var(af.i64(0))
        with af.while_(lambda: x > 0):
            k += 1
            with af.if_((x == 1) | (k > 60)):
                af.break_()
            with af.elif_(x % 2 == 0):
                x.set(x // 2)
                af.continue_()
            with af.else_():
                x.set(3 * x + 1)
                af.continue_()
        steps[i] = k


@case(collatz, lambda r, n: (integers(r, n, -2, 99), np.zeros(n, "i8")))
def _(start, steps):
    for i in range(len(start)):
        x, k = int(start[i]), 0
        while x > 0:
            k += 1
            if x == 1 or k > 60:
                break
            x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps[i] = k


@af.kernel
def last_odd(x: af.i64[N], seen: af.i64[N]):
    """A loop that runs down, and a choice that gives a number where it does not end the loop."""
    at = af.var(af.i64(-1))
    with af.for_(N - 1, -1, -1) as i:
        with af.if_(x[i] % 2 == 1, af.i64) as half:
            at.set(af.i64(i))
            af.break_()
        with af.elif_(x[i] < 0):
            af.yield_(-x[i])
        with af.else_():
            with af.if_(x[i] == 4):
                af.continue_()
            af.yield_(x[i] // 2)
        seen[i] = half
    return at


@case(last_odd, lambda r, n: (2 * integers(r, n) + (r.random(n) < 0.2), np.zeros(n, "i8")))
def _(x, seen):
    for i in reversed(range(len(x))):
        if x[i] % 2 == 1:
            return i
        if x[i] != 4:
            seen[i] = -x[i] if x[i] < 0 else x[i] // 2
    return -1


@af.kernel
def sum_of_roots(x: af.f64[N]):
    """Iterations of a parallel loop may end early: they add nothing."""
    with af.parallel(N, reduce=[("addf", af.f64), ("maximumf", af.f64)]) as (i, s, m):
        with af.if_(x[i] < 0):
            af.continue_()
        af.yield_(x[i], af.sqrt(x[i]))
    return s, m


@case(sum_of_roots, lambda r, n: (r.integers(-9, 9, n).astype(float),))
def _(x):
    kept = x[x >= 0]
    return kept.sum(), np.sqrt(kept).max(initial=-np.inf)


@af.kernel
def by_rows(A: af.i64[M, N], t: af.i64, first: af.i64[M]):
    """A loop in iterations that run at once, with memory of its own that is given back however it ends."""
    with af.parallel(M) as r:
        first[r] = -1
        with af.for_(N) as i:
            part = af.alloc(af.i64[N])
            part[i] = A[r, i]
            with af.if_(part[i] > t):
                first[r] = af.i64(i)
                af.break_()
            with af.if_(part[i] == 0):
                af.continue_()
            more = af.alloc(af.i64[N])
            more[i] = part[i]
            with af.if_(more[i] < -1):
                af.break_()


@case(by_rows, lambda r, n: (r.integers(-2, 9, (n, n + 2)), 7, np.zeros(n, "i8")))
def _(A, t, first):
    for r in range(len(A)):
        first[r] = -1
        for i, each in enumerate(A[r].tolist()):
            if each > t:
                first[r] = i
            if each > t or each < -1:
                break
