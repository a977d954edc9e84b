"""Loops that are called parallel: nothing is carried in any run, and their iterations may run in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import parallelism as under_test
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.parallelism import Parallelism, first_in_the_way, of_loop, of_loops, parallelism, table
from tests.effort import some
from tests.passes.analysis.brute import Brute
from tests.passes.analysis.nests import SIZE, nest
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


def permuted(function: func.Func, iv: Value) -> func.Func:
    """A function whose loop takes the values of its induction variable from one more argument."""
    order, position = Value(MemRefType((None,), INDEX), "order"), Value(INDEX, "position")

    def rule(op: Op) -> Op | None:
        if not isinstance(op, affine.For) or op.iv is not iv:
            return None
        count = len(range(op.lower[0].constant, op.upper[0].constant, op.step))
        body = (memref.Load(iv, order, (position,)), *op.body)
        return with_fields(op, iv=position, lower=(Affine(),), upper=(Affine.of(count),), step=1, body=body)

    return with_fields(rewrite(function, rule), args=(*function.args, order))


def values_of(loop: Op) -> list[int]:
    assert isinstance(loop, affine.For)
    return list(range(loop.lower[0].constant, loop.upper[0].constant, loop.step))


def arrays(seed: int, function: func.Func) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {a.hint: random.integers(-99, 99, SIZE, dtype=np.int32) for a in function.args}


def test_reductions_and_private_arrays_in_another_order_give_the_same() -> None:
    """Random nests with updates of all sorts, most of which are none; each loop in several orders."""
    counts = Counter[str]()
    for seed in some(range(300), 100):
        module = parse(nest(seed))
        verify(module)
        function = module.functions[0]
        wanted = arrays(seed, function)
        run(function, *wanted.values())
        dependences = Dependences(function)
        for each in under_test.of_loops(dependences):
            values = values_of(each.loop)
            differs = False
            private = {b.name for b in each.privatized}
            if any(a.buffer.name in private and each.iv not in a.ivs for a in dependences.compared):
                continue
            for order in orders(values, seed):
                got = arrays(seed, function)
                run(permuted(function, each.iv), *got.values(), np.array(order, np.int64))
                differs |= any((got[name] != wanted[name]).any() for name in got if name not in private)
            counts[f"{each.verdict}{', differs' if differs else ''}"] += 1
            assert not differs or each.verdict == "sequential", f"seed {seed}: {each}"
    # A loop whose order shows is never called anything but sequential; and there are enough of all sorts.
    enough = {"parallel": 25, "parallel with reductions": 25, "parallel if privatized": 7, "sequential, differs": 50}
    assert all(counts[each] >= least for each, least in enough.items()), counts


def orders(values: list[int], seed: int) -> Iterator[list[int]]:
    yield values[::-1]
    random = Random(seed)
    for _ in range(3):
        yield random.sample(values, len(values))


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
        "%i    3     sequential  " + "; ".join(reasons),
        "  %j  4     parallel",
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
