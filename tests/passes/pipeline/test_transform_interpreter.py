"""transform-interpreter: scripts do to functions what mlir-opt's interpreter does; what is not known is refused."""

from __future__ import annotations

import pytest

from affdsl.errors import AffdslError
from affdsl.mlir.readers import parse
from affdsl.passes.pipeline.transform_interpreter import transform_interpreter
from tests.oracles import mlir_opt
from tests.passes.compare import UNKNOWN, shown

PROGRAM = """func.func @f(%A: memref<64xindex>, %n: index) {
  %i = "test.thread"() : () -> index
  %w = "test.width"() : () -> index
  %a = affine.min affine_map<()[s0, s1] -> (s0 + 1, s1, 40)>()[%i, %w]
  %b = affine.max affine_map<()[s0, s1] -> (s0, s1 - 64)>()[%i, %n]
  %c = affine.min affine_map<()[s0] -> (s0 - 1, s0 + 8)>()[%n]
  affine.for %k = 0 to 10 { affine.store %a, %A[%k] : memref<64xindex> }
  affine.for %k = 20 to 30 { affine.store %b, %A[%k] : memref<64xindex> }
  affine.store %c, %A[63] : memref<64xindex>
  return
}
"""
SCRIPT = """module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    {body}
    transform.yield
  }}
}}"""
ANY = "(!transform.any_op) -> !transform.any_op"
MATCHED = f"""%m = transform.structured.match ops{{["affine.min", "affine.max"]}} in %root : {ANY}
    %t = transform.structured.match ops{{["test.thread"]}} in %root : {ANY}
    %w = transform.structured.match ops{{["test.width"]}} in %root : {ANY}
    %f = transform.structured.match ops{{["func.func"]}} in %root : {ANY}
    """
BODIES = {
    "what is known of two values": "transform.affine.simplify_bounded_affine_ops %m with [%t, %w : !transform.any_op, "
    "!transform.any_op] within [0, 32] and [32, 65] : !transform.any_op",
    "what is known without": "transform.affine.simplify_min_max_affine_ops %m : !transform.any_op",
    "passes": f"""%0 = transform.apply_registered_pass "affine-loop-unroll" with options = {{"unroll-factor" = 2}}
      to %f : {ANY}
    %1 = transform.apply_registered_pass "canonicalize" to %0 : {ANY}""",
}


def functions(text):
    """All but the script, which keeps its own names here."""
    return text[: text.index("module attributes")]


@pytest.mark.parametrize("name", BODIES)
def test_functions_become_what_mlir_opt_makes_of_them(name):
    given = PROGRAM + SCRIPT.format(body=MATCHED + BODIES[name])
    ours = shown(transform_interpreter(parse(given)), "--canonicalize")
    theirs = mlir_opt(given, UNKNOWN, "--transform-interpreter", "--canonicalize")
    assert functions(ours) == functions(theirs)
    assert functions(ours) != functions(mlir_opt(given, UNKNOWN, "--canonicalize"))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("transform.loop.unroll %m { factor = 2 } : !transform.any_op", "transform.loop.unroll is not known: a script"),
        ("transform.affine.simplify_min_max_affine_ops %x : !transform.any_op", "%x stands for nothing here"),
        ("transform.affine.simplify_bounded_affine_ops %m with [%t : !any] within [] and [1] : !any",
         "incorrect number of lower bounds, expected 1 but found 0"),
        (f'%0 = transform.apply_registered_pass "cse" to %m : {ANY}', "passes run on all functions"),
        (f'%0 = transform.structured.match ops{{["affine.for"]}} in %root : {ANY}', "only operations with results"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_at_its_line(body, problem):
    given = PROGRAM + SCRIPT.format(body=MATCHED + body)
    line = given.splitlines().index(f"    {body}") + 1
    with pytest.raises(AffdslError) as caught:
        transform_interpreter(parse(given, "script.mlir"))
    assert str(caught.value).startswith(f"script.mlir:{line}:")
    assert problem in str(caught.value)


def test_a_program_without_the_script_is_refused():
    with pytest.raises(AffdslError, match=r"there is no transform\.named_sequence @other to run"):
        transform_interpreter(parse(PROGRAM), entry_point="other")
