"""What is computed: sums and extremes, under conditions, in nests, of numbers of all types."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

reductions = Category("reductions")
control_flow = Category("control flow")
nests = Category("nests")
numbers = Category("numbers")


@reductions.optimized
def how_far_two_signals_are_apart(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
    total = af.var(af.f64(0))
    with af.for_(N) as t:
        apart = x[t] - y[t]
        total += apart * apart
    out[0] = af.sqrt(total)


@reductions.optimized
def least_and_most_of_each_column(a: af.f32[N, M], least: af.f32[M], most: af.f32[M]):
    with af.for_(M) as c, af.for_(N) as r:
        least[c] = af.min(least[c], a[r, c])
        most[c] = af.max(most[c], a[r, c])


@reductions.optimized
def brightness_and_contrast(pixel: af.u8[N], sums: af.i64[2]):
    total, squares = af.var(af.i64(0)), af.var(af.i64(0))
    with af.for_(N) as k:
        total += af.i64(pixel[k])
        squares += af.i64(pixel[k]) * af.i64(pixel[k])
    sums[0] = total
    sums[1] = squares


@reductions.optimized
def how_many_are_not_the_same(x: af.i32[N], y: af.i32[N], out: af.i64[1]):
    count = af.var(af.i64(0))
    with af.for_(N) as k, af.if_(x[k] != y[k]):
        count += 1
    out[0] = count


@reductions.optimized
def the_largest_of_a_matrix_and_its_row(a: af.f64[N, M], largest: af.f64[1], row: af.i64[1]):
    best, at = af.var(af.f64(-1e300)), af.var(af.i64(-1))
    with af.for_(N) as r, af.for_(M) as c, af.if_(a[r, c] > best):
        best.set(a[r, c])
        at.set(af.i64(r))
    largest[0] = best
    row[0] = at


@control_flow.optimized
def noise_taken_away(x: af.f64[N], limit: af.f64):
    with af.for_(N) as t:
        with af.if_(x[t] > limit):
            x[t] -= limit
        with af.elif_(x[t] < -limit):
            x[t] += limit
        with af.else_():
            x[t] = 0.0


@control_flow.optimized
def black_and_white(grey: af.u8[N, M], level: af.u8, white: af.u8[N, M]):
    with af.for_(M) as x, af.for_(N) as y:
        with af.if_(grey[y, x] >= level):
            white[y, x] = 255
        with af.else_():
            white[y, x] = 0


@control_flow.optimized
def mean_of_those_in_a_range(x: af.f64[N], low: af.f64, high: af.f64, out: af.f64[1]):
    total, count = af.var(af.f64(0)), af.var(af.i64(0))
    with af.for_(N) as k, af.if_((x[k] >= low) & (x[k] <= high)):
        total += x[k]
        count += 1
    out[0] = total / af.f64(af.max(count, 1))


@control_flow.optimized
def an_update_where_a_mask_is_set(use: af.bool_[N], x: af.f32[N], step: af.f32[N]):
    with af.for_(N) as k, af.if_(use[k]):
        x[k] += 0.5 * step[k]


@control_flow.optimized
def weights_that_learn_only_while_asked_to(w: af.f32[N], slope: af.f32[N], rate: af.f32, most: af.f32):
    with af.for_(N) as k, af.if_(rate > 0.0):
        change = af.var(rate * slope[k])
        with af.if_(change > most):
            change.set(most)
        w[k] -= change


@nests.optimized
def a_matrix_by_a_transposed_one(a: af.f64[N, M], b: af.f64[N, M], c: af.f64[N, N]):
    with af.for_(N) as p, af.for_(N) as q:
        total = af.var(af.f64(0))
        with af.for_(M) as k:
            total += a[p, k] * b[q, k]
        c[p, q] = total


@nests.optimized
def a_filter_of_three_by_three(image: af.f32[N + 2, M + 2], weight: af.f32[3, 3], out: af.f32[N, M]):
    with af.for_(N) as y, af.for_(M) as x:
        out[y, x] = 0.0
        with af.for_(3) as dx, af.for_(3) as dy:
            out[y, x] += image[y + dy, x + dx] * weight[dy, dx]


@nests.optimized
def distances_of_all_pairs(place: af.f64[N, 3], apart: af.f64[N, N]):
    with af.for_(N) as p, af.for_(p) as q:
        squares = af.var(af.f64(0))
        with af.for_(3) as k:
            squares += (place[p, k] - place[q, k]) * (place[p, k] - place[q, k])
        apart[p, q] = af.sqrt(squares)


@nests.optimized
def rows_without_their_means(a: af.f64[N, M]):
    with af.for_(N) as r:
        total = af.var(af.f64(0))
        with af.for_(M) as c:
            total += a[r, c]
        with af.for_(M) as c:
            a[r, c] -= total / af.f64(M)


@nests.optimized
def warmth_between_two_plates(old: af.f64[N, M], new: af.f64[N, M]):
    with af.for_(3):
        with af.for_(1, M - 1) as x, af.for_(1, N - 1) as y:
            new[y, x] = 0.25 * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1])
        with af.for_(1, M - 1) as x, af.for_(1, N - 1) as y:
            old[y, x] = new[y, x]


@numbers.optimized
def two_images_blended(a: af.u8[N], b: af.u8[N], share: af.u8):
    with af.for_(N) as k:
        a[k] = af.u8((af.u16(a[k]) * af.u16(share) + af.u16(b[k]) * (255 - af.u16(share))) >> 8)


@numbers.optimized
def sines_of_degrees(angle: af.f64[N], sine: af.f64[N]):
    with af.for_(N) as k:
        sine[k] = af.sin(angle[k] * 0.017453292519943295)


@numbers.optimized
def bits_that_are_set(word: af.u32[N], count: af.u32[N]):
    with af.for_(N) as k:
        pairs = word[k] - ((word[k] >> 1) & 0x55555555)
        fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
        count[k] = (((fours + (fours >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24


@numbers.optimized
def volts_as_whole_steps(volt: af.f32[N], step: af.i16[N]):
    with af.for_(N) as t:
        step[t] = af.i16(af.floor(volt[t] * 1000.0 + 0.5))


@numbers.optimized
def a_hash_of_each_key(key: af.u64[N], hash: af.u64[N]):
    with af.for_(N) as k:
        mixed = (key[k] ^ (key[k] >> 30)) * 0xBF58476D1CE4E5B9
        hash[k] = mixed ^ (mixed >> 27)
