"""Random programs, as they are and with subscripts moved: what is said of them is what the interpreter does."""

import re
from collections import Counter
from random import Random

import numpy as np
import pytest

from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Constraint
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.bounds import Bounds
from affdsl.passes.analysis.bounds.size_conditions import holds
from tests.effort import some
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.fuzz.native import arguments
from tests.fuzz.program import Program, with_indices
from tests.passes.analysis import programs


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


NUMBER = re.compile(r"(?<=[\[ +])\d+(?=[\], ])")


def changed(text: str, random: Random) -> Module | None:
    """The module with a number in an operation on memory changed; None where that is no program."""
    lines = text.split("\n")
    spots = [
        (k, found)
        for k, line in enumerate(lines)
        if re.search("load|store|subview|transfer|dma_start", line) and "dense" not in line
        for found in NUMBER.finditer(line.split(" : ")[0])
    ]
    if not spots:
        return None
    k, found = random.choice(spots)
    number = max(0, int(found.group()) + random.choice((-2, -1, 1, 2, 3)))
    lines[k] = f"{lines[k][: found.start()]}{number}{lines[k][found.end() :]}"
    try:
        module = parse("\n".join(lines))
        verify(module)
    except AffdslError:
        return None
    return module


def judged(program: programs.Program, module: Module) -> str:
    """What a run does; what is said of it must be that."""
    function = next(f for f in module.functions if f.symbol == "f")
    given = program.arguments()
    found = Bounds(function, module)
    numbers = {v: int(x) for v, x in zip(function.args, given, strict=True) if v.type == INDEX}
    for value, array in zip(function.args, given, strict=True):
        for axis, size in enumerate(np.shape(array)):
            symbol = found.extents.get((value, axis))
            if symbol is not None:
                numbers[symbol] = size
    wrong = [f for f in (*found.conditions, *found.violations) if holds(f.against, numbers)]
    try:
        run(function, *given, module=module, externals=program.externals, uninitialised="poison")
        outcome = "runs"
    except InterpreterError:
        outcome = "stops"
    assert outcome == ("stops" if wrong else outcome if found.unknown else "runs"), str(found)
    return outcome


@pytest.mark.parametrize("seed", some(range(5), 1))
def test_all_features_with_one_number_changed(seed):
    random = Random(seed)
    outcomes: Counter[str] = Counter()
    for k in range(12):
        program = programs.generate(700 + 20 * seed + k)
        assert judged(program, program.module) == "runs"
        for _ in range(3):
            module = changed(program.text, random)
            if module is not None:
                outcomes[judged(program, module)] += 1
    assert outcomes["stops"]
