"""How each number goes from iteration to iteration that a loop carries: what lanes make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reduction import Reductions
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.vectorize.branches import HAS_NEUTRAL
from affdsl.passes.transforms.vectorize.choices import Choice, choices, computed_of, selects_of, set_to
from affdsl.passes.transforms.vectorize.packed import packing_of

IDEMPOTENT = ("minnumf", "maxnumf")
"""Kinds without a neutral number that may combine a number as often as one likes."""


class Carried(FrozenValue):
    """How a value goes from iteration to iteration.

    `same` is yielded as it is; `all` is combined in any order, as `kind` of arith; `best` is chosen, as `choice` says,
    and `any` so that it does not matter which one of equal numbers; `set` becomes what is the same in all iterations,
    where the condition of `choice` holds in one; `late` is chosen, and computed after the loop of the number of the
    iteration; `packed` counts what is kept (see `packed.py`); `row` goes from lane to lane.
    """

    way: Literal["same", "all", "best", "any", "set", "late", "packed", "row"]
    kind: str = ""
    choice: Choice | None = None


def ways(loop: affine.For, dependences: Dependences, *, reassociate: bool) -> tuple[Carried, ...]:
    """How each value goes that a loop carries."""
    reductions, found = Reductions(dependences), list[Carried]()
    for k in range(len(loop.carried)):
        if reductions.is_invariant(loop, k):
            found.append(Carried("same"))
            continue
        reduction = reductions.carried(loop, k)
        free = reduction is not None and reduction.kind in (*HAS_NEUTRAL, *IDEMPOTENT)
        if reduction is not None and free and (reassociate or not reduction.needs_reassociation):
            found.append(Carried("all", reduction.kind))
        else:
            found.append(Carried("row"))
    for k in range(len(loop.carried)):
        if found[k].way == "row" and packing_of(loop, k) is not None:
            found[k] = Carried("packed")
    for choice in choices(loop, in_a_row(loop, found)):
        exact = reassociate or choice.kind == "cmpi"  # of floats, 0 and -0 are equal and not the same
        way: Literal["any", "best"] = "any" if exact and choice.values == (choice.key,) else "best"
        for k, select in zip(choice.values, selects_of(loop, choice), strict=True):
            is_late = way == "best" and k != choice.key and computed_of(loop, select.if_true) is not None
            how = "set" if set_to(loop, choice) is not None else "late" if is_late else way
            found[k] = Carried(how, choice=choice)
    return tuple(found)


def choices_of(how: Sequence[Carried], *ways: str) -> list[Choice]:
    """What is chosen in some ways, each choice once."""
    return list(dict.fromkeys(each.choice for each in how if each.way in ways and each.choice is not None))


def chain_of(loop: affine.For, how: Sequence[Carried], what: str) -> tuple[Op, ...]:
    """The operations by which what a loop carries in a row becomes what it yields, in the order of the text.

    Raises IllegalTransform where others than operations on numbers are among them.
    """
    row = in_a_row(loop, how)
    from_carried, forward = set(row), list[Op]()
    for op in loop.body:
        if not op.is_terminator and any(v in from_carried for inner in walk(op) for v in inner.reads()):
            forward.append(op)
            from_carried.update(op.defines())
    needed, chain = set(row.values()), list[Op]()
    for op in reversed(forward):
        if needed.intersection(op.defines()):
            chain.insert(0, op)
            needed.update(op.reads())
    for op in chain:
        if not isinstance(op, Lanewise):
            names = ", ".join(shown(v) for v in row)
            raise refusal(op, what, f"{names} goes from each iteration to the next through {op_name(op)}")
    return tuple(chain)


def in_a_row(loop: affine.For, how: Sequence[Carried]) -> dict[Value, Value]:
    """What is carried from lane to lane, and what is yielded for it."""
    return {v: value for v, value, each in zip(loop.carried, yielded(loop.body), how, strict=True) if each.way == "row"}
