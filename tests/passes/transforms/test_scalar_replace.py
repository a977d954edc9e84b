"""scalar_replace: what it makes of recurrences, and what it refuses."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine, vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from tests.harness.judges import alike
from tests.passes.compare import assert_alike, parsed

HEAD = "func.func @f(%A: memref<12xf32>, %B: memref<12xf32>, %n: index, %x: f32)"


def replaced(body, loop=0):
    """The module, and what scalar_replace makes of one of its loops."""
    before = parsed(HEAD + body)
    loops = [op for op in walk(before) if isinstance(op, affine.For)]
    after = with_fields(before, body=(scalar_replace(before.functions[0], loops[loop].iv, module=before),))
    verify(after)
    return before, after


def refusal_of(body):
    with pytest.raises(IllegalTransform) as caught:
        replaced(body)
    return str(caught.value)


def inside(module, kind, loop=-1):
    """How many operations of a kind stand in one of the loops."""
    loops = [op for op in walk(module) if isinstance(op, affine.For)]
    return sum(isinstance(op, kind) for op in walk(loops[loop]))


STENCIL = """{
    affine.for %i = 1 to 11 {
      %a = affine.load %A[%i - 1] : memref<12xf32>
      %b = affine.load %A[%i] : memref<12xf32>
      %c = affine.load %A[%i + 1] : memref<12xf32>
      %d = arith.addf %a, %b : f32
      %e = arith.addf %d, %c : f32
      affine.store %e, STORE[%i] : memref<12xf32>
    }
    return }"""


def test_a_sum_is_kept_in_a_value():
    before, after = replaced("""{
        affine.for %i = 0 to 12 {
          affine.for %k = 0 to 12 {
            %c = affine.load %A[%i] : memref<12xf32>
            %b = affine.load %B[%k] : memref<12xf32>
            %s = arith.addf %c, %b : f32
            affine.store %s, %A[%i] : memref<12xf32>
          }
        }
        return }""", 1)  # fmt: skip
    assert str(after) == str(parsed("""func.func @f(%A: memref<12xf32>, %B: memref<12xf32>, %n: index, %x: f32) {
        affine.for %i = 0 to 12 {
          %c = affine.load %A[%i] : memref<12xf32>
          %0 = affine.for %k = 0 to 12 iter_args(%c_0 = %c) -> (f32) {
            %b = affine.load %B[%k] : memref<12xf32>
            %s = arith.addf %c_0, %b : f32
            affine.yield %s : f32
          }
          affine.store %0, %A[%i] : memref<12xf32>
        }
        return }"""))  # fmt: skip
    assert assert_alike(before, after) == 12


@pytest.mark.parametrize(("target", "loads"), [("%B", 1), ("%A", 2)])
def test_a_stencil_loads_each_element_once(target, loads):
    """In place, what the iteration before stored is kept; that is not what it had loaded."""
    before, after = replaced(STENCIL.replace("STORE", target))
    assert inside(before, affine.Load) == 3
    assert inside(after, affine.Load) == loads - (target == "%A")
    assert assert_alike(before, after) == 12


def test_vectors_and_steps():
    before, after = replaced("""{
        affine.for %i = 0 to 10 step 2 {
          %v = affine.vector_load %B[%i] : memref<12xf32>, vector<2xf32>
          %u = arith.addf %v, %v : vector<2xf32>
          %j = affine.apply affine_map<(d0) -> (d0 + 2)>(%i)
          affine.vector_store %u, %B[%j] : memref<12xf32>, vector<2xf32>
        }
        return }""")  # fmt: skip
    assert inside(after, affine.VectorLoad) == 0
    assert assert_alike(before, after) == 12


def test_values_wait_for_some_iterations():
    before, after = replaced("""{
        affine.for %i = 0 to 8 {
          %a = affine.load %A[%i] : memref<12xf32>
          %c = arith.addf %a, %x : f32
          affine.store %c, %A[%i + 3] : memref<12xf32>
        }
        return }""")  # fmt: skip
    (loop,) = [op for op in walk(after) if isinstance(op, affine.For)]
    assert len(loop.carried) == 3
    assert inside(after, affine.Load) == 0
    assert assert_alike(before, after) == 12


def test_other_results_of_the_loop_stay():
    before, after = replaced("""{
        %r = affine.for %i = 1 to 12 iter_args(%s = %x) -> f32 {
          %a = affine.load %A[%i - 1] : memref<12xf32>
          %t = arith.addf %s, %a : f32
          affine.store %t, %A[%i] : memref<12xf32>
          affine.yield %t : f32
        }
        affine.store %r, %B[0] : memref<12xf32>
        return }""")  # fmt: skip
    assert inside(after, affine.Load) == 0
    assert assert_alike(before, after) == 12


GUARDED = {
    "a load that may fail": """affine.for %i = 1 to %n {
          %a = affine.load %A[%i - 4 + symbol(%n)] : memref<12xf32>
          %s = arith.addf %a, %x : f32
          affine.store %s, %A[%i - 3 + symbol(%n)] : memref<12xf32>""",
    "a store behind the loop": """affine.for %i = 2 to min affine_map<()[s0] -> (s0, 9)>()[%n] {
          %a = affine.load %A[3] : memref<12xf32>
          %s = arith.addf %a, %x : f32
          affine.store %s, %A[3] : memref<12xf32>""",
    "a loop that gives something": """%r = affine.for %i = 2 to %n iter_args(%t = %x) -> f32 {
          %a = affine.load %A[3] : memref<12xf32>
          %s = arith.addf %a, %t : f32
          affine.store %s, %A[3] : memref<12xf32>
          affine.yield %s : f32
        }
        affine.if affine_set<() : (0 >= 0)>() { affine.store %r, %B[2] : memref<12xf32>""",
}


@pytest.mark.parametrize("name", GUARDED)
def test_15_what_may_not_run_is_kept_in_values_where_it_runs(name):
    before, after = replaced(f"{{ {GUARDED[name]} }} return }}")
    assert any(isinstance(op, affine.If) for op in walk(after))
    assert inside(after, affine.Load) == 0
    assert inside(after, affine.Store) == (name == "a load that may fail")
    assert assert_alike(before, after, (0, 1, 3, 4, 5, 6, 7), size=12, runs=30) == 30


def test_15_no_load_before_a_loop_in_a_parallel_one_meets_the_store_of_another_iteration():
    before, after = replaced("""{
        affine.parallel (%p) = (0) to (12) {
          affine.for %i = 0 to affine_map<(d0) -> (11 - d0)>(%p) {
            %a = affine.load %A[%i] : memref<12xf32>
            %b = affine.load %A[%i + 1] : memref<12xf32>
            %c = arith.addf %a, %b : f32
            affine.store %c, %B[%p] : memref<12xf32>
          }
        }
        return }""")  # fmt: skip
    (band,) = [op for op in walk(after) if isinstance(op, affine.Parallel)]
    assert [type(op) for op in band.body][:1] == [affine.If]
    assert not any(isinstance(op, affine.Load) for op in band.body)
    assert assert_alike(before, after, size=12) == 12


def test_a_store_that_something_else_reads_stays_in_the_loop():
    before, after = replaced("""{
        affine.for %i = 0 to 9 {
          %a = affine.load %A[4] : memref<12xf32>
          %s = arith.addf %a, %x : f32
          affine.store %s, %A[4] : memref<12xf32>
          %b = memref.load %A[%i] : memref<12xf32>
          affine.store %b, %B[%i] : memref<12xf32>
        }
        return }""".replace("memref.load %A[%i]", "affine.load %A[%i]"))  # fmt: skip
    assert inside(after, affine.Store) == 2
    assert assert_alike(before, after) == 12


def test_a_loop_without_loads():
    assert "no load stands right in its body" in refusal_of("{ affine.for %i = 0 to 9 { } return }")


def test_an_element_that_the_same_iteration_has_stored_is_not_one_of_an_earlier_iteration():
    stays = refusal_of("""{
      affine.for %i = 0 to 8 step 3 {
        affine.store %x, %A[4] : memref<12xf32>
        %a = affine.load %A[4] : memref<12xf32>
        affine.store %a, %B[%i] : memref<12xf32>
      }
      return
    }""")
    assert "affine.load of %A stays: " in stays


def test_no_loop():
    module = parsed(HEAD + "{ return }")
    with pytest.raises(ValueError, match=r"%x is no induction variable of an affine.for or scf.for of @f"):
        scalar_replace(module.functions[0], module.functions[0].args[3])


MASKED = """func.func @f(%A: memref<12xT>, %B: memref<12x12xT>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    affine.for %j = 0 to 12 step 4 {
      %w = affine.apply affine_map<(d0)[s0] -> (s0 - d0)>(%j)[%m]
      %mask = vector.create_mask %w : vector<4xi1>
      affine.for %k = 0 to %n {
        %at = affine.apply affine_map<(d0)[s0] -> (d0 + s0 - s0)>(%j)[%n]
        %none = arith.constant dense<0ZERO> : vector<4xT>
        %a = vector.maskedload %A[%at], %mask, %none : memref<12xT>, vector<4xi1>, vector<4xT> into vector<4xT>
        %b = affine.vector_load %B[%k, %j] : memref<12x12xT>, vector<4xT>
        %p = arith.MUL %b, %b : vector<4xT>
        %s = arith.ADD %a, %p : vector<4xT>
        vector.maskedstore %A[%at], %mask, %s : memref<12xT>, vector<4xi1>, vector<4xT>
      }
    }
    return }"""


@pytest.mark.parametrize(("type", "multiply", "add"), [("f32", "mulf", "addf"), ("i32", "muli", "addi")])
def test_lanes_that_a_mask_leaves_out_are_kept_and_not_stored(type, multiply, add):
    zero = ".0" if type == "f32" else ""
    before = parsed(MASKED.replace("MUL", multiply).replace("ADD", add).replace("ZERO", zero).replace("T>", f"{type}>")
                    .replace("xT", f"x{type}"))  # fmt: skip
    loops = [op for op in walk(before) if isinstance(op, affine.For)]
    after = with_fields(before, body=(scalar_replace(before.functions[0], loops[1].iv, module=before),))
    verify(after)
    assert inside(after, vector.MaskedLoad | vector.MaskedStore) == 0
    for n, m in ((0, 12), (1, 7), (5, 4), (9, 0), (9, 10), (3, 12)):
        dtype = np.dtype("float32" if type == "f32" else "int32")
        random = np.random.default_rng(n)
        A, B = random.integers(-9, 9, 12).astype(dtype), random.integers(-9, 9, (12, 12)).astype(dtype)
        assert alike([A, B, n, m], before.functions[0], after.functions[0], uninitialised="poison")


def test_a_division_of_lanes_that_a_mask_leaves_out_stays():
    text = MASKED.replace("MUL", "muli").replace("ADD", "divsi").replace("ZERO", "").replace("T>", "i32>")
    before = parsed(text.replace("xT", "xi32"))
    loops = [op for op in walk(before) if isinstance(op, affine.For)]
    with pytest.raises(IllegalTransform, match=r"arith\.divsi sees the lanes that its mask leaves out"):
        scalar_replace(before.functions[0], loops[1].iv, module=before)


def test_what_several_loads_read_and_nothing_changes_is_loaded_once_before_the_loop():
    before, after = replaced("""{
        affine.for %i = 0 to 12 {
          %a = affine.load %B[3] : memref<12xf32>
          %b = affine.load %B[3] : memref<12xf32>
          %s = arith.subf %a, %x : f32
          %p = arith.mulf %b, %s : f32
          affine.store %p, %A[%i] : memref<12xf32>
        }
        return }""")
    (loop,) = [op for op in walk(after) if isinstance(op, affine.For)]
    assert not loop.carried
    assert not inside(after, affine.Load)
    assert assert_alike(before, after) == 12


VARIABLE = """func.func @f(%A: memref<?xf32>, %B: memref<1xf32>, %x: f32, %n: index) {
  %v = memref.alloca() : memref<f32>
  affine.store %x, %v[] : memref<f32>
  affine.for %i = 0 to %n {
    %s = affine.load %v[] : memref<f32>
    %a = affine.load %A[%i] : memref<?xf32>
    %t = arith.addf %s, %a : f32
    affine.store %t, %v[] : memref<f32>
  }
  BEHIND
  return
}"""


@pytest.mark.parametrize(
    ("behind", "left"),
    [
        ("", 0),
        ("affine.store %x, %B[0] : memref<1xf32>", 0),
        ("%r = affine.load %v[] : memref<f32>\n affine.store %r, %B[0] : memref<1xf32>", 1),
        ("affine.for %k = 0 to %n { %r = affine.load %v[] : memref<f32>\n affine.store %r, %B[0] : memref<1xf32> }", 1),
    ],
)
def test_a_variable_that_nothing_reads_behind_its_loop_is_gone(behind, left):
    function = parse(VARIABLE.replace("BEHIND", behind)).functions[0]
    loop = next(op for op in walk(function) if isinstance(op, affine.For))
    made = scalar_replace(function, loop.iv)
    verify(made)
    stores = [op for op in walk(made) if isinstance(op, affine.Store) and not op.index]
    loads = [op for op in walk(made) if isinstance(op, affine.Load) and not op.index]
    assert (len(stores), len(loads)) == (2 * left, left), "of the first one and of the last one"
    for n in (0, 1, 5):
        given = np.arange(n, dtype="f4")
        found = [np.full(1, np.nan, "f4") for _ in "ab"]
        for each, out in zip((function, made), found, strict=True):
            run(each, given, out, np.float32(2), n)
        assert found[0].tobytes() == found[1].tobytes()
