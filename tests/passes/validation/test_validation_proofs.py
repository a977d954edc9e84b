"""What validation proves for all sizes is so, what differs a run shows, and what is not known it says."""

import re
from dataclasses import replace
from itertools import count, islice
from random import Random

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.proof import equivalence
from affdsl.passes.validation import still_fails, validate
from tests.effort import some
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.passes.analysis.programs import generate as generate_small
from tests.passes.compare import parsed
from tests.passes.faults.planting import FAULTS, planted
from tests.passes.faults.programs import KERNELS, LOOPS, PASSES, cases

PROOF = ("polyhedral",)
RUNS = ("execution",)


def function(body, head="%A: memref<?xf64>, %B: memref<?xf64>, %n: index", result=""):
    """A module of one function; V is the type of its arrays."""
    end = body if "return" in body else f"{body}\nreturn"
    return parsed(re.sub(r": V\b", ": memref<?xf64>", f"func.func @f({head}){result} {{\n{end}\n}}"))


def answer(before, after):
    (checked,) = validate(before, after, halves=PROOF).functions
    return checked.answer


def proved(before, after):
    found = answer(before, after)
    assert (found.verdict, found.why) == ("proved", "")
    assert validate(before, after, halves=RUNS).failure is None


def differs(before, after, why=""):
    found = answer(before, after)
    assert found.verdict == "differs"
    assert why in found.why
    report = validate(before, after)
    assert report.failure is not None
    assert report.failed.how == "execution"
    assert report.failed.answer.verdict == "differs"


def unknown(before, after, why):
    found = answer(before, after)
    assert found.verdict == "unknown"
    assert why in found.why


@pytest.mark.parametrize(("k", "name"), [*enumerate(KERNELS)])
def test_transformations_of_kernels_are_proved(k, name):
    before = parse(KERNELS[name])
    count = 0
    for step in [*PASSES, "lower-affine"][k % 4 :: 4]:
        after = run_pipeline(before, f"builtin.module(func.func({step}))")
        if str(after) != str(before):
            report = validate(before, after)
            (checked,) = report.functions
            assert report.failure is None, step
            # The product of two symbols is not known to isl.
            assert checked.answer.verdict == "proved" or "semi-affine" in checked.answer.why, f"{step}: {report}"
            count += checked.answer.verdict == "proved"
    assert count > 0


def test_rewritten_loops_are_proved():
    seen, wanted = set(), {*LOOPS, "interchange", "skew"} - {"distribute"}
    for case in islice(cases(Random(5)), 400):
        if len(case.steps) != 1 or case.name not in KERNELS or case.steps[0] in PASSES or case.steps[0] in seen:
            continue
        seen.add(case.steps[0])
        assert answer(case.before, case.after).verdict == "proved", case.title
        if seen >= wanted:
            break
    assert seen >= wanted


@pytest.mark.parametrize("seed", some(range(4), 1))
def test_what_is_proved_is_so(seed):
    random, found = Random(seed), 0
    for k in range(200 + 4 * seed, 204 + 4 * seed):
        before = generate_small(k).module if k % 2 else parse(mlir(generate(k)))
        for fault in FAULTS:
            after = planted(before, fault, random)
            if after is None:
                continue
            for checked in validate(before, after, halves=PROOF).functions:
                if checked.answer.verdict == "proved":
                    assert validate(before, after, halves=RUNS, most_iterations=20_000).failure is None, (k, fault)
                found += checked.answer.verdict in ("proved", "differs")
    assert found > 3


COPY = "affine.for %i = {} {{ %b = affine.load %B[%i] : V affine.store %b, %A[%i] : V }}"
TWICE = "%t = arith.addf %b, %b : f64"


def test_iterations_lost_added_and_moved():
    whole = function(COPY.format("0 to %n"))
    halves = "affine_map<()[s0] -> (s0 floordiv 2)>()[%n]"
    both = COPY.format(f"0 to {halves}") + COPY.format("max affine_map<()[s0] -> (0, s0 floordiv 2)>()[%n] to %n")
    proved(whole, function(both))
    differs(whole, function(COPY.format("1 to %n")), "what was in A stands for what was in B")
    differs(whole, function(COPY.format(f"0 to {halves}")))
    differs(whole, function(COPY.format("0 to affine_map<()[s0] -> (s0 + 1)>()[%n]")))
    backwards = COPY.format("0 to %n").replace("[%i]", "[-%i + symbol(%n) - 1]")
    proved(whole, function(backwards))


def test_the_order_of_what_depends_counts():
    shifted = "affine.for %i = 0 to %n { %b = affine.load %A[%i + 1] : V affine.store %b, %A[%i] : V }"
    before = function(shifted)
    differs(before, function(shifted.replace("[%i", "[-%i + symbol(%n) - 1")))
    nest = """affine.for %i = 1 to %n {{ affine.for %j = 1 to %n {{
        %a = affine.load %A[%{0} - 1, %{1} + 1] : memref<?x?xf64>
        affine.store %a, %A[%{0}, %{1}] : memref<?x?xf64> }} }}"""
    head = "%A: memref<?x?xf64>, %n: index"
    differs(function(nest.format("i", "j"), head), function(nest.format("j", "i"), head))
    forward = nest.replace("+ 1", "- 1")
    proved(function(forward.format("i", "j"), head), function(forward.format("j", "i"), head))


def test_a_fault_is_found_at_sizes_that_nobody_would_try():
    before = function(COPY.format("0 to %n"))
    guard = "affine.if affine_set<(d0) : (-d0 + 97 >= 0)>(%i) { affine.store %b, %A[%i] : V }"
    after = function(COPY.format("0 to %n").replace("affine.store %b, %A[%i] : V", guard))
    assert validate(before, after, halves=RUNS).failure is None
    report = validate(before, after)
    assert "n = 99" in report.failure.call
    assert "A[98] is" in report.failure.what
    later = validate(before, function(COPY.format("0 to min affine_map<()[s0] -> (s0, 1001)>()[%n]")))
    assert "n = 1002" in later.failure.call


def test_values_in_registers_are_those_in_memory():
    memory = """affine.for %i = 1 to %n {
        %a = affine.load %A[%i - 1] : V  %b = affine.load %B[%i] : V
        %t = arith.addf %a, %b : f64     affine.store %t, %A[%i] : V }"""
    carried = """%s = affine.load %A[0] : V
      %r = affine.for %i = 1 to %n iter_args(%a = %s) -> (f64) {
        %b = affine.load %B[%i] : V
        %t = arith.addf %a, %b : f64     affine.store %t, %A[%i] : V
        affine.yield %t : f64 }"""
    size = "%A: memref<50xf64>, %B: memref<50xf64>, %n: index"
    memory, carried = memory.replace(": V", ": memref<50xf64>"), carried.replace(": V", ": memref<50xf64>")
    proved(function(memory, size), function(carried, size))
    differs(function(memory, size), function(carried.replace("%A[0]", "%A[1]"), size))
    differs(function(memory, size), function(carried.replace("yield %t", "yield %b"), size))
    last = "return %r : f64"
    sums = ": f64 affine.yield %t : f64 }"
    whole = """%z = arith.constant 0.0 : f64
      %r = affine.for %i = 0 to %n iter_args(%s = %z) -> (f64) { %b = affine.load %B[%i] : V
        %t = arith.addf %s, %b """
    peeled = whole.replace("0 to %n", "1 to %n").replace("%s = %z", "%s = %f").replace(
        "%r = affine.for", """%f = affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] -> f64 {
        %b = affine.load %B[0] : V %t = arith.addf %z, %b : f64 affine.yield %t : f64
      } else { affine.yield %z : f64 }
      %r = affine.for""")  # fmt: skip
    proved(function(whole + sums + last, result=" -> f64"), function(peeled + sums + last, result=" -> f64"))
    differs(
        function(whole + sums + last, result=" -> f64"),
        function(peeled.replace("else { affine.yield %z", "else { affine.yield %o").replace(
            "%z = arith", "%o = arith.constant 1.0 : f64 %z = arith") + sums + last, result=" -> f64"),
    )  # fmt: skip


TILE = """affine.for %t = 0 to %n step 8 {{
    %T = memref.alloc() : memref<8xf64>
    affine.for %i = affine_map<(d0) -> (d0)>(%t) to min affine_map<(d0)[s0] -> (d0 + 8, s0)>(%t)[%n] {{
      %b = affine.load %B[{copied}] : V
      affine.store %b, %T[%i - %t] : memref<8xf64>
    }}
    affine.for %i = affine_map<(d0) -> (d0)>(%t) to min affine_map<(d0)[s0] -> (d0 + 8, s0)>(%t)[%n] {{
      %b = affine.load %T[{used}] : memref<8xf64>
      affine.store %b, %A[%i] : V
    }}
}}"""


def test_copies_are_seen_through():
    before = function(COPY.format("0 to %n"))
    proved(before, function(TILE.format(copied="%i", used="%i - %t")))
    differs(before, function(TILE.format(copied="-%i + %t * 2 + 7", used="%i - %t")))
    moved = function(TILE.format(copied="%i", used="%i - %t + 1").replace("8xf64", "9xf64"))
    assert "what nobody wrote stands for what was in B" in answer(before, moved).why
    assert validate(before, moved).failure is not None
    expanded = function("""%z = arith.constant 0 : index %m = arith.maxsi %n, %z : index %T = memref.alloc(%m) : V
      affine.for %i = 0 to %n { %b = affine.load %B[%i] : V affine.store %b, %T[%i] : V }
      affine.for %i = 0 to %n { %b = affine.load %T[%i] : V affine.store %b, %A[%i] : V }""")
    proved(before, expanded)
    proved(expanded, before)


def test_what_nobody_wrote_may_be_anything_but_must_not_come_to_light():
    head = "%A: memref<4xf64>"
    reads = """%T = memref.alloc() : memref<4xf64>
        affine.for %i = 0 to 4 { %t = affine.load %T[%i] : memref<4xf64> affine.store %t, %A[%i] : memref<4xf64> }"""
    zeros = """%z = arith.constant 0.0 : f64
        affine.for %i = 0 to 4 { affine.store %z, %A[%i] : memref<4xf64> }"""
    assert answer(function(reads, head), function(zeros, head)).verdict == "proved"
    assert answer(function(zeros, head), function(reads, head)).verdict == "differs"


def test_arithmetic_is_compared_as_it_is_written():
    body = COPY.format("0 to %n").replace("affine.store %b", f"{TWICE} %u = arith.addf %t, %b : f64 affine.store %u")
    sums = function(body)
    proved(sums, function(body.replace("%t, %b", "%b, %t")))
    differs(sums, function(body.replace("addf %t", "subf %t")))
    head = "%A: memref<9xi64>, %x: i64"
    stores = " affine.store %{}, %A[0] : memref<9xi64>"
    zero = "%z = arith.constant 0 : i64 %y = arith.addi %x, %z : i64" + stores.format("y")
    found = validate(function(zero, head), function(stores.format("x"), head))
    assert found.failure is None
    assert found.functions[0].answer.verdict == "differs"
    assert "runs agree; not proved: an argument stands for a result of addi" in str(found)
    signed = "%z = arith.constant {} : f64 affine.store %z, %A[0] : V"
    differs(function(signed.format("0.0")), function(signed.format("-0.0")))


def test_divisions_must_have_been_made_before():
    head = "%A: memref<9xi64>, %x: i64, %y: i64, %n: index"
    divide, store = "%q = arith.divsi %x, %y : i64 ", "affine.store %q, %A[%i] : memref<9xi64>"
    loop = "affine.for %i = 0 to %n {{ {} }}"
    before = function(loop.format(divide + store), head)
    proved(before, function(loop.format(divide + store), head))
    unknown(before, function(divide + loop.format(store), head), "a division is made that may not have been made")


def test_symbols_are_known_by_how_they_are_made():
    head = "%A: memref<?xf64>, %B: memref<?xf64>, %m: i64"
    body = "%n = arith.index_cast %m : i64 to index " + COPY.format("0 to %n")
    proved(function(body, head), function(body.replace("%n", "%k"), head))
    two = "%o = arith.constant 1 : i64 %p = arith.addi %m, %o : i64 " + body.replace("index_cast %m", "index_cast %p")
    found = answer(function(body, head), function(two, head))
    assert found.verdict != "proved"
    sizes = "%z = arith.constant 0 : index %m = memref.dim %A, %z : V " + COPY.format("0 to %m")
    wrong = sizes.replace("memref.dim %A", "memref.dim %B")
    proved(function(sizes), function(sizes))
    assert answer(function(sizes), function(wrong)).verdict != "proved"


def test_buffers_that_are_returned_and_global_ones():
    made = """%T = memref.alloc() : memref<8xf64>
      affine.for %i = 0 to 8 { %b = affine.load %B[%i] : V affine.store %b, %T[%i] : memref<8xf64> }
      return %T : memref<8xf64>"""
    result = " -> memref<8xf64>"
    proved(function(made, result=result), function(made.replace("%i", "%k"), result=result))
    differs(function(made, result=result), function(made.replace("%B[%i]", "%A[%i]"), result=result))
    text = """memref.global "private" @g : memref<2xi32> = dense<0>
    func.func @f(%x: i32) {
      %g = memref.get_global @g : memref<2xi32>
      affine.store %x, %g[1] : memref<2xi32>
      return }"""
    proved(parsed(text), parsed(text))
    assert answer(parsed(text), parsed(text.replace("%g[1]", "%g[0]"))).verdict == "differs"
    unknown(parsed(text), parsed(text.replace("dense<0>", "dense<1>")), "@g is declared in another way")


CARRIED = """%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (T) {
    %a = affine.load %A[%i] : memref<?xT>
    %u = arith.OP %s, %a : T
    affine.yield %u : T
  }
  return %r : T"""
OPEN = """%p = affine.parallel (%i) = (0) to (symbol(%n)) reduce ("OP") -> (T) {
    %a = affine.load %A[%i] : memref<?xT>
    affine.yield %a : T
  }
  %r = arith.OP %p, %x : T
  return %r : T"""


def summed(body, operation, type):
    head = f"%A: memref<?x{type}>, %n: index, %x: {type}, %y: {type}"
    return function(body.replace("OP", operation).replace("T", type), head, result=f" -> {type}")


@pytest.mark.parametrize(("operation", "type"), [("addi", "i64"), ("muli", "i32"), ("maximumf", "f64")])
def test_the_order_of_a_sum_that_is_not_rounded_is_open(operation, type):
    before, after = summed(CARRIED, operation, type), summed(OPEN, operation, type)
    proved(before, after)
    proved(after, before)
    proved(after, summed(OPEN.replace("%i", "%k"), operation, type))
    for wrong in (OPEN.replace("%p, %x", "%p, %y"), OPEN.replace("(0)", "(1)"), OPEN.replace("A[%i]", "A[0]")):
        assert answer(before, summed(wrong, operation, type)).verdict != "proved"
        assert validate(before, summed(wrong, operation, type)).failure is not None
    later = OPEN.replace("(0) to (symbol(%n))", "(5) to (symbol(%n) + 5)").replace("A[%i]", "A[%i - 5]")
    proved(before, summed(later, operation, type))


def test_the_order_of_a_sum_that_is_rounded_must_be_allowed():
    before, after = summed(CARRIED, "addf", "f64"), summed(OPEN, "addf", "f64")
    assert answer(before, after).verdict != "proved"
    assert str(validate(before, after, reassociated=True)) == "@f: proved for all sizes"
    assert answer(after, before).verdict != "proved"  # x was added to the whole sum, not to one of its terms
    twice = summed(OPEN.replace("%p, %x", "%p, %p"), "addf", "f64")
    assert validate(before, twice, reassociated=True).failure is not None
    other = summed(OPEN, "mulf", "f64")
    assert validate(before, other, reassociated=True).failure is not None


def test_only_the_band_leaves_its_order_open():
    text = """%p = affine.parallel (%i) = (0) to (symbol(%n)) reduce ("addf") -> (f64) {
      %a = affine.load %A[%i] : memref<?xf64> %t = arith.addf %a, %x : f64 affine.yield %t : f64 }"""
    before = summed(text + "%s = arith.addf %p, %x : f64 %r = arith.addf %s, %y : f64 return %r : f64", "addf", "f64")
    proved(before, parsed(str(before).replace("%i", "%k")))
    after = summed(text + "%s = arith.addf %x, %y : f64 %r = arith.addf %p, %s : f64 return %r : f64", "addf", "f64")
    assert answer(before, after).verdict != "proved"
    assert str(validate(before, after, reassociated=True)) == "@f: proved for all sizes"


def test_a_sum_that_starts_at_zero_is_another_one():
    """A band starts from what changes no number, which is -0.0."""
    head = "%B: memref<?xf64>, %n: index"
    band = """%s = affine.parallel (%i) = (0) to (%n) reduce ("addf") -> (f64) {
      %b = affine.load %B[%i] : V affine.yield %b : f64 } return %s : f64"""
    loop = """%z = arith.constant -0.0 : f64
      %s = affine.for %i = 0 to %n iter_args(%t = %z) -> (f64) {
      %b = affine.load %B[%i] : V %u = arith.addf %t, %b : f64 affine.yield %u : f64 } return %s : f64"""
    before = function(band, head, " -> f64")
    assert answer(before, function(loop, head, " -> f64")).verdict == "proved"
    unknown(before, function(loop.replace("-0.0", "0.0"), head, " -> f64"), "a sum has other terms")


def band(body, head):
    return function(f"affine.parallel (%i) = (0) to (symbol(%n)) {{ {body} }}", head)


def test_a_race_that_no_run_shows():
    head = "%A: memref<9xi64>, %B: memref<?xi64>, %n: index"
    body = """%a = affine.load %A[3] : memref<9xi64> %b = affine.load %B[%i] : memref<?xi64>
        %s = arith.addi %a, %b : i64 affine.store %s, %A[3] : memref<9xi64>"""
    sequential = function(f"affine.for %i = 0 to %n {{ {body} }}", head)
    racy = band(body, head)
    assert validate(sequential, racy, halves=RUNS).failure is None
    report = validate(sequential, racy)
    assert report.failure.is_race
    assert report.failed.how == "polyhedral"
    text = str(report)
    assert "@f: iterations of the parallel band of %i touch one element of A (" in text
    assert ": n = 2, (i = 0) and (i = 1) both touch A[3]" in text
    assert still_fails(report.failure, racy) == report.failure.what
    assert still_fails(report.failure, sequential) is None
    assert validate(racy, band(body, head)).failure is None  # it had the race before


def test_updates_in_one_go_are_no_race():
    head = "%A: memref<9xi64>, %x: i64, %n: index"
    body = "%c = arith.constant 3 : index %r = memref.atomic_rmw addi %x, %A[%c] : (i64, memref<9xi64>) -> i64"
    sequential = function(f"affine.for %i = 0 to %n {{ {body} }}", head)
    report = validate(sequential, band(body, head))
    assert report.failure is None
    assert report.functions[0].runs > 5


def test_iterations_must_not_share_a_private_buffer():
    head = "%A: memref<?xf64>, %B: memref<?xf64>, %n: index"
    alloc = "%T = memref.alloc() : memref<1xf64>"
    body = """%b = affine.load %B[%i] : V affine.store %b, %T[0] : memref<1xf64>
        %t = affine.load %T[0] : memref<1xf64> affine.store %t, %A[%i] : V"""
    sequential = function(alloc + f"affine.for %i = 0 to %n {{ {body} }}", head)
    own = band(alloc + body, head)
    proved(sequential, own)
    shared = function(f"{alloc} affine.parallel (%i) = (0) to (symbol(%n)) {{ {body} }}", head)
    assert validate(sequential, shared).failure.is_race
    assert validate(own, shared).failure.is_race


def test_accesses_stay_in_bounds():
    before = function(COPY.format("0 to %n"))
    more = "affine.for %i = 0 to affine_map<()[s0] -> (s0 + 1)>()[%n] { %c = affine.load %B[%i] : V }"
    unknown(before, function(COPY.format("0 to %n") + more), "B is accessed out of bounds")
    assert "out of bounds" in validate(before, function(COPY.format("0 to %n") + more)).failure.what
    proved(before, function(COPY.format("0 to %n") + more.replace("s0 + 1", "s0 - 1")))
    small = TILE.format(copied="%i", used="%i - %t").replace("8xf64", "7xf64")
    unknown(before, function(small), "T is accessed out of bounds")
    view = """%V = memref.subview %A[1] [3] [1] : memref<8xf64> to memref<3xf64, strided<[1], offset: 1>>
        affine.store %x, %V[{}] : memref<3xf64, strided<[1], offset: 1>>"""
    head = "%A: memref<8xf64>, %x: f64"
    store = function("affine.store %x, %A[0] : memref<8xf64>", head)
    unknown(store, function(view.format("-1"), head), "A is accessed out of bounds")
    second = function("affine.store %x, %A[1] : memref<8xf64>", head)
    proved(second, function(view.format("0"), head))


def test_buffers_are_not_used_after_their_end():
    before = function(COPY.format("0 to %n"))
    alloc, end = "%T = memref.alloc() : memref<1xf64> ", "memref.dealloc %T : memref<1xf64> "
    use = "affine.for %i = 0 to %n { %b = affine.load %B[%i] : V affine.store %b, %T[0] : memref<1xf64> } "
    proved(before, function(alloc + use + end + COPY.format("0 to %n")))
    late = function(alloc + end + use + COPY.format("0 to %n"))
    unknown(before, late, "of T may come after its memref.dealloc")
    assert "it was deallocated" in validate(before, late).failure.what
    twice = function(alloc + use + end * 2 + COPY.format("0 to %n"))
    unknown(before, twice, "may come after its memref.dealloc")
    assert validate(before, twice).failure is not None
    inside = use.replace("{ %b", f"{{ {alloc} %b").replace("<1xf64> }", f"<1xf64> {end} }}")
    proved(before, function(inside + COPY.format("0 to %n")))


def test_buffers_have_no_negative_sizes():
    alloc = "%T = memref.alloc(%n) : V affine.for %i = 0 to %n { affine.store %x, %T[%i] : V } "
    head = "%A: memref<?xf64>, %B: memref<?xf64>, %n: index, %x: f64"
    before, after = function(COPY.format("0 to %n"), head), function(alloc + COPY.format("0 to %n"), head)
    unknown(before, after, "T may have a negative size")
    assert "negative size" in validate(before, after).failure.what
    proved(after, function(alloc.replace("%T", "%U") + COPY.format("0 to %n"), head))


def test_sizes_for_which_the_program_before_has_no_meaning_do_not_count():
    body = """%T = memref.alloc() : memref<8xf64>
      affine.for %i = 0 to %n { %b = affine.load %B[%i] : V affine.store %b, %T[%i] : memref<8xf64> }
      affine.for %i = 0 to %n { %b = affine.load %T[%i] : memref<8xf64> affine.store %b, %A[%i] : V }"""
    proved(function(body), run_pipeline(function(body), "builtin.module(func.func(affine-loop-tile{tile-size=4}))"))


ENDLESS = """%r = scf.while (%i = %n) : (index) -> index {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i : index
  } do {
  ^bb0(%j: index):
    scf.yield %j : index
  }"""


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("%v = affine.vector_load %A[0] : V, vector<4xf64> affine.vector_store %v, %B[0] : V, vector<4xf64>",
         "what affine.vector_store writes is not followed"),
        ('"test.use"(%A) : (V) -> ()', "what an operation does is not known"),
        ("affine.for %i = 0 to %n { %x = affine.load %A[%i floordiv symbol(%n)] : V affine.store %x, %B[%i] : V }",
         "is semi-affine"),
        (ENDLESS, "as often as is known at run time"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(body, why):
    before = function(body.replace("(V)", "(memref<?xf64>)"))
    unknown(before, parsed(str(before)), why)


def test_what_takes_too_long_to_prove_is_run(monkeypatch):
    before = function(COPY.format("0 to %n"))
    after = function(COPY.format("0 to %n").replace("[%i]", "[-%i + symbol(%n) - 1]"))
    clock = count()
    monkeypatch.setattr(equivalence, "process_time", lambda: next(clock))
    proved(before, after)
    monkeypatch.setattr(equivalence, "PATIENCE", 2)
    unknown(before, after, "it takes more than 2 seconds")
    (checked,) = validate(before, after).functions
    assert (checked.how, checked.failure) == ("execution", None)


@pytest.mark.parametrize(
    ("head", "added"),
    [
        ("", "%c = arith.constant 0 : index scf.for %k = %c to %c step %n { }"),
        ("%T = memref.alloca() : memref<8xf64>", "memref.dealloc %T : memref<8xf64>"),
        ("%T = memref.alloc() : memref<8xf64>",
         ("%S = memref.subview %T[4] [4] [1] : memref<8xf64> to memref<4xf64, strided<[1], offset: 4>>"
          " memref.dealloc %S : memref<4xf64, strided<[1], offset: 4>>")),
        ("", "%d = memref.dim %A, %n : V"),
        ("", "%S = memref.subview %A[%n] [2] [1] : V to memref<2xf64, strided<[1], offset: ?>>"),
        ("", "%S = memref.cast %A : V to memref<9xf64>"),
        ("", "%q = affine.apply affine_map<()[s0] -> (7 floordiv s0)>()[%n]"),
        ("", "affine.for %k = 0 to affine_map<()[s0] -> (7 ceildiv (s0 - 1))>()[%n] { }"),
    ],
    ids=["step", "alloca", "part", "dim", "subview", "cast", "divisor", "bound"],
)  # fmt: skip
def test_what_may_fail_is_not_proved(head, added):
    copy = "affine.for %i = 0 to 3 { %b = affine.load %B[%i] : V affine.store %b, %A[%i] : V }"
    before, after = function(head + copy), function(head + copy + added)
    unknown(before, after, " may fail")
    assert "it fails: " in validate(before, after).failure.what


def test_what_could_fail_before_may_stay():
    before = function("%S = memref.cast %A : V to memref<9xf64>" + COPY.format("0 to %n"))
    proved(before, run_pipeline(before, "builtin.module(func.func(affine-loop-tile{tile-size=4}))"))


def test_sizes_that_are_promised_to_be_positive_divide():
    head = "%A: memref<?xf64>, %B: memref<?xf64>, %n: index, %T: index"
    before = function(COPY.format("0 to %n"), head)
    tiles = """affine.for %t = 0 to affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%n, %T] {
      affine.for %i = affine_map<(d0)[s0] -> (d0 * s0)>(%t)[%T]
          to min affine_map<(d0)[s0, s1] -> (d0 * s1 + s1, s0)>(%t)[%n, %T] {
        %b = affine.load %B[%i] : V affine.store %b, %A[%i] : V } }"""
    after = function(tiles, head)
    assert answer(before, after).verdict != "proved"
    assert "it fails: " in validate(before, after).failure.what


def test_contracts_must_be_the_same():
    body = COPY.format("0 to %n").replace(": V", ": memref<?xf64>")
    text = "func.func @f(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) attributes {{affdsl.assume = "
    text += "affine_set<()[s0] : (s0 - {} >= 0)>}} {{ {} return }}"
    two = parsed(text.format(2, body))
    proved(two, parsed(text.format(2, body)))
    unknown(two, parsed(text.format(3, body)), "the functions have other contracts")
    # A guard that always holds under the contract is none.
    guarded = f"affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] {{ {body} }}"
    proved(two, parsed(text.format(2, guarded)))


RETURNS = "func.func @f(%A: memref<4xf32>, %B: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {{ {} }}"
GIVEN = "return %{}, %{} : memref<4xf32>, memref<4xf32>"
LOCALS = """%x = arith.constant 1.0 : f32
    %t = memref.alloc() : memref<4xf32>
    %u = memref.{} : memref<4xf32>
    affine.for %i = 0 to 4 {{ affine.store %x, %t[%i] : memref<4xf32> }}
    affine.for %i = 0 to 4 {{ affine.store %x, %u[%i] : memref<4xf32> }}
    return %t, %{} : memref<4xf32>, memref<4xf32>"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GIVEN.format("A", "B"), GIVEN.format("B", "A")),
        (GIVEN.format("A", "B"), GIVEN.format("A", "A")),
        (LOCALS.format("alloc()", "u"), LOCALS.format("alloc()", "t")),
        (LOCALS.format("alloc()", "u"), LOCALS.format("alloca()", "u")),
    ],
    ids=["the other order", "one twice", "two become one", "one that is gone"],
)
def test_which_buffers_are_returned_is_not_proved_to_be_the_same(before, after):
    found = validate(parse(RETURNS.format(before)), parse(RETURNS.format(after)), halves=("polyhedral",))
    assert [each.answer.verdict for each in found.functions] == ["unknown"]


PART = "memref<4xf32, strided<[1], offset: ?>>"
PARTS = f"""func.func @f(%A: memref<8xf32>, %n: index, %x: f32, %y: f32) -> {PART} {{{{
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %t = memref.alloc() : memref<8xf32>
    affine.for %i = 0 to 4 {{{{ affine.store %x, %t[%i] : memref<8xf32> }}}}
    affine.for %i = 4 to 8 {{{{ affine.store %y, %t[%i] : memref<8xf32> }}}}
    %s = memref.subview %{{}}[%{{}}] [4] [1] : memref<8xf32> to {PART}
    return %s : {PART} }}}}"""


def test_which_part_of_a_buffer_is_returned_counts():
    for buffer, one, other in (("A", "c0", "c4"), ("A", "n", "c0"), ("t", "c0", "c4")):
        before, after = (parse(PARTS.format(buffer, offset)) for offset in (one, other))
        unknown(before, after, "which part of a buffer is returned is not followed")
        assert validate(before, after).failure is not None
    before = parse(PARTS.format("t", "c4"))
    proved(before, run_pipeline(before, "builtin.module(func.func(affine-loop-tile{tile-size=2}))"))


def test_a_global_that_changed_shows_in_an_unchanged_function():
    text = """memref.global constant @g : memref<4xf32> = dense<1.0>
    func.func @f(%B: memref<4xf32>) {
      %g = memref.get_global @g : memref<4xf32>
      affine.for %i = 0 to 4 { %x = affine.load %g[%i] : memref<4xf32> affine.store %x, %B[%i] : memref<4xf32> }
      return
    }"""
    before = parse(text)
    changed = parse(text.replace("1.0", "2.0")).body[0]
    assert validate(before, replace(before, body=(changed, *before.body[1:]))).failure is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [("truncf %q : f64 to f32", "truncf %q upward : f64 to f32"),
     ("divf %p, %p : f32", "divf %p, %p fastmath<nnan,arcp> : f32")],
)  # fmt: skip
def test_other_flags_are_not_proved_to_do_the_same(before, after):
    text = """func.func @f(%A: memref<4xf32>, %p: f32, %q: f64) {{
      %x = arith.{}
      affine.store %x, %A[0] : memref<4xf32>
      return
    }}"""
    found = validate(parse(text.format(before)), parse(text.format(after)), halves=("polyhedral",))
    assert [each.answer.verdict for each in found.functions] != ["proved"]
