"""Random programs, as they are and with subscripts moved: what is said of them is what the interpreter does."""

from random import Random

import pytest

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Constraint
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.bounds import Bounds
from tests.effort import some
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.fuzz.native import arguments
from tests.fuzz.program import Program, with_indices


def entry(program: Program) -> tuple[Func, Module]:
    module = parse(mlir(program))
    return module.functions[-1], module


def leaves(program: Program, function: Func, module: Module, number: int) -> bool:
    """Whether a run stops because of a subscript."""
    try:
        run(function, *arguments(program, number), module=module, uninitialised="poison")
    except InterpreterError as error:
        if "out of bounds" in str(error):
            return True
        raise
    return False


def sizes(program: Program, function: Func, number: int) -> dict[object, int]:
    indices = [v for v in function.args if v.type == INDEX]
    return dict(zip(indices, program.given(number), strict=True))


def check(program: Program) -> tuple[int, int]:
    """How often something leaves its array, and how often that is not known."""
    function, module = entry(program)
    general = Bounds(function, module)
    wrong = unknown = 0
    for number in range(len(program.valuations) or 1):
        given = sizes(program, function, number)
        really = leaves(program, function, module, number)
        here = [Constraint(v - n, equality=True) for v, n in given.items()]
        exact = Bounds(with_fields(function, assumes=tuple(here)), module)
        says_so = any(f.verdict in ("violated", "conditional") for f in exact.findings)
        if says_so:
            assert really, str(exact)
        elif exact.are_proved:
            assert not really
        elif really:
            unknown += 1
        # With the sizes left open, a run that its conditions allow stays inside, and only such a run.
        refused = any(general.refusals(given)) or any(
            any(all(c.holds(given) for c in part) for part in f.against) for f in general.violations
        )
        if refused:
            assert really, str(general)
        elif not general.unknown:
            assert not really
        wrong += really
    return wrong, unknown


@pytest.mark.parametrize("seed", some(range(12), 2))
def test_nothing_is_said_against_programs_that_are_right(seed):
    for k in range(8):
        assert check(generate(1000 * seed + k)) == (0, 0)


@pytest.mark.parametrize("seed", some(range(12), 2))
def test_moved_subscripts_are_found_exactly_where_the_interpreter_stops(seed):
    random = Random(seed)
    total = 0
    for k in range(8):
        program = generate(5000 + 100 * seed + k)
        buffer = random.choice(program.buffers)
        moves = tuple(random.choice((-2, -1, 0, 1, 2)) for _ in range(buffer.rank))
        wrong, _ = check(with_indices(program, {buffer.name: moves}))
        total += wrong
    assert total
