"""merge: a variable in the element that is stored from it; the same to the bit, or refused."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.merge import merge
from affdsl.schedule.schedule import Schedule

M, N = af.symbols("M N")


def kernel(inside="pass", last="C[i] = 2 * t", first="t = af.var(af.f64(0))"):
    """A kernel that sums up rows of A in a variable, and stores what it makes of the sum in C."""

    @af.kernel
    def f(A: af.f64[M, N], C: af.f64[M], D: af.f64[M + 1]):
        with af.for_(M) as i:
            names = {"af": af, "A": A, "C": C, "D": D, "i": i}
            exec(first, names)
            with af.for_(N) as j:
                names["j"] = j
                exec("t += A[i, j]", names)
                exec(inside, names)
            exec(last, names)

    return f


def merged(k):
    """The function without its variable, which does the same as the kernel."""
    buffer = next(op.result for op in walk(k.func) if isinstance(op, memref.Allocation))
    made = merge(k.func, buffer)
    verify(made)
    assert not any(isinstance(op, memref.Allocation) for op in walk(made))
    for m, n in ((3, 4), (2, 0), (0, 3), (1, 1)):
        given = [np.random.default_rng(m).random((m, n)), np.full(m, 5.0), np.arange(m + 1.0)]
        ours, theirs = [a.copy() for a in given], [a.copy() for a in given]
        k.interpret(*theirs)
        run(made, *(m, n)[: len(made.args) - 3], *ours)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
    return str(made)


@pytest.mark.parametrize(("inside", "last", "stores"), [
    ("pass", "C[i] = 2 * t", 3),
    ("pass", "C[i] = t", 2),
    ("pass", "C[i] = t; D[i] = t", 3),
    ("pass", "D[i] = 2 * t; C[i] = D[i]", 4),
    ("pass", "D[i + 1] = D[i] + t; C[i] = t", 3),
    ("D[i] = t", "C[i] = t * t", 4),
    ("pass", "t.set(t * t); C[i] = t", 3),
])  # fmt: skip
def test_the_element_that_is_stored_holds_it(inside, last, stores):
    assert merged(kernel(inside, last)).count("affine.store") == stores


@pytest.mark.parametrize(("inside", "last", "why"), [
    ("D[i] = C[i]", "C[i] = t", r"load C\[i\] .* may touch the element of .*store C\[i\]"),
    ("pass", "D[i] = C[i]; C[i] = t", r"load C\[i\] .* may touch"),
    ("C[i] = 1.0", "C[i] = t", r"store C\[i\] .* may touch"),
    ("D[i] = C[j]", "C[i] = t", "may touch"),
    ("pass", "pass", "no element of its type is stored behind"),
])  # fmt: skip
def test_what_else_is_done_with_the_element_refuses(inside, last, why):
    with pytest.raises(IllegalTransform, match=why):
        merged(kernel(inside, last))


def test_a_store_under_a_condition_has_no_place():
    for last in ("with af.if_(i < 2):\n    C[i] = t", "t.set(2 * t)"):
        with pytest.raises(IllegalTransform, match="no element of its type is stored behind"):
            merged(kernel(last=last))


SET = "%t = memref.alloca() : memref<f32> affine.store %x, %t[] : memref<f32>"


@pytest.mark.parametrize(("text", "why"), [
    ("%t = memref.alloca() : memref<2xf32> affine.store %x, %t[0] : memref<2xf32>", "is no variable"),
    ("%t = memref.alloca() : memref<f32> %a = affine.load %t[] : memref<f32>", "nothing is stored in t before"),
    ("%t = memref.alloca() : memref<f64> affine.store %y, %t[] : memref<f64>", "no element of its type is stored"),
    (f"{SET} %q = memref.alloca() : memref<memref<f32>> affine.store %t, %q[] : memref<memref<f32>>", "is no variable"),
    ("%t = memref.alloca() : memref<f32> call @g(%t) : (memref<f32>) -> ()", "is no variable"),
])  # fmt: skip
def test_buffers_that_are_no_variables(text, why):
    more = "affine.store %x, %A[0] : memref<9xf32>"
    module = parse(f"""func.func @f(%A: memref<9xf32>, %x: f32, %y: f64) {{ {text} {more} return }}
        func.func private @g(memref<f32>)""")
    function = module.functions[0]
    with pytest.raises(IllegalTransform, match=why):
        merge(function, function.body[0].result, module=module)
    with pytest.raises(IllegalTransform, match="does not make A"):
        merge(function, function.args[0], module=module)


def test_arguments_that_may_be_one_array_refuse():
    text = """func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 9 {
        %t = memref.alloca() : memref<f32>
        %a = affine.load %A[%i] : memref<9xf32>
        affine.store %a, %t[] : memref<f32>
        %b = affine.load %A[%i] : memref<9xf32>
        %c = affine.load %t[] : memref<f32>
        %d = arith.addf %b, %c : f32
        affine.store %d, %B[%i] : memref<9xf32>
      }
      return
    }"""
    alone = parse(text)
    assert "alloca" not in str(merge(alone.functions[0], alone.functions[0].body[0].body[0].result, module=alone))
    called = parse(
        text + "func.func @g(%A: memref<9xf32>) { call @f(%A, %A) : (memref<9xf32>, memref<9xf32>) -> () return }"
    )
    function = called.functions[0]
    with pytest.raises(IllegalTransform, match="may touch"):
        merge(function, function.body[0].body[0].result, module=called)


def test_a_schedule_merges_by_name_and_replays():
    s = Schedule(kernel(last="C[i] = 2 * t")).merge("t").distribute("i")
    assert "merge(" in str(s)
    assert "alloca" not in s.kernel().mlir()
    assert sum(row.depth == 0 for row in s.loops()) == 3


SHARED = """func.func @f(%A: memref<9xf32>, %i: index) {
  %t = memref.alloca() : memref<f32>
  %a = affine.load %A[%i] : memref<9xf32>
  affine.store %a, %t[] : memref<f32>
  %b = affine.load %t[] : memref<f32>
  affine.store %b, %A[0] : memref<9xf32>
  return
}
func.func @g(%A: memref<9xf32>) {
  LOOP (%i) = (0) to (9) { func.call @f(%A, %i) : (memref<9xf32>, index) -> () }
  return
}"""


def test_threads_that_store_one_element_refuse():
    """Each stores a number in the end; what stands in the element on the way would be seen by others."""
    inner = """func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.parallel (%i) = (0) to (9) {
        %t = memref.alloca() : memref<f32>
        affine.store %x, %t[] : memref<f32>
        %b = affine.load %t[] : memref<f32>
        affine.store %b, %A[0] : memref<9xf32>
      }
      return
    }"""
    for text in (inner, SHARED.replace("LOOP", "affine.parallel")):
        module = parse(text)
        function = module.functions[0]
        buffer = next(op.result for op in walk(function) if isinstance(op, memref.Allocation))
        with pytest.raises(IllegalTransform, match="a parallel loop around it, or a call in one"):
            merge(function, buffer, module=module)


def test_what_is_done_to_the_array_by_something_unknown_refuses():
    text = """func.func @f(%A: memref<9xf32>, %x: f32) {
      %t = memref.alloca() : memref<f32>
      affine.store %x, %t[] : memref<f32>
      BETWEEN
      %b = affine.load %t[] : memref<f32>
      affine.store %b, %A[0] : memref<9xf32>
      return
    }"""
    for between, refused in (
        ("", False),
        ('"some.thing"(%A) : (memref<9xf32>) -> ()', True),
        ('"some.thing"() : () -> ()', True),
    ):
        function = parse(text.replace("BETWEEN", between)).functions[0]
        if refused:
            with pytest.raises(IllegalTransform, match="may touch"):
                merge(function, function.body[0].result)
        else:
            merge(function, function.body[0].result)
