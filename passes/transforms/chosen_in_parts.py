"""Loops that choose among their iterations, as the place of an extreme, as parallel bands: an answer for each part."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.parts import (
    IN_A_ROW,
    LONGEST_STEP,
    PARTS,
    arrays_of_parts,
    neutral,
    one_of_parts,
    over_parts,
    stores_of_part,
)
from affdsl.ir.traverse import like, likes, walk, with_fields
from affdsl.ir.types import INDEX, ScalarType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reduction import Reductions
from affdsl.passes.transforms.loops.nests import instead, replaced, with_arrays_outside
from affdsl.passes.transforms.vectorize.branches import without_branches
from affdsl.passes.transforms.vectorize.choices import Choice, better, choices, selects_of
from affdsl.passes.transforms.vectorize.loads import loaded_once
from affdsl.passes.transforms.vectorize.unconditional import loaded_before_conditions

NEVER = -(2**63)
"""The number of the iteration of what no iteration has chosen yet: it is before all others."""


class Own(FrozenValue):
    """What a part of the iterations has itself of a value that a loop carries.

    Attributes
    ----------
    kind
        The operation of arith that combines it with that of others; "" for what is chosen, or stays as it is.
    choice
        How it is chosen.
    """

    kind: str = ""
    choice: Choice | None = None


def chosen_in_parts(
    function: Func, loop: affine.For, module: Module | None = None, *, reassociate: bool = False
) -> Func | None:
    """The function with a loop that chooses among its iterations as a parallel band; None where it is no such loop.

        b, p = for i = 0 to n, b = x[0], p = 0: { c = x[i] > b; yield select(c, x[i], b), select(c, i, p) }
        ->
        parallel part = 0 to 64:
            b, p, at = for row = 4096 * part to n step 262144, b = x[0], p = 0, at = never:
                           for i = row to min(n, row + 4096): { the same, and at = select(c, i, at) }
            bs[part], ps[part], ats[part] = b, p, at
        b, p, at = for part = 0 to 64, b = x[0], p = 0, at = never: the better one; of equal ones, the earlier one

    All parts begin with what the loop begins with: that one is better than none, and is never chosen of a part, since
    its iteration is before all others. Which one is chosen does not depend on threads: it is that of the loop. Nothing
    else may stand in the way: who asks has seen to it that iterations depend on each other in no other way.
    """
    dependences = Dependences(function, module)
    before_conditions = loaded_before_conditions(loop, dependences.accesses, module)
    plain = without_branches(loaded_once(before_conditions, dependences.accesses.storage.may_share))
    if plain is not loop:
        before, function = function, replaced(function, loop, plain)
        module = module if module is None else instead(module, before, function)
    own = _own(plain, Dependences(function, module), reassociate=reassociate)
    if own is None:
        return None
    return with_arrays_outside(function, plain, _in_parts(plain, own))


def _own(loop: affine.For, dependences: Dependences, *, reassociate: bool) -> list[Own] | None:
    """What a part has of each value; None where one is neither combined nor chosen, or none is chosen."""
    yields, reductions = yielded(loop.body), Reductions(dependences)
    found: list[Own | None] = []
    for k, carried in enumerate(loop.carried):
        reduction = reductions.carried(loop, k)
        if yields[k] is carried:
            found.append(Own())
        elif reduction is None or (reduction.needs_reassociation and not reassociate):
            found.append(None)
        else:
            found.append(Own(reduction.kind))
    row = {v: yields[k] for k, v in enumerate(loop.carried) if found[k] is None}
    for choice in choices(loop, row):
        for k in choice.values:
            found[k] = Own(choice=choice)
    every = [each for each in found if each is not None]
    numbers = all(isinstance(v.type, ScalarType) for v in loop.carried)
    return every if numbers and len(every) == len(found) and any(each.choice for each in every) else None


def _in_parts(loop: affine.For, own: Sequence[Own]) -> tuple[Op, ...]:
    """What stands for a loop: the numbers that parts begin with, their arrays, the band, and what combines them."""
    at, hint = loop.location, loop.iv.hint
    chosen = list(dict.fromkeys(each.choice for each in own if each.choice is not None))
    starts = [neutral(each.kind, like(v)) for each, v in zip(own, loop.carried, strict=True) if each.kind]
    never = arith.Constant(Value(INDEX), NEVER, location=at)
    first = iter(starts)
    inits = tuple(next(first).result if each.kind else v for each, v in zip(own, loop.inits, strict=True))
    inits += (never.result,) * len(chosen)

    carried = (*loop.carried, *(Value(INDEX, "at", at) for _ in chosen))
    body = _choosing(loop, chosen, carried[len(own) :])
    is_alone = not any(isinstance(op, affine.For) for each in loop.body for op in walk(each))
    row = loop.step * IN_A_ROW if is_alone and loop.step <= LONGEST_STEP else loop.step
    part, begin = Value(INDEX, f"{hint}_part", loop.iv.location), Value(INDEX, f"{hint}_row", loop.iv.location)
    inner = with_fields(
        loop, lower=(Affine.of(begin),), upper=(*loop.upper, begin + row), body=body,
        inits=likes(carried), carried=carried, results=likes(carried), written=None, attributes=(),
    )  # fmt: skip
    rows = affine.For(
        begin, tuple(low + part * row for low in loop.lower), loop.upper,
        (inner, affine.Yield(inner.results, location=at)), row * PARTS, inits, inner.inits, likes(carried),
        location=at,
    )  # fmt: skip
    arrays = arrays_of_parts(carried, hint, at)
    band = over_parts(part, (rows, *stores_of_part(rows.results, arrays, part, at)), at, loop.attributes)

    def combine(left: Sequence[Value], right: Sequence[Value]) -> tuple[Block, tuple[Value, ...]]:
        return _better(loop, own, chosen, left, right)

    total = one_of_parts(
        like(part), arrays, combine, (*loop.inits, *(never.result for _ in chosen)), likes(carried),
        (*loop.results, *likes(carried[len(own) :])), at,
    )  # fmt: skip
    return (*starts, never, *(memref.Alloca(array, location=at) for array in arrays), band, total)


def _choosing(loop: affine.For, chosen: Sequence[Choice], iterations: Sequence[Value]) -> tuple[Op, ...]:
    """The body of a loop that also yields the iteration of each choice."""
    *body, last = loop.body
    assert isinstance(last, affine.Yield)
    values = [*last.values]
    for choice, before in zip(chosen, iterations, strict=True):
        select = selects_of(loop, choice)[0]
        now = arith.Select(like(before), select.condition, loop.iv, before, location=select.location)
        body.append(now)
        values.append(now.result)
    return (*body, affine.Yield(tuple(values), location=loop.location))


def _better(
    loop: affine.For, own: Sequence[Own], chosen: Sequence[Choice], left: Sequence[Value], right: Sequence[Value]
) -> tuple[Block, tuple[Value, ...]]:
    """What combines the values of two parts, of which the left ones are those of earlier iterations."""
    at, body, values = loop.location, list[Op](), [*left]
    for k, each in enumerate(own):
        if each.kind:
            values[k] = like(left[k])
            body.append(arith.Binary(values[k], each.kind, left[k], right[k], location=at))
    for n, choice in enumerate(chosen, len(own)):
        places = [*choice.values, n]
        key = None if choice.key is None else choice.values.index(choice.key)
        ops, found = better(choice, key, [left[k] for k in places], [right[k] for k in places])
        body += [with_fields(op, location=at) for op in ops]
        for k, value in zip(places, found, strict=True):
            values[k] = value
    return tuple(body), tuple(values)
