"""Vectors of several dimensions as their rows: the same numbers to the bit."""

from itertools import permutations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.lowering.rows_of_vectors import rows_of_vectors
from tests.effort import TRIES_ALL, some
from tests.ir.vector_programs import PROGRAMS
from tests.oracles import mlir_opt

N, M, K = af.symbols("N M K")


def ranks(module):
    """The dimensions of the vectors of a module."""
    values = (v for op in walk(module) for v in (*op.defines(), *op.binds()))
    return {v.type.rank for v in values if isinstance(v.type, VectorType)}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_each_operation_computes_the_same(program):
    module = rows_of_vectors(parse(program.text))
    verify(module)
    arrays = program.arrays()
    run(module.functions[0], *arrays, module=module)
    for got, wanted in zip(arrays, program.expected(*program.arrays()), strict=True):
        np.testing.assert_array_equal(got, wanted)


@af.kernel
def scaled(x: af.f32[N, M], y: af.f32[N, M], c: af.f32[M], r: af.f32[N], t: af.f32):
    with af.for_(N) as i, af.for_(M) as j:
        y[i, j] = af.select(x[i, j] > t, x[i, j] * c[j] + r[i], y[i, j])


@af.kernel
def cube(x: af.f64[N, M, K], y: af.f64[N, M, K], c: af.f64[M]):
    with af.for_(N) as i, af.for_(M) as j, af.for_(K) as k:
        y[i, j, k] = x[i, j, k] * c[j]


@af.kernel
def turned(x: af.i16[K, M, N], y: af.i16[N, K, M], r: af.i16[M]):
    with af.for_(N) as i, af.for_(M) as j, af.for_(K) as k:
        y[i, k, j] = x[k, j, i] - r[j]


@af.kernel
def product_of(x: af.f32[N, K], y: af.f32[K, M], z: af.f32[M, N]):
    with af.for_(N) as i, af.for_(M) as j:
        with af.for_(K, iter_args=[af.f32(0)]) as (k, total):
            af.yield_(total + x[i, k] * y[k, j])
        z[j, i] = total


@af.kernel
def counted(x: af.i32[N, M], y: af.i32[N, M]):
    with af.for_(N) as i, af.for_(M) as j:
        y[i, j] = af.i32(i * 3 - j) // x[i, j]


SHAPES = {
    scaled: ("NM", "NM", "M", "N", ""),
    cube: ("NMK", "NMK", "M"),
    turned: ("KMN", "NKM", "M"),
    product_of: ("NK", "KM", "MN"),
    counted: ("NM", "NM"),
}
SIZES = ((0, 3, 2), (4, 8, 5), (5, 9, 3), (9, 17, 6), (3, 30, 1), (1, 1, 0))


def arguments(kernel, sizes):
    """Arrays of a kernel for some sizes; the second one is written, of products the third one."""
    numbers, types = np.random.default_rng(1), {scaled: "f4", cube: "f8", turned: "i2", product_of: "f4", counted: "i4"}
    of = dict(zip("NMK", sizes, strict=True))
    arrays = [numbers.integers(1, 90, [of[n] for n in shape]).astype(types[kernel]) for shape in SHAPES[kernel]]
    return [each if each.shape else each[()] for each in arrays]


@pytest.mark.parametrize("kernel", SHAPES, ids=lambda k: k.name)
def test_boxes_of_iterations_run_by_rows(kernel):
    """Unless all is tried, in one order, which is not the same for all kernels."""
    loops = ("i", "j", "k") if kernel in (cube, turned) else ("i", "j")
    orders = list(permutations(loops))
    turn = 3 * [*SHAPES].index(kernel) % len(orders)
    for order in some(orders[turn:] + orders[:turn], 1):
        widths = (2, 5, 3)[: len(loops)]
        is_validated = kernel is scaled or (TRIES_ALL and kernel is not counted)
        made = af.Schedule(kernel, validate=is_validated).vectorize(order, widths, tail="masked").kernel()
        assert max(ranks(made.module)) == len(loops)
        by_rows = rows_of_vectors(made.module)
        verify(by_rows)
        assert ranks(by_rows) == {1}
        mlir_opt(str(by_rows))
        for sizes in SIZES:
            wanted, found = (arguments(kernel, sizes) for _ in "ab")
            kernel(*wanted)
            made(*found)
            assert_same(wanted, found)
            by_name = dict(zip("NMK", sizes, strict=True))
            for module in (made.module, by_rows):
                again = arguments(kernel, sizes)
                function = module.functions[-1]
                run(function, *(by_name[v.hint] for v in function.args if v.hint in by_name), *again, module=module)
                assert_same(wanted, again)


def assert_same(wanted, found):
    """Arrays are the same to the bit."""
    for a, b in zip(wanted, found, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_without_ends_there_are_no_masks():
    @af.kernel
    def f(x: af.f32[8, 16], y: af.f32[16, 8]):
        with af.for_(8) as i, af.for_(16) as j:
            y[j, i] = x[i, j]

    made = rows_of_vectors(af.Schedule(f).vectorize(("i", "j"), (4, 8)).kernel().module)
    assert ranks(made) == {1}
    assert not any(isinstance(op, (vector.MaskedLoad, vector.MaskedStore, vector.CreateMask)) for op in walk(made))


def test_an_operation_without_rows_keeps_its_function_whole():
    module = parse("""func.func @f(%A: memref<4x4xf32>) {
      %c = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %v = vector.transfer_read %A[%c, %c], %z {in_bounds = [true, true]} : memref<4x4xf32>, vector<4x4xf32>
      %w = vector.transpose %v, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
      vector.transfer_write %w, %A[%c, %c] {in_bounds = [true, true]} : vector<4x4xf32>, memref<4x4xf32>
      return
    }""")
    assert rows_of_vectors(module).functions[0] is module.functions[0]
