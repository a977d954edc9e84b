"""align: where loops begin for arrays that lie anywhere, that all runs in the same order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.align import LEAST, align
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, parsed
from tests.passes.transforms.placed import assert_same, at

HEAD = "func.func @f(%n: index, %m: index, %A: memref<?xf32>, %B: memref<?x?xf32>, %x: f32)"
ROWS, COLUMNS = af.symbols("ROWS COLUMNS")


def aligned(body, array="A", loop=0, lanes=16, head=HEAD):
    """The module, and what it is after the step: the loops are numbered in the order of the text."""
    before = parsed(head + body)
    function = before.functions[0]
    loops = [op for op in walk(function) if isinstance(op, affine.For)]
    buffer = {v.hint: v for op in walk(function) for v in (*op.binds(), *op.defines())}[array]
    made = align(function, buffer, loops[loop].iv, lanes, module=before)
    after = with_fields(before, body=(made,))
    verify(after)
    return before, after


def stored(at, bounds="0 to %n", type="memref<?xf32>", array="A"):
    return "{ affine.for %i = " + bounds + " { affine.store %x, %" + array + "[" + at + "] : " + type + " } return }"


@af.kernel
def shifted(A: af.f32[ROWS, COLUMNS], B: af.f32[ROWS, COLUMNS]):
    with af.for_(ROWS) as i, af.for_(1, COLUMNS - 1) as j:
        B[i, j] = A[i, j - 1] + A[i, j + 1] * 3


@af.kernel
def counted(A: af.f64[COLUMNS]):
    with af.for_(2, COLUMNS) as i:
        A[i] = af.f64(i)


@pytest.mark.parametrize("offset", range(0, 64, 4))
def test_results_are_the_same_wherever_rows_begin(offset):
    made = af.Schedule(shifted).align("B", "j", 16).kernel()
    assert_same(made, shifted, offset, ((3, 320), (2, 319), (1, 17), (2, 0), (0, 300), (2, 272), (2, 258), (2, 257)))


def beginning(function, address, count):
    """How many iterations the step puts before the others, of its own expressions: for an address and a size."""
    asks, behind, first = function.body[:3]
    assert isinstance(asks, memref.ExtractAlignedPointerAsIndex)
    assert isinstance(behind, affine.Min)
    assert isinstance(first, affine.Max)
    numbers = {asks.result: Affine.of(address), **{v: Affine.of(count) for v in function.args if v.type == INDEX}}
    numbers[behind.result] = Affine.of(min(e.substitute(numbers).constant for e in behind.exprs))
    return max(e.substitute(numbers).constant for e in first.exprs)


@pytest.mark.parametrize("start", [0, 2, 13])
@pytest.mark.parametrize("shift", [0, -3, 5])
@pytest.mark.parametrize("offset", range(0, 64, 8))
def test_the_first_iteration_behind_the_others_stores_where_a_line_begins(start, shift, offset):
    body = f"{{ affine.for %i = {start} to %n {{ affine.store %x, %A[%i + {shift}] : memref<?xf64> }} return }}"
    _, after = aligned(body, head="func.func @f(%n: index, %A: memref<?xf64>, %x: f64)", lanes=8)
    function = after.functions[0]
    address, whole = 4096 + offset, start + 8 * LEAST
    lows = [beginning(function, address, count) for count in (0, start, whole, whole + 3, whole + 7, whole + 900)]
    assert lows[:3] == [0, 0, 0]
    assert lows[3] == min(lows[-1], 3)
    assert 0 <= lows[-1] < 8
    assert (address + 8 * (start + lows[-1] + shift)) % 64 == 0
    head, rest = (op for op in function.body if isinstance(op, affine.For))
    assert head.upper == rest.lower
    assert head.lower == (Affine.of(start),)


@pytest.mark.parametrize("offset", range(0, 64, 8))
@pytest.mark.parametrize("count", [0, 1, 129, 130, 131, 137, 138, 400])
def test_short_and_long_rows_are_counted_alike(offset, count):
    a = at(offset, count, np.float64)
    af.Schedule(counted).align("A", "i", 8).kernel()(a)
    assert (a[2:] == np.arange(2, max(count, 2))).all()


def test_a_division_that_was_guarded_is_not_made_before():
    @af.kernel(boundscheck=True)
    def part(A: af.f32[COLUMNS], k: af.index):
        with af.if_(k >= 1), af.for_(COLUMNS // k) as i:
            A[i] = 1.0

    with pytest.raises(IllegalTransform, match="is a quotient by an argument, which may be 0 before it"):
        af.Schedule(part).align("A", "i", 16)
    a = np.zeros(400, np.float32)
    part.optimize("avx512", threads=1)(a, 0)
    assert not a.any()


def test_all_runs_in_the_order_in_which_it_did():
    body = """{ affine.for %i = 1 to %n {
        %a = affine.load %A[%i - 1] : memref<?xf32>
        %s = arith.addf %a, %x : f32
        affine.store %s, %A[%i] : memref<?xf32>
      } return }"""
    before, after = aligned(body)
    assert assert_alike(before, after, (0, 1, 5, 9, 700), size=701, runs=5) > 0


def test_it_is_text_that_mlir_opt_takes_and_lowers():
    _, after = aligned(stored("%i + 3", "2 to %n"))
    lowered = mlir_opt(str(after), "--lower-affine")
    assert "memref.extract_aligned_pointer_as_index" in lowered
    assert "affine" not in lowered


@pytest.mark.parametrize(
    ("body", "array", "reason"),
    [
        (stored("%i * 2"), "A", "it does not go over a row of A, one element after the other"),
        (stored("0"), "A", "it does not go over a row of A"),
        (stored("%i, 0", type="memref<?x?xf32>", array="B"), "B", "it does not go over a row of B"),
        (stored("%i"), "B", "it does not go over a row of B"),
        (stored("%i", "0 to %n step 2"), "A", "it has several bounds, or a step"),
        (stored("%i", "0 to min affine_map<()[a, b] -> (a, b)>()[%n, %m]"), "A", "it has several bounds, or a step"),
        (stored("%i", "0 to 255"), "A", "it runs 255 times, which is less than 16 lines"),
        ("""{ affine.for %k = 0 to %n {
              affine.for %i = 0 to affine_map<(d0) -> (d0)>(%k) { affine.store %x, %A[%i] : memref<?xf32> }
            } return }""",
         "A", "where it runs, and what it accesses, depends on k: only arguments are known"),
        ("""{ %C = memref.alloc(%n) : memref<?xf32>
            affine.for %i = 0 to %n { affine.store %x, %C[%i] : memref<?xf32> } return }""",
         "C", "C is no argument: only its maker knows where it lies"),
    ],
)  # fmt: skip
def test_refusals_say_why(body, array, reason):
    with pytest.raises(IllegalTransform) as caught:
        aligned(body, array, loop=1 if "%k" in body else 0)
    loop = "i"
    assert str(caught.value).startswith(f"<mlir>:1: cannot let loop {loop} begin where a line of {array} does") or (
        f"cannot let loop {loop} begin where a line of {array} does" in str(caught.value)
    )
    assert reason in str(caught.value)


def test_rows_that_are_not_elements_side_by_side_are_refused():
    head = "func.func @f(%n: index, %A: memref<?xf32, strided<[2]>>, %x: f32)"
    with pytest.raises(IllegalTransform, match="the rows of A are not elements that follow each other"):
        aligned(stored("%i", type="memref<?xf32, strided<[2]>>"), head=head)


def test_a_line_of_one_element_is_none():
    with pytest.raises(ValueError, match="a line has 2 elements or more, not 1"):
        aligned(stored("%i"), lanes=1)
