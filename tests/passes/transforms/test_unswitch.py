"""unswitch: next to mlir-opt's, with results, over all small sizes, and what it refuses."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_unswitch import affine_loop_unswitch
from affdsl.passes.transforms.unswitch import unswitch
from tests.harness.reading import by_name, function, loops
from tests.passes.compare import assert_alike, parsed

WITH_RESULTS = """func.func @f(%n: index, %m: index, %x: i64) -> (i64, i64) {
  %r:2 = affine.for %i = 0 to %n iter_args(%p = %x, %q = %x) -> (i64, i64) {
    %k = arith.index_cast %i : index to i64
    %v = affine.if affine_set<()[s0] : (s0 - 3 >= 0)>()[%m] -> i64 {
      %a = arith.addi %p, %k : i64
      affine.yield %a : i64
    } else {
      affine.yield %q : i64
    }
    %w = arith.muli %v, %q : i64
    affine.yield %w, %v : i64, i64
  }
  return %r#0, %r#1 : i64, i64
}"""


def test_loops_and_conditions_with_results():
    before = parsed(WITH_RESULTS)
    after = affine_loop_unswitch(before)
    (condition,) = [op for op in walk(after) if isinstance(op, affine.If)]
    assert len(condition.results) == len(loops(after.functions[0])) == 2
    assert assert_alike(before, after, runs=40) == 40


def test_the_loop_keeps_its_name_where_the_condition_holds():
    func = function(WITH_RESULTS)
    first, second = loops(unswitch(func, by_name(func, "i")))
    assert first.iv is by_name(func, "i")
    assert second.iv.hint == "i_else"


REFUSED = {
    "i": r"cannot unswitch loop %i\n    its condition depends on %i, which is only known inside",
    "j": "its condition divides by a symbol, which may be 0 where the loop does not run",
    "k": "there is no affine.if in it",
    "l": "it stands inside of scf.if",
    "o": "its condition depends on %s, which is only known inside",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    func = function("""func.func @f(%n: index, %m: index, %A: memref<?xf32>, %x: f32, %c: i1) {
      affine.for %i = 0 to %n {
        affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) { affine.store %x, %A[%i] : memref<?xf32> }
      }
      affine.for %j = 0 to %n {
        affine.if affine_set<()[s0, s1] : (s0 floordiv s1 - 1 >= 0)>()[%n, %m] {
          affine.store %x, %A[%j] : memref<?xf32>
        }
      }
      affine.for %k = 0 to %n { affine.store %x, %A[%k] : memref<?xf32> }
      affine.for %l = 0 to %n {
        scf.if %c {
          affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%m] { affine.store %x, %A[%l] : memref<?xf32> }
        }
      }
      affine.for %o = 0 to %n {
        %s = affine.max affine_map<()[s0] -> (s0, 1)>()[%n]
        affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%s] { affine.store %x, %A[%o] : memref<?xf32> }
      }
      return
    }""")
    with pytest.raises(IllegalTransform, match=REFUSED[name]):
        unswitch(func, by_name(func, name))
