"""Makes affine loops and bands count from 0 in steps of 1."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import rewrite, substitute, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier.positions import Positions
from affdsl.ir.written import Tree, add, ceildiv, mul
from affdsl.passes.affine.arithmetic import written
from affdsl.passes.affine.maps import flattened
from affdsl.passes.affine.positions import PositionNames, exprs_of, positions_of, spelled
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of


def normalize(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Let one loop count from 0 in steps of 1.

        for i = 3 to 17 step 4: S(i)      ->      for i = 0 to 4: S(4 * i + 3)

    Nothing runs in another order, so this is always legal. The old counter is computed by affine.apply.

    Parameters
    ----------
    iv
        The induction variable of the loop, which it keeps.

    Raises
    ------
    IllegalTransform
        If the loop has several lower bounds, or divides by a symbol in its bounds; or if there is no such loop.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<99xf32>, %x: f32) {
    ...   affine.for %i = 3 to 17 step 4 { affine.store %x, %A[%i] : memref<99xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(normalize(f, f.body[0].iv).body[0])
    affine.for %i = 0 to 4 {
      %0 = affine.apply affine_map<(d0) -> (d0 * 4 + 3)>(%i)
      affine.store %x, %A[%0] : memref<99xf32>
    }
    """
    what = f"normalize loop {name(iv)}"
    loop = loop_of(function, iv, what)
    if len(loop.lower) > 1:
        raise refusal(loop, what, "it begins at the largest of several numbers")
    new = normalized_loop(loop, positions_of(function))
    return function if new is None else rewrite(function, lambda op: _as_meant(new) if op is loop else None)


def _as_meant(loop: affine.For) -> affine.For:
    """The loop without how its end was written, where a counter of a loop around stands in that and changes nothing.

    That loop may run inside of it afterwards.
    """
    ends = {v for upper in loop.upper for v in upper.values()}
    text = loop.spelling("upper")
    return loop if text is None or ends.issuperset((*text.dims, *text.symbols)) else with_fields(loop, written=None)


def normalized_loop(op: affine.For, positions: Positions) -> affine.For | None:
    """A loop that counts from 0 in steps of 1; None where it does so, or has several lower bounds."""
    if len(op.lower) > 1 or (op.step == 1 and op.lower[0] == Affine()):
        return None
    names = PositionNames()
    upper, (lower,) = (names.trees(written(op, end), positions.constants) for end in ("upper", "lower"))
    bounds = flattened(spelled([_trips(lower, bound, op.step) for bound in upper], names.values, positions))
    body = _with_counters(op, [(op.iv, lower, op.step)], names, op.body, positions)
    return with_fields(op, lower=(Affine(),), upper=exprs_of(bounds), step=1, body=body, written={"upper": bounds})


def normalized_band(op: affine.Parallel, positions: Positions) -> affine.Parallel | None:
    """A band that counts from 0 in steps of 1; None where it does so, or has several bounds for a counter."""
    if any(len(group) > 1 for group in chain(op.lower, op.upper)):
        return None
    if all(step == 1 for step in op.steps) and all(low == Affine() for (low,) in op.lower):
        return None
    names = PositionNames()
    upper, lower = (names.trees(written(op, end), positions.constants) for end in ("upper", "lower"))
    loops = list(zip(lower, upper, op.steps, strict=True))
    bounds = flattened(spelled([_trips(*loop) for loop in loops], names.values, positions))
    counters = list(zip(op.ivs, lower, op.steps, strict=True))
    body = _with_counters(op, counters, names, op.body, positions)
    return with_fields(
        op, lower=((Affine(),),) * len(loops), upper=tuple((e,) for e in exprs_of(bounds)), steps=(1,) * len(loops),
        body=body, written={"upper": bounds},
    )  # fmt: skip


def _trips(lower: Tree, upper: Tree, step: int) -> Tree:
    return ceildiv(add(upper, mul(lower, -1)), step)


def _with_counters(
    op: Op, counters: Iterable[tuple[Value, Tree, int]], names: PositionNames, body: Block, positions: Positions
) -> Block:
    """body where each counter is computed by an affine.apply of what it was."""
    applies: list[Op] = []
    new: dict[Value, Term] = {}
    for iv, lower, step in counters:
        old = new[iv] = Value(INDEX)
        map = flattened(spelled([add(lower, mul(names[iv], step))], names.values, positions))
        applies.append(affine.Apply(old, *exprs_of(map), location=op.location, written={"expr": map}))
    return (*applies, *(substitute(inner, new) for inner in body))
