"""Calls: what the function touches that is called, in the words of the caller, decides its loops."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import callee
from affdsl.passes.analysis.access import Accesses, accesses
from affdsl.passes.analysis.parallelism import parallelism

K, M, N = af.symbols("K M N")


@af.kernel
def bump(x: af.f64[N], k: af.index):
    x[k] += 1.0


@af.kernel
def row(A: af.f64[M, N], i: af.index, by: af.f64):
    with af.for_(N) as j:
        A[i, j] = A[i, j] * 0.5 + by


@af.kernel
def below(A: af.f64[N, N], i: af.index):
    with af.for_(i) as j:
        A[i, j] += A[j, j]


@af.kernel
def row_of_bumps(A: af.f64[M, N], i: af.index):
    row(A, i, 1.0)
    row(A, i, 2.0)


@af.kernel
def smoothed(A: af.f64[M, N], i: af.index):
    t = af.alloc(af.f64[N])
    with af.for_(N) as j:
        t[j] = A[i, j] * 2.0
    with af.for_(N) as j:
        A[i, j] = t[N - 1 - j]


@af.kernel
def doubled(x: af.f64[N], k: af.index):
    t = af.alloc(af.f64[N])
    with af.for_(N) as j:
        t[j] = x[k] * 2.0
    return t


def verdicts(kernel):
    return [loop.verdict for loop in kernel.loops()]


def of(text):
    module = parse(text)
    verify(module)
    return [loop.verdict for loop in parallelism(module.functions[-1], module)]


def test_a_call_in_a_loop_touches_one_element():
    """Issue 15, 13: `bump(x, i)` stopped every analysis."""

    @af.kernel
    def bumps(x: af.f64[N]):
        with af.for_(N) as i:
            bump(x, i)

    @af.kernel
    def often(x: af.f64[N], n: af.index):
        with af.for_(n) as t, af.for_(N) as i:  # noqa: F841 - the loop is called so
            bump(x, i)

    assert verdicts(bumps) == ["parallel"]
    assert verdicts(often) == ["sequential", "parallel"]
    (first, *_) = often.dependences().carried_by(often.func.body[0].iv)
    assert [str(d) for d in first.distances] == ["[1, +inf]", "[0, 0]"]
    assert first.is_exact


@pytest.mark.parametrize(
    "steps",
    [
        lambda s: s.interchange("t", "i"),
        lambda s: s.tile(("t", "i"), (2, 3)),
        lambda s: s.interchange("t", "i").parallel("i"),
        lambda s: s.strip_mine("i", 2).unroll("t", 2),
        lambda s: s.unroll_jam("t", 2),
        lambda s: s.skew("t", "i", 1).interchange("t", "i"),
        lambda s: s.peel("i", first=1).split("t", 2),
        lambda s: s.reverse("i"),
    ],
)
def test_loops_around_calls_take_steps(steps):
    @af.kernel
    def often(x: af.f64[N], n: af.index):
        with af.for_(n) as t, af.for_(N) as i:  # noqa: F841 - the loop is called so
            bump(x, i)

    s = af.Schedule(often, validate=True)
    steps(s)
    expected, x = np.arange(7.0), np.arange(7.0)
    often.interpret(expected, 5)
    s.kernel()(x, 5)
    np.testing.assert_array_equal(x, expected)


def test_a_function_with_loops_touches_what_all_its_iterations_touch():
    @af.kernel
    def rows(A: af.f64[M, N]):
        with af.for_(M) as i:
            row(A, i, 1.0)

    @af.kernel
    def rows_again(A: af.f64[M, N]):
        with af.for_(M) as i:
            row(A, i // 2, 1.0)

    @af.kernel
    def triangle(A: af.f64[N, N]):
        with af.for_(N) as i:
            below(A, i)

    @af.kernel
    def nested(A: af.f64[M, N]):
        with af.for_(M) as i:
            row_of_bumps(A, i)

    @af.kernel
    def with_buffers(A: af.f64[M, N]):
        with af.for_(M) as i:
            smoothed(A, i)

    assert verdicts(rows) == ["parallel"]
    assert verdicts(rows_again) == ["sequential"]
    assert verdicts(triangle) == ["parallel"]  # the diagonal is only read
    assert verdicts(nested) == ["parallel"]
    assert verdicts(with_buffers) == ["parallel"]
    for access in accesses(triangle.func, triangle.module):
        assert access.is_exact


def test_a_buffer_that_a_call_gives_is_another_one_each_time():
    @af.kernel
    def each(x: af.f64[N], A: af.f64[N, N]):
        with af.for_(N) as i:
            t = doubled(x, i)
            with af.for_(N) as j:
                A[i, j] = t[j]

    assert verdicts(each) == ["parallel", "parallel"]


def test_a_refusal_names_two_calls():
    @af.kernel
    def shifted(x: af.f64[N + 1]):
        with af.for_(N) as i, af.for_(2) as j:
            bump(x, i + j)

    with pytest.raises(af.IllegalTransform, match=r"the read of x by the call of bump at line \d+ must come"):
        af.Schedule(shifted).interchange("i", "j")


def test_what_is_not_known_stays_in_order():
    unknown = """
        func.func private @anything(memref<8xf32>, index)
        func.func private @itself(%A: memref<8xf32>, %i: index) {
          func.call @itself(%A, %i) : (memref<8xf32>, index) -> ()
          return
        }
        func.func @f(%A: memref<8xf32>) {
          affine.for %i = 0 to 8 { func.call @NAME(%A, %i) : (memref<8xf32>, index) -> () }
          return
        }"""
    assert of(unknown.replace("NAME", "anything")) == ["unknown"]
    assert of(unknown.replace("NAME", "itself")) == ["unknown"]


def test_one_array_given_twice_and_views():
    text = """
        func.func private @move(%A: memref<8xf32>, %B: memref<8xf32>, %i: index) {
          %a = affine.load %A[symbol(%i)] : memref<8xf32>
          affine.store %a, %B[7] : memref<8xf32>
          return
        }
        func.func private @part(%A: memref<4xf32, strided<[1], offset: 4>>, %i: index, %x: f32) {
          affine.store %x, %A[symbol(%i)] : memref<4xf32, strided<[1], offset: 4>>
          return
        }
        func.func @f(%A: memref<8xf32>, %B: memref<8xf32>, %x: f32) {
          affine.for %i = 0 to 7 { func.call @move(%A, %A, %i) : (memref<8xf32>, memref<8xf32>, index) -> () }
          %v = memref.subview %A[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
          affine.for %i = 0 to 4 {
            func.call @part(%v, %i, %x) : (memref<4xf32, strided<[1], offset: 4>>, index, f32) -> ()
            affine.store %x, %A[%i] : memref<8xf32>
          }
          affine.for %i = 0 to 4 {
            func.call @part(%v, %i, %x) : (memref<4xf32, strided<[1], offset: 4>>, index, f32) -> ()
            affine.store %x, %A[%i + 1] : memref<8xf32>
          }
          return
        }"""
    first, second, third = of(text)
    assert first == "sequential"
    assert second == "parallel"
    assert third == "parallel if privatized"  # i = 3 writes A[4], as does part of i = 0
    module = parse(text)
    elements = [str(a) for a in accesses(module.functions[-1], module) if a.kind == "write"]
    assert elements[1] == "{ [i] -> [m0 = 4 + i] : 0 <= i <= 3 }"


def test_arguments_are_one_only_where_a_call_gives_one_array_for_both():
    module = parse("""
      func.func private @g(%x: memref<8xf64>, %y: memref<8xf64>, %z: memref<8xf64>) { return }
      func.func @f(%A: memref<8xf64>, %B: memref<8xf64>) {
        func.call @g(%A, %A, %B) : (memref<8xf64>, memref<8xf64>, memref<8xf64>) -> ()
        return
      }""")
    g = module.functions[0]
    storage = Accesses(g, module).storage
    x, y, z = map(storage.buffer, g.args)
    assert [storage.may_alias(x, y), storage.may_alias(x, z), storage.may_alias(y, z)] == [True, False, False]


def test_a_global_buffer_that_only_the_called_function_knows():
    text = """
        memref.global "private" @count : memref<1xi32> = dense<0>
        func.func private @tick(%x: i32) {
          %c = memref.get_global @count : memref<1xi32>
          affine.store %x, %c[0] : memref<1xi32>
          return
        }
        func.func @f(%x: i32) {
          affine.for %i = 0 to 8 { func.call @tick(%x) : (i32) -> () }
          return
        }"""
    assert of(text) == ["parallel if privatized"]


def test_a_call_with_too_many_accesses_touches_whole_arrays(monkeypatch):
    @af.kernel
    def bumps(x: af.f64[N]):
        with af.for_(N) as i:
            bump(x, i)

    monkeypatch.setattr("affdsl.passes.analysis.access.MOST_TOUCHES", 1)
    assert callee.MOST_TOUCHES > 1
    assert verdicts(bumps) == ["unknown"]


@af.kernel
def guarded(x: af.f64[N], k: K):
    af.assume(k >= 0, k < N)
    x[k] += 1.0


def test_a_loop_proves_what_the_called_function_assumes():
    """Issue 15, 13: it was refused though the loop proves it."""

    @af.kernel
    def all_of(x: af.f64[N]):
        with af.for_(N) as i:
            guarded(x, i)

    @af.kernel
    def behind(x: af.f64[N]):
        with af.for_(N) as i, af.if_(i < N - 1):
            guarded(x, i + 1)

    assert all_of.check().are_proved
    assert behind.check().are_proved
    assert verdicts(all_of) == ["parallel"]


def test_what_a_called_function_assumes_is_asked_of_the_sizes():
    @af.kernel
    def some(x: af.f64[N], m: M):
        with af.for_(m) as i:
            guarded(x, i)

    x = np.zeros(4)
    some(x, 4)
    assert x.tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match=r"the call of guarded .* only where N >= M, but N = 4, M = 5: .* when i = 4"):
        some(x, 5)


def test_what_a_called_function_assumes_certainly_breaks():
    with pytest.raises(af.ProgramIndexError) as caught:

        @af.kernel
        def beyond(x: af.f64[N]):
            with af.for_(N) as i:
                guarded(x, i + 1)

    assert str(caught.value).splitlines()[0].endswith("the call of guarded does not keep to what that assumes")
    assert "calls it with N = 1, K = 1 when i = 0" in str(caught.value) or "k = 1 when i = 0" in str(caught.value)
    assert "it needs N - i - 2 >= 0, since guarded assumes" in str(caught.value)
