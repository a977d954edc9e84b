"""specialize: with results, in schedules, and what it refuses."""

from __future__ import annotations

from affdsl.ir.expr import Constraint
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.passes.transforms.specialize import specialize
from tests.harness.reading import by_name, function, loops

CARRIED = """func.func @f(%n: index, %m: index) -> (i64, i64) {
  %p = arith.constant 3 : i64
  %q = arith.constant 4 : i64
  %r:2 = affine.for %i = 0 to %n iter_args(%a = %p, %b = %q) -> (i64, i64) {
    %s = arith.muli %a, %b : i64
    affine.yield %s, %a : i64, i64
  }
  return %r#1, %r#0 : i64, i64
}"""


def test_a_loop_that_carries_values_gives_them_either_way():
    before = function(CARRIED)
    m = before.args[1]
    after = specialize(before, by_name(before, "i"), [Constraint(m - 2), Constraint(5 - m)])
    verify(after)
    first, second = loops(after)
    assert (first.iv, second.iv.hint) == (by_name(before, "i"), "i_else")
    for sizes in [(n, m) for n in range(4) for m in range(8)]:
        assert run(after, *sizes) == run(before, *sizes)
