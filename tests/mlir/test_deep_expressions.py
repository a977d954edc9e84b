"""Affine expressions nested in each other cost what they are long, not twice as much for each level."""

import copy
import re

import pytest

from affdsl.cli import main
from affdsl.ir.expr import Affine, FloorDiv, Value, parts_of
from affdsl.ir.interpreter.evaluation import evaluator
from affdsl.ir.spelling import spell
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.mlir.printer import print_op
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from passes.canonicalize import canonicalize

STEPS = {
    "floordiv of sums": "({e} floordiv {k} + %i mod {k})",
    "mod of mod": "({e} + {k}) mod {m}",
    "ceildiv": "({e} + %i) ceildiv {k}",
    "mod by a size": "({e} + {k}) mod symbol(%n)",
    "product with a size": "(({e} + {k}) floordiv symbol(%n)) * symbol(%n)",
}


def program(step: str, depth: int) -> str:
    expr = "%i"
    for k in range(depth):
        expr = step.format(e=expr, k=k % 5 + 2, m=997 - k)
    return f"""func.func @f(%A: memref<?xf32>, %n: index) {{
      affine.for %i = 0 to %n {{
        %0 = affine.load %A[{expr}] : memref<?xf32>
        affine.store %0, %A[%i] : memref<?xf32>
      }}
      return
    }}"""


def chain(depth: int) -> Affine:
    """x mod m around itself: a tree of 2 ** depth atoms."""
    expr = Affine.of(Value(INDEX, "i"))
    for k in range(depth):
        expr = (expr + k) % (997 - k)
    return expr


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_1_kb_of_text_does_not_hang_the_parser(step):
    depth = 30 if "product" in step or "* symbol" in step else 45
    module = parse(program(step, depth))
    verify(module)
    printed = print_op(module)
    assert print_op(parse(printed)) == printed
    verify(canonicalize(module))


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_is_nested_too_deeply_is_refused_in_place(step):
    with pytest.raises(ParseError, match="nested too deeply"):
        parse(program(step, 500))


def test_equal_expressions_share_their_parts_however_deep_they_are():
    i = Value(INDEX, "i")
    made = []
    for _ in range(2):
        expr = Affine.of(i)
        for k in range(60):
            expr = (expr + k) % (997 - k)
        made.append(expr)
    first, second = made
    assert first == second
    assert hash(first) == hash(second)
    assert first.weight > 2**50
    assert len(list(parts_of(first))) == 60
    assert list(dict.fromkeys(first.values())) == [i]
    j = Value(INDEX, "j")
    assert set(first.substitute({i: j + 1}).values()) == {j}
    assert (first - second).is_constant


@pytest.mark.parametrize("number", [-1000, -1, 0, 5, 10**9])
def test_deep_expressions_have_the_value_that_their_steps_have(number):
    expr = chain(60)
    (value,) = dict.fromkeys(expr.values())
    expected = number
    for k in range(60):
        expected = (expected + k) % (997 - k)
    assert expr.evaluate({value: number}) == expected
    assert evaluator(expr)({value: number}) == expected


def test_an_expression_that_is_too_long_to_show_is_not_shown():
    assert spell(chain(60)) == "an expression of i that is too long to show"
    assert "too long" not in spell(chain(3))


def test_c_refuses_what_would_be_far_too_long(tmp_path, capsys):
    for depth, status in ((8, 0), (45, 1)):
        path = tmp_path / f"{depth}.mlir"
        path.write_text(program(STEPS["mod of mod"], depth))
        assert main(["translate", "--to=c", str(path)]) == status
    said = capsys.readouterr()
    assert "affdsl translate" not in said.out
    assert re.search(r"in C, an expression of .* that is too long to show: give parts of it names", said.err)


def test_divisions_are_one_object_also_after_copying():
    i = Value(INDEX, "i")
    division = FloorDiv(i + 1, 3)
    assert FloorDiv(i + 1, 3) is division
    assert copy.copy(division) is division
    assert FloorDiv(i + 2, 3) is not division
    number = FloorDiv(Affine((), 1), 3)
    assert copy.deepcopy(number) is number
