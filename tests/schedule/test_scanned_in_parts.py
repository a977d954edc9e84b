"""Prefix sums, and whatever else a loop sees of what it combines, in parallel: the bits of the loop."""

import numpy as np
import pytest

import affdsl as af
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.scanned_in_parts import LENGTH
from tests.harness.judges import copied
from tests.loops.ways import lowered
from tests.schedule.kernels import replayed

N, M = af.symbols("N M")
SIZES = (0, 1, 4, LENGTH + 3, 64 * LENGTH + 5, 150 * LENGTH)


@af.kernel
def in_place(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(N) as i:
        s += x[i]
        x[i] = s
    last[0] = s


@af.kernel
def several(x: af.i64[N], last: af.i64[3]):
    """A sum before the iteration, the greatest under a condition, and a count that only the end sees; every second."""
    s, most, count = af.var(last[0]), af.var(last[1]), af.var(last[2])
    with af.for_(3, N, 2) as i:
        old = af.i64(s)
        with af.if_(x[i] < -3):
            most.set(af.max(x[i] * 3, most))
            count += 1
        s -= x[i]
        x[i] = old + most
    last[0] = s
    last[1] = most
    last[2] = count


@af.kernel
def of_loops_inside(x: af.i64[N], last: af.i64[3]):
    """What a loop inside goes on combining; a value beside it stays as it is."""
    with af.for_(N, iter_args=[last[0], last[1]]) as (i, low, same):
        with af.for_(3, iter_args=[low]) as (j, now):
            af.yield_(af.min(now, x[i] * af.i64(j) + same))
        x[i] = now
        af.yield_(now, same)


@af.kernel
def in_memory(x: af.i64[N], last: af.i64[3]):
    with af.for_(N) as i:
        new = last[1] ^ x[i]
        x[i] = new
        last[1] = new


@af.kernel
def looked_at_in_memory(x: af.i64[N], last: af.i64[3]):
    """Two elements that are stored, and looked at there; and one that stays."""
    with af.for_(N) as i:
        last[0] += x[i]
        last[1] = af.max(last[1], x[i])
        x[i] = last[1] - last[0] + last[2]


KERNELS = (in_place, several, of_loops_inside, in_memory, looked_at_in_memory)


def numbers(n):
    return np.random.default_rng(n).integers(-900, 7, n), np.array([5, -5000, 3])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_it_is_parallel_to_the_bit(kernel):
    s = af.Schedule(kernel).parallel("i")
    made = s.kernel()
    assert made.mlir().count("affine.parallel") == 2
    for n in SIZES:
        found, wanted = copied(numbers(n)), copied(numbers(n))
        kernel(*wanted)
        made(*found)
        assert all((a == b).all() for a, b in zip(found, wanted, strict=True)), n
    for way in (made.interpret, lowered(made)):
        found, wanted = copied(numbers(LENGTH + 70)), copied(numbers(LENGTH + 70))
        kernel(*wanted)
        way(*found)
        assert all((a == b).all() for a, b in zip(found, wanted, strict=True))
    assert replayed(s).mlir() == made.mlir()


def test_floats_are_asked_for_and_do_not_depend_on_threads():
    @af.kernel
    def sums(x: af.f64[N], y: af.f64[N]):
        s = af.var(af.f64(0))
        with af.for_(N) as i:
            y[i] = s
            s += x[i]

    with pytest.raises(af.IllegalTransform, match=r'legal: s\.parallel\("i", reassociate=True\)'):
        af.Schedule(sums).parallel("i")
    made = af.Schedule(sums).parallel("i", reassociate=True).kernel()
    x = np.random.default_rng(0).normal(size=70 * LENGTH)
    found = []
    for threads in (1, 2, 3):
        y = np.zeros_like(x)
        with af.threads(threads):
            made(x, y)
        found.append(y.tobytes())
        np.testing.assert_allclose(y[1:], np.cumsum(x)[:-1], rtol=1e-9, atol=1e-9)
    assert len({*found}) == 1


def test_extremes_of_floats_are_exact():
    @af.kernel
    def so_far(x: af.f64[N], y: af.f64[N]):
        s = af.var(x[0])
        with af.for_(N) as i:
            s.set(af.max(s, x[i]))
            y[i] = s

    made = af.Schedule(so_far).parallel("i").kernel()
    x = np.random.default_rng(1).choice([0.0, -0.0, -1.0, -np.inf], 3 * LENGTH)
    x[2 * LENGTH] = np.nan
    y, z = np.zeros_like(x), np.zeros_like(x)
    made(x, y)
    so_far(x, z)
    assert y.tobytes() == z.tobytes()


@af.kernel
def asks_what_it_is(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(N) as i:
        with af.if_(s < 100):
            s += x[i]
        x[i] = s


@af.kernel
def reads_what_it_wrote(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(N) as i:
        x[i] = s
        s += x[i]


@af.kernel
def reads_what_is_before(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(1, N) as i:
        s += x[i - 1]
        x[i] = s


@af.kernel
def two_ways(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(N) as i:
        s.set((s + x[i]) * 3)
        x[i] = s


@af.kernel
def looks_at_another(x: af.i64[N], last: af.i64[3]):
    """The second sum is one of the first."""
    with af.for_(N) as i:
        last[0] += x[i]
        last[1] += last[0]
        x[i] = last[1]


@af.kernel
def ends(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(N) as i:
        s += x[i]
        x[i] = s
        with af.if_(x[i] > 3):
            af.break_()


@af.kernel
def says_so(x: af.i64[N], last: af.i64[3]):
    s = af.var(last[0])
    with af.for_(N) as i:
        s += x[i]
        x[i] = s
        af.print_(s)


REFUSED = (asks_what_it_is, reads_what_it_wrote, reads_what_is_before, two_ways, looks_at_another, ends, says_so)


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.name)
def test_what_depends_on_more_than_what_is_combined_is_refused(kernel):
    with pytest.raises(af.IllegalTransform):
        af.Schedule(kernel).parallel("i")


def test_what_makes_arrays_is_not_done_twice():
    """Its first time would free none of them."""
    (f,) = parse("""func.func @f(%x: memref<?xi64>, %n: index, %zero: index, %first: i64) {
      affine.for %i = 0 to %n iter_args(%s = %first) -> i64 {
        %own = memref.alloc(%n) : memref<?xi64>
        %size = memref.dim %own, %zero : memref<?xi64>
        %more = arith.index_cast %size : index to i64
        %new = arith.addi %s, %more : i64
        affine.store %new, %x[%i] : memref<?xi64>
        memref.dealloc %own : memref<?xi64>
        affine.yield %new : i64
      }
      return
    }""").functions
    with pytest.raises(af.IllegalTransform, match="%s of one iteration is used in the next"):
        parallelize(f, f.body[0].iv)


def test_rows_are_scanned_in_parts_where_each_is_long():
    @af.kernel
    def rows(x: af.i32[M, N], y: af.i32[M, N]):
        with af.for_(M) as i:
            s = af.var(af.i32(0))
            with af.for_(N) as j:
                s += x[i, j]
                y[i, j] = s

    made = af.Schedule(rows).parallel("j").kernel()
    for shape in ((0, 4), (3, 0), (2, LENGTH * 3 + 1)):
        x = np.random.default_rng(2).integers(-9, 9, shape, dtype=np.int32)
        y = np.zeros_like(x)
        made(x, y)
        assert (y == np.cumsum(x, axis=1, dtype=np.int32)).all()


def test_optimize_shares_long_ones():
    @af.kernel
    def sums(x: af.i32[N], y: af.i32[N]):
        s = af.var(af.i32(0))
        with af.for_(N) as i:
            s += x[i]
            y[i] = s

    made = sums.optimize(threads=2)
    assert "affine.parallel" in made.mlir()
    for n in (0, 7, 1000, 262_143, 262_144, 700_001):
        x = np.random.default_rng(n).integers(-99, 99, n, dtype=np.int32)
        y = np.zeros_like(x)
        made(x, y)
        assert (y == np.cumsum(x, dtype=np.int32)).all(), n
