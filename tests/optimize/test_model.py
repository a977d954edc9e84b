"""The model of what takes long: beside gcc, which says what it vectorizes, and beside counts by hand."""

import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from affdsl.mlir.readers import parse
from affdsl.optimize.machine import Level, Machine, usual
from affdsl.optimize.model.autovectorized import lanes_by_compiler
from affdsl.optimize.model.chains import cycles_waiting
from affdsl.optimize.model.compiled import has_loops
from affdsl.optimize.model.cost import Model
from affdsl.optimize.options import targets
from affdsl.passes.analysis.iterations import one
from benchmarks.patterns import PATTERNS
from benchmarks.patterns.reports import STRICT, compilers
from benchmarks.plain import plain
from tests.effort import some

N, M = af.symbols("N M")
AVX2 = targets()["avx2"]
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
    found = next((each for each in compilers() if each.name == "gcc"), None)
    model = model_of(pattern.kernel)
    expected = [lanes_by_compiler(loop, model.iterations, one(), model.machine) for loop in innermost(pattern.kernel)]
    if found is None:
        pytest.skip("gcc is not on PATH")
    if max(expected) > 1:
        assert found.vectorizes(plain(pattern.kernel), STRICT)


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
