"""Which elements are touched: at strides, packed side by side, in triangles and windows, at offsets that are names."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

strides = Category("strides")
packing = Category("packing")
index_sets = Category("index sets")
symbolic = Category("symbolic")


@strides.optimized
def grey_of_a_colour_image(colour: af.u8[N, M, 3], grey: af.u8[N, M]):
    with af.for_(N) as y, af.for_(M) as x:
        red, green, blue = (af.u16(colour[y, x, k]) for k in range(3))
        grey[y, x] = af.u8((77 * red + 150 * green + 29 * blue) >> 8)


@strides.optimized
def real_and_imaginary_parts(z: af.f64[N, 2], real: af.f64[N], imaginary: af.f64[N]):
    with af.for_(N) as k:
        real[k] = z[k, 0]
        imaginary[k] = z[k, 1]


@strides.optimized
def the_second_of_each_three(a: af.i32[3 * N], b: af.i32[N]):
    with af.for_(N) as k:
        a[3 * k + 1] = a[3 * k] - b[k]


@strides.optimized
def columns_scaled_from_the_last_one(a: af.f32[N, M], weight: af.f32[M]):
    with af.for_(M - 1, -1, -1) as c, af.for_(N) as r:
        a[r, c] *= weight[c]


@strides.optimized
def colours_of_a_palette(pixel: af.u8[N], palette: af.f32[256], shade: af.f32[N]):
    with af.for_(N) as k:
        shade[k] = palette[pixel[k]]


@packing.optimized
def where_it_is_not_zero(a: af.i32[N], place: af.i32[N], found: af.i64[1]):
    count = af.var(af.i64(0))
    with af.for_(N) as k:
        with af.if_(a[k] != 0):
            place[count] = af.i32(k)
            count += 1
    found[0] = count


@packing.optimized
def products_that_two_conditions_keep(x: af.f64[N], y: af.f64[N], kept: af.f64[N], low: af.f64, high: af.f64):
    count = af.var(af.i64(0))
    with af.for_(N) as k:
        with af.if_((x[k] > low) & (y[k] < high)):
            kept[count] = x[k] * y[k]
            count += 1


@packing.optimized
def stereo_of_two_channels(left: af.i16[N], right: af.i16[N], both: af.i16[2 * N]):
    at = af.var(af.i64(0))
    with af.for_(N) as t:
        both[at] = left[t]
        both[at + 1] = right[t]
        at += 2


@packing.optimized
def each_pixel_twice(small: af.u8[N, M], wide: af.u8[N, 2 * M]):
    with af.for_(N) as y, af.for_(M) as x:
        wide[y, 2 * x] = small[y, x]
        wide[y, 2 * x + 1] = small[y, x]


@packing.optimized
def losses_of_each_row(gain: af.f32[N, M], loss: af.f32[N, M], losses: af.i64[N]):
    with af.for_(N) as r:
        count = af.var(af.i64(0))
        with af.for_(M) as c, af.if_(gain[r, c] < 0.0):
            loss[r, count] = -gain[r, c]
            count += 1
        losses[r] = count


@index_sets.optimized
def the_upper_triangle_below_the_diagonal(a: af.f64[N, N]):
    with af.for_(N) as r, af.for_(r + 1, N) as c:
        a[c, r] = a[r, c]


@index_sets.optimized
def a_tent_over_a_signal(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as t:
        with af.if_(t < N // 2):
            y[t] = x[t] * af.f32(t)
        with af.else_():
            y[t] = x[t] * af.f32(N - t)


@index_sets.optimized
def a_frame_around_a_dark_image(image: af.u8[N, M]):
    with af.for_(N) as y, af.for_(M) as x:
        with af.if_((y == 0) | (y == N - 1) | (x == 0) | (x == M - 1)):
            image[y, x] = 255
        with af.else_():
            image[y, x] = image[y, x] // 2


@index_sets.optimized
def a_blur_that_repeats_the_edge(x: af.f64[N, M], y: af.f64[N, M]):
    with af.for_(N) as r, af.for_(M) as c:
        y[r, c] = 0.25 * x[r, af.max(c - 1, 0)] + 0.5 * x[r, c] + 0.25 * x[r, af.min(c + 1, M - 1)]


@index_sets.optimized
def a_lower_triangle_times_a_vector(a: af.f32[N, N], x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as r:
        y[r] = 0.0
        with af.for_(r + 1) as c:
            y[r] += a[r, c] * x[c]


@symbolic.optimized
def an_echo_added(x: af.f64[N], y: af.f64[N + M], delay: M, loud: af.f64):
    with af.for_(N) as t:
        y[t + delay] += loud * x[t]


@symbolic.optimized
def a_queue_moved_forward(queue: af.i32[N + M], waiting: N, served: M):
    af.assume(served >= 1)
    with af.for_(waiting) as k:
        queue[k] = queue[k + served]


@symbolic.optimized
def a_negative_in_one_dimension(image: af.u8[N * M], height: N, width: M):
    with af.for_(height) as y, af.for_(width) as x:
        image[y * width + x] = 255 - image[y * width + x]


@symbolic.optimized
def sums_of_columns_in_one_dimension(table: af.f64[N * M], total: af.f64[M], rows: N, columns: M):
    with af.for_(columns) as c:
        total[c] = 0.0
        with af.for_(rows) as r:
            total[c] += table[r * columns + c]


@symbolic.optimized
def louder_from_here_to_there(x: af.f32[N], energy: af.f32[N], here: af.index, there: af.index, gain: af.f32):
    af.assume(here >= 0)
    af.assume(there <= N)
    with af.for_(here, there) as t:
        x[t] = x[t] * gain
        energy[t] = x[t] * x[t]
