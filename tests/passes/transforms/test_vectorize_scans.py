"""Sums, products and extremes that something sees on their way, made in all lanes at once: scans.

Most tests take numbers of which no sum rounds, so that any order gives the same bits.
"""

import itertools

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.passes.transforms.vectorize import vectorize
from tests.harness.judges import alike
from tests.passes.transforms.test_vectorize import iv, read

ARGUMENTS = "%A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?xf64>, %n: index, %x: f64"
N = af.symbols("N")
WAYS = [*itertools.product((2, 3, 4, 8), ("scalar", "masked"))]


def scan(kind, *, seen="%t", first="%s, %a"):
    """A loop that combines each element of A with what it carries, and stores what B sees of it."""
    return read(f"""%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {{
      %a = affine.load %A[%i] : memref<?xf64>
      %t = arith.{kind} {first} : f64
      affine.store {seen}, %B[%i] : memref<?xf64>
      affine.yield %t : f64
    }}
    affine.store %r, %C[0] : memref<?xf64>""", ARGUMENTS)  # fmt: skip


def shuffles(made):
    return sum(isinstance(op, vector.Shuffle) for op in walk(made))


def free(f, width, tail="scalar"):
    return vectorize(f, iv(f, "i"), width, tail=tail, reassociate=True)


def assert_same(f, made, numbers=tuple(range(-9, 10)), x=3.0):
    for n in (0, 1, 3, 4, 5, 8, 11, 23):
        given = [np.random.default_rng(n).choice(numbers, n + 3).astype(float) for _ in "abc"]
        assert alike([*given, n, x], f, made), f"n = {n}\n{made}"


@pytest.mark.parametrize("kind", ["addf", "subf", "mulf"])
@pytest.mark.parametrize("seen", ["%t", "%s"])
def test_what_is_seen_after_an_iteration_or_before_it(kind, seen):
    f = scan(kind, seen=seen)
    for width, tail in WAYS:
        made = free(f, width, tail)
        assert shuffles(made) == (width - 1).bit_length() + (seen == "%s")
        assert_same(f, made, (1, -1, 2, 0.5) if kind == "mulf" else tuple(range(-9, 10)))


@pytest.mark.parametrize("kind", ["maximumf", "minimumf"])
@pytest.mark.parametrize("seen", ["%t", "%s"])
def test_extremes_of_floats_have_the_bits_of_the_loop(kind, seen):
    f = scan(kind, seen=seen)
    assert shuffles(vectorize(f, iv(f, "i"), 8)) == 0  # one after the other is faster, where processors guess
    special = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"))
    for width, tail in WAYS:
        made = free(f, width, tail)
        assert shuffles(made) == (width - 1).bit_length() + (seen == "%s")
        for x in (*special, float("nan")):
            assert_same(f, made, special, x)
        assert_same(f, made, (*range(9), float("nan")), -7.0)


def test_the_carried_number_may_stand_on_the_right():
    f = scan("addf", first="%a, %s")
    made = free(f, 4)
    assert shuffles(made) == 2
    assert_same(f, made)


@pytest.mark.parametrize("kind", ["addf", "subf", "mulf"])
def test_only_where_rounding_is_free(kind):
    f = scan(kind)
    strict = vectorize(f, iv(f, "i"), 8)
    made = free(f, 8)
    assert (shuffles(strict), shuffles(made)) == (0, 3)
    n = 43
    a = 1 + np.random.default_rng(0).random(n) / 8
    found = {}
    for name, each in (("as written", f), ("strict", strict), ("free", made)):
        found[name] = np.zeros(n)
        run(each, a.copy(), found[name], np.zeros(1), n, 1.0)
    assert found["as written"].tobytes() == found["strict"].tobytes() != found["free"].tobytes()
    np.testing.assert_allclose(found["free"], found["as written"], rtol=n * 2.0**-53, atol=n * 2.0**-49)


@pytest.mark.parametrize(("kind", "zero"), [("addf", -0.0), ("subf", 0.0)])
def test_sums_of_nothing_keep_their_sign(kind, zero):
    f = scan(kind)
    made = free(f, 4)
    a, b, c = np.full(9, zero), np.ones(9), np.ones(1)
    run(made, a, b, c, 9, -0.0)
    assert np.signbit(b).all()
    assert np.signbit(c).all()


def test_several_steps_are_combined_before_the_scan():
    f = read("""%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {
      %a = affine.load %A[%i] : memref<?xf64>
      %b = affine.load %B[%i] : memref<?xf64>
      %t = arith.subf %s, %a : f64
      %u = arith.subf %t, %b : f64
      %v = arith.addf %a, %u : f64
      affine.store %v, %B[%i] : memref<?xf64>
      affine.yield %v : f64
    }""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) == 2
    assert_same(f, made)


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("something sees it between", "%u = arith.addf %t, %a : f64\naffine.store %t, %B[%i] : memref<?xf64>"),
        ("its square", "%u = arith.mulf %t, %s : f64\naffine.store %u, %B[%i] : memref<?xf64>"),
        ("a quotient by it", "%u = arith.divf %a, %t : f64\naffine.store %u, %B[%i] : memref<?xf64>"),
        ("a square and a sum", "%u = math.fma %t, %s, %a : f64\naffine.store %u, %B[%i] : memref<?xf64>"),
        ("the other of a number and NaN", "%u = arith.maxnumf %t, %a : f64\naffine.store %u, %B[%i] : memref<?xf64>"),
    ],
)
def test_other_recurrences_go_lane_after_lane(what, lines):
    f = read(f"""%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {{
      %a = affine.load %A[%i] : memref<?xf64>
      %t = arith.addf %s, %a : f64
      {lines}
      affine.yield %u : f64
    }}""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) == 0, what
    assert_same(f, made, (1, -1))


LINEAR = {
    "a product of a sum": "%u = arith.mulf %t, %a : f64",
    "the carried number twice": "%u = arith.addf %t, %s : f64",
    "less than nothing": "%u = arith.subf %a, %t : f64",
    "a quotient": "%u = arith.divf %t, %a : f64",
    "a product and a sum in one": "%u = math.fma %a, %t, %a : f64",
    "what is carried added to a product": "%u = math.fma %a, %a, %t : f64",
    "nothing is left of it": "%v = arith.subf %t, %s : f64\n%u = arith.mulf %v, %a : f64",
    "twice, with a factor each": """%v = arith.mulf %x, %s : f64
      %w = arith.mulf %t, %a : f64
      %u = arith.subf %w, %v : f64""",
}


@pytest.mark.parametrize("seen", ["%u", "%s"])
@pytest.mark.parametrize("lines", LINEAR.values(), ids=LINEAR)
def test_what_is_linear_in_what_is_carried_is_a_scan_of_factors_and_sums(lines, seen):
    """But for the sign of zeros: 0 times -1 is one, the sum of 1 and -1 is not."""
    f = read(f"""%zero = arith.constant 0.0 : f64
    %r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {{
      %a = affine.load %A[%i] : memref<?xf64>
      %t = arith.addf %s, %a : f64
      {lines}
      %b = arith.addf {seen}, %zero : f64
      affine.store %b, %B[%i] : memref<?xf64>
      affine.yield %u : f64
    }}
    %c = arith.addf %r, %zero : f64
    affine.store %c, %C[0] : memref<?xf64>""", ARGUMENTS)  # fmt: skip
    for width, tail in (WAYS[0], WAYS[3], WAYS[5]):
        made = free(f, width, tail)
        assert shuffles(made) == 2 * (width - 1).bit_length() + (seen == "%s")
        assert_same(f, made, (1, -1), x=-1.0)
    strict = vectorize(f, iv(f, "i"), 4)
    assert shuffles(strict) == 0
    assert_same(f, strict, (0.3, -0.7, 1.1), x=0.9)


def test_one_recurrence_may_need_the_scan_of_another():
    f = read("""%r:3 = affine.for %i = 0 to %n iter_args(%s = %x, %t = %x, %u = %x) -> (f64, f64, f64) {
      %a = affine.load %A[%i] : memref<?xf64>
      %b = arith.addf %s, %a : f64
      %c = arith.maximumf %t, %b : f64
      %d = arith.subf %c, %s : f64
      affine.store %d, %B[%i] : memref<?xf64>
      affine.yield %b, %d, %t : f64, f64, f64
    }
    affine.store %r#2, %C[0] : memref<?xf64>""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) >= 3
    assert_same(f, made)


def test_what_is_seen_inside_of_conditions_and_loops():
    f = read("""%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {
      %a = affine.load %A[%i] : memref<?xf64>
      %t = arith.addf %s, %a : f64
      affine.if affine_set<(d0) : (d0 mod 3 == 0)>(%i) {
        affine.store %s, %B[%i] : memref<?xf64>
      } else {
        affine.for %j = 0 to 2 {
          affine.store %t, %B[%i] : memref<?xf64>
        }
      }
      affine.yield %t : f64
    }
    affine.store %r, %C[0] : memref<?xf64>""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) == 3
    assert_same(f, made)


def test_a_condition_chooses_what_is_added():
    f = read("""%zero = arith.constant 0.0 : f64
    %r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {
      %a = affine.load %A[%i] : memref<?xf64>
      %c = arith.cmpf ogt, %a, %zero : f64
      %t = scf.if %c -> (f64) {
        %u = arith.addf %s, %a : f64
        scf.yield %u : f64
      } else {
        scf.yield %s : f64
      }
      affine.store %t, %B[%i] : memref<?xf64>
      affine.yield %t : f64
    }""", ARGUMENTS)  # fmt: skip
    made = free(f, 8)
    assert shuffles(made) == 3
    assert_same(f, made)


def test_values_that_yield_the_same_or_what_another_one_was():
    f = read("""%r:3 = affine.for %i = 0 to %n iter_args(%s = %x, %t = %x, %u = %x) -> (f64, f64, f64) {
      %a = affine.load %A[%i] : memref<?xf64>
      %b = arith.addf %s, %a : f64
      %c = arith.subf %u, %t : f64
      affine.store %c, %B[%i] : memref<?xf64>
      affine.yield %b, %b, %s : f64, f64, f64
    }
    affine.store %r#1, %C[0] : memref<?xf64>
    affine.store %r#2, %C[1] : memref<?xf64>""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) >= 3
    assert_same(f, made)


@pytest.mark.parametrize("added", ["%x", "%two", "%f"])
def test_what_is_added_may_be_the_same_in_all_lanes_or_come_from_the_counter(added):
    f = read(f"""%two = arith.constant 2.0 : f64
    %r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {{
      %k = arith.index_cast %i : index to i64
      %f = arith.sitofp %k : i64 to f64
      %t = arith.subf %s, {added} : f64
      affine.store %t, %B[%i] : memref<?xf64>
      affine.yield %t : f64
    }}""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) == 2
    assert_same(f, made)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_narrow_floats(element):
    text = """%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {
      %a = affine.load %A[%i] : memref<?xf64>
      %t = arith.addf %s, %a : f64
      affine.store %t, %B[%i] : memref<?xf64>
      affine.yield %t : f64
    }"""
    f = read(text.replace("f64", element), ARGUMENTS.replace("f64", element))
    made = free(f, 4)
    assert shuffles(made) == 2
    type = {"f16": np.float16, "f32": np.float32}[element]
    a = np.random.default_rng(0).integers(-9, 10, 23).astype(type)
    assert alike([a, np.zeros_like(a), a, 23, type(1)], f, made)


def test_vectors_with_masks_have_none():
    f = scan("addf")
    made = free(f, 4, "folded")
    assert shuffles(made) == 0
    assert_same(f, made)


def test_vectors_that_are_carried_are_no_scans():
    f = read("""%v = arith.constant dense<[2.0, 4.0]> : vector<2xf64>
    %r:2 = affine.for %i = 0 to %n iter_args(%s = %v, %q = %v) -> (vector<2xf64>, vector<2xf64>) {
      %a = affine.load %A[%i] : memref<?xf64>
      affine.store %a, %B[%i] : memref<?xf64>
      %t = arith.addf %s, %v : vector<2xf64>
      %p = arith.divf %t, %q : vector<2xf64>
      affine.yield %t, %p : vector<2xf64>, vector<2xf64>
    }
    affine.vector_store %r#1, %C[0] : memref<?xf64>, vector<2xf64>""", ARGUMENTS)  # fmt: skip
    made = free(f, 4)
    assert shuffles(made) == 0
    assert_same(f, made)


def test_in_c():
    N = af.symbols("N")

    @af.kernel
    def sums(x: af.f64[N], before: af.f64[N], after: af.f64[N], mean: af.f64[N]):
        total = af.var(af.f64(0))
        with af.for_(N) as i:
            before[i] = total
            total += x[i]
            after[i] = total
            mean[i] = total / af.f64(N)

    s = af.Schedule(sums)
    s.scalar_replace("i")
    made = s.vectorize("i", 8, tail="masked", reassociate=True).kernel()
    for n in (1, 7, 8, 100, 1003):
        x = np.random.default_rng(n).normal(size=n)
        before, after, mean = np.zeros(n), np.zeros(n), np.zeros(n)
        made(x, before, after, mean)
        np.testing.assert_allclose(after, np.cumsum(x), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(before[1:], after[:-1])
        np.testing.assert_array_equal(mean, after / n)


N = af.symbols("N")


@af.kernel
def so_far(x: af.i32[N], y: af.i32[N], z: af.i32[N], last: af.i32[1]):
    """After an iteration and before it, from a number that is given."""
    s = af.var(last[0])
    with af.for_(N) as i:
        z[i] = s
        s += x[i]
        y[i] = s
    last[0] = s


@af.kernel
def taken_away(x: af.i64[N], y: af.i64[N]):
    with af.for_(1, N, 2, iter_args=[af.i64(7)]) as (i, s):
        after = s - x[i]
        y[i] = after
        af.yield_(after)


@af.kernel
def bytes_so_far(x: af.u8[N], y: af.u8[N]):
    with af.for_(N, iter_args=[af.u8(0)]) as (i, s):
        after = s + x[i]
        y[i] = after
        af.yield_(after)


@af.kernel
def least_and_greatest(x: af.i16[N], y: af.i16[N], z: af.i16[N]):
    """The right one first, and of unsigned numbers."""
    with af.for_(N, iter_args=[af.i16(3), af.i16(-3)]) as (i, low, high):
        y[i] = low
        least, greatest = af.min(x[i], low), af.max(high, x[i])
        z[i] = greatest
        af.yield_(least, greatest)


@af.kernel
def greatest_byte(x: af.u8[N], y: af.u8[N]):
    with af.for_(N, iter_args=[af.u8(0)]) as (i, s):
        after = af.max(s, x[i])
        y[i] = after
        af.yield_(after)


@af.kernel
def drawn(x: af.u32[N], y: af.u32[N]):
    """Random numbers, and a carried number twice: all of it wraps."""
    with af.for_(N, iter_args=[af.u32(7), af.u32(1)]) as (i, s, t):
        after, twice = s * 1664525 + 1013904223, x[i] - (t + t)
        y[i] = after ^ twice
        af.yield_(after, twice)


@af.kernel
def lengths_of_runs(x: af.i16[N], y: af.i16[N]):
    """It starts anew where a number is another one than that before it."""
    with af.for_(N, iter_args=[af.i16(0), af.i16(0)]) as (i, length, before):
        now = af.select(x[i] > before, length + x[i], af.i16(1))
        y[i] = now
        af.yield_(now, x[i])


@af.kernel
def since_the_last(x: af.i32[N], y: af.i32[N]):
    """The number stays where a condition holds, and is another one elsewhere."""
    with af.for_(N, iter_args=[af.i32(-1)]) as (i, last):
        now = af.select(x[i] < 0, af.i32(i), last)
        y[i] = now - 3
        af.yield_(now)


TYPES = {
    drawn: np.uint32,
    lengths_of_runs: np.int16,
    since_the_last: np.int32,
    so_far: np.int32,
    taken_away: np.int64,
    bytes_so_far: np.uint8,
    least_and_greatest: np.int16,
    greatest_byte: np.uint8,
}


@pytest.mark.parametrize("kernel", TYPES, ids=lambda kernel: kernel.name)
def test_integers_wrap_as_ever_and_need_no_permission(kernel):
    type = TYPES[kernel]
    s = af.Schedule(kernel)
    s = s.scalar_replace("i") if kernel is so_far else s
    made = s.vectorize("i", 16, tail="masked").kernel()
    assert shuffles(made.func) >= 4 + (kernel is so_far)
    for n in (0, 1, 15, 16, 33, 70):
        random = np.random.default_rng(n)
        x = random.integers(np.iinfo(type).min, np.iinfo(type).max, n, type)
        given = [
            x,
            *(np.zeros(n, type) for _ in range(2 if kernel in (so_far, least_and_greatest) else 1)),
            np.array([9], type),
        ]
        given = given[: len(kernel.program.parameters)]
        wanted = [a.copy() for a in given]
        kernel.interpret(*wanted)
        for way in (made, made.interpret):
            found = [a.copy() for a in given]
            way(*found)
            assert all((a == b).all() for a, b in zip(wanted, found, strict=True)), (n, wanted, found)


@pytest.mark.parametrize(
    "otherwise", [lambda t, x: t * 3, lambda t, x: 3 - t, lambda t, x: t + t, lambda t, x: x * x - t * x]
)
def test_what_starts_anew_has_no_other_factors(otherwise):
    @af.kernel
    def anew(x: af.i32[N], y: af.i32[N]):
        with af.for_(N, iter_args=[af.i32(5)]) as (i, last):
            now = af.select(x[i] < 0, otherwise(last, x[i]), x[i])
            y[i] = now
            af.yield_(now)

    made = af.Schedule(anew).vectorize("i", 8, tail="masked").kernel()
    assert shuffles(made.func) == 0
    x = np.random.default_rng(0).integers(-9, 9, 43, np.int32)
    wanted, found = np.zeros_like(x), np.zeros_like(x)
    anew.interpret(x, wanted)
    made(x, found)
    assert (wanted == found).all()


def test_optimize_takes_scans_of_integers():
    made = so_far.optimize("avx512", threads=1)
    assert shuffles(made.func) >= 4
    x = np.random.default_rng(0).integers(-100, 100, 1000).astype(np.int32)
    y, z, last = np.zeros_like(x), np.zeros_like(x), np.zeros(1, np.int32)
    made(x, y, z, last)
    assert (y == x.cumsum(dtype=np.int32)).all()
    assert (z == y - x).all()
    assert last[0] == x.sum()


@af.kernel
def forgetting(x: af.f64[N], f: af.f64[N], y: af.f64[N]):
    s = af.var(af.f64(1))
    with af.for_(N) as i:
        s.set(f[i] * s + x[i])
        y[i] = s


@pytest.mark.parametrize(
    ("factors", "numbers"),
    [
        ({0: np.inf}, {}),
        ({3: np.inf}, {3: 1.0}),
        ({7: -np.inf}, dict.fromkeys(range(8), 1.0)),
        ({2: np.nan}, {}),
        ({}, {5: np.inf}),
        ({0: 0.0, **dict.fromkeys(range(1, 8), 1e200)}, {}),
        ({0: 0.0, 1: 1e200, 2: 1e200, 3: 1e-300}, {3: 1.0}),
        (dict.fromkeys(range(1, 8), 1e-300), {1: -np.inf}),
    ],
)  # fmt: skip
def test_factors_that_are_infinite_or_make_something_so_are_taken_in_a_row(factors, numbers):
    x, f = np.zeros(19), np.full(19, 2.0)
    x[[*numbers]], f[[*factors]] = [*numbers.values()], [*factors.values()]
    left = [np.zeros(19) for _ in range(3)]
    s = af.Schedule(forgetting).scalar_replace("i").vectorize("i", 8, reassociate=True)
    made = s.kernel()
    assert shuffles(made.func) == 6
    with np.errstate(all="ignore"):
        for each, y in zip((forgetting.interpret, made.interpret, made), left, strict=True):
            each(x, f, y)
    np.testing.assert_array_equal(left[1], left[0])
    np.testing.assert_array_equal(left[2], left[0])


def test_that_a_vector_is_not_finite_is_not_said_to_be_likely():
    made = af.Schedule(forgetting).scalar_replace("i").vectorize("i", 8, tail="scalar", reassociate=True).kernel()
    text = made.c()
    assert "if (any_" in text
    assert "__builtin_expect" not in text
