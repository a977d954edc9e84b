"""Every case of the table: what is legal is done and right, the rest is refused with two iterations that prove it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from tests.passes.analysis.brute import Brute
from tests.passes.analysis.traced import trace
from tests.transformations import orders
from tests.transformations.cases import BY_ORDER, CASES, FALSE_REFUSALS, Case, arguments, at_witness
from tests.transformations.primitives import PRIMITIVES, Setting
from tests.transformations.programs import module_of

LEGAL = [case for case in CASES if case.expected == "legal" and str(case) not in FALSE_REFUSALS]
REFUSED = [case for case in CASES if case.expected == "counterexample"]
OF_BUFFERS = [case for case in REFUSED if case.name in ("privatize", "expand")]
AT_ONCE = [case for case in REFUSED if case.name == "vectorize"]
TURNED_ROUND = [case for case in REFUSED if case not in (*OF_BUFFERS, *AT_ONCE)]
OTHERS = [case for case in CASES if case.expected not in ("legal", "counterexample")]
LOOKED_AT = [
    case
    for case in CASES
    if case.name in BY_ORDER and case.name != "reroll" and case not in OTHERS and not case.reassociate
]
"""Cases where it can be seen whether two dependent accesses change places: marks tell statements apart that reroll."""


def with_function(case: Case, made: func.Func) -> func.Module:
    module: func.Module = with_fields(
        case.module, body=tuple(made if op is case.function else op for op in case.module.body)
    )
    verify(module)
    return module


def left(case: Case, function: func.Func, module: func.Module, sizes: tuple[int, ...], order: str) -> list[bytes]:
    given = case.arguments(sizes)
    made = run(function, *given, module=module, order=order)  # type: ignore[arg-type]
    return [np.asarray(each).tobytes() for each in (*made, *given)]


@cache
def refusal(case: Case) -> IllegalTransform:
    with pytest.raises(IllegalTransform) as refused:
        case.done(case.function, case.module)
    return refused.value


def test_there_are_enough_of_all_kinds():
    assert len(CASES) >= 75
    assert len(LEGAL) >= 30
    assert len(REFUSED) >= 30
    assert len(set(map(str, CASES))) == len(CASES)
    assert {case.name for case in LEGAL} == set(PRIMITIVES)
    forced = {name for name, primitive in PRIMITIVES.items() if primitive.force is not None}
    assert {case.name for case in REFUSED} == forced - {
        "pipeline"
    }  # its counterexample is of a program with DMAs: below


@pytest.mark.parametrize("case", LEGAL, ids=str)
def test_what_is_legal_is_done_and_changes_nothing(case: Case):
    made = case.done(case.function, case.module)
    assert made is not case.function
    module = with_function(case, made)
    is_parallel = any(isinstance(op, affine.Parallel) for op in walk(made))
    for sizes in case.sizes():
        wanted = left(case, case.function, case.module, sizes, "forward")
        for order in ("forward", "reverse") if is_parallel else ("forward",):
            assert left(case, made, module, sizes, order) == wanted, f"{sizes}\n{made}"


@pytest.mark.parametrize("case", TURNED_ROUND, ids=str)
def test_what_is_not_legal_is_refused_with_two_iterations_that_change_places(case: Case):
    """At the sizes of the counterexample both run, touch its element, one writing, and the step turns them round."""
    source, sink, sizes = counterexample(case)
    marked = orders.marked(case.function)
    module = with_function(case, marked)
    old = orders.executions(marked, case.arguments(sizes), module)
    forced = (step(marked, module) for step in steps(case))
    assert any(
        orders.reverses(old, orders.executions(made, case.arguments(sizes), with_function(case, made)), source, sink)
        for made in forced
    )


@pytest.mark.parametrize("case", AT_ONCE, ids=str)
def test_iterations_that_may_not_run_at_once_leave_other_numbers_if_they_do(case: Case):
    _, _, sizes = counterexample(case)
    forced = case.forced(case.function, case.module)
    found = left(case, forced, with_function(case, forced), sizes, "forward")
    assert found != left(case, case.function, case.module, sizes, "forward")


def counterexample(case: Case) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The two iterations, each after the number of its operation, and the sizes: seen to run and to touch the element.

    They are in the order in which the program runs them, and one of them writes.
    """
    refused = refusal(case)
    dependence, witness = refused.dependence, refused.witness
    assert dependence is not None
    assert witness is not None
    assert "e.g. " in str(refused)
    assert "write" in (dependence.source.kind, dependence.sink.kind)
    number, sizes = orders.numbers(case.function), at_witness(case.function, witness.params)
    source, sink = (number[dependence.source.op], *witness.source), (number[dependence.sink.op], *witness.sink)
    marked = orders.marked(case.function)
    runs = orders.executions(marked, case.arguments(sizes), with_function(case, marked))

    def touches(run: tuple[int, ...], role: str) -> list[int]:
        return [k for k, (each, i) in enumerate(runs) if each == run and i.role == role and element in i.elements]

    element = tuple(witness.element)
    assert min(touches(source, dependence.source.kind)) < max(touches(sink, dependence.sink.kind))
    return source, sink, sizes


@pytest.mark.parametrize("case", OF_BUFFERS, ids=str)
def test_a_buffer_of_its_own_would_lose_what_an_iteration_gets_from_another(case: Case):
    source, sink, sizes = counterexample(case)
    assert source[1:] != sink[1:]
    left(case, case.function, case.module, sizes, "forward")
    forced = case.forced(case.function, case.module)
    with pytest.raises(InterpreterError, match="is read before anything was stored there"):
        left(case, forced, with_function(case, forced), sizes, "forward")


def steps(case: Case) -> list[Callable[[func.Func, func.Module | None], func.Func]]:
    """The step without a question; where it does not know its numbers and is refused, with others too."""
    do = case.primitive.force or case.primitive.apply
    also = case.primitive.also(case.chosen) if case.expected == "counterexample" else ()
    return [partial(_stepped, do, chosen) for chosen in (case.chosen, *also)]


def _stepped(do, chosen, function: func.Func, module: func.Module | None) -> func.Func:
    assert module is not None
    return do(Setting(function, module, reassociate=True), *chosen)


@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_what_is_refused_for_another_reason(case: Case):
    refused = refusal(case)
    assert case.expected in str(refused)
    assert refused.witness is None


def test_a_transfer_does_not_start_before_what_it_brings_is_written():
    case = Case("handed_down", "pipeline @A i j")
    refused = refusal(case)
    assert "feeds the read of A by affine.dma_start" in str(refused)
    assert refused.witness is not None
    (size,) = at_witness(case.function, refused.witness.params)
    forced = case.forced(case.function, case.module)
    before, after = (left(case, f, with_function(case, f), (1,), "forward") for f in (case.function, forced))
    assert before == after  # nothing is early
    with pytest.raises(InterpreterError, match="%A is written where a copy that was begun and not waited for reads"):
        left(case, forced, with_function(case, forced), (size,), "forward")


def test_what_is_refused_though_it_is_legal():
    """Refusals of what is legal, each for a reason that is told: there are no others, and not many."""
    refused = {}
    for case in CASES:
        if case.expected == "legal":
            try:
                case.done(case.function, case.module)
            except IllegalTransform as error:
                refused[str(case)] = str(error)
    assert set(refused) == set(FALSE_REFUSALS)
    assert len(refused) <= 1


@cache
def marked(name: str) -> orders.Program:
    module = module_of(name)
    return orders.Program.of(module.functions[-1], module)


@cache
def executions(name: str, sizes: tuple[int, ...]) -> list[tuple[orders.Run, orders.Instance]]:
    """What a program accesses as it is written."""
    program = marked(name)
    return program.executions(program.function, arguments(module_of(name).functions[-1], sizes))


@pytest.mark.parametrize("case", LOOKED_AT, ids=str)
def test_the_table_says_what_runs_show(case: Case):
    """Two accesses of one element, one of them writing, change places at some size: only where the table says so."""
    program = marked(case.program)
    found = any(
        orders.compared(executions(case.program, sizes), program.executions(after, case.arguments(sizes)))
        for after in map(program.changed, steps(case))
        for sizes in case.sizes()
    )
    assert found == (case.expected == "counterexample")


@pytest.mark.parametrize("case", [case for case in CASES if case.name in ("privatize", "expand")], ids=str)
def test_buffers_get_copies_where_runs_show_that_each_read_sees_its_own_iteration(case: Case):
    """Or, for one that is expanded, the same number of iterations before at all sizes."""
    ((loop,), (buffer,)) = case.chosen
    at = Setting(case.function, case.module)
    iv, value = at.ivs((loop,))[0], at.buffers[buffer]
    distances = set()
    for sizes in case.sizes():
        seen = trace(case.function, *case.arguments(sizes), module=case.module)
        for (read, _), write in Brute(seen).last_writers.items():
            if read.buffer.origin is value:
                place = seen.loops[read.op].index(iv)
                is_inside = write is not None and iv in seen.loops[write.op]
                distances.add(read.ivs[place] - write.ivs[place] if is_inside else "before the loop")
    if case.name == "privatize":
        assert (distances == {0}) == (case.expected == "legal")
    else:
        assert (len(distances - {"before the loop"}) == 1) == (case.expected == "legal")
