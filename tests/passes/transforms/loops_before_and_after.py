"""Runs loops before and after they are rewritten: over all small bounds."""

from __future__ import annotations

import itertools

import numpy as np

from affdsl.ir.dialects.func import Func
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse

SMALL = range(-2, 4)

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
