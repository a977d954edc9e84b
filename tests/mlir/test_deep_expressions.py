"""Affine expressions nested in each other cost what they are long, not twice as much for each level."""

import copy
import re
from random import Random

import pytest

from affdsl.cli import main
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, FloorDiv, Value, parts_of
from affdsl.ir.interpreter.evaluation import evaluator
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.ir.written import MAKE, divisor, is_multiple
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.affine_simplify_structures import affine_simplify_structures
from affdsl.passes.cleanup.canonicalize import canonicalize
from affdsl.passes.cleanup.canonicalize.facts import GraphFacts
from affdsl.passes.cleanup.canonicalize.graph import Graph
from affdsl.passes.pipeline.language import run_pipeline

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


def applied(step: str, count: int) -> str:
    """affine.apply that read each other, k their number, and a load at what the last one gives."""
    lines, last = [], "%i"
    for k in range(count):
        lines.append(f"%{k} = affine.apply affine_map<(d0) -> ({step.format(k=k, m=997 - k)})>({last})")
        last = f"%{k}"
    return "\n".join(
        (
            "func.func @f(%A: memref<?xf32>, %n: index) { affine.for %i = 0 to %n {",
            *lines,
            f"%v = affine.load %A[{last}] : memref<?xf32>",
            "affine.store %v, %A[%i] : memref<?xf32> } return }",
        )
    )


APPLIED = {"sum with its quotient": "d0 + d0 floordiv 3 + 1", "mod of mod": "(d0 + {k}) mod {m}"}
LONGEST_LINE = 2000
"""Characters; written out, the steps in each other take 2 ** 24."""


@pytest.mark.parametrize("make", [canonicalize, affine_simplify_structures])
@pytest.mark.parametrize("step", APPLIED.values(), ids=APPLIED)
def test_a_chain_of_applied_maps_is_composed_no_further_than_can_be_read(step, make):
    module = parse(applied(step, 24))
    made = make(module)
    verify(made)
    assert max(map(len, print_op(made).splitlines())) < LONGEST_LINE
    for number in (0, 1, 12345):
        assert indices(made, number) == indices(module, number)


def indices(module: Module, number: int) -> list[int]:
    """What the load reads, and the store writes, where the counter of the loop is a number."""
    (f,) = module.functions
    (loop,) = [op for op in walk(f) if isinstance(op, affine.For)]
    values, found = {loop.iv: number}, []
    for op in loop.body:
        match op:
            case affine.Apply():
                values[op.result] = op.expr.evaluate(values)
            case affine.Load() | affine.Store():
                found += [expr.evaluate(values) for expr in op.index]
    return found


def test_short_chains_of_applied_maps_are_composed():
    made = canonicalize(parse(applied("d0 + d0 floordiv 3 + 1", 3)))
    assert not [op for op in walk(made) if isinstance(op, affine.Apply)]


def test_what_a_long_chain_gives_may_stand_as_a_dimension_and_not_as_a_symbol():
    graph = Graph(parse(applied("(d0 + {k}) mod 7", 600)))
    (load,) = [node for node in graph.walk() if isinstance(node.op, affine.Load)]
    last = load.maps["index"].dims[0]
    assert (GraphFacts(graph).is_dim(last), GraphFacts(graph).is_symbol(last)) == (True, False)


@pytest.mark.parametrize(
    "name",
    ["affine-scalrep", "affine-loop-tile", "affine-parallelize", "affine-loop-invariant-code-motion"],
)
def test_passes_take_forty_eight_divisions_inside_each_other(name):
    verify(run_pipeline(parse(program("({e} + {k}) mod {m}", 48)), f"builtin.module(func.func({name}))"))


def test_what_divides_a_tree_is_what_divides_its_divisor():
    random = Random(5)

    def tree(depth):
        if depth == 0:
            return random.choice((1, 2, 6, -9, 12, "d0", "d1", "s0"))
        left, right = tree(depth - 1), tree(random.randrange(depth))
        return left if 0 in (left, right) else random.choice(list(MAKE.values()))(left, right)

    found = set()
    for each in (tree(random.randrange(5)) for _ in range(2000)):
        for number in (1, 2, 3, 4, 6, 9, 12, 36):
            answer = is_multiple(each, number)
            assert answer == (divisor(each) % number == 0), (each, number)
            found.add((number, answer))
    assert len(found) == 15  # 1 divides all
