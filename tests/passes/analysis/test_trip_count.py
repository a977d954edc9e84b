"""Trip counts: equal to what runs count, and what they say of loops that no number describes."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import gcd

import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import F32, MemRefType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import trip_count as under_test
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.trip_count import TripCount, runs_at_least, trip_counts
from tests.effort import some
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.traced import loops_around, trace


def counts(text: str) -> list[TripCount]:
    """The trip count of each loop of the first function of a module."""
    module = parse(text)
    verify(module)
    return list(trip_counts(module.functions[0]).values())


def loop(head: str, arguments: str = "%n: index, %m: index", around: str = "") -> TripCount:
    """The trip count of one loop, inside of others that count from 0 to 10."""
    opened = [f"affine.for %{iv} = 0 to 10 {{" for iv in around]
    text = "\n".join([f"func.func @f({arguments}) {{", *opened, f"affine.for %k = {head} {{ }}", *"}" * len(around)])
    return counts(f"{text}\nreturn\n}}")[-1]


def counted(program: Program) -> dict[Value, list[tuple[dict[Value, int], int]]]:
    """How often each loop runs, each time that it is reached: with the induction variables around it there."""
    buffer = memref.Alloc(Value(MemRefType((1,), F32)), (), ())
    number = arith.Constant(Value(F32), 0.0)
    before: dict[Op, Value] = {}
    inside: dict[Op, Value] = {}

    def mark(marks: dict[Op, Value], iv: Value) -> Op:
        marked = affine.Store(number.result, buffer.result, (Affine(),))
        marks[marked] = iv
        return marked

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, affine.For | scf.For):
            return None
        return mark(before, op.iv), with_fields(op, body=(mark(inside, op.iv), *op.body))

    changed = rewrite(program.function, rule)
    changed = with_fields(changed, body=(buffer, number, *changed.body))
    run = trace(changed, *program.arguments(), module=program.module, externals=program.externals)
    iterations: Counter[tuple[Value, tuple[int, ...]]] = Counter()
    for instance in run.instances:
        if instance.op in inside:
            iterations[inside[instance.op], instance.ivs[:-1]] += 1
    found: dict[Value, list[tuple[dict[Value, int], int]]] = defaultdict(list)
    around = loops_around(changed)
    for instance in run.instances:
        if instance.op in before:
            iv = before[instance.op]
            found[iv].append((dict(zip(around[instance.op], instance.ivs, strict=True)), iterations[iv, instance.ivs]))
    return found


def test_counts_are_those_of_a_run() -> None:
    """Random programs with everything: exact where there are no symbols, and true of each run where there are."""
    seen = Counter[str]()
    for seed in some(range(150), 100):
        program = generate(seed)
        run, ours = counted(program), trip_counts(program.function)
        sizes = dict(zip(program.function.args[len(program.sizes) + 1 :], program.symbols, strict=True))
        accesses = Accesses(program.function)
        for op in walk(program.function):
            for times in (1, 2, 5) if isinstance(op, affine.For) else ():
                certainly = runs_at_least(op, times, accesses)
                assert certainly or ours[op.iv].low < times, f"seed {seed}"
                assert not certainly or all(n >= times for _, n in run[op.iv]), f"seed {seed}"
                seen["certain"] += certainly
        for iv, count in ours.items():
            if not any(isinstance(op, affine.For | scf.For) and op.iv is iv for op in walk(program.function)):
                continue  # a loop of a band
            numbers = [n for _, n in run[iv]]
            for env, n in run[iv]:
                assert count.low <= n
                assert count.high is None or n <= count.high
                assert n % count.divisor == 0 if count.divisor else n == 0
                if all(v in env or v in sizes for e in count.exprs for v in e.values()) and count.exprs:
                    values = [e.evaluate(env | sizes) for e in count.exprs]
                    assert n == max(0, min(values)), f"seed {seed}"
                    assert count.may_be_negative or min(values) >= 0
                    seen["evaluated"] += 1
            if not program.symbols and not count.unknown:
                assert (count.low, count.high) == (min(numbers, default=0), max(numbers, default=0)), f"seed {seed}"
                assert count.divisor == gcd(*numbers), f"seed {seed}"
                seen["exact"] += 1
            seen["symbolic" if program.symbols else "numbers"] += 1
    assert min(seen[each] for each in ("exact", "evaluated", "symbolic", "certain")) > 100, seen


@pytest.mark.parametrize(
    ("head", "text", "low", "high", "divisor"),
    [
        ("0 to 10", "10", 10, 10, 10),
        ("0 to 10 step 3", "4", 4, 4, 4),
        ("3 to 3", "0", 0, 0, 0),
        ("7 to 3", "0", 0, 0, 0),
        ("-4 to 5 step 4", "3", 3, 3, 3),
        ("0 to %n", "max(0, n)", 0, None, 1),
        ("%m to %n", "max(0, n - m)", 0, None, 1),
        ("0 to %n step 4", "max(0, n ceildiv 4)", 0, None, 1),
        ("affine_map<(d) -> (d)>(%n) to affine_map<(d) -> (d + 12)>(%n)", "12", 12, 12, 12),
        ("affine_map<(d) -> (d)>(%n) to affine_map<(d) -> (d + 12)>(%n) step 5", "3", 3, 3, 3),
        ("0 to affine_map<(d) -> (d * 6)>(%n)", "max(0, n * 6)", 0, None, 6),
        ("0 to affine_map<(d) -> (d * 6)>(%n) step 2", "max(0, n * 3)", 0, None, 3),
        ("0 to affine_map<(d) -> ((d floordiv 8) * 8)>(%n)", "max(0, (n floordiv 8) * 8)", 0, None, 8),
        ("0 to affine_map<(d) -> (d mod 4)>(%n)", "n mod 4", 0, 3, 1),
        ("0 to affine_map<(d) -> ((d mod 4) * 2 + 4)>(%n)", "(n mod 4) * 2 + 4", 4, 10, 2),
        ("0 to min affine_map<(d) -> (d, 8)>(%n)", "max(0, min(n, 8))", 0, 8, 1),
        ("0 to min affine_map<(d) -> (d mod 4 + 20, 8)>(%n)", "8", 8, 8, 8),
        ("max affine_map<(d) -> (d, 0)>(%n) to 8", "max(0, min(8 - n, 8))", 0, 8, 1),
        ("0 to min affine_map<(d) -> (d + 1, d)>(%n)", "max(0, n)", 0, None, 1),
        ("0 to min affine_map<(d) -> (d + 2, -d)>(%n)", "max(0, min(n + 2, -n))", 0, 1, 1),
    ],
)
def test_one_loop(head: str, text: str, low: int, high: int | None, divisor: int) -> None:
    found = loop(head)
    assert (str(found), found.low, found.high, found.divisor) == (text, low, high, divisor)


def test_triangles() -> None:
    found = loop("0 to affine_map<(d) -> (d)>(%i)", around="i")
    assert (str(found), found.low, found.high, found.divisor, found.runs) == ("i", 0, 9, 1, False)
    found = loop("affine_map<(d) -> (d)>(%i) to 10", around="i")
    assert (str(found), found.low, found.high, found.runs) == ("10 - i", 1, 10, True)
    found = loop("affine_map<(d) -> (d)>(%i) to affine_map<(d) -> (d)>(%j)", around="ij")
    assert (str(found), found.low, found.high) == ("max(0, j - i)", 0, 9)


def test_tiles() -> None:
    """The last tile is smaller; where the tile divides the size, none is."""
    text = """
        func.func @f(%n: index) {{
          affine.for %i = 0 to {size} step 32 {{
            affine.for %j = affine_map<(d) -> (d)>(%i) to min affine_map<(d)[n] -> (d + 32, {end})>(%i)[%n] {{ }}
          }}
          return
        }}"""
    _, inner = counts(text.format(size="%n", end="n"))
    assert (str(inner), inner.low, inner.high, inner.divisor, inner.runs) == ("min(32, n - i)", 1, 32, 1, True)
    _, inner = counts(text.format(size="100", end="100"))
    assert (inner.low, inner.high, inner.divisor) == (4, 32, 4)
    _, inner = counts(text.format(size="96", end="96"))
    assert (str(inner), inner.number) == ("32", 32)


def test_those_inside_of_one_loop() -> None:
    function = parse("""func.func @f(%n: index) {
      affine.for %i = 0 to 3 { }
      affine.for %j = 0 to %n {
        affine.for %k = 0 to affine_map<(d) -> (d + 2)>(%j) { affine.for %l = 0 to 2 { } }
      }
      return
    }""").functions[0]
    inside = trip_counts(function, function.body[1])
    assert [iv.hint for iv in inside] == ["j", "k", "l"]
    assert {iv: str(count) for iv, count in inside.items()}.items() < {
        iv: str(count) for iv, count in trip_counts(function).items()
    }.items()


def test_what_the_contract_and_conditions_say() -> None:
    found = counts("""
        func.func @f(%n: index, %m: index) {
          affine.if affine_set<(d, e) : (d - 4 >= 0, 9 - d >= 0, d - e * 3 == 0)>(%n, %m) {
            affine.for %i = 0 to %n { }
          } else {
            affine.for %i = 0 to 2 { }
          }
          affine.if affine_set<(d) : (d - 1 >= 0, -d >= 0)>(%n) { affine.for %i = 0 to %n { } }
          return
        }""")
    assert [(c.low, c.high, c.divisor) for c in found] == [(6, 9, 3), (2, 2, 2), (0, 0, 0)]
    assert found[0].expr is not None
    assert str(found[0]) == "n"
    assert [c.never_runs for c in found] == [False, False, True]


def test_what_can_be_asked() -> None:
    at_most_once = loop("0 to affine_map<(d) -> (d mod 2)>(%n)")
    assert at_most_once.runs_at_most_once
    assert not at_most_once.runs
    assert not at_most_once.never_runs
    once = loop("3 to 4")
    assert (once.number, once.runs, once.runs_at_most_once) == (1, True, True)
    assert once.expr == Affine.of(1)
    symbolic = loop("0 to %n")
    assert (symbolic.number, symbolic.expr, symbolic.runs_at_most_once, symbolic.never_runs) == (
        None,
        None,
        False,
        False,
    )
    several = loop("0 to min affine_map<(d, e) -> (d mod 8, e mod 8)>(%n, %m)")
    assert (several.expr, len(several.exprs), several.may_be_negative) == (None, 2, False)


def test_bounds_that_are_values() -> None:
    """The smallest of some numbers is known where it is used; what is loaded is not."""
    smallest, loaded = counts("""
        func.func @f(%n: index, %I: memref<4xindex>) {
          %e = affine.min affine_map<(d) -> (d mod 8 + 2, 6)>(%n)
          affine.for %i = 0 to %e step 2 { }
          %k = affine.load %I[0] : memref<4xindex>
          scf.for %i = %n to %k step %n { }
          return
        }""")
    assert (smallest.low, smallest.high, smallest.divisor, smallest.unknown) == (1, 3, 1, ())
    assert str(smallest) == "e ceildiv 2"
    assert (loaded.low, loaded.high, loaded.divisor, str(loaded)) == (0, None, 1, "unknown")
    assert loaded.unknown == ("the step is known only at run time",)


@pytest.mark.parametrize("step", ["%above", "%none", "%below"])
def test_a_step_that_is_no_positive_number(step: str) -> None:
    """n + 5 may be 0 although 5 is not."""
    (count,) = counts(f"""
        func.func @f(%n: index) {{
          %zero = arith.constant 0 : index
          %five = arith.constant 5 : index
          %none = arith.subi %five, %five : index
          %below = arith.subi %zero, %five : index
          %above = arith.addi %n, %five : index
          scf.for %i = %zero to %n step {step} {{ }}
          return
        }}""")
    assert (count.low, count.high, count.unknown) == (0, None, ("the step is known only at run time",))


def test_bounds_that_cross_are_negative_and_bounds_that_meet_are_not() -> None:
    assert not loop("3 to 3").may_be_negative
    assert loop("4 to 3").may_be_negative


def test_a_bound_that_is_loaded() -> None:
    (count,) = counts("""
        func.func @f(%I: memref<4xindex>) {
          %zero = arith.constant 0 : index
          %three = arith.constant 3 : index
          %k = memref.load %I[%zero] : memref<4xindex>
          scf.for %i = %zero to %k step %three { }
          return
        }""")
    assert (count.low, count.high, count.divisor, str(count)) == (0, None, 1, "max(0, k ceildiv 3)")


def test_bands() -> None:
    first, second, third, fourth = counts("""
        func.func @f(%n: index) {
          affine.parallel (%i, %j) = (0, 0) to (%n, 8) step (2, 3) { }
          %zero = arith.constant 0 : index
          %two = arith.constant 2 : index
          scf.parallel (%i, %j) = (%zero, %zero) to (%n, %two) step (%two, %two) { scf.reduce }
          return
        }""")
    assert [str(c) for c in (first, second, third, fourth)] == ["max(0, n ceildiv 2)", "3", "max(0, n ceildiv 2)", "1"]


def test_a_question_that_isl_cannot_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "BUDGET", 1)
    found = loop("0 to affine_map<(d, e) -> (d mod 37 + (d + e) mod 53)>(%n, %m)")
    assert (found.low, found.high, found.divisor, found.number) == (0, None, 1, None)
    assert found.unknown == ("isl needs more than 1 operations",)
    assert str(found) == "max(0, (n + m) mod 53 + n mod 37)"
