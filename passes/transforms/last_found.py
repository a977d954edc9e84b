"""The last iteration in which a condition holds, looked for from the end: the loop ends where it is found."""

from __future__ import annotations

from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import fresh
from affdsl.ir.types import I1
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import counted, replaced
from affdsl.passes.transforms.vectorize.choices import Choice, computing, selects_of
from affdsl.passes.transforms.vectorize.searches import in_blocks


def last_found(function: Func, loop: affine.For, choice: Choice, strip: int, what: str) -> Func:
    """The function with a loop that only keeps values of the last iteration with a condition, in strips from its end.

        p = for i = 0 to n, p = -1: yield select(x[i] == 0, i, p)
        ->
        p = for s = 0 to n step 64, p = -1:
                if none was found: if any x[i] == 0 of the strip that ends s before the end: p = the last such i

    Iterations only read, and what they choose needs nothing of those before. So nobody sees that those before the last
    one that is chosen do not run. Raises IllegalTransform where a loop has a step, or several bounds at one end.
    """
    if len(loop.lower) > 1 or len(loop.upper) > 1 or loop.step != 1:
        raise refusal(loop, what, "its end is not one number, or it has a step")
    start, early = _backwards(loop, choice)
    made = replaced(function, loop, start, early)
    return replaced(made, early, *in_blocks(made, early, strip, what, asked_by=loop.iv).ops)


def _backwards(loop: affine.For, choice: Choice) -> tuple[arith.Constant, affine.For]:
    """The loop from its last iteration on, which ends with the first one that is chosen, and the truth it begins with.

    What decides about that stands before the question whether it goes on, since it may be computed for any iteration.
    """
    place, (lower,), (upper,) = loop.location, loop.lower, loop.upper
    selects = dict(zip(choice.values, selects_of(loop, choice), strict=True))
    chosen = [selects[k].if_true for k in range(len(loop.carried))]
    condition = selects[0].condition
    asks = computing(loop, (condition,))
    needed = [op for op in computing(loop, chosen) if op not in asks]

    start, stop, goes_on = (Value(I1, hint, place) for hint in ("start", "stop", "goes_on"))
    stays = (scf.Yield((goes_on, *loop.carried), location=place),)
    leaves = (*needed, arith.Constant(stop, False, location=place), scf.Yield((stop, *chosen), location=place))
    results = (goes_on, *loop.carried)
    asked = scf.If(condition, leaves, stays, tuple(map(fresh, results)), location=place)
    guard = scf.If(
        goes_on, (asked, scf.Yield(asked.results, location=place)), stays, tuple(map(fresh, results)), location=place
    )
    before = fresh(loop.iv)
    rest = (guard, affine.Yield(guard.results, location=place))
    body = tuple(op for ops in (asks, rest) if ops for op in counted(ops, loop.iv, upper - 1 - before))
    early = affine.For(
        before, (Affine(),), (upper - lower,), body, 1,
        (start, *loop.inits), (goes_on, *loop.carried), (fresh(goes_on), *loop.results), location=place,
    )  # fmt: skip
    return arith.Constant(start, True, location=place), early
