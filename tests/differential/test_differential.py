"""Some random programs in each run of the suite: every way to run them gives the same, to the bit.

`python -m tests.differential.run` runs more of them, and makes one that fails small.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from affdsl.ir.dialects import arith
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.verifier import verify
from tests.differential.generator import Program, generate
from tests.differential.judges import by_c, by_mlir
from tests.differential.minimise import minimise
from tests.differential.outcome import Outcome, canonical, difference, interpret
from tests.differential.run import kind_of, reordered, written
from tests.effort import some
from tests.harness.batch import CHECKED, COMPILERS, LEVELS

SEEDS = some(range(1, 101), 12)
SANITIZED = some(range(1, 31), 4)


@cache
def program(seed: int) -> Program:
    return generate(seed)


@cache
def expected(seed: int) -> tuple[Outcome, ...]:
    made = program(seed)
    return tuple(interpret(made, call) for call in made.calls)


def require_same(seeds: Iterable[int], verdicts: object) -> None:
    said = []
    for seed, found in zip(seeds, verdicts, strict=True):
        for outcome, verdict in zip(expected(seed), found, strict=True):
            if text := verdict if isinstance(verdict, str) else difference(outcome, verdict):
                said.append(f"seed {seed}: {text}")
    assert not said, "\n".join(said) + "\nmake one small: python -m tests.differential.run --programs 1 --seed <seed>"


@pytest.mark.parametrize("seed", [SEEDS[0], SEEDS[-1]])
def test_a_seed_always_gives_the_same_program(seed):
    assert str(generate(seed).module) == str(program(seed).module)


def test_the_verifier_accepts_what_is_valid_by_construction():
    for seed in SEEDS:
        verify(program(seed).module)


def test_parallel_iterations_give_the_same_in_any_order():
    for seed in SEEDS:
        assert reordered(program(seed), expected(seed)) == "", f"seed {seed}"


@pytest.mark.parametrize("share", range(len(LEVELS)), ids=[how.flags[0] for how in LEVELS])
def test_gcc_and_the_interpreter_agree(share):
    seeds = SEEDS[share :: len(LEVELS)]
    require_same(seeds, by_c([program(s) for s in seeds], [expected(s) for s in seeds], LEVELS[share]))


def test_clang_with_sanitizers_and_the_interpreter_agree():
    how = COMPILERS[-1]
    assert "address,undefined" in str(how)
    require_same(SANITIZED, by_c([program(s) for s in SANITIZED], [expected(s) for s in SANITIZED], how))


def test_checks_of_accesses_find_nothing_where_nothing_is_wrong():
    seeds = some(SEEDS, 8)
    require_same(seeds, by_c([program(s) for s in seeds], [expected(s) for s in seeds], CHECKED))


def test_mlir_and_the_interpreter_agree():
    seeds = [s for s in SEEDS if not program(s).wild]
    require_same(seeds, by_mlir([program(s) for s in seeds]))


def with_a_fault(made: Program) -> Program:
    """made, with each sum of integers a difference."""

    def changed(op):
        return with_fields(op, kind="subi") if isinstance(op, arith.Binary) and op.kind == "addi" else None

    functions = [f for f in made.module.functions if f.symbol == made.entry]
    body = tuple(rewrite(f, changed) if f in functions else f for f in made.module.functions)
    return replace(made, module=with_fields(made.module, body=body))


def faults(made: Program) -> bool:
    wrong = with_a_fault(made)
    return any(difference(interpret(made, c), interpret(wrong, c)) != "" for c in made.calls)


def test_a_wrong_operation_is_noticed_and_made_small_and_reproduced(tmp_path):
    wrong = next(program(s) for s in SEEDS if faults(program(s)))
    small = minimise(wrong, faults)
    assert faults(small)
    count = sum(1 for f in small.module.functions for _ in walk(f))
    assert count < 25 < sum(1 for f in wrong.module.functions for _ in walk(f)), str(small.module)
    path = written(small, "sums are\ndifferences", tmp_path)
    assert path.with_suffix(".mlir").read_text() == f"// sums are\n// differences\n{small.module}\n"
    again = pickle.loads(path.read_bytes())  # noqa: S301  our own
    assert str(again.module) == str(small.module)
    assert faults(again)


def test_outcomes_differ_by_the_sign_of_zero_but_not_by_the_payload_of_nan():
    def of(*numbers: float) -> Outcome:
        return Outcome((canonical(np.array(numbers), None),), ())

    assert difference(of(0.0, np.nan), of(0.0, -np.nan)) == ""
    said = "array argument 0 at [0]: expected np.float64(0.0), got np.float64(-0.0) (1 of 2 differ)"
    assert difference(of(0.0, np.nan), of(-0.0, np.nan)) == said
    assert difference(of(1.0), Outcome((), ())) == "0 array arguments instead of 1"


def test_failures_of_one_cause_are_of_one_kind():
    first = "compiler: p7.c:12:3: error: unused variable 'x_1' [-Werror=unused-variable]"
    second = "compiler: p9.c:40:9: error: unused variable 'k' [-Werror=unused-variable]"
    assert kind_of("gcc -O1", first) == kind_of("gcc -O3", second)
    assert kind_of("gcc -O1", "result 0 at [1]: expected 1, got 2 (1 of 3 differ)") == "gcc: other numbers"
