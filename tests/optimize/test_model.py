"""The model of what takes long: beside gcc, which says what it vectorizes, and beside counts by hand."""

from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from affdsl.mlir.readers import parse
from affdsl.optimize.machine import Level, Machine, usual
from affdsl.optimize.model.autovectorized import lanes_by_compiler
from affdsl.optimize.model.chains import cycles_waiting, waiting
from affdsl.optimize.model.compiled import always_loaded, has_loops, is_branch
from affdsl.optimize.model.cost import Model
from affdsl.optimize.model.units import WHOLE_QUOTIENT, units_of
from affdsl.optimize.options import targets
from affdsl.passes.analysis.iterations import Lanes, one
from benchmarks.patterns import PATTERNS
from benchmarks.patterns.reports import STRICT, compilers
from benchmarks.plain import plain
from tests.effort import some
from tests.oracles import require

N, M = af.symbols("N M")
AVX2 = targets()["avx2"]
OF_GCC = tuple("-march=haswell" if flag == "-march=native" else flag for flag in STRICT)
"""Whether vectors pay is another answer for each CPU: gcc is asked about one of the target, wherever it runs."""
SIZE = 300


def model_of(kernel, size=SIZE, machine=None) -> Model:
    known = {v: size for v in kernel.func.args if isinstance(v.type, IndexType)}
    shapes = {
        v: [e.evaluate(known) for e in shape]
        for v, shape in zip(kernel.func.args, kernel.func.shapes, strict=True)
        if isinstance(v.type, MemRefType) and shape is not None
    }
    return Model(kernel.module, known, shapes, usual(AVX2) if machine is None else machine)


def innermost(kernel) -> list[affine.For]:
    return [op for op in walk(kernel.func) if isinstance(op, affine.For) and not has_loops(op.body)]


@pytest.mark.parametrize("pattern", some(PATTERNS, 24), ids=lambda pattern: pattern.name)
def test_what_is_taken_to_run_on_vectors_is_vectorized_by_gcc(pattern):
    require("gcc")
    found = next(each for each in compilers() if each.name == "gcc")
    model = model_of(pattern.kernel)
    expected = [lanes_by_compiler(loop, model.iterations, one(), model.machine) for loop in innermost(pattern.kernel)]
    if max(expected) > 1:
        assert found.vectorizes(plain(pattern.kernel), OF_GCC)


@af.kernel
def products_of_16(a: af.f32[N, 16, 16], b: af.f32[N, 16, 16], c: af.f32[N, 16, 16]):
    with af.for_(N) as n, af.for_(16) as i, af.for_(16) as j:
        total = af.var(af.f32(0))
        with af.for_(16) as k:
            total += a[n, i, k] * b[n, k, j]
        c[n, i, j] = total


@af.kernel
def from_four_before(x: af.f64[N], y: af.f64[N]):
    with af.for_(4, N) as i:
        x[i] = x[i - 4] + y[i]


@af.kernel
def elimination(A: af.f64[N, N]):
    with af.for_(N) as k, af.for_(k + 1, N) as i, af.for_(k + 1, N) as j:
        A[i, j] -= A[i, k] * A[k, j]


@af.kernel
def counted_beside(x: af.f32[N], y: af.f32[N]):
    k = af.var(af.i32(0))
    with af.for_(N) as i:
        k += 3
        y[i] = x[i] * af.f32(k)


@af.kernel
def moved_to_the_front(x: af.f32[N], y: af.f32[N]):
    k = af.var(af.i32(0))
    with af.for_(N) as i:
        with af.if_(x[i] > 0):
            k += 1
        y[i] = x[i] * af.f32(k)


@af.kernel
def differences_of_bytes(x: af.u8[N], y: af.u8[N], z: af.u8[N]):
    with af.for_(N) as i:
        z[i] = af.cast(abs(af.cast(x[i], af.i32) - af.cast(y[i], af.i32)), af.u8)


@af.kernel
def rows_of_three(x: af.f32[N, 3], w: af.f32[3, 3], y: af.f32[N, 3]):
    with af.for_(N) as i, af.for_(3) as c:
        total = af.var(af.f32(0))
        with af.for_(3) as d:
            total += w[c, d] * x[i, d]
        y[i, c] = total


@af.kernel
def in_steps_of_two(x: af.f32[2 * N], y: af.f32[2 * N]):
    with af.for_(0, 2 * N, 2) as i:
        y[i] = x[i] + x[i + 1]
        y[i + 1] = x[i] - x[i + 1]


@pytest.mark.parametrize(
    ("kernel", "lanes"),
    [
        (products_of_16, 8),
        (from_four_before, 4),
        (elimination, 4),
        (counted_beside, 8),
        (differences_of_bytes, 32),
        (rows_of_three, 8),
        (in_steps_of_two, 8),
    ],
)
def test_short_loops_inside_distances_and_counters_are_no_hindrance_for_gcc(kernel, lanes):
    model = model_of(kernel)
    (loop,) = innermost(kernel)[:1]
    around = [op.iv for op in walk(kernel.func) if isinstance(op, affine.For) and op is not loop]
    first = Lanes(dict.fromkeys(around, np.zeros(1, np.int64)), np.ones(1))
    assert lanes_by_compiler(loop, model.iterations, first, model.machine) == lanes
    require("gcc")
    found = next(each for each in compilers() if each.name == "gcc")
    assert found.vectorizes(plain(kernel), OF_GCC)


@af.kernel
def remainders_of_products(x: af.u32[N], y: af.u32[N]):
    with af.for_(N) as i:
        y[i] = af.cast(af.cast(x[i], af.u64) * af.cast(x[i], af.u64) % 998244353, af.u32)


@af.kernel
def none_is_zero(x: af.f32[N], y: af.i32[1]):
    found = af.var(af.bool_(True))
    with af.for_(N) as i:
        found.set(found & (x[i] != 0.0))
    y[0] = af.cast(found, af.i32)


@pytest.mark.parametrize("kernel", [remainders_of_products, none_is_zero])
def test_remainders_of_64_bits_and_truth_values_that_are_combined_are_no_vectors_for_gcc(kernel):
    model = model_of(kernel)
    (loop,) = innermost(kernel)
    assert lanes_by_compiler(loop, model.iterations, one(), model.machine) == 1
    require("gcc")
    found = next(each for each in compilers() if each.name == "gcc")
    assert not found.vectorizes(plain(kernel), STRICT)


@af.kernel
def sum_of_some(keep: af.i32[N], x: af.f64[N], y: af.f64[1]):
    total = af.var(af.f64(0))
    with af.for_(N) as i, af.if_(keep[i] > 0):
        total += x[i]
    y[0] = total


def test_what_is_loaded_under_a_condition_alone_is_behind_a_branch():
    (loop,) = innermost(sum_of_some)
    loaded = {*always_loaded(loop.body)}
    assert [is_branch(op, loaded) for op in walk(loop) if isinstance(op, scf.If)] == [True]
    model = model_of(sum_of_some)
    assert model.computing(loop) >= 0.4 * model.machine.miss * SIZE


@af.kernel
def filter_of_eight(x: af.f32[N, 8, 8], c: af.f32[8, 8], y: af.f32[N, 8, 8]):
    with af.for_(N) as n, af.for_(8) as i, af.for_(8) as j:
        total = af.var(af.f32(0))
        with af.for_(8) as k:
            total += c[i, k] * x[n, k, j]
        y[n, i, j] = total


def test_factors_of_short_loops_are_loaded_once_and_these_are_straight_code():
    """A register of 8 numbers: 8 loads, each into two lines for 28 of 32 bytes, are 4 cycles for two at once."""
    model = model_of(filter_of_eight)
    rows = 8 * SIZE
    (nest,) = (op for op in filter_of_eight.func.body if isinstance(op, affine.For))
    assert 8 * rows <= model.computing(nest) <= 16 * rows + 6 * SIZE * 10


@pytest.mark.parametrize(("cases", "is_vectorized"), [(3, True), (4, False)])
def test_four_choices_inside_each_other_are_jumps_or_a_table(cases, is_vectorized):
    @af.kernel
    def recoded(x: af.u8[N], y: af.u8[N]):
        with af.for_(N) as i:
            last = af.u8(78)
            for k in range(cases):
                last = af.select(x[i] == 65 + k, af.u8(84 + 3 * k), last)
            y[i] = last

    model = model_of(recoded)
    (loop,) = innermost(recoded)
    assert (lanes_by_compiler(loop, model.iterations, one(), model.machine) > 1) == is_vectorized
    require("gcc")
    found = next(each for each in compilers() if each.name == "gcc")
    assert found.vectorizes(plain(recoded), OF_GCC) == is_vectorized


def test_a_counter_that_data_moves_is_handed_on():
    model = model_of(moved_to_the_front)
    (loop,) = innermost(moved_to_the_front)
    assert lanes_by_compiler(loop, model.iterations, one(), model.machine) == 1


@af.kernel
def least_of_rows(x: af.f32[N], best: af.f32[1], at: af.i64[1]):
    least = af.var(x[0])
    place = af.var(af.i64(0))
    with af.for_(1, N) as i, af.if_(x[i] < least):
        least.set(x[i])
        place.set(af.i64(i))
    best[0] = least
    at[0] = place


@af.kernel
def kept_of_some(x: af.f32[N], y: af.f32[N], z: af.f32[N]):
    with af.for_(N) as i, af.if_(x[i] < 0.5), af.if_(y[i] > 0.5):
        z[i] = z[i] + x[i]


def test_what_is_chosen_in_registers_is_no_branch_and_waits_for_the_condition():
    """As measured on a successor of Golden Cove: 3.9 cycles a number, and none is lost to branches."""
    core = usual(AVX2)
    assert cycles_waiting(innermost(least_of_rows)[0], core) == pytest.approx(3.9, rel=0.35)
    inside = {op for op in walk(kept_of_some.func) if isinstance(op, scf.If)}
    loaded = {*always_loaded(innermost(least_of_rows)[0].body)}
    assert [is_branch(op, loaded) for op in walk(least_of_rows.func) if isinstance(op, scf.If)] == [False]
    assert {is_branch(op) for op in inside} == {True}


@af.kernel
def on_a_ring(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[(i + 1) % N] + x[(i + N - 1) % N]


def test_remainders_by_a_size_divide():
    model = model_of(on_a_ring)
    (loop,) = innermost(on_a_ring)
    assert model.computing(loop) >= 2 * WHOLE_QUOTIENT * SIZE


@af.kernel
def behind(x: af.f32[N], y: af.f32[N], z: af.f32[N]):
    with af.for_(8, N, 8) as i:
        af.vector_store(af.vector_load(z, i, 8), x, i)
        af.vector_store(af.vector_load(x, i - 1, 8), y, i)


@af.kernel
def beside(x: af.f32[N], y: af.f32[N], z: af.f32[N]):
    with af.for_(8, N, 8) as i:
        af.vector_store(af.vector_load(z, i, 8), x, i)
        af.vector_store(af.vector_load(x, i - 8, 8), y, i)


@af.kernel
def far_behind(x: af.f32[N], y: af.f32[N], z: af.f32[N]):
    with af.for_(24, N, 8) as i:
        af.vector_store(af.vector_load(z, i, 8), x, i)
        af.vector_store(af.vector_load(x, i - 23, 8), y, i)


UNDER_A_MASK = """func.func @under_a_mask(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %N: index) {
  %mask = arith.constant dense<[1, 1, 1, 1, 1, 1, 1, 0]> : vector<8xi1>
  affine.for %i = 8 to %N step 8 {
    %new = affine.vector_load %z[%i] : memref<?xf32>, vector<8xf32>
    vector.maskedstore %x[%i], %mask, %new : memref<?xf32>, vector<8xi1>, vector<8xf32>
    %old = affine.vector_load %x[%i - 8] : memref<?xf32>, vector<8xf32>
    affine.vector_store %old, %y[%i] : memref<?xf32>, vector<8xf32>
  }
  return
}"""


def test_a_vector_is_blocked_by_a_store_of_a_part_of_it_or_under_a_mask():
    """As measured on Golden Cove, in cycles an iteration: of a part, of all, of a part far behind, and under a mask."""
    core = usual(AVX2)
    (masked,) = (op for op in parse(UNDER_A_MASK).functions[0].body if isinstance(op, affine.For))
    waits = [
        cycles_waiting(loop, core) for loop in (*(innermost(each)[0] for each in (behind, beside, far_behind)), masked)
    ]
    assert waits == pytest.approx([20.5, 0.0, 6.9, 10.3], rel=0.35), "4 rounds are followed"


ROWS_OF_SIX = """func.func @rows_of_six(%x: memref<?x6x6xf64>, %m: index) {
  %mask = arith.constant dense<[1, 1, 1, 1, 1, 0, 0, 0]> : vector<8xi1>
  affine.for %k = 0 to 5 {
    affine.for %i = affine_map<(d0) -> (d0 + 1)>(%k) to 6 {
      %j = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
      %zero = arith.constant dense<0.0> : vector<8xf64>
      %old = vector.maskedload %x[%m, %i, %j], %mask, %zero
        : memref<?x6x6xf64>, vector<8xi1>, vector<8xf64> into vector<8xf64>
      %new = arith.addf %old, %old : vector<8xf64>
      vector.maskedstore %x[%m, %i, %j], %mask, %new : memref<?x6x6xf64>, vector<8xi1>, vector<8xf64>
    }
  }
  return
}"""


def test_a_vector_that_is_longer_than_its_row_blocks_the_next_row_and_the_next_loop():
    """A row of 6 begins in the last 2 of the 8 lanes before it: a decomposition took 194 ns for 54 on Zen 4."""
    around = next(op for op in parse(ROWS_OF_SIX).functions[0].body if isinstance(op, affine.For))
    (loop,) = (op for op in around.body if isinstance(op, affine.For))
    core = usual(targets()["avx512"])
    assert waiting(loop, core) == (pytest.approx(core.blocked + core.sum), True)
    assert waiting(innermost(behind)[0], core)[1] is False


@af.kernel
def every_second(x: af.f64[N]):
    with af.for_(1, N - 1) as i, af.if_(i % 2 == 0):
        x[i] = x[i - 1] * 0.5 + x[i + 1]


def test_iterations_between_which_remainders_decide_hand_nothing_on():
    assert cycles_waiting(innermost(every_second)[0], usual(AVX2)) == 0


@af.kernel
def foretold(x: af.f64[N], y: af.f64[N]):
    """What an iteration loads for the next one is no chain."""
    with af.for_(1, N) as i:
        y[i] = x[i - 1] * 2.0 + x[i]


@af.kernel
def recurrence(x: af.f64[N], y: af.f64[N]):
    with af.for_(2, N) as i:
        x[i] = x[i - 2] * 0.5 + y[i]


def test_a_chain_over_two_iterations_waits_half_as_long():
    core = usual(AVX2)
    assert cycles_waiting(innermost(foretold)[0], core) == 0
    by_hand = (core.product + core.sum) / 2
    assert cycles_waiting(innermost(recurrence)[0], core) == pytest.approx(by_hand, rel=0.35), "4 rounds are followed"


@af.kernel
def diagonal(A: af.f64[N, N], x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = A[i, i]


@af.kernel
def chosen_by_data(place: af.i32[N], table: af.f64[M, M], x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = table[place[i], 0]


@af.kernel
def in_tiles(A: af.f64[N, N]):
    with af.for_(0, N, 30) as t, af.for_(N) as j, af.for_(t, t + 30) as i:
        A[i, j] = A[i, j] * 0.5


LINE = 64


@pytest.mark.parametrize(
    ("kernel", "lines"),
    [(diagonal, SIZE + SIZE * 8 / LINE), (chosen_by_data, SIZE + SIZE * 8 / LINE + SIZE * 4 / LINE)],
    ids=["diagonal", "chosen by data"],
)
def test_no_more_lines_are_touched_than_there_are_accesses(kernel, lines):
    assert model_of(kernel).touched == pytest.approx(lines * LINE, rel=0.02)


def test_rows_of_a_tile_are_counted_from_where_it_begins():
    """Of a column of a tile, 30 lines, each stays until the columns beside it come: 8 in a line."""
    levels = Level("L1", 64 * LINE, 0), Level("memory", None, 1)
    model = model_of(in_tiles, machine=Machine(AVX2, levels))
    (loop,) = [op for op in in_tiles.func.body if isinstance(op, affine.For)]
    (moved,) = model.moving.moved(loop, {}, {v: v for v in model.shapes}, [64 * LINE])
    assert moved == pytest.approx(2 * 8 * SIZE * SIZE, rel=0.05), "each line once, to be read and to be written"


@pytest.mark.parametrize(
    ("target", "lanes", "loads", "stores"),
    [
        (targets()["avx512"], 8, 1 + 7 / 8, 1 + 7 / 8 * 1.3),
        (targets()["avx2"], 4, 1 + 3 / 8, 1 + 3 / 8 * 1.3),
        (targets()["sse4.2"], 2, 1 + 1 / 8, 1 + 1 / 8 * 1.3),
        (replace(targets()["avx512"], core="zen4"), 8, 2 + 7 / 8, 2),
        (replace(targets()["avx512"], core="zen4"), 4, 1 + 3 / 8, 1),
    ],
)
def test_vectors_in_two_lines_or_halves_are_loaded_twice_and_stored_for_longer(target, lanes, loads, stores):
    """They begin with any element, so that of eight places seven lie in two lines where a vector is as long as one."""

    @af.kernel
    def moved(x: af.f64[N], y: af.f64[N]):
        af.vector_store(af.vector_load(x, 1, lanes), y, 2)

    load, store, *_ = moved.func.body
    loaded, stored = (units_of(op, usual(target)) for op in (load, store))
    in_two = (lanes - 1) / 8
    assert (loaded.loads, loaded.stores, loaded.lines) == pytest.approx((loads, 0, 1 + in_two))
    assert (stored.loads, stored.stores, stored.lines) == pytest.approx((0, stores, 1 + in_two))


@af.kernel
def three_points(x: af.f64[N], y: af.f64[N]):
    with af.for_(1, N - 1) as i:
        y[i] = (x[i - 1] + x[i] + x[i + 1]) * 0.3


def test_vectors_that_come_from_others_by_a_shuffle_are_faster_where_lines_are_as_long():
    """Measured: 4.3 cycles a vector where each is loaded, which is what gcc makes of it, and 3.4 with shuffles."""
    steps = af.Schedule(three_points).vectorize("i", 8, tail="scalar")
    core = usual(targets()["avx512"])
    of = {
        name: model_of(each, 8000, core).computing(innermost(each)[0])
        for name, each in {"loaded": steps.kernel(), "spliced": steps.splice("i").kernel(), "gcc": three_points}.items()
    }
    assert of["spliced"] < 0.9 * of["loaded"]
    assert of["gcc"] == pytest.approx(of["loaded"], rel=0.05)


@pytest.mark.parametrize(
    ("length", "moves"),
    [pytest.param(4, 4 * 2, id="4"), pytest.param(8, 8 * 3, id="8"), pytest.param(16, 16 * 4, id="16")],
)
def test_rows_by_powers_of_two_are_taken_apart_by_shuffles(length, moves):
    """gcc makes vectors of the loop around, and shuffles each register once for each halving of a row."""

    @af.kernel
    def sums_of_rows(x: af.f32[N, length], y: af.f32[N]):
        with af.for_(N) as i:
            total = af.var(af.f32(0))
            with af.for_(length) as k:
                total += x[i, k]
            y[i] = total

    expected = model_of(sums_of_rows, 8000).computing(innermost(sums_of_rows)[0])
    assert expected == pytest.approx(8000 / 8 * moves, rel=0.05)


def test_short_lanes_are_shuffled_for_several_vectors_at_once():
    """Nine shuffles, of two moves each, take three colours of 64 pixels apart: a quarter for 16, on the same units."""

    @af.kernel
    def grey(x: af.u8[N, 3], y: af.f32[N]):
        with af.for_(N) as i:
            y[i] = 0.3 * af.f32(x[i, 0]) + 0.6 * af.f32(x[i, 1]) + 0.1 * af.f32(x[i, 2])

    model = model_of(grey, 8000, usual(targets()["avx512"]))
    assert model.computing(innermost(grey)[0]) == pytest.approx(8000 / 16 * (17 + 18 / 4) / 2, rel=0.05)


def test_addresses_of_vectors_for_which_gcc_has_no_register_are_loaded_again():
    """A sum of rows of one array and a store: ten and one have all registers, three more are loaded twice each."""
    core = usual(targets()["avx512"])
    lines = 1 + 7 / 8  # of a vector of 8 that begins with any element

    def cycles(rows):
        @af.kernel
        def summed(x: af.f64[N, N], y: af.f64[N]):
            with af.for_(N) as j:
                total = x[0, j]
                for k in range(1, rows):
                    total = total + x[k, j]
                y[j] = total

        return model_of(summed, 8000, core).computing(innermost(summed)[0]) / (8000 / 8)

    assert cycles(10) == pytest.approx(11 * lines / 2, rel=0.05)
    assert cycles(13) == pytest.approx((14 * lines + 3 * 2) / 2, rel=0.05)
