"""Tests of what schedules are made of: expressions as Python, names of loops and arrays, advice in steps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import affdsl as af
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.python_expressions import python
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from affdsl.passes.advice.verbs import VERBS as PRIMITIVES
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.schedule.loops import counters, find, named, names_of, tree_of
from affdsl.schedule.spelling import literal, symbols_in
from affdsl.schedule.verbs import OF_PRIMITIVE, VERBS, VerbCall
from affdsl.schedule.words import advice
from tests.schedule import random_schedules

SYMBOLS = dict(zip("MNK", af.symbols("M N K"), strict=True))
VALUES = {name: symbol.expr.value for name, symbol in SYMBOLS.items()}


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Affine:
    """Expressions of sums, multiples, products of symbols, and quotients by numbers and by symbols."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        leaf = draw(st.sampled_from([*VALUES.values(), *range(-9, 10)]))
        return Affine.of(leaf)
    a = draw(expressions(depth - 1))
    match draw(st.sampled_from("+-*//%sd")):
        case "+":
            return a + draw(expressions(depth - 1))
        case "-":
            return a - draw(expressions(depth - 1))
        case "*":
            return a * draw(st.integers(-5, 5))
        case "s":
            return a * VALUES["K"]
        case "d":
            return a // VALUES["M"]
        case "%":
            return a % draw(st.integers(1, 9))
        case _:
            return a // draw(st.integers(1, 9))


@given(expressions())
def test_expressions_as_python_build_the_same_expression(expr):
    found = eval(python(expr), dict(SYMBOLS))  # noqa: S307
    assert (Affine.of(found) if isinstance(found, int) else found.expr) == expr


@settings(max_examples=30)
@given(
    st.recursive(
        st.one_of(st.text(max_size=9), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(tuple), st.dictionaries(st.integers(), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_literals_are_python(argument):
    assert eval(literal(argument)) == argument  # noqa: S307


def test_expressions_of_symbols_are_written_with_their_names():
    M, N = af.symbols("M N")
    assert literal((N // 2 + M * 3, 4)) == "(3 * M + N // 2, 4)"
    assert [value.hint for value in symbols_in((N // 2 + M * 3, 4))] == ["M", "N"]


FUNCTION = """
func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
  affine.for %i = 0 to %n { affine.for %j = 0 to 4 { affine.store %x, %A[%i + %j] : memref<?xf32> } }
  return
}
"""


def test_loops_without_a_name_get_one():
    function = parse(FUNCTION).functions[0]
    for value in counters(function):
        value.hint = ""
    function = named(function)
    names = names_of(function)
    assert list(names.values()) == ["loop", "loop_2", "loop_3"]
    assert str(tree_of(function, names)).splitlines()[2].startswith("  loop_3 = 0 to 4")
    assert "affine.store %x, %A[%loop_2 + %loop_3]" in str(function)
    assert named(function) is function


def test_parallel_and_data_loops_without_a_name_get_one():
    function = parse("""
    func.func @f(%A: memref<?x?xf32>, %x: f32, %n: index) {
      affine.parallel (%p, %q) = (0, 0) to (%n, 5) { affine.store %x, %A[%p, %q] : memref<?x?xf32> }
      %c = arith.constant 1 : index
      scf.for %s = %c to %n step %c { memref.store %x, %A[%s, %s] : memref<?x?xf32> }
      return
    }""").functions[0]
    for value in counters(function):
        value.hint = "" if value.hint != "q" else "q"
    function = named(function)
    tree = tree_of(function, names_of(function))
    assert [row.text for row in tree] == ["parallel loop = 0 to n, q = 0 to 5", "loop_2 = data"]


def test_names_stay_with_their_loops():
    function = parse(FUNCTION).functions[0]
    names = names_of(function)
    assert list(names.values()) == ["i#1", "i#2", "j"]
    assert find(function, names, "i#2", "do it") is list(counters(function))[1]
    with pytest.raises(af.ScheduleError, match="cannot do it: 2 loops of f are called i"):
        find(function, names, "i", "do it")
    # a step that replaces the first loop by two new ones
    made = parse(FUNCTION.replace("affine.for %i = 0 to %n { affine.for", "affine.for %k = 0 to %n { affine.for")
                 .replace("%i + %j", "%k + %j")).functions[0]  # fmt: skip
    after = names_of(made, names)
    assert list(after.values()) == ["i_2", "k", "j"]
    assert [value.hint for value in after] == ["i_2", "k", "j"]


def test_all_primitives_that_are_proposed_are_verbs():
    assert {OF_PRIMITIVE.get(verb, verb) for verb in PRIMITIVES} <= set(VERBS)
    assert all(verb in VERBS for verb in OF_PRIMITIVE.values())
    assert all(hasattr(af.Schedule, verb) for verb in VERBS)
    assert set(random_schedules.VERBS) == set(VERBS) - {"contract", "approximate", "reciprocal", "extremes"}, (
        "which round in another way"
    )


LOOP_I, LOOP_J, ARRAY = (Value(INDEX, name) for name in "ijt")
LONG = Constraint(ARRAY - 2)
ASKED = VerbCall("permute", (("i", "j"),), (("reassociate", False),))


@pytest.mark.parametrize(
    ("alternative", "words"),
    [
        ("", ""),
        (Proposal((Step("skew", (LOOP_I, LOOP_J, 2)),)), 's.skew("i#1", "j", 2) first'),
        (Proposal((Step("skew", (LOOP_I, LOOP_J, 2)), Step("reverse", (LOOP_J,)))),
         's.skew("i#1", "j", 2).reverse("j") first'),
        (Proposal((Step("privatize", (ARRAY, LOOP_I)),)), 's.privatize("t", "i#1") first'),
        (Proposal(options=(("reassociate", True),)), 's.permute(("i", "j"), reassociate=True)'),
        (Proposal((Step("reverse", (LOOP_J,)),), (("reassociate", True),)),
         's.reverse("j").permute(("i", "j"), reassociate=True)'),
        (Proposal((Step("permute", ((LOOP_J, LOOP_I),)), Step("parallelize", (LOOP_J,))), asks_again=False),
         's.permute(("j", "i#1")).parallel("j")'),
        (Proposal((Step("unroll_full", (LOOP_J,)),), asks_again=False), 's.unroll("j")'),
        (Proposal((Step("unroll", (LOOP_J, 4)),), asks_again=False), 's.unroll("j", 4)'),
        (Proposal(assumes=(LONG,)), 'affdsl.assume(t >= 2) in f, then s.permute(("i", "j"))'),
        (Proposal((Step("make_perfect", (LOOP_I, LOOP_J)),), assumes=(LONG,)),
         'affdsl.assume(t >= 2) in f, then s.make_perfect("i#1", "j").permute(("i", "j"))'),
        ("a factor that is not larger", "a factor that is not larger"),
    ],
)  # fmt: skip
def test_advice_is_written_in_steps(alternative, words):
    error = IllegalTransform(Module(()), "do it", "", alternative)
    assert advice(error, ASKED, "s", "f", {LOOP_I: "i#1"}) == words
