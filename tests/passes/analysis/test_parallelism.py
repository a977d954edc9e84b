"""Loops that are called parallel: nothing is carried in any run, and their iterations may run in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import parallelism as under_test
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.parallelism import Parallelism, first_in_the_way, of_loop, of_loops, parallelism, table
from tests.effort import some
from tests.passes.analysis.brute import Brute
from tests.passes.analysis.programs import generate
from tests.passes.analysis.traced import ivs_of


def verdicts(text: str) -> list[Parallelism]:
    """The verdict on each loop of the first function of a module."""
    module = parse(text)
    verify(module)
    return list(parallelism(module.functions[0], module))


def loops(function: func.Func) -> Iterator[Value]:
    return (iv for op in walk(function) for iv in ivs_of(op))


def test_a_loop_carries_a_dependence_exactly_if_a_run_does() -> None:
    """Random programs with everything; where all is exact and there are no symbols, both ways."""
    counts = Counter[str]()
    for seed in some(range(120), 80):
        program = generate(seed)
        brute, dependences = Brute(program.trace()), Dependences(program.function, program.module)
        known = not program.symbols and "?" not in program.text
        for iv in loops(program.function):
            ours, seen = list(dependences.carried_by(iv)), brute.carried(iv)
            assert ours or not seen, f"seed {seed}: {iv.hint} carries {seen}"
            if known and any(d.is_exact for d in ours):
                assert seen, f"seed {seed}: {iv.hint} carries nothing, not {ours[0]}"
                counts["exactly"] += 1
            counts["carried" if ours else "not carried"] += 1
    assert min(counts[each] for each in ("exactly", "carried", "not carried")) > 20, counts


def test_iterations_in_another_order_give_the_same() -> None:
    """The same programs: a parallel loop without iter_args becomes a band, which runs shuffled."""
    done = Counter[str]()
    for seed in some(range(140), 47):
        program = generate(seed)
        if any(isinstance(op, affine.Parallel) for op in walk(program.function)):
            continue  # its own bands may race
        for each in parallelism(program.function, program.module):
            loop = each.loop
            if not each.is_parallel or not isinstance(loop, affine.For) or loop.results:
                continue
            changed = rewrite(program.function, lambda op, loop=loop: banded(op) if is_same_loop(op, loop) else None)
            after = program.outcome(changed, order="shuffled", seed=program.seed)
            assert after == program.outcome(), f"seed {seed}: {each.iv.hint}"
            done["loops"] += 1
    assert done["loops"] > 30


def is_same_loop(op: Op, loop: affine.For) -> bool:
    """Whether an operation is a loop, or what a rewrite inside has made of it."""
    return isinstance(op, affine.For) and op.iv is loop.iv


def banded(loop: affine.For) -> affine.Parallel:
    return affine.Parallel((loop.iv,), (loop.lower,), (loop.upper,), (loop.step,), loop.body)


PROGRAMS = Path(__file__).with_name("parallelism.mlir").read_text(encoding="utf-8").split("// ----- ")[1:]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.partition("\n")[0])
def test_verdicts_stand_at_their_loops(program: str) -> None:
    """The comment in the line of a loop is its verdict; a band has one for each of its counters."""
    _, _, text = program.partition("\n")
    marks = {n: line.split("  // ")[1].split(" // ") for n, line in enumerate(text.splitlines(), 1) if "  // " in line}
    found: dict[int, list[str]] = {}
    for each in verdicts(text):
        found.setdefault(each.loop.location.line, []).append(str(each))
        assert each.verdict != "sequential" or each.privatized == ()
    assert found == marks


def test_a_budget_that_is_spent_is_unknown() -> None:
    """A loop that is parallel is not called so where isl may not say so."""
    module = parse("""
        func.func @f(%A: memref<?xf32>, %n: index) {
          affine.for %i = 0 to %n {
            %x = affine.load %A[%i * 7 + (%i * 5) floordiv 3] : memref<?xf32>
            %y = math.exp %x : f32
            affine.store %y, %A[%i * 7 + (%i * 5) floordiv 3] : memref<?xf32>
          }
          return
        }""")
    with pytest.warns(AnalysisWarning, match=r"isl needs more than 5 operations, for the (read|write) of A"):
        (loop,) = under_test.of_loops(Dependences(module.functions[0], budget=5))
    assert loop.verdict == "unknown"
    (loop,) = parallelism(module.functions[0])
    assert loop.verdict == "parallel"


def test_private_arrays_that_isl_cannot_decide() -> None:
    text = """
        func.func @f(%A: memref<?xf32>, %t: memref<1xf32>, %n: index) {
          affine.for %i = 0 to %n {
            %a = affine.load %A[%i] : memref<?xf32>
            affine.store %a, %t[0] : memref<1xf32>
            %b = affine.load %t[0] : memref<1xf32>
            affine.store %b, %A[%i] : memref<?xf32>
          }
          return
        }"""
    assert verdicts(text)[0].verdict == "parallel if privatized"
    dependences = Dependences(parse(text).functions[0])
    assert list(dependences.all())  # remembered now, so that nothing but the last question is left
    dependences.budget = 1
    (loop,) = under_test.of_loops(dependences)
    assert loop.verdict == "sequential"


def test_the_table() -> None:
    found = verdicts("""
        func.func @f(%A: memref<?x?xf32>, %n: index) {
          affine.for %i = 1 to %n {
            affine.for %j = 0 to %n {
              %a = affine.load %A[%i - 1, %j] : memref<?x?xf32>
              %b = affine.load %A[%i - 1, 0] : memref<?x?xf32>
              %c = affine.load %A[0, 0] : memref<?x?xf32>
              affine.store %a, %A[%i, %j] : memref<?x?xf32>
            }
          }
          return
        }""")
    reasons = (
        "flow of A from line 8 to line 5 at distance [1, 1][0, 0]",
        "flow of A from line 8 to line 6 at distance [1, 1][0, +inf]",
    )
    assert table(found).splitlines() == [
        "loop  line  verdict     why",
        "i     3     sequential  " + "; ".join(reasons),
        "  j   4     parallel",
    ]


def test_one_loop_alone_has_the_same_verdict() -> None:
    module = parse("""
        func.func @f(%A: memref<?x?xf32>, %s: memref<f32>, %n: index) {
          affine.for %i = 1 to %n {
            affine.parallel (%j, %k) = (0, 0) to (%n, %n) {
              %a = affine.load %A[%i - 1, %j] : memref<?x?xf32>
              affine.store %a, %A[%i, %j] : memref<?x?xf32>
            }
            affine.for %l = 0 to %n {
              %t = affine.load %s[] : memref<f32>
              %u = arith.addf %t, %t : f32
              affine.store %u, %s[] : memref<f32>
            }
          }
          return
        }""")
    found = Dependences(module.functions[0], module)
    all_of_them = of_loops(found)
    assert [each.depth for each in all_of_them] == [0, 1, 2, 1]
    for each in all_of_them:
        alone = of_loop(found, each.iv)
        assert alone is not None
        assert (str(alone), alone.depth, alone.loop) == (str(each), each.depth, each.loop)
    assert of_loop(found, module.functions[0].args[2]) is None


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.partition("\n")[0])
def test_what_is_found_first_is_in_the_way(program):
    module = parse(program.partition("\n")[2])
    for function in module.functions:
        for verdict in of_loops(Dependences(function, module)):
            found = first_in_the_way(Dependences(function, module), verdict.iv)
            if verdict.is_parallel:
                assert found is None
            elif verdict.prevented_by:
                assert found is not None
                assert str(found) in {str(each) for each in verdict.prevented_by}
