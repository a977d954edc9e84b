"""Reductions: what is one, of which kind, and everything that only looks like one."""

from __future__ import annotations

import itertools
from contextlib import suppress

import numpy as np
import pytest

from affdsl.ir import semantics
from affdsl.ir.dialects import affine, scf
from affdsl.ir.numeric import number_of, quiet, to_bits
from affdsl.ir.traverse import walk
from affdsl.ir.types import F16, I8
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import reduction as under_test
from affdsl.passes.analysis.combining import COMBINERS, EXTREMES, Chains
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reduction import ROUNDED, Reduction, Reductions
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.unroll import unroll
from tests.effort import some
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir


def reductions(text: str) -> Reductions:
    module = parse(text)
    verify(module)
    return Reductions(Dependences(module.functions[0], module))


def carried(body: str, type: str = "f32", extra: str = "") -> Reduction | None:
    """The reduction of a loop that carries %s and yields %r; %x and %y are other numbers, %p a condition."""
    text = f"""
        func.func @f(%A: memref<?x{type}>, %B: memref<?x{type}>, %n: index, %x: {type}, %y: {type}, %p: i1) -> {type} {{
          %q = affine.for %i = 0 to %n iter_args(%s = %x) -> {type} {{
            %a = affine.load %A[%i] : memref<?x{type}>
            {body}
            affine.yield %r : {type}
          }}
          {extra}
          return %q : {type}
        }}"""
    found = reductions(text)
    (loop,) = (op for op in found.dependences.accesses.function.body if isinstance(op, affine.For))
    return found.carried(loop, 0)


def in_memory(body: str, type: str = "f32", bounds: str = "0 to %n") -> tuple[list[str], int]:
    """The reductions of a loop over %i, and how many dependences that it carries are no part of one."""
    text = f"""
        func.func @f(%A: memref<?x{type}>, %C: memref<?x{type}>, %I: memref<?xindex>, %n: index, %x: {type}, %p: i1) {{
          affine.for %i = {bounds} {{
            {body}
          }}
          return
        }}""".replace("@M", f"memref<?x{type}>")
    found = reductions(text)
    (loop,) = (op for op in found.dependences.accesses.function.body if isinstance(op, affine.For))
    ours, rest = found.in_memory(loop.iv)
    return [str(each) for each in ours], len(rest)


NUMBERS = (0.0, -0.0, 1.0, -1.5, 0.1, 3e4, -3e4, 6e-8, -6e-8, float("inf"), float("-inf"), float("nan"))


def bits(number: object, type: object) -> object:
    """A number to the last bit; all NaN are one."""
    return "nan" if number != number else to_bits(number, type)


def of_floats() -> list[str]:
    return sorted({kind for kind, _ in COMBINERS.values() if kind.endswith("f")})


def of_integers() -> list[str]:
    return sorted({kind for kind, _ in COMBINERS.values() if not kind.endswith("f")})


@pytest.mark.parametrize("kind", of_floats())
def test_a_kind_of_floats_is_commutative_and_associative_unless_it_rounds(kind: str) -> None:
    combine = semantics.binary(kind, F16)
    associates = True
    with quiet():
        for a, b, c in itertools.product([number_of(x, F16) for x in NUMBERS], repeat=3):
            assert bits(combine(a, b), F16) == bits(combine(b, a), F16)
            associates &= bits(combine(combine(a, b), c), F16) == bits(combine(a, combine(b, c)), F16)
    assert associates == (kind not in ROUNDED)


@pytest.mark.parametrize("kind", of_integers())
def test_a_kind_of_integers_is_commutative_and_associative(kind: str) -> None:
    combine = semantics.binary(kind, I8)
    assert kind not in ROUNDED
    for a, b, c in itertools.product((0, 1, -1, 5, -7, 100, 127, -128), repeat=3):
        assert combine(a, b) == combine(b, a)
        assert combine(combine(a, b), c) == combine(a, combine(b, c))


def test_to_subtract_is_to_add_the_negative_to_the_last_bit() -> None:
    """So s - x1 - x2 is s + (-x1) + (-x2), and x may be on the right only."""
    minus, plus, negative = (semantics.binary("subf", F16), semantics.binary("addf", F16), semantics.unary("negf", F16))
    with quiet():
        for a, b in itertools.product([number_of(x, F16) for x in NUMBERS], repeat=2):
            assert bits(minus(a, b), F16) == bits(plus(a, negative(b)), F16)
    for a, b in itertools.product(range(-128, 128, 5), repeat=2):
        assert semantics.binary("subi", I8)(a, b) == semantics.binary("addi", I8)(a, semantics.binary("subi", I8)(0, b))


def test_a_comparison_and_a_choice_are_the_extreme_that_the_table_says() -> None:
    for predicate, kind in EXTREMES.items():
        test, extreme = semantics.compare(predicate, I8), semantics.binary(kind, I8)
        for a, b in itertools.product(range(-128, 128, 3), repeat=2):
            assert (a if test(a, b) else b) == extreme(a, b)


def test_for_floats_they_are_none() -> None:
    """A NaN stays, or is lost, as it comes first or last: that is why cmpf is not followed."""
    test = semantics.compare("ogt", F16)

    def larger(a: np.floating, b: np.floating) -> np.floating:
        return a if test(a, b) else b

    nan, one = number_of(float("nan"), F16), number_of(1.0, F16)
    assert bits(larger(one, nan), F16) != bits(larger(nan, one), F16)


@pytest.mark.parametrize("kind", sorted(COMBINERS))
def test_every_kind_through_a_number(kind: str) -> None:
    type = "f32" if kind.endswith("f") else "i32"
    wanted, side = COMBINERS[kind]
    for left, right in (("%s", "%a"), ("%a", "%s")):
        found = carried(f"%r = arith.{kind} {left}, {right} : {type}", type)
        if left == "%a" and side == "left":
            assert found is None
            continue
        assert found is not None
        assert (found.kind, len(found.steps), found.needs_reassociation) == (wanted, 1, wanted in ("addf", "mulf"))
        assert found.value is not None
        assert found.value.hint == "s"


ONE = """%b = affine.load %B[%i] : memref<?xf32>
         %m = arith.mulf %a, %b : f32"""


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("%b = arith.addf %s, %a : f32\n %r = arith.addf %x, %b : f32", 2),
        ("%b = arith.addf %s, %a : f32\n %r = arith.subf %b, %x : f32", 2),
        ("%b = arith.addf %x, %a : f32\n %r = arith.addf %s, %b : f32", 1),
        (f"{ONE}\n %r = arith.addf %s, %m : f32", 1),
        ("%r = math.fma %a, %x, %s : f32", 1),
        # Some iterations leave it as it is, or combine something else.
        ("%b = arith.addf %s, %a : f32\n %r = arith.select %p, %b, %s : f32", 1),
        ("%b = arith.addf %s, %a : f32\n %c = arith.addf %s, %x : f32\n %r = arith.select %p, %b, %c : f32", 2),
        ("""%r = scf.if %p -> f32 {
              %b = arith.addf %s, %a : f32
              scf.yield %b : f32
            } else { scf.yield %s : f32 }""", 1),
        ("""%r = affine.if affine_set<(d) : (d mod 2 == 0)>(%i) -> f32 {
              %b = arith.addf %a, %s : f32
              affine.yield %b : f32
            } else {
              %c = arith.subf %s, %x : f32
              affine.yield %c : f32
            }""", 2),
        # A loop inside goes on with it.
        ("""%r = affine.for %j = 0 to %n iter_args(%t = %s) -> f32 {
              %b = arith.addf %t, %a : f32
              affine.yield %b : f32
            }""", 1),
        ("""%c = arith.addf %s, %y : f32
            %d = affine.for %j = 0 to %n iter_args(%t = %c) -> f32 {
              %b = arith.subf %t, %a : f32
              affine.yield %b : f32
            }
            %r = arith.addf %d, %x : f32""", 3),
    ],
)  # fmt: skip
def test_sums(body: str, steps: int) -> None:
    found = carried(body)
    assert found is not None
    assert (str(found), len(found.steps)) == ("addf of %s, rounded", steps)


@pytest.mark.parametrize(
    "body",
    [
        "%r = arith.addf %s, %s : f32",  # 2 * s
        "%b = arith.addf %s, %a : f32\n %r = arith.mulf %b, %x : f32",  # another kind
        "%b = arith.mulf %s, %a : f32\n %r = arith.addf %b, %x : f32",  # Horner's rule
        "%b = arith.mulf %s, %a : f32\n %r = arith.addf %s, %b : f32",  # s + s * a
        "%r = arith.subf %a, %s : f32",
        "%r = arith.divf %s, %a : f32",
        "%r = math.exp %s : f32",
        "%r = arith.addf %x, %a : f32",  # s is not in it
        "%r = arith.negf %s : f32",
        "%r = math.fma %s, %a, %x : f32",
        "%r = math.fma %s, %a, %s : f32",
        # seen on the way
        "%r = arith.addf %s, %a : f32\n affine.store %r, %B[%i] : memref<?xf32>",
        "%r = arith.addf %s, %a : f32\n affine.store %s, %B[%i] : memref<?xf32>",
        "%b = arith.addf %s, %a : f32\n affine.store %b, %B[%i] : memref<?xf32>\n %r = arith.addf %b, %x : f32",
        # a condition that depends on it: as long as the sum is small
        """%c = arith.cmpf olt, %s, %x : f32
           %b = arith.addf %s, %a : f32
           %r = arith.select %c, %b, %s : f32""",
        """%c = arith.cmpf olt, %s, %x : f32
           %r = scf.if %c -> f32 {
             %b = arith.addf %s, %a : f32
             scf.yield %b : f32
           } else { scf.yield %s : f32 }""",
        # set anew in some iterations
        "%b = arith.addf %s, %a : f32\n %r = arith.select %p, %b, %x : f32",
        """%r = scf.if %p -> f32 {
             %b = arith.addf %s, %a : f32
             scf.yield %b : f32
           } else { scf.yield %x : f32 }""",
        # a maximum where NaN is lost or not
        "%c = arith.cmpf ogt, %s, %a : f32\n %r = arith.select %c, %s, %a : f32",
        # inside of a loop it is used twice, or for something else, or begins anew
        """%d:2 = affine.for %j = 0 to %n iter_args(%t = %s, %u = %s) -> (f32, f32) {
             %b = arith.addf %t, %a : f32
             affine.yield %b, %u : f32, f32
           }
           %r = arith.addf %d#0, %x : f32""",
        """%r = affine.for %j = 0 to %n iter_args(%t = %s) -> f32 {
             %b = arith.mulf %t, %a : f32
             %c = arith.addf %b, %a : f32
             affine.yield %c : f32
           }""",
        """%r = affine.for %j = 0 to %n iter_args(%t = %x) -> f32 {
             %b = arith.addf %t, %s : f32
             affine.yield %b : f32
           }""",
        """%r, %o = affine.for %j = 0 to %n iter_args(%t = %s, %u = %x) -> (f32, f32) {
             %b = arith.addf %t, %a : f32
             affine.yield %u, %b : f32, f32
           }""",
    ],
)
def test_no_sums(body: str) -> None:
    assert carried(body) is None


def test_the_larger_of_two_integers_as_a_comparison_and_a_choice() -> None:
    for predicate, kind in EXTREMES.items():
        for left, right, chosen in (("%s", "%a", 0), ("%a", "%s", 0), ("%s", "%a", 1), ("%a", "%s", 1)):
            first, second = ((left, right), (right, left))[chosen]
            found = carried(
                f"%c = arith.cmpi {predicate}, {left}, {right} : i32\n %r = arith.select %c, {first}, {second} : i32",
                "i32",
            )
            assert found is not None
            other = kind.replace("max", "M").replace("min", "max").replace("M", "min")
            assert found.kind == (other if chosen else kind)
            assert not found.needs_reassociation


@pytest.mark.parametrize(
    ("predicate", "if_true", "if_false"),
    [("eq", "%s", "%a"), ("ne", "%a", "%s"), ("slt", "%x", "%a"), ("sgt", "%a", "%x"), ("slt", "%b", "%s")],
)
def test_a_choice_of_something_else_than_what_is_compared_is_no_extreme(
    predicate: str, if_true: str, if_false: str
) -> None:
    body = f"""%b = arith.addi %a, %a : i32
        %c = arith.cmpi {predicate}, %s, %a : i32
        %r = arith.select %c, {if_true}, {if_false} : i32"""
    assert carried(body, "i32") is None


def test_the_place_of_the_maximum_is_a_recurrence() -> None:
    """The comparison says also where it was; and of equal ones, the first or the last counts."""
    found = reductions("""
        func.func @f(%A: memref<?xi32>, %n: index, %x: i32, %o: index) -> (i32, index) {
          %q:2 = affine.for %i = 0 to %n iter_args(%s = %x, %k = %o) -> (i32, index) {
            %a = affine.load %A[%i] : memref<?xi32>
            %c = arith.cmpi sgt, %a, %s : i32
            %r = arith.select %c, %a, %s : i32
            %l = arith.select %c, %i, %k : index
            affine.yield %r, %l : i32, index
          }
          return %q#0, %q#1 : i32, index
        }""")
    (loop,) = (op for op in walk(found.dependences.accesses.function) if isinstance(op, affine.For))
    assert [found.carried(loop, k) for k in (0, 1)] == [None, None]


def test_a_loop_that_is_known_at_run_time() -> None:
    found = reductions("""
        func.func @f(%A: memref<?xi32>, %n: index, %m: index, %x: i32) -> i32 {
          %q = scf.for %i = %m to %n step %m iter_args(%s = %x) -> i32 {
            %a = memref.load %A[%i] : memref<?xi32>
            %r = arith.addi %a, %s : i32
            scf.yield %r : i32
          }
          return %q : i32
        }""")
    (loop,) = (op for op in walk(found.dependences.accesses.function) if isinstance(op, scf.For))
    ours = found.carried(loop, 0)
    assert ours is not None
    assert str(ours) == "addi of %s"
    assert ours.buffer is None


def test_a_chain_that_is_too_long_is_not_followed() -> None:
    def body(length: int) -> str:
        steps = [f"%c{k + 1} = arith.addf %c{k}, %a : f32" for k in range(1, length)]
        return "\n".join(["%c1 = arith.addf %s, %a : f32", *steps, f"%r = arith.addf %c{length}, %x : f32"])

    found = carried(body(100))
    assert found is not None
    assert len(found.steps) == 101
    assert carried(body(300)) is None


LOAD, STORE = "%c = affine.load %C[0] : @M", "affine.store %r, %C[0] : @M"
A = "%a = affine.load %A[%i] : @M"


def test_an_update_of_one_element() -> None:
    assert in_memory(f"{A}\n{LOAD}\n%r = arith.addf %c, %a : f32\n{STORE}") == (["addf of C, rounded"], 0)
    assert in_memory(f"{A}\n{LOAD}\n%r = arith.xori %a, %c : i32\n{STORE}", "i32") == (["xori of C"], 0)
    assert in_memory(f"{A}\n{LOAD}\n%r = arith.divf %c, %a : f32\n{STORE}")[0] == []


def test_an_element_that_stays_the_same_for_a_while() -> None:
    update = "{}\n%c = affine.load %C[%i floordiv 3] : @M\n%r = arith.addf %c, %a : f32\naffine.store %r, %C[{}] : @M"
    assert in_memory(update.format(A, "%i floordiv 3")) == (["addf of C, rounded"], 0)
    assert in_memory(update.format(A, "(%i * 2) floordiv 6")) == (["addf of C, rounded"], 0)  # the same place
    assert in_memory(update.format(A, "(%i + 1) floordiv 3"))[0] == []


def test_statements_one_after_the_other() -> None:
    """C += a; C += x; and two kinds, or a third look at it."""
    first = f"{A}\n{LOAD}\n%r = arith.addf %c, %a : f32\n{STORE}\n"
    second = "%d = affine.load %C[0] : @M\n%e = arith.{} %d, %x : f32\naffine.store %e, %C[0] : @M\n"
    assert in_memory(first + second.format("addf")) == (["addf of C, rounded"], 0)
    assert in_memory(first + second.format("subf")) == (["addf of C, rounded"], 0)
    ours, rest = in_memory(first + second.format("mulf"))
    assert (ours, rest > 0) == ([], True)
    look = "%y = affine.load %C[0] : @M\naffine.store %y, %A[%i] : @M\n"
    assert in_memory(first + look)[0] == []
    assert in_memory(look + first)[0] == []
    elsewhere = "%y = affine.load %C[1] : @M\naffine.store %y, %A[%i + 1000] : @M\n"
    assert in_memory(first + elsewhere, bounds="0 to 1000") == (["addf of C, rounded"], 0)


def test_updates_that_run_into_each_other_lose_one() -> None:
    loads = f"{A}\n{LOAD}\n%d = affine.load %C[{{}}] : @M\n%r = arith.addf %c, %a : f32\n%e = arith.addf %d, %x : f32\n"
    both = loads + f"{STORE}\naffine.store %e, %C[{{}}] : @M"
    assert in_memory(both.format(0, 0))[0] == []
    assert in_memory(both.format(1, 1)) == (["addf of C, rounded"], 0)


def test_an_update_around_a_loop_with_updates() -> None:
    """What the inner loop adds is lost when the outer update stores."""
    text = f"""{A}
        {LOAD}
        affine.for %j = 0 to %n {{
          %d = affine.load %C[@P] : @M
          %e = arith.addf %d, %a : f32
          affine.store %e, %C[@P] : @M
        }}
        %r = arith.addf %c, %a : f32
        {STORE}"""
    assert in_memory(text.replace("@P", "0"))[0] == []
    assert in_memory(text.replace("@P", "%j"))[0] == []
    assert in_memory(text.replace("@P", "%j + 1")) == (["addf of C, rounded"], 0)


def test_an_update_by_an_inner_loop() -> None:
    assert in_memory(f"""{LOAD}
        %r = affine.for %j = 0 to %n iter_args(%s = %c) -> f32 {{
          %a = affine.load %A[%j] : @M
          %b = arith.addf %s, %a : f32
          affine.yield %b : f32
        }}
        {STORE}""") == (["addf of C, rounded"], 0)


ADDED = "%s = arith.addf %c, %a : f32"
ELSE = "else {\nscf.yield %c : f32\n}"


@pytest.mark.parametrize(
    ("body", "type", "kind"),
    [
        (f"{ADDED}\n%r = arith.select %p, %s, %c : f32", "f32", "addf of C, rounded"),
        ("%l = arith.cmpi slt, %a, %c : i32\n%r = arith.select %l, %a, %c : i32", "i32", "minsi of C"),
        ("%r = math.fma %a, %a, %c : f32", "f32", "addf of C, rounded"),
        (f"%r = scf.if %p -> (f32) {{\n{ADDED}\nscf.yield %s : f32\n}} {ELSE}", "f32", "addf of C, rounded"),
    ],
)
def test_an_update_by_what_is_chosen_or_fused(body: str, type: str, kind: str) -> None:
    assert in_memory(f"{A}\n{LOAD}\n{body}\n{STORE}", type) == ([kind], 0)


def test_an_update_in_some_iterations() -> None:
    for head in ("affine.if affine_set<(d) : (d mod 2 == 0)>(%i)", "scf.if %p"):
        text = f"{A}\n{head} {{\n{LOAD}\n%r = arith.addf %c, %a : f32\n{STORE}\n}}"
        assert in_memory(text) == (["addf of C, rounded"], 0)


def test_a_load_before_a_condition_is_not_followed() -> None:
    text = f"{A}\n{LOAD}\nscf.if %p {{\n%r = arith.addf %c, %a : f32\n{STORE}\n}}"
    assert in_memory(text)[0] == []


def test_a_histogram() -> None:
    """Which element it is is known at run time only; that it is the same one for load and store is known."""
    head = "%k = memref.load %I[%i] : memref<?xindex>\n"
    body = "%c = memref.load %C[%k] : @M\n%r = arith.addi %c, %x : i32\nmemref.store %r, %C[{}] : @M"
    assert in_memory(head + body.format("%k"), "i32") == (["addi of C"], 0)
    other = "%l = memref.load %I[%n] : memref<?xindex>\n"
    assert in_memory(head + other + body.format("%l"), "i32")[0] == []
    look = "\n%z = memref.load %C[%i] : @M\naffine.store %z, %A[%i] : @M"
    assert in_memory(head + body.format("%k") + look, "i32")[0] == []


def test_atomic_updates() -> None:
    body = "%k = memref.load %I[%i] : memref<?xindex>\n%o = memref.atomic_rmw {} %x, %C[%k] : (i32, @M) -> i32"
    assert in_memory(body.format("addi"), "i32") == (["addi of C"], 0)
    assert in_memory(body.format("maxs"), "i32") == (["maxsi of C"], 0)
    assert in_memory(body.format("assign"), "i32")[0] == []
    seen = body.format("addi") + "\naffine.store %o, %A[%i] : @M"
    assert in_memory(seen, "i32")[0] == []


def test_vectors() -> None:
    """Lane by lane; at another place the lanes of one update are those of another."""
    body = """%a = affine.vector_load %A[%i * 4] : @M, vector<4xf32>
        %c = affine.vector_load %C[0] : @M, vector<4xf32>
        %r = arith.addf %c, %a : vector<4xf32>
        affine.vector_store %r, %C[{}] : @M, vector<4xf32>"""
    assert in_memory(body.format("0")) == (["addf of C, rounded"], 0)
    assert in_memory(body.format("1"))[0] == []


def test_through_a_view() -> None:
    text = """
        func.func @f(%A: memref<64xf32>, %C: memref<64xf32>) {{
          %v = memref.subview %C[8] [8] [2] : memref<64xf32> to memref<8xf32, strided<[2], offset: 8>>
          affine.for %i = 0 to 64 {{
            %a = affine.load %A[%i] : memref<64xf32>
            %c = affine.load %v[1] : memref<8xf32, strided<[2], offset: 8>>
            %r = arith.addf %c, %a : f32
            affine.store %r, %C[{}] : memref<64xf32>
          }}
          return
        }}"""
    for place, count in (("10", 1), ("9", 0)):
        found = reductions(text.format(place))
        loop = found.dependences.accesses.function.body[1]
        assert isinstance(loop, affine.For)
        ours, _ = found.in_memory(loop.iv)
        assert len(ours) == count


def test_two_buffers_that_may_be_one() -> None:
    """A call shows that both arguments are one array."""
    text = """
        func.func @f(%C: memref<8xf32>, %D: memref<8xf32>, %x: f32) {{
          affine.for %i = 0 to 8 {{
            %c = affine.load %C[0] : memref<8xf32>
            %r = arith.addf %c, %x : f32
            affine.store %r, %C[0] : memref<8xf32>
            %d = affine.load %D[0] : memref<8xf32>
            %e = arith.addf %d, %x : f32
            affine.store %e, %D[0] : memref<8xf32>
          }}
          return
        }}
        func.func @main(%A: memref<8xf32>, %B: memref<8xf32>, %x: f32) {{
          func.call @f(%A, %{}, %x) : (memref<8xf32>, memref<8xf32>, f32) -> ()
          return
        }}"""
    for other, count in (("B", 2), ("A", 0)):
        found = reductions(text.format(other))
        loop = found.dependences.accesses.function.body[0]
        assert isinstance(loop, affine.For)
        assert len(found.in_memory(loop.iv)[0]) == count


def test_a_place_that_isl_cannot_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """i // 2 + (i + 1) // 2 is i: the expressions differ, and isl knows that they are equal."""
    text = f"""{A}
        %c = affine.load %C[(%i floordiv 2 + (%i + 1) floordiv 2) floordiv {{0}}] : @M
        %r = arith.addf %c, %a : f32
        affine.store %r, %C[%i floordiv {{0}}] : @M"""
    assert in_memory(text.format(5))[0] == ["addf of C, rounded"]
    monkeypatch.setattr(under_test, "BUDGET", 1)
    assert in_memory(text.format(7))[0] == []


def test_where_a_value_leads_elsewhere_there_is_no_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the only uses of a value say at once is what a search of all that the stored value is made of says."""
    functions = [f for seed in some(range(80), 40) for f in parse(mlir(generate(seed))).functions if not f.external]
    for f in [*functions]:
        for loop in [op for op in f.body if isinstance(op, affine.For)]:
            with suppress(IllegalTransform):  # it runs less than four times
                functions.append(unroll(f, loop.iv, 4))
    dependences = [Dependences(f) for f in functions]

    def found() -> list[list[object]]:
        return [[(u.kind, u.load, u.store, u.steps) for u in Reductions(each).updates] for each in dependences]

    at_once = found()
    said: list[bool] = []
    elsewhere = Chains._leads_elsewhere
    monkeypatch.setattr(Chains, "_leads_elsewhere", lambda *given: bool(said.append(elsewhere(*given))))
    assert found() == at_once
    assert sum(map(len, at_once)) > 40
    assert min(said.count(True), said.count(False)) > 40


@pytest.mark.parametrize("seeds", [range(40), range(7000, 7040)])
def test_all_chains_begin_where_their_end_may_come_from(seeds: range) -> None:
    """All chains between two values of one block."""
    found = 0
    for seed in seeds:
        module = parse(mlir(generate(seed)))
        chains = Chains(Dependences(module.functions[0], module).accesses)
        for block in (each for op in walk(module.functions[0]) for each in op.blocks()):
            values = [value for op in block for value in op.defines()]
            for start, end in itertools.combinations(values, 2):
                if any(chains.between(start, end, -1, (user, "")) for user in chains.users.get(end, [])):
                    found += 1
                    assert start in chains.may_start(end), (seed, start, end)
    assert found > 50
