"""Which loops do nothing but look small elements up."""

import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.lookups import lookups

N = af.symbols("N")


@af.kernel
def bytes_by_bytes(x: af.u8[N], table: af.u8[256], out: af.u8[N]):
    with af.for_(N) as i:
        out[i] = table[x[i]]


@af.kernel
def three_in_a_row(x: af.u8[N, 3], table: af.i16[256], out: af.i64[N, 3]):
    with af.for_(N) as i:
        for c in range(3):
            out[i, c] = af.cast(table[x[i, c]], af.i64)


@af.kernel
def halves(x: af.i32[N], table: af.f16[9], out: af.f16[N]):
    with af.for_(N) as i:
        out[i] = table[x[i]]


@af.kernel
def words(x: af.u8[N], table: af.i32[256], out: af.i32[N]):
    with af.for_(N) as i:
        out[i] = table[x[i]]


@af.kernel
def with_arithmetic(x: af.u8[N], table: af.u8[256], out: af.u8[N]):
    with af.for_(N) as i:
        out[i] = table[x[i]] + x[i]


@af.kernel
def placed_by_floats(x: af.f32[N], table: af.u8[256], out: af.u8[N]):
    with af.for_(N) as i:
        out[i] = table[af.cast(x[i], af.i32)]


@af.kernel
def under_a_condition(x: af.u8[N], table: af.u8[256], out: af.u8[N]):
    with af.for_(N) as i, af.if_(i >= 2):
        out[i] = table[x[i]]


@af.kernel
def summed_up(x: af.u8[N], table: af.u8[256], out: af.u8[1]):
    with af.for_(N) as i:
        out[0] += table[x[i]]


@af.kernel
def copied(x: af.u8[N], out: af.u8[N]):
    with af.for_(N) as i:
        out[i] = x[i]


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (bytes_by_bytes, 1),
        (three_in_a_row, 3),
        (halves, 1),
        (words, 0),
        (with_arithmetic, 0),
        (placed_by_floats, 0),
        (under_a_condition, 0),
        (summed_up, 0),
        (copied, 0),
    ],
    ids=lambda value: value.name if isinstance(value, af.Kernel) else str(value),
)
def test_what_is_looked_up_is_counted(kernel, wanted):
    (loop,) = (op for op in walk(af.Schedule(kernel).function) if isinstance(op, affine.For))
    assert lookups(loop) == wanted


def test_a_loop_around_another_one_looks_nothing_up_itself():
    @af.kernel
    def rows(x: af.u8[N, N], table: af.u8[256], out: af.u8[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            out[i, j] = table[x[i, j]]

    outer, inner = (op for op in walk(af.Schedule(rows).function) if isinstance(op, affine.For))
    assert (lookups(outer), lookups(inner)) == (0, 1)


def test_places_that_the_loop_says_are_no_lookups():
    function = parse("""
      func.func @f(%x: memref<9xi8>, %at: index, %out: memref<9xi8>) {
        affine.for %i = 0 to 9 {
          %0 = memref.load %x[%i] : memref<9xi8>
          memref.store %0, %out[%i] : memref<9xi8>
          %1 = memref.load %x[%at] : memref<9xi8>
          memref.store %1, %out[%at] : memref<9xi8>
        }
        return
      }""").functions[0]
    assert lookups(function.body[0]) == 0
