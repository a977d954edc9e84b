"""Dependences next to those of mlir-opt, on random programs: ours are among its own, and the ends of ours within its.

Where mlir-opt denies what we find, a run of the program must show it: then mlir-opt is wrong.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from passes.analysis.access import Access
from passes.analysis.dependence import Dependence, Dependences
from tests import oracles
from tests.analysis.brute import ROLES, Brute, Query
from tests.analysis.programs import Program, generate

SEEDS = range(130)
PATIENCE = 5.0
"""Seconds that mlir-opt gets for a program; most take 0.1, some hours."""
_MESSAGE = re.compile(
    r"^<stdin>:\d+:\d+: (?:remark: dependence from \d+ to \d+ at depth \d+ = (.*)|error: dependence check failed)$",
    re.M,
)

Ends = tuple[int | None, int | None]
VIEWS = (memref.Cast, memref.CollapseShape, memref.ExpandShape, memref.ReinterpretCast, memref.SubView)


@dataclass(frozen=True)
class Answer:
    """What mlir-opt says of a pair at a depth: `false`, `true`, or the ends of distances; None is a failure."""

    text: str | None

    @property
    def ends(self) -> tuple[Ends, ...]:
        """The ends of each distance; none are given where all loops are in the same iteration."""
        found = re.findall(r"\[(-inf|-?\d+), (\+inf|-?\d+)\]", self.text or "")
        return tuple((None if "inf" in a else int(a), None if "inf" in b else int(b)) for a, b in found)

    def holds(self, distances: Sequence[Ends]) -> bool:
        """Whether a dependence with these ends of its distances may be what it says."""
        if self.text == "false":
            return False
        return self.text == "true" or all(map(_within, distances, self.ends))


def _within(inner: Ends, outer: Ends) -> bool:
    (low, high), (least, most) = inner, outer
    return (least is None or (low is not None and low >= least)) and (
        most is None or (high is not None and high <= most)
    )


@dataclass(frozen=True)
class Pair:
    """Two accesses of one function to one memref, and what both of us say of a depth."""

    program: Program
    function: func.Func
    source: Op
    sink: Op
    depth: int
    theirs: Answer
    ours: Dependence | None


def answers_of(program: Program) -> list[Answer] | None:
    """What mlir-opt says of a program, in its order; None where it does not come to an end."""
    flags = ["--test-memref-dependence-check", "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null", "-"]
    command = [oracles.require("mlir-opt-22"), *flags]
    try:
        done = subprocess.run(command, input=program.text, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    assert done.returncode == 0, done.stderr
    return [Answer(message[1]) for message in _MESSAGE.finditer(done.stderr)]


def pairs(program: Program, answers: list[Answer]) -> Iterator[Pair]:
    """Every pair of accesses to one buffer, for each depth, with both answers.

    Left out is what is not the same question. mlir-opt takes two memrefs for two buffers, and a view for a buffer of
    its own: a subscript outside of a view's shape is to it an element that no other has. It knows no loop but those of
    the affine dialect. Two loads do not depend to it.
    """
    views = {op.result for op in walk(program.module) if isinstance(op, VIEWS)}
    home: dict[Op, tuple[func.Func, Dependences, Access]] = {}
    for function in program.module.functions:
        if not function.external:
            of = Dependences(function, program.module)
            home |= {a.op: (function, of, a) for a in of.accesses if isinstance(a.op, affine.Load | affine.Store)}
    said = iter(answers)
    for source, (function, of, first) in home.items():
        for sink, (other, _, second) in home.items():
            loops = first.domain.loops[: of.common(first, second)] if function is other else ()
            known = [loop for loop in loops if isinstance(loop, affine.For | affine.Parallel)]
            for depth in range(1, len(known) + 2):
                theirs = next(said)
                if source.memref is sink.memref and source.memref not in views and len(known) == len(loops):
                    reads = isinstance(source, affine.Load) and isinstance(sink, affine.Load)
                    ours = None if reads else of.at(first, second, depth)
                    yield Pair(program, function, source, sink, depth, theirs, ours)
    assert next(said, None) is None, "mlir-opt says more than was expected"


def in_else(op: Op, function: func.Func) -> bool:
    """Whether an operation stands in the else branch of an affine.if."""
    conditions = (c for c in walk(function) if isinstance(c, affine.If))
    return any(inner is op for c in conditions for outer in c.orelse for inner in walk(outer))


def shown_by_a_run(pair: Pair) -> bool:
    """Whether two iterations of the run depend in a way that mlir-opt denies."""
    kind = next(k for k, roles in ROLES.items() if roles == (_role(pair.source), _role(pair.sink)))
    found = Brute(pair.program.trace()).distances(Query(pair.source, pair.sink, kind, pair.depth))
    return found is not None and not pair.theirs.holds(found)


def shown_by_its_subscripts(pair: Pair) -> bool:
    """Whether two iterations touch one element where mlir-opt says that none do: what the sizes of the run do not show.

    With such sizes the program may be out of bounds, of which neither of us speaks.
    """
    assert pair.ours is not None
    witness = pair.ours.witness()
    assert witness is not None
    sizes = {a: witness.params.get(a.hint, 0) for a in pair.function.args if a.type == INDEX}
    first = element(pair.function.body, pair.source, witness.source, dict(sizes))
    second = element(pair.function.body, pair.sink, witness.sink, dict(sizes))
    later = witness.source[: pair.depth] < witness.sink[: pair.depth] or pair.depth > len(pair.ours.distances)
    return pair.theirs.text == "false" and later and first == second is not None


def element(block: Block, wanted: Op, ivs: tuple[int, ...], env: dict[Value, int]) -> tuple[int, ...] | None:
    """Which element an access in a block touches in an iteration; None where it does not run then."""
    for op in block:
        if op is wanted:
            assert isinstance(op, affine.Load | affine.Store)
            return tuple(e.evaluate(env) for e in op.index)
        match op:
            case arith.Constant(result=result, value=int(n)) if result.type == INDEX:
                env[result] = n
            case affine.Apply(result=result, expr=expr):
                env[result] = expr.evaluate(env)
            case affine.Min(result=result, exprs=exprs) | affine.Max(result=result, exprs=exprs):
                choose = min if isinstance(op, affine.Min) else max
                env[result] = choose(e.evaluate(env) for e in exprs)
        if not any(inner is wanted for inner in walk(op)):
            continue
        match op:
            case affine.For():
                lower, upper = max(e.evaluate(env) for e in op.lower), min(e.evaluate(env) for e in op.upper)
                env[op.iv] = ivs[0]
                runs = ivs[0] in range(lower, upper, op.step)
                return element(op.body, wanted, ivs[1:], env) if runs else None
            case affine.If():
                holds = all(n == 0 if c.equality else n >= 0 for c in op.condition for n in [c.expr.evaluate(env)])
                return element(op.then if holds else op.orelse, wanted, ivs, env)
            case _:
                raise NotImplementedError(op.name)
    return None


def _role(op: Op) -> str:
    return "read" if isinstance(op, affine.Load) else "write"


def test_our_dependences_are_among_those_of_mlir_opt() -> None:
    counts: Counter[str] = Counter()
    denied: list[Pair] = []
    for program in map(generate, SEEDS):
        answers = answers_of(program)
        if answers is None:
            counts["mlir-opt does not come to an end"] += 1
            continue
        for pair in pairs(program, answers):
            theirs, ours = pair.theirs, pair.ours
            ends = () if ours is None else tuple((d.low, d.high) for d in ours.distances)
            if theirs.text is None:
                counts["mlir-opt fails"] += 1
            elif ours is None:
                counts["both: none" if theirs.text == "false" else "ours: none"] += 1
            elif theirs.holds(ends):
                counts["equal" if theirs.text == "true" or ends == theirs.ends else "ours: less"] += 1
            else:
                assert ours.is_exact, "what is not known is not compared"
                denied.append(pair)
    # What mlir-opt denies it denies of an else branch, which it reads under the condition of the other one; and what
    # it denies is there.
    for pair in denied:
        assert in_else(pair.source, pair.function) or in_else(pair.sink, pair.function), pair
        assert shown_by_a_run(pair) or shown_by_its_subscripts(pair), pair
    assert 1 <= len(denied) < 10, denied
    assert sum(counts.values()) > 3000, counts
    assert min(counts[k] for k in ("both: none", "equal", "ours: less", "ours: none")) > 50, counts
    assert counts["mlir-opt does not come to an end"] < 3, counts
