"""What iterations need of each other: the order of statements, recurrences, accesses that meet, first and last ones."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

statement_order = Category("statement order")
recurrences = Category("recurrences")
crossing = Category("crossing thresholds")
peeling = Category("peeling")


@statement_order.optimized
def speeds_and_then_places(x: af.f64[N], v: af.f64[N + 1], force: af.f64[N], dt: af.f64):
    with af.for_(N) as p:
        v[p] += force[p] * dt
        x[p] += (v[p] + v[p + 1]) * 0.5


@statement_order.optimized
def fluxes_used_before_they_are_renewed(u: af.f64[N, M], flux: af.f64[N, M], change: af.f64[N, M]):
    with af.for_(N) as r, af.for_(1, M) as c:
        change[r, c] = flux[r, c - 1] - u[r, c]
        flux[r, c] = 0.25 * u[r, c] * u[r, c]


@statement_order.optimized
def highest_so_far_and_a_louder_copy(level: af.i32[N], peak: af.i32[N], copy: af.i32[N], gain: af.i32):
    with af.for_(1, N) as t:
        peak[t] = af.max(peak[t - 1], level[t])
        copy[t] = level[t] * gain


@statement_order.optimized
def pairs_put_in_order(a: af.u8[N], b: af.u8[N]):
    low, high = af.var(af.u8(0)), af.var(af.u8(0))
    with af.for_(N) as k:
        low.set(af.min(a[k], b[k]))
        high.set(af.max(a[k], b[k]))
        a[k] = low
        b[k] = high


@statement_order.optimized
def guesses_for_the_next_one(x: af.f64[N, M], y: af.f64[N, M + 1]):
    with af.for_(N) as r, af.for_(M) as c:
        y[r, c] = x[r, c] * x[r, c]
        y[r, c + 1] = x[r, c]


@recurrences.optimized
def low_pass_of_each_row(x: af.f64[N, M], y: af.f64[N, M], share: af.f64):
    with af.for_(N) as row:
        state = af.var(af.f64(0))
        with af.for_(M) as t:
            state += share * (x[row, t] - state)
            y[row, t] = state


@recurrences.optimized
def a_balance_with_interest(balance: af.f64[N], paid: af.f64[N], rate: af.f64):
    with af.for_(1, N) as year:
        balance[year] = balance[year - 1] * rate + paid[year]


@recurrences.optimized
def mixed_with_three_before(state: af.u32[N], noise: af.u32[N]):
    with af.for_(3, N) as k:
        state[k] = (state[k - 3] << 1) ^ noise[k]


@recurrences.optimized
def steps_between_samples(sample: af.i16[N], step: af.i16[N], first: af.i16):
    before = af.var(first)
    with af.for_(N) as t:
        step[t] = sample[t] - before
        before.set(sample[t])


@recurrences.optimized
def a_string_that_swings(u: af.f32[M, N], speed: af.f32):
    with af.for_(2, M) as t, af.for_(1, N - 1) as x:
        bent = u[t - 1, x - 1] - 2.0 * u[t - 1, x] + u[t - 1, x + 1]
        u[t, x] = 2.0 * u[t - 1, x] - u[t - 2, x] + speed * bent


@crossing.optimized
def a_list_reversed_in_place(a: af.i32[N]):
    with af.for_(N // 2) as k:
        front = af.var(a[k])
        a[k] = a[N - k - 1]
        a[N - k - 1] = front


@crossing.optimized
def a_signal_folded_in_the_middle(x: af.f64[2 * N], y: af.f64[N]):
    with af.for_(N) as t:
        y[t] = x[t] + x[2 * N - 1 - t]


@crossing.optimized
def the_back_like_the_front(word: af.u8[2 * N]):
    with af.for_(N) as k:
        word[2 * N - 1 - k] = word[k]


@crossing.optimized
def odd_ones_moved_to_the_front(a: af.f64[2 * N + 1]):
    with af.for_(N) as k:
        a[k] = a[2 * k + 1] + 1.0


@crossing.optimized
def each_row_mixed_with_its_mirror_image(image: af.f32[N, M]):
    with af.for_(N) as y, af.for_(M) as x:
        image[y, x] = (image[y, x] + image[y, M - 1 - x]) * 0.5


@peeling.optimized
def slopes_also_at_the_ends(x: af.f64[N], slope: af.f64[N]):
    af.assume(N >= 2)
    with af.for_(N) as k:
        with af.if_(k == 0):
            slope[k] = x[1] - x[0]
        with af.elif_(k == N - 1):
            slope[k] = x[k] - x[k - 1]
        with af.else_():
            slope[k] = (x[k + 1] - x[k - 1]) * 0.5


@peeling.optimized
def rows_relative_to_their_first(a: af.f64[N, M]):
    with af.for_(N) as r, af.for_(1, M) as c:
        a[r, c] = a[r, c] / a[r, 0]


@peeling.optimized
def cells_on_a_ring(old: af.i32[N], new: af.i32[N]):
    with af.for_(N) as k:
        new[k] = old[(k + N - 1) % N] ^ old[(k + 1) % N]


@peeling.optimized
def all_counted_from_the_last(x: af.i32[N], y: af.i32[N]):
    with af.for_(N) as k:
        y[k] += x[N - 1]
        x[k] -= x[N - 1]


@peeling.optimized
def heights_with_a_first_row_that_starts(a: af.f32[N, M], total: af.f32[N, M]):
    with af.for_(N) as r, af.for_(M) as c:
        with af.if_(r == 0):
            total[r, c] = a[r, c]
        with af.else_():
            total[r, c] = total[r - 1, c] + a[r, c]
