"""Validation finds what passes do wrong, says nothing where they are right, and names the pass at fault."""

import math
from random import Random

import numpy as np
import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import F64, MemRefType
from affdsl.mlir.readers import parse
from affdsl.passes.pipeline.language import parse_pipeline, run_pipeline
from affdsl.passes.pipeline.manager import PassStep
from affdsl.passes.pipeline.registry import Pass
from affdsl.passes.validation import Validator, execution, outcome, still_fails, validate
from affdsl.passes.validation.inputs import SIZES, sizes_for
from affdsl.passes.validation.pipeline import ValidationError, require_same, run_validated
from tests.effort import some
from tests.fuzz.check import pipelines
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.passes.analysis.programs import generate as generate_small
from tests.passes.compare import parsed
from tests.passes.faults.planting import FAULTS, planted

CLEAN_UP = [
    "affine-expand-index-ops", "affine-fold-memref-alias-ops", "affine-loop-normalize{promote-single-iter=true}",
    "affine-raise-from-memref", "affine-simplify-min-max", "affine-simplify-structures", "canonicalize", "cse",
    "inline", "lower-affine", "normalize-memrefs",
]  # fmt: skip


def test_right_passes_raise_no_alarm():
    checked = 0
    seeds = some(range(500, 506), 3)
    modules = [generate_small(seed).module for seed in seeds] + [parse(mlir(generate(seed))) for seed in seeds]
    for module in modules:
        for pipeline in [pipelines(CLEAN_UP)[-1], "builtin.module(func.func(affine-parallelize))"]:
            report = validate(module, run_pipeline(module, pipeline), most_iterations=30_000)
            assert report.failure is None, f"{pipeline}: {report}\n{module}"
            checked += any(each.runs for each in report.functions)
    assert checked >= 2 * len(seeds)


def test_what_is_kept_of_the_program_before_changes_no_answer():
    wrong = 0
    seeds = some(range(520, 526), 2)
    for seed in seeds:
        before, random = parse(mlir(generate(seed))), Random(seed)
        kept = Validator(before, most_iterations=3_000)
        for _ in range(2):
            for fault in FAULTS:
                after = planted(before, fault, random)
                if after is not None:
                    fresh = validate(before, after, most_iterations=3_000)
                    assert str(kept.validate(after)) == str(fresh)
                    wrong += fresh.failure is not None
        assert kept.validate(parse(str(before))).failure is None
    assert wrong > 2 * len(seeds)


def test_sizes_that_have_a_meaning_only_together_are_found():
    text = """func.func @f(%A: memref<1xf32>, %n: index, %m: index) {
      %p = affine.apply affine_map<()[n, m] -> (n * 60 + m * 61 - (60 * 5 + 61 * 3))>()[%n, %m]
      %a = memref.load %A[%p] : memref<1xf32>
      affine.store %a, %A[0] : memref<1xf32>
      return
    }"""
    (checked,) = validate(parsed(text), parsed(text), halves=RUNS).functions
    assert checked.runs == 1


RUNS = ("execution",)
"""What is tested here is the half that runs programs; the other one would mostly know the answer first."""


def difference(before, after, **options):
    failure = validate(parsed(before), parsed(after), halves=RUNS, **options).failure
    return None if failure is None else failure.what


def both(first, second, head="%A: memref<?xf32>, %B: memref<?xf32>, %n: index"):
    return tuple(f"func.func @f({head}) {{\n{body}\nreturn }}" for body in (first, second))


STORE = "affine.store %{0}, %A[%i] : memref<?xf32>"


def loop(bounds, body):
    return f"affine.for %i = {bounds} {{ {body} }}"


COPY = "%a = affine.load %B[%i] : memref<?xf32> affine.store %a, %A[%i] : memref<?xf32>"


def test_sizes_around_the_steps_of_loops_are_tried():
    module = parsed(both(loop("0 to %n step 24", COPY), "")[0])
    assert {23, 24, 25, 49} <= set(sizes_for(module))
    assert set(SIZES) <= set(sizes_for(module))


@pytest.mark.parametrize("by", [4, 8, 16, 32])
def test_a_lost_tail_is_found(by):
    upper = f"affine_map<()[s0] -> (s0 floordiv {by} * {by})>()[%n]"
    inner = f"""affine.for %o = 0 to {upper} step {by} {{
        affine.for %i = affine_map<(d0) -> (d0)>(%o) to affine_map<(d0) -> (d0 + {by})>(%o) {{ {COPY} }} }}"""
    tail = loop(f"max {upper.replace('-> (', '-> (0, ')} to %n", COPY)
    below_zero = loop(f"{upper} to %n", COPY)
    assert difference(*both(loop("0 to %n", COPY), inner)) is not None
    assert difference(*both(loop("0 to %n", COPY), inner + tail)) is None
    assert "out of bounds" in difference(*both(loop("0 to %n", COPY), inner + below_zero))


def test_an_access_out_of_bounds_is_found_though_it_does_no_harm():
    more = loop("0 to affine_map<()[s0] -> (s0 + 1)>()[%n]", "%a = affine.load %B[%i] : memref<?xf32>")
    assert "out of bounds" in difference(*both(loop("0 to %n", COPY), loop("0 to %n", COPY) + more))


def test_no_iteration_is_a_case():
    guarded = both(
        loop("0 to %n", "%c = arith.constant 0.0 : f32 affine.store %c, %A[0] : memref<?xf32>"),
        "%c = arith.constant 0.0 : f32 affine.store %c, %A[0] : memref<?xf32>",
    )
    assert difference(*guarded) is not None


def test_every_bit_counts_but_not_those_of_nan():
    head = "%A: memref<1xf32>, %x: f32, %y: f32, %z: f32"
    store = "affine.store %{}, %A[0] : memref<1xf32>"
    first = f"%a = arith.addf %x, %y : f32 %b = arith.addf %a, %z : f32 {store.format('b')}"
    second = f"%a = arith.addf %y, %z : f32 %b = arith.addf %x, %a : f32 {store.format('b')}"
    swapped = f"%a = arith.addf %y, %x : f32 %b = arith.addf %z, %a : f32 {store.format('b')}"
    cast = f"%k = arith.constant {{}} : i32 %b = arith.bitcast %k : i32 to f32 {store.format('b')}"
    nan, other_nan = cast.format(0x7FC00000), cast.format(-4194303)
    assert difference(*both(nan, other_nan, head)) is None
    assert difference(*both(nan, store.format("x"), head)) is not None
    assert difference(*both(first, second, head)) is not None
    assert difference(*both(first, swapped, head)) is None
    assert difference(*both(first, second, head), reassociated=True) is None
    other = f"%a = arith.addf %y, %z : f32 %b = arith.subf %x, %a : f32 {store.format('b')}"
    assert difference(*both(first, other, head), reassociated=True) is not None
    zero = f"%c = arith.constant 0.0 : f32 %b = arith.addf %x, %c : f32 {store.format('b')}"
    assert "is -0.0 instead of 0.0" in difference(*both(zero, store.format("x"), head))


def test_elements_that_nobody_wrote_may_be_copied_but_must_not_be_made_up():
    fill = "%c = arith.constant 2.5 : f32 affine.store %c, %T[1] : memref<4xf32>"
    head = "%T = memref.alloc() : memref<4xf32>" + fill
    out = "affine.for %i = 0 to 4 { %a = affine.load %T[%i] : memref<4xf32> affine.store %a, %A[%i] : memref<4xf32> }"
    one = "%a = affine.load %T[1] : memref<4xf32> affine.store %a, %A[1] : memref<4xf32>"
    wrong = "%a = affine.load %T[2] : memref<4xf32> affine.store %a, %A[1] : memref<4xf32>"
    assert difference(*both(head + out, head + one, "%A: memref<4xf32>")) is None
    assert difference(*both(head + out, head + wrong, "%A: memref<4xf32>")) is not None
    assert difference(*both(head + one, head + wrong, "%A: memref<4xf32>")) is not None
    junk = "%T = memref.alloc() : memref<4xf32> %c = arith.constant 2.5 : f32 affine.store %c, %T[2] : memref<4xf32>"
    copied = "%U = memref.alloc() : memref<4xf32> memref.copy %T, %U : memref<4xf32> to memref<4xf32>"
    assert difference(*both(head + one, head + copied + one, "%A: memref<4xf32>")) is None
    assert difference(*both(head + one, junk + copied + one, "%A: memref<4xf32>")) is not None


def test_parallel_iterations_run_in_several_orders():
    sequential = loop("1 to %n", "%a = affine.load %A[%i - 1] : memref<?xf32>" + STORE.format("a"))
    racy = sequential.replace("affine.for %i = 1 to %n", "affine.parallel (%i) = (1) to (symbol(%n))")
    failure = validate(*map(parsed, both(sequential, racy)), halves=RUNS).failure
    assert failure.order == "reverse"
    report = validate(*map(parsed, both(racy, sequential)), halves=RUNS)
    assert report.failure is None
    assert [each.unchecked for each in report.functions] == [
        "what it does depends on the order of its parallel iterations"
    ]


def test_sums_of_bands_may_be_made_in_any_order():
    text = """func.func @f(%A: memref<?xf32>, %n: index) -> f32 {
      %r = affine.parallel (%i) = (0) to (symbol(%n)) reduce ("addf") -> (f32) {
        %a = affine.load %A[%i] : memref<?xf32>
        affine.yield %a : f32
      }
      return %r : f32 }"""
    before = parsed(text)
    (checked,) = validate(before, parsed(text), halves=RUNS).functions
    assert checked.failure is None
    assert checked.runs >= len(SIZES) + 8  # none is left out because its order would show
    wrong = parsed(text.replace("(0)", "(1)"))
    assert "result 0 is" in validate(before, wrong).failure.what


def test_global_buffers_and_calls_are_seen():
    text = """memref.global "private" @g : memref<2xi32> = dense<0>
    func.func private @tell(i32)
    func.func @f(%x: i32) {
      %g = memref.get_global @g : memref<2xi32>
      %c = arith.constant 1 : i32
      affine.store %x, %g[1] : memref<2xi32>
      call @tell(%c) : (i32) -> ()
      return }"""
    before = parsed(text)
    assert validate(before, parsed(text)).failure is None
    assert "@g[0] is" in validate(before, parsed(text.replace("%g[1]", "%g[0]"))).failure.what
    silent = parsed(text.replace("call @tell(%c) : (i32) -> ()", ""))
    assert validate(before, silent).failure.what.startswith("call 0 of a function without a body")
    other = parsed(text.replace("constant 1", "constant 2"))
    assert validate(before, other).failure.what.startswith("call 0 of a function without a body")


def test_what_a_function_defined_elsewhere_writes_is_read():
    text = """func.func private @fill(memref<3xf32>)
    func.func @f(%A: memref<3xf32>) {
      %T = memref.alloc() : memref<3xf32>
      call @fill(%T) : (memref<3xf32>) -> ()
      affine.for %i = 0 to 3 {
        %a = affine.load %T[%i] : memref<3xf32>
        affine.store %a, %A[%i] : memref<3xf32>
      }
      call @fill(%A) : (memref<3xf32>) -> ()
      return }"""
    before = parsed(text)
    assert validate(before, parsed(text)).failure is None
    assert validate(before, parsed(text.replace("to 3", "to 2"))).failure is not None


def test_the_contract_is_kept():
    text = """func.func @f(
        %A: memref<?x?xbf16> {affdsl.shape = affine_map<()[s0, s1] -> (s0, s1 * 2)>}, %n: index, %m: index)
        attributes {affdsl.assume = affine_set<()[s0, s1] : (s0 - s1 - 100 >= 0)>} {
      affine.for %i = 0 to %m {
        %a = affine.load %A[%i + 90, %i * 2] : memref<?x?xbf16>
        affine.store %a, %A[%i, %i * 2 + 1] : memref<?x?xbf16>
      }
      return }"""
    before = parsed(text)
    assert before.functions[0].assumes
    report = validate(before, parsed(text.replace("= 0 to", "= 1 to")))
    assert report.failure is not None
    assert report.failure.call.startswith("f(A: ")
    report = validate(before, parsed(text), halves=RUNS)
    assert report.functions[0].runs > 5
    assert str(report) == f"@f: {report.functions[0].runs} runs agree"


def test_strides_are_those_of_the_type():
    text = """func.func @f(%A: memref<3x4xi16, strided<[-9, 2], offset: 40>>, %B: memref<5xi1>) {
      affine.for %i = 0 to 3 {
        %a = affine.load %A[%i, 1] : memref<3x4xi16, strided<[-9, 2], offset: 40>>
        affine.store %a, %A[%i, 3] : memref<3x4xi16, strided<[-9, 2], offset: 40>>
      }
      return }"""
    before = parsed(text)
    assert validate(before, parsed(text), halves=RUNS).functions[0].runs > 5
    assert validate(before, parsed(text.replace("to 3", "to 2"))).failure.what.startswith("A[2, 3] is")


def test_a_function_is_gone_or_takes_something_else():
    before = parsed("func.func @f(%x: i32) { return } func.func private @g() { return }")
    assert str(validate(before, parsed("func.func private @g() { return }"))) == "f(): the function is gone"
    other = validate(before, parsed("func.func @f(%x: i64) { return }"))
    assert other.failure is None
    assert [each.unchecked for each in other.functions] == ["its arguments or results have other types now"]


def test_what_others_reach_stays_there():
    text = "func.func @f(%x: f32) -> f32 {{ return %x : f32 }} {}"
    shown = "memref.global @t : memref<4xf32> = uninitialized"
    inner = "module @inner { func.func @g(%x: f32) -> f32 { return %x : f32 } }"
    before = parsed(text.format(f"{shown} {inner}"))
    assert validate(before, parsed(text.format(f"{shown} {inner}"))).failure is None
    hidden = validate(before, parsed(text.format(f"{shown} {inner}").replace("@f", "private @f")))
    assert "private" in hidden.failure.what
    assert validate(before, parsed(text.format(shown))).failure.what == "the function is gone"
    gone = validate(before, parsed(text.format(inner)))
    assert [(each.symbol, each.unchecked) for each in gone.unchecked] == [
        ("t", "others can no longer reach the global buffer")
    ]


def test_a_function_that_jumps_and_changes_is_unchecked():
    text = """func.func @f(%c: i1, %A: memref<4xf32>, %x: f32) {
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      affine.for %i = 0 to 4 { affine.store %x, %A[%i] : memref<4xf32> }
      cf.br ^bb2
    ^bb2:
      return
    }"""
    before = parsed(text)
    assert validate(before, parsed(text)).functions == ()
    report = validate(before, parsed(text.replace("0 to", "1 to")))
    assert [each.symbol for each in report.unchecked] == ["f"]
    assert str(report) == "@f: not checked: it changed, and a func.func of this form can be neither compared nor run"


def test_modules_without_a_name_are_compared_in_their_order():
    one = "module { func.func @g(%x: f32) -> f32 { return %x : f32 } }"
    two = "module { func.func @g(%x: f32) -> f32 { %y = arith.mulf %x, %x : f32 return %y : f32 } }"
    before = parsed(f"module {{ {one} {two} }}")
    same = validate(before, parsed(str(before)))
    assert [str(each) for each in same.functions] == ["@g: proved for all sizes"] * 2
    assert validate(before, parsed(f"module {{ {two} {one} }}")).failure is not None


def test_which_buffer_is_returned_is_seen():
    text = "func.func @f(%A: memref<4xf32>) -> memref<4xf32> {{ {} }}"
    before = parsed(text.format("return %A : memref<4xf32>"))
    copy = "%t = memref.alloc() : memref<4xf32> memref.copy %A, %t : memref<4xf32> to memref<4xf32> "
    after = parsed(text.format(copy + "return %t : memref<4xf32>"))
    said = "the buffer of result 0 is a buffer of its own instead of that of A"
    assert validate(before, after).failure.what == said
    assert validate(after, before).failure is not None
    assert validate(after, parsed(str(after))).failure is None


def test_numbers_that_only_the_program_after_reads_are_tried():
    text = "func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {{ {} affine.store %x, %A[0] : memref<?xf32> return }}"
    division = "%q = affine.apply affine_map<()[s0] -> (7 floordiv s0)>()[%n]"
    report = validate(parsed(text.format("")), parsed(text.format(division)))
    assert "n = 0" in report.failure.call


def test_a_result_that_never_comes_is_found():
    first, second = both(loop("0 to %n", COPY), loop("0 to 100000000", "%a = affine.load %B[0] : memref<?xf32>"))
    assert "runs for more than" in difference(first, first.replace("return", f"{second.splitlines()[1]}\nreturn"))


def test_what_cannot_be_checked_is_said(monkeypatch):
    monkeypatch.setattr(execution, "FIRST_RUN", 20_000)  # iterations that a program may take at all
    odd = parsed('func.func @f(%x: f32) { "test.use"(%x) : (f32) -> () return }')
    report = validate(odd, parsed(str(odd)))
    assert "does not know what this operation does" in str(report)
    assert report.unchecked == report.functions
    known = parsed("func.func @f(%x: f32) { return }")
    assert validate(known, odd).failure is None
    vector = parsed("func.func @f(%x: vector<4xf32>) { return }")
    assert "which the interpreter cannot be given" in str(validate(vector, parsed(str(vector)), halves=RUNS))
    endless = parsed("func.func @f() { affine.for %i = 0 to 1000000000 { } return }")
    assert "runs for more than" in str(validate(endless, parsed(str(endless)), halves=RUNS))
    never = parsed("func.func @f(%A: memref<2xf32>, %x: f32) { affine.store %x, %A[symbol(%n)] : memref<2xf32> return }"
                   .replace("%x: f32)", "%x: f32, %n: index) attributes {affdsl.assume = affine_set<()[s0] : "
                            "(s0 - 9 >= 0, -s0 + 8 >= 0)>}"))  # fmt: skip
    assert "contract" in str(validate(never, parsed(str(never)), halves=RUNS))


def wrong_pass(module):
    def rule(op):
        if isinstance(op, affine.For):
            return with_fields(op, upper=tuple(e - op.step for e in op.upper), written=None)
        return None

    return rewrite(module, rule)


def with_fault(text, name):
    """A pipeline with a pass of our own, which is wrong, in the place of a name."""
    pipeline = parse_pipeline(text)
    step = PassStep(Pass("last-iteration", "Wrong", "any", "Forgets the last iteration", wrong_pass))

    def replaced(item):
        if isinstance(item, PassStep):
            return step if item.name == name else item
        return type(item)(item.anchor, tuple(map(replaced, item.items)))

    return replaced(pipeline)


def test_a_right_pipeline_gives_its_result_and_a_report():
    module = parsed(both(loop("2 to %n step 3", COPY), "")[0])
    pipeline = parse_pipeline("builtin.module(func.func(affine-loop-normalize,affine-parallelize),cse)")
    made, report = run_validated(pipeline, module)
    assert str(made) == str(pipeline.run(module))
    assert report.failure is None
    assert str(report) == "@f: proved for all sizes"
    function, _ = run_validated(parse_pipeline("func.func(affine-loop-normalize)"), module.functions[0])
    assert str(function) == str(run_pipeline(module, "builtin.module(func.func(affine-loop-normalize))").functions[0])


def test_the_first_pass_at_fault_is_named_and_all_is_saved(tmp_path):
    module = parsed(both(loop("2 to %n step 3", COPY), "")[0])
    text = "builtin.module(func.func(affine-loop-normalize,strip-debuginfo,affine-parallelize),cse)"
    pipeline = with_fault(text, "strip-debuginfo")
    seen = []
    with pytest.raises(ValidationError) as caught:
        run_validated(pipeline, module, folder=tmp_path / "new", observe=lambda event: seen.append(event.step.name))
    error = caught.value
    assert seen[::2] == ["affine-loop-normalize", "last-iteration", "affine-parallelize", "cse"]
    assert error.step.name == "last-iteration"
    assert "the program does something else after pass 'last-iteration': f(A: " in str(error)
    assert str(tmp_path / "new") in str(error)
    assert still_fails(error.failure, pipeline.run(module)) == error.failure.what

    folder = error.folder
    again = parse((folder / "input.mlir").read_text())
    assert str(again) == str(module)
    assert (folder / "pipeline.txt").read_text().strip() == str(pipeline)
    before, after = (parse((folder / f"pass-{when}.mlir").read_text()) for when in ("before", "after"))
    assert str(wrong_pass(before)) == str(after)
    with np.load(folder / "arguments.npz") as file:
        given = {name: file[name] for name in file.files}
    with np.load(folder / "expected.npz") as file:
        expected = {name: file[name] for name in file.files}
    with np.load(folder / "found.npz") as file:
        found = {name: file[name] for name in file.files}
    call = [given["A"].copy(), given["B"].copy(), int(given["n"])]
    run(again.functions[0], *call, module=again)
    assert call[0].tobytes() == expected["A"].tobytes() != found["A"].tobytes()
    report = (folder / "report.txt").read_text()
    assert str(error.failure) in report
    assert f"first step at fault: {error.step}" in report
    assert f"  n = {given['n']}" in report


def test_it_is_an_error_too_where_nothing_can_be_saved(tmp_path):
    (tmp_path / "file").write_text("")
    module = parsed(both(loop("0 to %n", COPY), "")[0])
    with pytest.raises(ValidationError, match="nothing was saved: ") as caught:
        run_validated(with_fault("builtin.module(cse)", "cse"), module, folder=tmp_path / "file")
    assert caught.value.folder is None


def test_functions_of_inner_modules_are_checked_too(tmp_path):
    function = both(loop("0 to %n", COPY), "")[0]
    module = parsed(f"module {{ func.func @g() {{ return }} module @inner {{ {function} }} }}")
    with pytest.raises(ValidationError, match=r"something else after the pipeline: f\(A: 1") as caught:
        run_validated(with_fault("builtin.module(cse)", "cse"), module, folder=tmp_path)
    assert caught.value.step is None
    assert "first step at fault: not known" in (tmp_path / "report.txt").read_text()


def test_a_change_that_only_a_global_buffer_shows_has_a_pass_at_fault(tmp_path):
    module = parsed("""memref.global "private" @g : memref<2xi32> = dense<0>
    func.func @f(%x: i32) {
      %g = memref.get_global @g : memref<2xi32>
      affine.for %i = 0 to 2 { affine.store %x, %g[%i] : memref<2xi32> }
      return }""")
    with pytest.raises(ValidationError, match=r"something else after pass 'last-iteration'.*@g\[1\] is"):
        run_validated(with_fault("builtin.module(canonicalize,cse,symbol-dce)", "cse"), module, folder=tmp_path)
    assert (tmp_path / "found.npz").exists()


def test_an_option_of_a_pass_allows_another_rounding():
    text = """func.func @f(%A: memref<?xf32>, %n: index, %s: f32) -> f32 {
      %r = affine.for %i = 0 to %n iter_args(%t = %s) -> f32 {
        %a = affine.load %A[%i] : memref<?xf32>
        %u = arith.addf %t, %a : f32
        affine.yield %u : f32
      }
      return %r : f32 }"""
    module = parsed(text)
    pipeline = parse_pipeline("builtin.module(func.func(affine-parallelize{parallel-reductions=true}))")
    made, report = run_validated(pipeline, module)
    assert str(report) == "@f: proved for all sizes"
    assert validate(module, made, halves=RUNS, reassociated=True).functions[0].runs > 5
    failure = validate(module, made).failure
    assert not math.isnan(float(failure.expected.values[-1][2]))


def test_the_first_step_at_fault_is_named_and_python_that_replays_is_saved(tmp_path):
    before = parsed(both(loop("0 to %n", COPY), "")[0])
    right, wrong = run_pipeline(before, "builtin.module(func.func(affine-parallelize))"), wrong_pass(before)
    replay = "s = af.Schedule(f)\ns.tile('i', 4)\ns.peel('i')\n"
    assert str(require_same(before, [("s.tile('i', 4)", right)], replay=replay)) in ("", "@f: proved for all sizes")
    with pytest.raises(ValidationError, match=r"after step 's.peel\('i'\)': f\(A: ") as caught:
        require_same(before, [("s.tile('i', 4)", right), ("s.peel('i')", wrong)], replay=replay, folder=tmp_path)
    assert caught.value.step == "s.peel('i')"
    assert (tmp_path / "schedule.py").read_text() == replay
    assert not (tmp_path / "pipeline.txt").exists()
    assert str(parse((tmp_path / "pass-after.mlir").read_text())) == str(wrong)
    report = (tmp_path / "report.txt").read_text()
    assert "first step at fault: s.peel('i')" in report
    assert "to see it again: python schedule.py" in report
    assert "what was proved for all sizes: differs: " in report


OF_X = """func.func @f(%A: memref<64xi64>, %x: index, %n: index) {{
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  {}
  %v = arith.index_cast %q : index to i64
  affine.for %i = 0 to min affine_map<()[s0] -> (s0, 64)>()[%n] {{
    affine.store %v, %A[%i] : memref<64xi64>
  }}
  return
}}"""


def of_x(expr, x="%x"):
    return f"%q = affine.apply affine_map<()[s0] -> ({expr})>()[{x}]"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (of_x("s0 floordiv 2"), "%q = arith.divsi %x, %c2 : index"),
        (of_x("s0 floordiv 5"), "%q = arith.divsi %x, %c5 : index"),
        (of_x("s0 mod 2"), "%q = arith.remsi %x, %c2 : index"),
        (of_x("s0 mod 5"), "%q = arith.remsi %x, %c5 : index"),
        (of_x("s0 ceildiv 2"), of_x("s0 + 1").replace("%q", "%p") + "\n%q = arith.divsi %p, %c2 : index"),
        (of_x("s0 ceildiv 5"), of_x("s0 + 4").replace("%q", "%p") + "\n%q = arith.divsi %p, %c5 : index"),
        ("%q = arith.maxsi %x, %c0 : index", "%q = arith.maxui %x, %c0 : index"),
        ("%q = arith.ceildivsi %x, %c5 : index", "%q = arith.ceildivui %x, %c5 : index"),
    ],
)
@pytest.mark.parametrize("head", ["%x: index, %n: index", "%n: index, %x: index"])
def test_a_wrong_sign_is_found(right, wrong, head):
    texts = [OF_X.format(body).replace("%x: index, %n: index", head) for body in (right, wrong)]
    assert difference(*texts).startswith("A[0] is ")


def test_rounding_that_is_right_on_both_sides_of_zero_raises_no_alarm():
    assert difference(OF_X.format(of_x("-(s0 floordiv 2)")), OF_X.format(of_x("(-s0) floordiv 2 + s0 mod 2"))) is None


def test_the_contract_decides_who_may_be_negative():
    """Where x >= 0, rounding toward zero is rounding down."""
    texts = [
        OF_X.format(body).replace(
            "%n: index) {", "%n: index) attributes {affdsl.assume = affine_set<()[s0, s1] : (s0 >= 0)>} {"
        )
        for body in (of_x("s0 floordiv 2"), "%q = arith.divsi %x, %c2 : index")
    ]
    assert difference(*texts) is None


GIVEN_BACK = """func.func @f(%A: memref<8xf32>, %B: memref<8xf32>) {{
  %t = memref.alloc() : memref<8xf32>
  {0}
  affine.for %i = 0 to 8 {{
    %v = affine.load %A[%i] : memref<8xf32>
    affine.store %v, %t[%i] : memref<8xf32>
    {1}
  }}
  {2}
  affine.for %i = 0 to 8 {{
    %v = affine.load %t[%i] : memref<8xf32>
    affine.store %v, %B[%i] : memref<8xf32>
    {3}
  }}
  {4}
  {5}
  return
}}"""


def given_back(*places):
    return GIVEN_BACK.format(*["memref.dealloc %t : memref<8xf32>" if k in places else "" for k in range(6)])


@pytest.mark.parametrize("before", [given_back(), given_back(5)], ids=["never", "at the end"])
@pytest.mark.parametrize("places", [(0,), (1,), (2,), (2, 4), (3,), (4, 5)])
def test_a_buffer_given_back_too_early_or_twice_is_found(before, places):
    for halves in (RUNS, ("polyhedral", "execution")):
        failure = validate(parse(before), parse(given_back(*places)), halves=halves).failure
        assert "it was deallocated" in failure.what
    proof = validate(parse(before), parse(given_back(*places)), halves=("polyhedral",))
    assert proof.functions[0].answer.verdict != "proved"


def test_a_buffer_that_is_never_given_back_changes_no_result():
    for before, after in ((given_back(5), given_back()), (given_back(), given_back(4))):
        assert validate(parse(before), parse(after)).failure is None
        assert validate(parse(before), parse(after), halves=RUNS).functions[0].runs > 5


def test_sizes_along_other_axes_are_told_apart():
    text = """func.func @f(%A: memref<?x?x?xf32>, %B: memref<1xi64>) {{
      %k = arith.constant {} : index
      %d = memref.dim %A, %k : memref<?x?x?xf32>
      %v = arith.index_cast %d : index to i64
      affine.store %v, %B[0] : memref<1xi64>
      return }}"""
    for first, second in ((0, 1), (1, 2), (0, 2)):
        assert difference(text.format(first), text.format(second)) is not None
        assert difference(text.format(first), text.format(first)) is None


CANCELS = """func.func @f(%A: memref<3xf64>, %B: memref<2xf64>) {{
  %third = arith.constant 3.0 : f64
  %a = affine.load %A[0] : memref<3xf64>
  %b = affine.load %A[1] : memref<3xf64>
  %c = affine.load %A[2] : memref<3xf64>
  %x = arith.divf %a, %third : f64
  %y = arith.divf %b, %third : f64
  %z = arith.divf %c, %third : f64
  {sum}
  %p = arith.addf %a, %b : f64
  %q = arith.addf %p, %c : f64
  %r = arith.divf %q, %third : f64
  %d = arith.subf %s, %r : f64
  %e = arith.divf %third, %d : f64
  affine.store %e, %B[0] : memref<2xf64>
  affine.store {steady}, %B[1] : memref<2xf64>
  return
}}"""
FORWARD = "%o = arith.addf %x, %y : f64 \n %s = arith.addf %o, %z : f64"
BACKWARD = "%o = arith.addf %y, %z : f64 \n %s = arith.addf %x, %o : f64"


def test_what_is_made_of_rounding_errors_alone_says_nothing_where_orders_are_open():
    before, after = (parse(CANCELS.format(sum=text, steady="%x")) for text in (FORWARD, BACKWARD))
    assert validate(before, after).failure is not None
    report = validate(before, after, reassociated=True)
    assert report.failure is None
    assert report.functions[0].runs > 0
    wrong = validate(before, parse(CANCELS.format(sum=BACKWARD, steady="%y")), reassociated=True)
    assert wrong.failure is not None
    assert "B[1] is " in wrong.failure.what


@pytest.mark.parametrize(("found", "is_wrong"), [(1e300, False), (-math.inf, False), (math.nan, False), (1.0, True)])
def test_what_overflows_may_be_large_where_rounding_is_open_and_nothing_else(found, is_wrong):
    kind = MemRefType((1,), F64)
    before, after = (outcome.Outcome((("y", kind, np.array([each])),), shared=(0,)) for each in (math.inf, found))
    said = outcome.difference(before, after, exact=False)
    assert said == (f"y[0] is {found} instead of inf" if is_wrong else None)
