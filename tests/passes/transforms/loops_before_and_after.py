"""Runs loops before and after they are rewritten: over all small bounds, and in random programs."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from tests.harness.reading import loops
from tests.passes.analysis.programs import Program, generate

SMALL = range(-2, 4)
Rewriting = Callable[[Func, Value], Func]

# What a loop leaves shows which iterations ran, and in which order: %r is a hash of all of them, and %s what the last
# but one was; the two are handed on crosswise.
BODY = """iter_args(%p = %zero, %q = %one) -> (i64, i64) {{
    %t = arith.constant 31 : i64
    %k = arith.index_cast {iv} : index to i64
    %m = arith.muli %p, %t : i64
    %w = arith.addi %m, %k : i64
    %v = arith.xori %w, %q : i64
    affine.store %k, %A[0] : memref<1xi64>
    affine.yield %q, %v : i64, i64
  }}"""
FUNCTION = """func.func @f(%a: index, %b: index, %c: index, %d: index, %A: memref<1xi64>) -> (i64, i64) {{
  %zero = arith.constant 7 : i64
  %one = arith.constant 1 : i64
  %r:2 = affine.for %i = {lower} to {upper} step {step} {body}
  return %r#0, %r#1 : i64, i64
}}"""
LOWERS = ("%a", "max affine_map<()[s0, s1] -> (s0, s1 + 1)>()[%a, %b]")
UPPERS = ("%c", "min affine_map<()[s0, s1] -> (s0 + 3, s1 * 2)>()[%c, %d]")


def one_loop(lower: str, upper: str, step: int) -> Func:
    """A function of one loop over its arguments."""
    module = parse(FUNCTION.format(lower=lower, upper=upper, step=step, body=BODY.format(iv="%i")))
    return module.functions[0]


def assert_alike_on_small_bounds(before: Func, after: Func) -> int:
    """Run functions of four indices and a buffer on all small indices that they read; how often the loop ran."""
    verify(after)
    read = {v for op in walk(before) for v in op.reads()}
    numbers = [SMALL if a in read else (0,) for a in before.args[:4]]
    ran = 0
    for given in itertools.product(*numbers):
        old, new = np.full(1, -99, np.int64), np.full(1, -99, np.int64)
        wanted, found = run(before, *given, old), run(after, *given, new)
        assert (wanted, old) == (found, new), f"{given}: {found}, {new} instead of {wanted}, {old}\n{after}"
        ran += old[0] != -99
    return ran


@dataclass
class Found:
    """What became of the loops of random programs."""

    made: int = 0
    compared: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def on_random_programs(
    seeds: Iterable[int], rewriting: Rewriting, prepared: Callable[[Func, affine.For], Func] | None = None
) -> Found:
    """Rewrite each loop of each program, one at a time, and compare what the program does, to the bit.

    What is rewritten is the function with that loop `prepared` first.
    """
    found = Found()
    for seed in seeds:
        program = generate(seed)
        for loop in loops(program.function):
            before = program.function if prepared is None else prepared(program.function, loop)
            try:
                after = rewriting(before, loop.iv)
            except IllegalTransform as refusal:
                found.refused[str(refusal).splitlines()[1].strip()[:40]] += 1
                continue
            found.made += 1
            found.compared += _is_alike(program, before, after)
    return found


def _is_alike(program: Program, before: Func, after: Func) -> bool:
    """Whether the program has a meaning, which then must be the same."""
    try:
        wanted = program.outcome(before, uninitialised="error")
    except InterpreterError:
        return False
    assert program.outcome(after, uninitialised="error") == wanted, f"seed {program.seed}\n{before}\n{after}"
    return True
