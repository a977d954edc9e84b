"""Wrap-around variables: from the second iteration on, carried values are affine in the counter of the one before."""

from __future__ import annotations

from collections.abc import Collection

from affdsl.ir.blocks import split_body
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.affine.subscripts import exact_indices


def wrap_arounds(loop: affine.For) -> dict[Value, Affine]:
    """What carried values of a loop are in the next iteration, over the counter of this one: those that are affine.

        for i, k = N - 1: { A[k]; yield i }      k is i - 1, but in the first iteration

    References
    ----------
    Wolfe, "High Performance Compilers for Parallel Computing", 1996, 9.3 (wrap-around variables).
    """
    body, yielded = split_body(loop.body)
    indices = exact_indices(loop)
    inside = {*loop.carried, *(v for op in body for each in walk(op) for v in (*each.defines(), *each.binds()))}
    found = ((c, indices.expr(v)) for c, v in zip(loop.carried, yielded, strict=True))
    return {c: e for c, e in found if e is not None and loop.iv in e.values() and inside.isdisjoint(e.values())}


def are_read(loop: affine.For, values: Collection[Value]) -> bool:
    """Whether an operation of a loop reads one of some values, but what it hands on."""
    body, _ = split_body(loop.body)
    return any(v in values for op in body for each in walk(op) for v in each.reads())


def peeled_off(loop: affine.For, function: Func) -> affine.For:
    """A loop that another one, of at least an iteration, stands before, without what that makes known.

    `function` is the one with the loop before the split: what is read of it behind the loop is carried on.
    """
    found = wrap_arounds(loop)
    if not are_read(loop, found):
        return loop
    made: list[Op] = []
    new: dict[Value, Value] = {}
    for carried, expr in found.items():
        number = Value(INDEX, carried.hint)
        made.append(affine.Apply(number, expr.substitute({loop.iv: loop.iv - loop.step}), location=loop.location))
        new[carried] = number
        if carried.type != INDEX:
            new[carried] = Value(carried.type, carried.hint)
            made.append(arith.Cast(new[carried], "index_cast", number, location=loop.location))
    body, yielded = split_body(loop.body)
    values = tuple(new.get(v, v) for v in yielded)
    body = (*made, *(substitute(op, new) for op in body))
    read = {v for op in walk(function) for v in op.reads()}
    kept = [
        k
        for k, (carried, result) in enumerate(zip(loop.carried, loop.results, strict=True))
        if carried not in found or result in read
    ]
    end = (affine.Yield(tuple(values[k] for k in kept), location=loop.body[-1].location),) if kept else ()
    return with_fields(
        loop,
        body=(*body, *end),
        inits=tuple(loop.inits[k] for k in kept),
        carried=tuple(loop.carried[k] for k in kept),
        results=tuple(loop.results[k] for k in kept),
    )
