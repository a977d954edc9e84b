"""Two loops become one, at a shift, where every value arrives as before; refusals name the shift that is legal."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.fuse.loops import fuse
from affdsl.passes.transforms.reverse import reverse
from tests.effort import TRIES_ALL
from tests.harness import reading
from tests.harness.reading import by_name, loops
from tests.passes.advice.asked import asked

ARGUMENTS = "%A: memref<?xi64>, %B: memref<?xi64>, %n: index, %m: index"
SMALL = (-1, 0, 1, 2, 3, 5, 8)
CHAIN = """affine.for %i = {first} {{
    %a = affine.load %A[%i + 20] : memref<?xi64>
    %b = arith.muli %a, %three : i64
    %c = arith.addi %b, %k : i64
    affine.store %c, %A[%i + 21] : memref<?xi64>
  }}
  affine.for %j = {second} {{
    %a = affine.load %B[%j + 20] : memref<?xi64>
    %b = arith.muli %a, %five : i64
    %d = arith.addi %b, %k : i64
    affine.store %d, %B[%j + 21] : memref<?xi64>
  }}"""
CONSTANTS = "%three = arith.constant 3 : i64\n%five = arith.constant 5 : i64\n%k = arith.constant 7 : i64\n"
N, M = "affine_map<()[s0, s1] -> (s0, s1 + 2)>()[%n, %m]", "affine_map<()[s0, s1] -> (s0 - 1, s1)>()[%n, %m]"
RANGES = {
    "the same": ("0 to %n", "0 to %n"),
    "one ends later": ("0 to %n", "0 to affine_map<()[s0] -> (s0 + 1)>()[%n]"),
    "unknown ends": ("0 to %n", "0 to %m"),
    "unknown starts": ("%m to %n", "0 to %n"),
    "nothing known": ("%m to %n", "affine_map<()[s0] -> (s0 * 2 - 7)>()[%m] to 11"),
    "several ends": (f"0 to min {N}", f"1 to min {M}"),
    "several starts": (f"max {M} to 9", f"max {N} to 8"),
    "numbers": ("2 to 5", "0 to 9"),
    "steps": ("1 to %n step 3", "4 to %m step 3"),
    "steps apart": ("%m to %n step 2", "affine_map<()[s0] -> (s0 + 4)>()[%m] to 7 step 2"),
}
OPEN = ("unknown ends", "unknown starts", "nothing known", "steps", "steps apart")
"""Ranges of which no one knows which is first."""


def read(body: str, arguments: str = ARGUMENTS) -> func.Func:
    return reading.read(body, arguments)


def pair(function: func.Func) -> tuple[Value, Value]:
    return by_name(function, "i"), by_name(function, "j")


def headers(function: func.Func) -> list[str]:
    """The loops and conditions of a function, in its order."""
    verify(function)
    return re.findall(r"affine\.(?:for|if).*(?= \{)", print_op(function))


def assert_alike(before: func.Func, after: func.Func, sizes=SMALL, seed: int = 1) -> None:
    """Both leave the same in their arrays for all sizes."""
    verify(after)
    for numbers in itertools.product(sizes, repeat=2):
        arrays = [np.random.default_rng(seed).integers(0, 99, 60) for _ in range(2)]
        wanted, found = ([a.copy() for a in arrays] for _ in range(2))
        returned = run(before, *wanted, *numbers), run(after, *found, *numbers)
        assert returned[0] == returned[1], numbers
        assert all(map(np.array_equal, wanted, found)), f"{numbers}\n{after}"


def test_loops_over_the_same_numbers_are_one():
    f = read(CONSTANTS + CHAIN.format(first="0 to %n", second="0 to %n"))
    made = fuse(f, *pair(f))
    assert headers(made) == ["affine.for %i = 0 to %n"]
    assert loops(made)[0].iv is by_name(f, "i")
    assert_alike(f, made)


SHIFTS = (-3, -1, 0, 1, 2, 6)
IN_TURN = [(shift, name) for k, name in enumerate(RANGES) for shift in (SHIFTS if TRIES_ALL else SHIFTS[k % 2 :: 2])]
"""Unless all is tried, ranges take turns at the shifts."""


@pytest.mark.parametrize(("shift", "name"), IN_TURN)
def test_each_iteration_runs_once_and_in_order_whatever_the_ranges(name: str, shift: int):
    first, second = RANGES[name]
    f = read(CONSTANTS + CHAIN.format(first=first, second=second))
    if "step" in name:
        shift *= 6
    if (name, shift) == ("steps apart", -18) or (name, shift) == ("numbers", 6):
        return  # no iteration is in both
    assert_alike(f, fuse(f, *pair(f), shift=shift))
    if name in OPEN:
        with pytest.raises(IllegalTransform, match="which of them begins first, or ends last, is not known"):
            fuse(f, *pair(f), shift=shift, guarded=True)
        return
    guarded = fuse(f, *pair(f), shift=shift, guarded=True)
    assert sum("for" in each for each in headers(guarded)) == 1
    assert_alike(f, guarded)


def test_the_time_order_of_the_parts_is_that_of_the_shift():
    """Both loops make a hash of the numbers of all iterations: every other order shows."""
    text = """affine.for %i = %n to %m {
        %h = affine.load %A[0] : memref<?xi64>
        %g = arith.muli %h, %three : i64
        %x = arith.index_cast %i : index to i64
        %y = arith.addi %g, %x : i64
        affine.store %y, %A[0] : memref<?xi64>
      }
      affine.for %j = 1 to 4 {
        %h = affine.load %B[0] : memref<?xi64>
        %g = arith.muli %h, %five : i64
        %x = arith.index_cast %j : index to i64
        %y = arith.addi %g, %x : i64
        affine.store %y, %B[0] : memref<?xi64>
      }"""
    f = read(CONSTANTS + text)
    for shift in (-5, 0, 1, 7):
        assert_alike(f, fuse(f, *pair(f), shift=shift))


def test_one_loop_goes_as_far_as_one_may_go_beyond_the_other():
    f = read(
        CONSTANTS
        + "affine.for %x = 0 to %n {"
        + CHAIN.format(first="0 to affine_map<(d0) -> (d0)>(%x)", second="-1 to 3")
        + "}"
    )
    made = fuse(f, *pair(f), guarded=True)
    assert headers(made)[1] == "affine.for %i = -1 to affine_map<(d0) -> (d0 + 3)>(%x)"
    assert_alike(f, made)


def test_a_shift_may_be_a_symbol():
    f = read(CONSTANTS + CHAIN.format(first="0 to %n", second="0 to %n"))
    made = fuse(f, *pair(f), shift=f.args[3] + 1)
    assert "affine.for %i = max affine_map<()[s0] -> (0, s0 + 1)>()[%m]" in print_op(made)
    assert_alike(f, made)


STENCIL = """affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
    %a = affine.load %A[%i - 1] : memref<?xi64>
    %b = affine.load %A[%i + 1] : memref<?xi64>
    %c = arith.addi %a, %b : i64
    affine.store %c, %B[%i] : memref<?xi64>
  }
  affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
    %a = affine.load %B[%j - 1] : memref<?xi64>
    %b = affine.load %B[%j + 1] : memref<?xi64>
    %c = arith.addi %a, %b : i64
    affine.store %c, %A[%j] : memref<?xi64>
  }"""


def test_a_stencil_is_refused_with_two_iterations_and_the_least_shift():
    f = read(STENCIL)
    with pytest.raises(IllegalTransform) as refused:
        asked("fuse", f, *pair(f))
    assert str(refused.value) == (
        "k.mlir:2: cannot fuse loops i and j\n"
        "    the load A[i - 1] at line 3 must come before the store A[j] at line 12,\n"
        "    e.g. i = 2 reads A[1], which j = 1 writes (for n = 4); the new order does not run them in this order\n"
        "    legal: the same with shift=1"
    )
    assert_alike(f, fuse(f, *pair(f), shift=1))
    assert_alike(f, fuse(f, *pair(f), shift=1, guarded=True))


@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize(("turn", "far"), [(1, 0), (1, 3), (1, -2), (2, 5), (-1, 9)])
def test_the_least_shift_is_that_of_brute_force(factor: int, turn: int, far: int):
    text = f"""%v = arith.constant 1 : i64
      affine.for %i = 0 to 6 {{ affine.store %v, %A[%i * {factor} + 10] : memref<?xi64> }}
      affine.for %j = 0 to 6 {{
        %a = affine.load %A[%j * {turn} + {far + 10}] : memref<?xi64>
        affine.store %a, %B[%j] : memref<?xi64>
      }}"""
    f = read(text)
    pairs = [(i, j) for i in range(6) for j in range(6) if i * factor == j * turn + far]
    wanted = max((i - j for i, j in pairs), default=-9)
    for shift in range(-7, 8):
        if shift >= wanted:
            if abs(shift) <= 5:
                fuse(f, *pair(f), shift=shift)
        else:
            with pytest.raises(IllegalTransform) as refused:
                asked("fuse", f, *pair(f), shift=shift)
            witness = refused.value.witness
            assert witness is not None
            (i,), (j,) = witness.source, witness.sink
            assert (i, j) in pairs
            assert j + shift < i
            if wanted < 6:
                assert refused.value.alternative == f"the same with shift={wanted}"


def test_no_constant_shift_is_proposed_where_none_is_legal():
    f = read("""%v = arith.constant 1 : i64
      affine.for %i = 0 to %n { affine.store %v, %A[%i] : memref<?xi64> }
      affine.for %j = 0 to %n {
        %a = affine.load %A[-%j + symbol(%n) - 1] : memref<?xi64>
        affine.store %a, %B[%j] : memref<?xi64>
      }""")
    with pytest.raises(IllegalTransform) as refused:
        asked("fuse", f, *pair(f))
    assert refused.value.alternative == "reverse(func, j) first"
    assert_alike(f, fuse(f, *pair(f), shift=f.args[2] - 1))
    assert_alike(f, fuse(reverse(f, pair(f)[1]), *pair(f)))


def test_an_interchange_is_proposed_where_a_nest_reads_in_another_order():
    f = read(
        """%v = arith.constant 1 : i64
      affine.for %i = 0 to %n { affine.for %k = 0 to %m { affine.store %v, %A[%i, %k] : memref<?x?xi64> } }
      affine.for %j = 0 to %m { affine.for %l = 0 to %n {
        %a = affine.load %A[%l, %j] : memref<?x?xi64>
        affine.store %a, %B[%l, %j] : memref<?x?xi64>
      } }""",
        "%A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %m: index",
    )
    with pytest.raises(IllegalTransform) as refused:
        asked("fuse", f, *pair(f))
    assert refused.value.alternative == "interchange(func, j, l) and fuse(func, i, l)"


def test_what_loops_carry_is_carried_together():
    text = """%s = affine.for %i = 0 to %n iter_args(%p = %three) -> (i64) {
        %a = affine.load %A[%i] : memref<?xi64>
        %b = arith.muli %p, %five : i64
        %c = arith.addi %b, %a : i64
        affine.yield %c : i64
      }
      %t:2 = affine.for %j = 1 to %m iter_args(%p = %five, %q = %k) -> (i64, i64) {
        %a = affine.load %B[%j] : memref<?xi64>
        %b = arith.muli %p, %three : i64
        %c = arith.addi %b, %a : i64
        affine.yield %q, %c : i64, i64
      }
      return %s, %t#0, %t#1 : i64, i64, i64"""
    f = reading.function(f"func.func @f({ARGUMENTS}) -> (i64, i64, i64) {{\n{CONSTANTS}{text} }}")
    for shift in (-2, -1, 0, 1, 3):
        assert_alike(f, fuse(f, *pair(f), shift=shift))
    bounded = f"{CONSTANTS}{text.replace('1 to %m', '1 to %n')} }}"
    g = reading.function(f"func.func @f({ARGUMENTS}) -> (i64, i64, i64) {{\n{bounded}")
    for shift in (-1, 0, 2):
        made = fuse(g, *pair(g), shift=shift, guarded=True)
        assert len(loops(made)) == 1
        assert_alike(g, made)


def test_a_start_that_the_first_loop_yields_is_refused():
    f = read(
        CONSTANTS
        + """%s = affine.for %i = 0 to %n iter_args(%p = %three) -> (i64) {
        %c = arith.muli %p, %five : i64
        affine.yield %c : i64
      }
      %r = arith.addi %s, %k : i64
      affine.for %j = 0 to %n { affine.store %r, %B[%j] : memref<?xi64> }"""
    )
    with pytest.raises(IllegalTransform, match="the loop j uses %r, which is known only after the loop i"):
        fuse(f, *pair(f))


BETWEEN = """affine.for %i = 0 to %n {{ affine.store %three, %A[%i] : memref<?xi64> }}
    %early = arith.constant 11 : i64
    affine.store %early, %B[{early}] : memref<?xi64>
    %late = affine.load %A[0] : memref<?xi64>
    affine.store %late, %B[{late}] : memref<?xi64>
    affine.for %j = 0 to %n {{ affine.store %early, %B[%j + 2] : memref<?xi64> }}"""


def test_what_stands_between_moves_before_or_behind():
    f = read(CONSTANTS + BETWEEN.format(early=2, late=0))
    made = fuse(f, *pair(f))
    assert_alike(f, made)
    assert [op.name for op in made.body[-4:]] == ["affine.store", "affine.for", "affine.load", "affine.store"]


def test_what_stands_between_and_can_move_nowhere_is_refused():
    f = read(CONSTANTS + BETWEEN.format(early=0, late=2))
    with pytest.raises(IllegalTransform) as refused:
        fuse(f, *pair(f))
    assert "the store B[2] at line 9 is overwritten by the store B[j + 2] at line 10" in str(refused.value)


def test_conditions_around_loops_are_asked_inside():
    f = read(
        CONSTANTS
        + """affine.for %t = 0 to %n {
        affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%t) {
          affine.for %i = 0 to 9 { affine.store %three, %A[%i + %t] : memref<?xi64> }
        }
        affine.if affine_set<(d0) : (-d0 + 3 >= 0)>(%t) {
          affine.for %j = 0 to 9 {
            %a = affine.load %A[%j + %t] : memref<?xi64>
            affine.store %a, %B[%j + %t] : memref<?xi64>
          }
        }
      }"""
    )
    made = fuse(f, *pair(f))
    assert len(loops(made)) == 2
    assert_alike(f, made)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { } }", "stands in another block"),
        ("affine.for %j = 0 to 9 { }\naffine.for %i = 0 to 9 { }", "runs before the loop i; name it first"),
        ("affine.for %i = 0 to 9 { }\naffine.for %j = 0 to 9 step 2 { }", "one runs in steps of 1, the other of 2"),
        ("affine.for %i = 0 to 9 step 2 { }\naffine.for %j = 1 to 9 step 2 { }", "not known that they meet"),
        ("affine.for %i = 0 to 3 { }\naffine.for %j = 5 to 9 { }", "no iteration in common"),
        (f"affine.for %i = max {N} to 9 step 2 {{ }}\naffine.for %j = 1 to 9 step 2 {{ }}", "largest of several"),
    ],
)
def test_what_cannot_be_one_loop_is_refused(body: str, words: str):
    f = read(body)
    with pytest.raises(IllegalTransform, match=words):
        fuse(f, *pair(f))


def test_a_shift_must_be_known_before_the_loops():
    f = read("""affine.for %i = 0 to %n { }
      %x = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%n]
      affine.for %j = 0 to %n { }""")
    with pytest.raises(IllegalTransform, match="x is not known before the loops"):
        fuse(f, *pair(f), shift=f.body[1].result)
    with pytest.raises(IllegalTransform, match="they are one loop already"):
        fuse(f, pair(f)[0], pair(f)[0])


def test_calls_keep_their_order():
    module = parse("""func.func private @print(i64)
      func.func @f(%n: index, %x: i64) {
        affine.for %i = 0 to %n { func.call @print(%x) : (i64) -> () }
        affine.for %j = 0 to %n { func.call @print(%x) : (i64) -> () }
        return
      }""")
    f = module.functions[-1]
    with pytest.raises(IllegalTransform, match="may do anything"):
        fuse(f, *pair(f), module=module)


PARALLEL = """affine.parallel (%i, %k) = (0, 1) to (symbol(%n), 4) {{
    %v = arith.constant 3 : i64
    affine.store %v, %A[%i, %k + 1] : memref<?x?xi64>
  }}
  affine.parallel (%j, %l) = (0, 1) to (symbol(%n), 4) {{
    %a = affine.load %A[{read}] : memref<?x?xi64>
    affine.store %a, %B[%l, %j] : memref<?x?xi64>
  }}"""


def of_parallel(read_at: str) -> tuple[func.Func, list[Value]]:
    text = PARALLEL.format(read=read_at)
    f = read(text, "%A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %m: index")
    return f, [op.ivs[0] for op in f.body if isinstance(op, affine.Parallel)]


def test_parallel_loops_over_the_same_points_are_one():
    f, ivs = of_parallel("%j, %l + 1")
    made = fuse(f, *ivs)
    verify(made)
    assert sum(isinstance(op, affine.Parallel) for op in made.body) == 1
    for order in ("forward", "reverse"):
        arrays = [np.arange(64).reshape(8, 8) * k for k in (1, 2)]
        wanted, found = ([a.copy() for a in arrays] for _ in range(2))
        run(f, *wanted, 5, 0)
        run(made, *found, 5, 0, order=order)
        assert all(map(np.array_equal, wanted, found))


@pytest.mark.parametrize("read_at", ["%j, %l", "%j, %l + 2", "%j + 1, %l + 1", "%j, 3"])
def test_parallel_loops_whose_points_depend_on_others_are_refused(read_at: str):
    f, ivs = of_parallel(read_at)
    with pytest.raises(IllegalTransform, match=r"e\.g\. \(i, k\) = ") as refused:
        fuse(f, *ivs)
    assert refused.value.witness is not None
    assert refused.value.witness.source != refused.value.witness.sink


def test_parallel_loops_are_not_shifted_or_mixed_with_others():
    f, ivs = of_parallel("%j, %l + 1")
    with pytest.raises(IllegalTransform, match="without a shift, where their bounds and steps are equal"):
        fuse(f, *ivs, shift=1)
    with pytest.raises(IllegalTransform, match="they are one loop already"):
        fuse(f, ivs[0], ivs[0])
    with pytest.raises(IllegalTransform, match="does not stand behind the first one"):
        fuse(f, *reversed(ivs))
    g = read("affine.parallel (%i) = (0) to (9) { }\naffine.for %j = 0 to 9 { }")
    with pytest.raises(IllegalTransform, match="one of them is parallel, and the other has an order"):
        fuse(g, g.body[0].ivs[0], g.body[1].iv)


AROUND = {
    "scf.if": "%c = arith.cmpi slt, %n, %m : index\nscf.if %c { BODY }",
    "else": """affine.if affine_set<()[s0] : (2 - s0 >= 0)>()[%n] {
      affine.store %k, %A[3] : memref<?xi64>
    } else { BODY }""",
    "scf.for": "%z = arith.constant 0 : index\n%o = arith.constant 1 : index\nscf.for %t = %z to %n step %o { BODY }",
    "parallel": "affine.parallel (%t) = (0) to (1) { BODY }",
    "carrying": """%r = affine.for %t = 0 to 3 iter_args(%w = %k) -> (i64) { BODY
      affine.yield %w : i64 }""",
}


@pytest.mark.parametrize("around", AROUND)
def test_loops_may_stand_in_any_block(around: str):
    body = """affine.for %i = 0 to %n { affine.store %k, %A[%i] : memref<?xi64> }
      affine.for %j = 1 to 5 {
        %q = affine.load %A[%j + 1] : memref<?xi64>
        affine.store %q, %B[%j] : memref<?xi64>
      }"""
    f = read(CONSTANTS + AROUND[around].replace("BODY", body))
    assert_alike(f, fuse(f, *pair(f), shift=1))
    with pytest.raises(IllegalTransform, match=r"feeds the load A\[j \+ 1\]"):
        fuse(f, *pair(f))
