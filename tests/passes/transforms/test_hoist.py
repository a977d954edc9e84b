"""affine-loop-invariant-code-motion: next to mlir-opt's where that is right, and run before and after."""

import pytest

from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk, with_fields
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_invariant_code_motion import affine_loop_invariant_code_motion
from affdsl.passes.transforms.hoist import hoist
from affdsl.passes.validation import validate
from tests.oracles import mlir_opt
from tests.passes.compare import UNKNOWN, assert_alike, parsed

NAME = "affine-loop-invariant-code-motion"
HEAD = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %m: index, %x: f32)"


def test_other_elements_are_not_in_the_way():
    before = parsed(
        HEAD
        + """{
        affine.for %i = 4 to 9 {
          %v = affine.load %A[3] : memref<9xf32>
          affine.store %v, %A[%i] : memref<9xf32>
        }
        return }"""
    )
    after = affine_loop_invariant_code_motion(before)
    assert isinstance(after.functions[0].body[0], affine.Load)
    assert assert_alike(before, after) == 12


def test_a_call_that_only_stores_leaves_what_it_is_given():
    before = parsed(
        HEAD
        + """{
        call @g(%B, %x) : (memref<9xf32>, f32) -> ()
        affine.for %i = 0 to %n {
          %b = affine.load %B[0] : memref<9xf32>
          affine.store %b, %A[%i] : memref<9xf32>
        }
        return }
        func.func private @g(%B: memref<9xf32>, %x: f32) {
          affine.for %i = 0 to 9 { affine.store %x, %B[%i] : memref<9xf32> }
          return
        }"""
    )
    after = affine_loop_invariant_code_motion(before)
    assert isinstance(after.functions[0].body[1], affine.Load)
    assert_alike(before, after)


def test_sizes_that_the_function_promises_prove_a_load():
    text = """func.func @f(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0] -> (s0 + 2)>},
                           %B: memref<?xf32> {affdsl.shape = affine_map<()[s0] -> (SIZE)>}) {
      affine.for %i = 0 to %N {
        %b = affine.load %B[1] : memref<?xf32>
        affine.store %b, %A[%i] : memref<?xf32>
      }
      return }"""
    (safe,) = affine_loop_invariant_code_motion(parsed(text.replace("SIZE", "7"))).functions
    assert isinstance(safe.body[0], affine.Load)
    (unsafe,) = affine_loop_invariant_code_motion(parsed(text.replace("SIZE", "s0 + 1"))).functions
    assert isinstance(unsafe.body[0], affine.For)


@pytest.mark.parametrize(("first", "moves"), [
    ("affine.store %x, %t[] : memref<f32>", True),
    ("affine.store %x, %t[] : memref<f32> memref.dealloc %t : memref<f32>", False),
    ("affine.if affine_set<()[n] : (n - 3 >= 0)>()[%n] { affine.store %x, %t[] : memref<f32> }", False),
    ("", False),
])  # fmt: skip
def test_a_variable_that_certainly_has_a_value_is_loaded_though_the_loop_may_not_run(first, moves):
    """So what divides a row is loaded before the loop along it."""
    function = parsed(f"""func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {{
      %t = memref.alloc() : memref<f32>
      {first}
      affine.for %i = 0 to %n {{
        %a = affine.load %t[] : memref<f32>
        affine.store %a, %A[%i] : memref<?xf32>
      }}
      return }}""")
    (after,) = affine_loop_invariant_code_motion(function).functions
    assert any(isinstance(op, affine.Load) for op in after.body) == moves


@pytest.mark.parametrize(("lanes", "first", "stored", "moves"), [
    (3, 6, "%B", True), (3, 7, "%B", False), (0, 9, "%B", True), (9, 5, "%B", True), (9, 6, "%B", False),
    (-1, 9, "%B", True), ("%n", 5, "%B", True), ("%n", 6, "%B", False), (3, 6, "%A", False),
])  # fmt: skip
def test_a_masked_load_moves_where_the_lanes_that_are_set_lie_in_the_array(lanes, first, stored, moves):
    """Since the loop may not run; and not where the loop stores what is loaded."""
    count = lanes if isinstance(lanes, str) else f"%c{abs(lanes)}"
    function = parsed(f"""{HEAD} {{
      %c{abs(lanes) if isinstance(lanes, int) else 0} = arith.constant {lanes if isinstance(lanes, int) else 0} : index
      %at = arith.constant {first} : index
      %none = arith.constant dense<0.0> : vector<4xf32>
      affine.for %i = 0 to %n {{
        %mask = vector.create_mask {count} : vector<4xi1>
        %v = vector.maskedload %A[%at], %mask, %none : memref<9xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
        %one = vector.extract %v[0] : f32 from vector<4xf32>
        affine.store %one, {stored}[%i] : memref<9xf32>
      }}
      return }}""")
    (before,) = function.functions
    (loop,) = (op for op in before.body if isinstance(op, affine.For))
    after = hoist(before, loop.iv)
    assert any(isinstance(op, vector.MaskedLoad) for op in after.body) == moves
    validate(function, with_fields(function, functions=(after,)))


BESIDE = """{{
    affine.for %t = 0 to %m {{
      {0}
      affine.for %i = 0 to %n {{
        %b = affine.load %B[-%t + 8] : memref<9xf32>
        affine.store %b, %A[%i] : memref<9xf32>
      }}
      {1}
    }}
    return }}"""


@pytest.mark.parametrize(
    ("before", "behind", "moves"),
    [
        ("", "", False),
        ("affine.store %x, %A[%t] : memref<9xf32>", "", True),
        ("", "affine.store %x, %A[%t] : memref<9xf32>", True),
        ("affine.store %x, %A[%t floordiv 2] : memref<9xf32>", "", False),
        ("affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%t) { affine.store %x, %A[%t] : memref<9xf32> }", "", False),
        ("", '"test.stop"() : () -> () affine.store %x, %A[%t] : memref<9xf32>', False),
    ],
)
def test_accesses_that_certainly_run_say_where_an_iteration_is(before, behind, moves):
    """Where they are out of bounds the program has no meaning, so the load need not be in bounds either."""
    function = parsed(HEAD + BESIDE.format(before, behind))
    after = affine_loop_invariant_code_motion(function)
    (outer,) = [op for op in after.functions[0].body if isinstance(op, affine.For)]
    assert any(isinstance(op, affine.Load) for op in outer.body) == moves
    if "test" not in before + behind:
        assert_alike(function, after)


def test_mlir_opt_moves_a_store_out_of_a_loop_that_may_not_run():
    """As in a random program, of which it moves one operation more: that one is wrong."""
    text = (
        HEAD
        + """{
      affine.for %t = 0 to %m {
        affine.store %x, %B[%t] : memref<9xf32>
        affine.for %i = max affine_map<() -> (-3, 9)>() to affine_map<()[s0] -> (s0 + 2)>()[%n] {
          affine.store %x, %A[%t + 2] : memref<9xf32>
        }
      }
      return }"""
    )
    before = parsed(text)
    assert affine_loop_invariant_code_motion(before) is before
    theirs = parsed(mlir_opt(text, UNKNOWN, f"--{NAME}"))
    failure = validate(before, theirs).failure
    assert failure is not None
    assert "A[2]" in failure.what


def test_places_and_names_stay():
    before = parsed(
        HEAD
        + """{
        affine.for %i = 0 to 9 {
          %sum = arith.addf %x, %x : f32 loc("a":7:1)
          affine.store %sum, %A[%i] : memref<9xf32>
        } loc("a":1:2)
        return }"""
    )
    after = affine_loop_invariant_code_motion(before).functions[0]
    old, new = before.functions[0].body[0], after.body[1]
    assert (new.iv, new.location) == (old.iv, old.location)
    assert after.body[0] is old.body[0]


def first_loop(text):
    module = parsed(HEAD + text)
    return module, next(op for op in walk(module) if isinstance(op, affine.For))


def test_hoist_leaves_other_loops_alone():
    module, loop = first_loop("""{
        affine.for %i = 0 to 9 {
          %u = arith.addf %x, %x : f32
          affine.for %j = 0 to 9 {
            %v = arith.mulf %u, %x : f32
            affine.store %v, %A[%j] : memref<9xf32>
          }
          affine.store %u, %B[%i] : memref<9xf32>
        }
        return }""")
    function = hoist(module.functions[0], loop.iv, module=module)
    inner = loop.body[1]
    assert function.body[0] is loop.body[0]
    assert function.body[1] is inner  # with what could move out of it
    assert function.body[2].iv is loop.iv
    assert function.body[2].body == (loop.body[2],)
    after = with_fields(module, body=(function,))
    assert assert_alike(module, after) == 12


def test_hoist_says_why_nothing_moves():
    module, loop = first_loop("""{
        affine.for %i = 0 to %n {
          affine.store %x, %A[3] : memref<9xf32> loc("k.py":4:1)
          %v = affine.load %B[%i] : memref<9xf32> loc("k.py":5:1)
          affine.store %v, %B[0] : memref<9xf32> loc("k.py":6:1)
          %w = memref.load %B[%n] : memref<9xf32> loc("k.py":7:1)
        } loc("k.py":3:1)
        return }""")
    with pytest.raises(IllegalTransform) as caught:
        hoist(module.functions[0], loop.iv, module=module)
    assert str(caught.value).splitlines() == [
        "k.py:3: cannot hoist anything out of loop i",
        "    affine.store of %A at k.py:4 stays: the loop may not run, and what it does may show or fail",
        "    affine.load of %B at k.py:5 stays: it uses %i, which the loop defines",
        "    affine.store of %B at k.py:6 stays: it uses %v, which the loop defines",
        "    memref.load of %B at k.py:7 stays: memref.load is not moved",
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "affine.store %x, %A[3] : memref<9xf32> affine.store %x, %A[%i] : memref<9xf32>",
            (
                "affine.store of %A stays: it writes elements of A that affine.store of %A writes, "
                "e.g. A[3] in i = 0 and i = 3"
            ),
        ),
        (
            """affine.store %x, %A[%i] : memref<9xf32> %v = affine.load %A[0] : memref<9xf32>
            memref.store %v, %B[%i] : memref<9xf32>""",
            "affine.load of %A stays: it reads elements of A that affine.store of %A writes, e.g. A[0] in i = 0",
        ),
        (
            """"test.stop"() : () -> () affine.store %x, %A[3] : memref<9xf32>""",
            "affine.store of %A stays: it writes elements of A that test.stop reads, or may",
        ),
        (
            """%T = memref.alloc() : memref<9xf32> "test.stop"() : () -> () %q = arith.divsi %n, %m : index""",
            "arith.divsi stays: test.stop, which comes first, may not return",
        ),
    ],
)
def test_hoist_says_what_is_in_the_way(body, reason):
    module, loop = first_loop(f"{{ affine.for %i = 0 to 9 {{ {body} }} return }}")
    with pytest.raises(IllegalTransform) as caught:
        hoist(module.functions[0], loop.iv, module=module)
    assert reason in str(caught.value).replace(" at <mlir>:1", "")


def test_hoist_of_no_loop():
    module, _ = first_loop("{ affine.for %i = 0 to 9 { } return }")
    with pytest.raises(ValueError, match=r"%x is no induction variable of an affine.for or scf.for of @f"):
        hoist(module.functions[0], module.functions[0].args[4], module=module)
