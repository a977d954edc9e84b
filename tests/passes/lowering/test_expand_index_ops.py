"""affine-expand-index-ops, to arith and to affine.apply: next to mlir-opt's, and run before and after."""

import functools
import re
from itertools import product

import pytest

from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.passes.cleanup.affine_expand_index_ops_as_affine import affine_expand_index_ops_as_affine
from affdsl.passes.lowering.expand_index_ops import expand_index_ops
from tests.passes.compare import ENDS, both, parsed

HEAD = "func.func private @use(index, index, index)\nfunc.func @f(%i: index, %j: index, %n: index, %m: index)"

PROGRAMS = {
    "static digits": """{ %a:3 = affine.delinearize_index %i into (3, 4, 5) : index, index, index
        func.call @use(%a#0, %a#1, %a#2) : (index, index, index) -> () return }""",
    "without the outermost": """{ %a:3 = affine.delinearize_index %i into (4, 5) : index, index, index
        func.call @use(%a#0, %a#1, %a#2) : (index, index, index) -> () return }""",
    "dynamic digits": """{ %a:3 = affine.delinearize_index %i into (%n, %m, 5) : index, index, index
        func.call @use(%a#0, %a#1, %a#2) : (index, index, index) -> () return }""",
    "two of them dynamic": """{ %a:3 = affine.delinearize_index %i into (%n, %m) : index, index, index
        func.call @use(%a#0, %a#1, %a#2) : (index, index, index) -> () return }""",
    "one digit": """{ %a = affine.delinearize_index %i into (7) : index
        func.call @use(%a, %a, %a) : (index, index, index) -> () return }""",
    "a static sum": """{ %a = affine.linearize_index [%i, %j, %n] by (2, 3, 5) : index
        func.call @use(%a, %a, %a) : (index, index, index) -> () return }""",
    "a dynamic sum": """{ %a = affine.linearize_index [%i, %j, %n] by (%n, %m) : index
        func.call @use(%a, %a, %a) : (index, index, index) -> () return }""",
    "sums of one and of nothing": """{ %a = affine.linearize_index [%i] by (3) : index
        %b = affine.linearize_index [] by () : index
        func.call @use(%a, %b, %a) : (index, index, index) -> () return }""",
    "digits of a sum": """{ %a = affine.linearize_index [%i, %j] by (4) : index
        %b:2 = affine.delinearize_index %a into (5) : index, index
        func.call @use(%b#0, %b#1, %a) : (index, index, index) -> () return }""",
}  # fmt: skip


TEXTS = [HEAD + body for body in PROGRAMS.values()]


@functools.cache
def in_arith():
    """Less the flags that say that nothing wraps."""
    made, clean = [expand_index_ops(parsed(text)) for text in TEXTS], ["--canonicalize", "--cse"]
    theirs = [expanded for _, expanded in both(made, (), TEXTS, ["--affine-expand-index-ops"])]
    theirs = [re.sub(r" overflow<[a-z, ]*>", "", text) for text in theirs]
    return dict(zip(PROGRAMS, both(made, clean, theirs, clean), strict=True))


@functools.cache
def in_affine():
    made = [affine_expand_index_ops_as_affine(parsed(text)) for text in TEXTS]
    return dict(zip(PROGRAMS, both(made, (), TEXTS, ["--affine-expand-index-ops-as-affine"]), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_arith_as_mlir_opt_has_it(name):
    ours, theirs = in_arith()[name]
    assert ours == theirs


@pytest.mark.parametrize("name", PROGRAMS)
def test_affine_as_mlir_opt_has_it(name):
    ours, theirs = in_affine()[name]
    assert ours == theirs


def results_of(name):
    """A program that returns what it would hand to @use."""
    text = PROGRAMS[name]
    values = re.search(r"@use\(([^)]*)\)", text)[1]
    text = re.sub(r"func.call @use.*return }", f"return {values} : index, index, index }}", text, flags=re.S)
    return parsed(f"func.func @f(%i: index, %j: index, %n: index, %m: index) -> (index, index, index) {text}")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("expand", [expand_index_ops, affine_expand_index_ops_as_affine])
def test_the_same_numbers(name, expand):
    before = results_of(name)
    after = expand(before)
    verify(after)
    assert not [op for op in walk(after) if "linearize" in op.name]
    points = [*product((-7, -1, 0, 3, 59, 100), (0, 2), (1, 3), (1, 4)), *((i, 0, 2, 3) for i in ENDS)]
    meant = 0
    for point in points:
        try:
            wanted = run(before.functions[0], *point)
        except InterpreterError:
            continue
        assert run(after.functions[0], *point) == wanted
        meant += 1
    assert meant > 20


def test_what_is_no_affine_expression_stays():
    text = """func.func @f(%A: memref<8xindex>) {
      affine.for %i = 0 to 8 {
        %r = affine.load %A[%i] : memref<8xindex>
        %a:2 = affine.delinearize_index %i into (%r) : index, index
        %b:2 = affine.delinearize_index %r into (4) : index, index
        "test.use"(%a#0, %a#1, %b#0, %b#1) : (index, index, index, index) -> ()
      }
      return }"""
    names = [op.name for op in walk(affine_expand_index_ops_as_affine(parsed(text)))]
    assert names.count("affine.delinearize_index") == 2  # %r is neither a dimension nor a symbol
