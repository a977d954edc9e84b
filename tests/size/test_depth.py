"""Loops and branches inside each other: everything works up to a number that all layers agree on, nothing beyond it."""

from contextlib import suppress

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter.program import Prepared
from affdsl.ir.nesting import DEEPEST, TOO_DEEP
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.pipeline.registry import OF_SCRIPTS, PASSES
from affdsl.passes.validation.outcome import Subject, iterations_at_least
from tests.size.nests import branches, choice, loops, nest, text

DEEP = {"loops that run once": loops(DEEPEST, "1"), "loops": loops(DEEPEST), "branches": branches(DEEPEST)}
SIMPLIFYING = ("affine-simplify-structures", "affine-simplify-min-max", "canonicalize", "affdsl-optimize")
pytestmark = pytest.mark.filterwarnings("ignore::affdsl.passes.analysis.dependence.AnalysisWarning")


@pytest.mark.parametrize(
    ("program", "row"),
    [
        (name, row)
        for name in DEEP
        for row in PASSES
        if name == "loops" or row.name in SIMPLIFYING
        if row.name not in OF_SCRIPTS
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_the_deepest_programs_go_through_each_pass(program, row):
    on_functions = row.anchor in ("func", "function interface")
    run_pipeline(parse(DEEP[program]), f"builtin.module({f'func.func({row.name})' if on_functions else row.name})")


@pytest.mark.parametrize("program", DEEP)
def test_the_deepest_programs_are_read_printed_prepared_and_written_in_c(program):
    module = parse(DEEP[program])
    assert str(parse(str(module))) == str(module)
    assert Prepared(module.functions[0], module=module)
    assert emit(module, "f").source.count("{") > DEEPEST


_STEPS = {
    "tile": (("i#1", "i#2"), (2, 2)), "interchange": ("i#1", "i#64"), "reverse": ("i#64",), "parallel": ("i#2",),
    "vectorize": ("i#64", 4), "unroll": ("i#64", 2), "unroll_jam": ("i#1", 2), "skew": ("i#1", "i#2", 1),
    "shift": ("i#1", 1), "strip_mine": ("i#64", 4), "peel": ("i#1",), "hoist": ("i#64",), "scalar_replace": ("i#64",),
    "coalesce": (("i#1", "i#2"),), "copy": ("y", "i#64"), "specialize": ("i#1", af.symbols("N") >= 8),
    "distribute": ("i#64",), "unswitch": ("i#1",), "contract": ("i#1",), "sink": ("i#1",), "splice": ("i#64",),
    "load_ahead": ("y", "i#64"), "normalize": ("i#1",), "slp": ("i#64", 2),
}  # fmt: skip


@pytest.mark.parametrize("verb", _STEPS)
def test_steps_of_the_deepest_kernel_are_taken_or_refused(verb):
    schedule = af.Schedule(nest(DEEPEST))
    with suppress(af.IllegalTransform, af.ScheduleError):
        getattr(schedule, verb)(*_STEPS[verb])
    parse(schedule.kernel().mlir())


def test_a_deeper_kernel_is_refused_where_it_is_written():
    with pytest.raises(af.ProgramError, match=f"nests.py:.*{TOO_DEEP}\n.*a kernel of their own"):
        nest(DEEPEST + 1)
    with pytest.raises(af.ProgramError, match=TOO_DEEP):
        nest(1000)


def test_bands_are_as_deep_as_they_have_counters():
    def wide(x: af.f64[1]):
        with af.parallel(*[1] * (DEEPEST + 1)):
            x[0] = 1

    with pytest.raises(af.ProgramError, match=TOO_DEEP):
        af.kernel(wide)
    zeros, ones = (", ".join([n] * (DEEPEST + 1)) for n in "01")
    ivs = ", ".join(f"%i{k}" for k in range(DEEPEST + 1))
    with pytest.raises(af.VerificationError, match=TOO_DEEP):
        verify(parse(text([f"affine.parallel ({ivs}) = ({zeros}) to ({ones}) {{ }}"])))


def test_a_choice_is_as_deep_as_it_has_cases():
    kernel, x = choice(DEEPEST - 1), np.zeros(DEEPEST + 5)
    kernel.interpret(x)
    assert x.tolist() == [3.0 * k for k in range(DEEPEST - 1)] + [-1.0] * 6
    with pytest.raises(af.ProgramError, match=f"{TOO_DEEP}\n(.*\n)*.*elif_ is as deep as it is long"):
        choice(DEEPEST + 1)


@pytest.mark.parametrize("depth", [DEEPEST + 1, 5_000])
def test_ir_that_is_deeper_is_refused_by_the_verifier(depth):
    block = ()
    for _ in range(depth):
        block = (affine.For(Value(INDEX, "i"), (Affine.of(0),), (Affine.of(8),), block),)
    with pytest.raises(af.VerificationError) as caught:
        verify(Func("f", (), block))
    assert str(caught.value).count(TOO_DEEP) == 1


def test_a_step_that_would_make_a_kernel_too_deep_is_refused():
    schedule = af.Schedule(nest(DEEPEST))
    with pytest.raises(af.IllegalTransform, match=f"there would be {TOO_DEEP}"):
        schedule.strip_mine("i#64", 4)
    assert len(schedule.loops()) == DEEPEST


def test_analysis_says_what_it_does_not_ask_isl_about():
    with pytest.warns(AnalysisWarning, match="more than 20 loops inside each other"):
        run_pipeline(parse(loops(40)), "builtin.module(func.func(affine-parallelize))")


def test_recipes_leave_deep_nests_as_they_are():
    made = nest(30).optimize()
    assert ": as written: recipes are for at most 12 loops inside each other, not for 30" in made.explain()


def test_a_run_that_would_be_too_long_is_not_begun(monkeypatch):
    """It took eleven seconds until it was given up, for 21 loops inside each other as for 64."""
    begun, called = [], Subject.call

    def noted(self, symbol, *given, **keywords):
        begun.append(symbol)
        return called(self, symbol, *given, **keywords)

    monkeypatch.setattr(Subject, "call", noted)
    nest(30).optimize(threads=2, validate=True)
    assert not begun


def test_iterations_are_counted_without_a_run_where_arguments_say_how_many():
    (function,) = parse("""
    func.func @f(%n: index, %A: memref<?xf64>, %x: f64) {
      affine.for %i = 3 to min affine_map<(d0) -> (d0 * 2, 30)>(%n) step 4 {
        affine.for %j = 0 to %n { affine.store %x, %A[%j] : memref<?xf64> }
        affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) { affine.store %x, %A[%k] : memref<?xf64> }
      }
      affine.for %i = 5 to 2 { affine.store %x, %A[%i] : memref<?xf64> }
      return
    }""").functions
    rows = [(0, 0), (2, 3), (9, 40), (50, 357)]
    assert [iterations_at_least(function, (n, np.zeros(60), 0.0)) for n, _ in rows] == [count for _, count in rows]
