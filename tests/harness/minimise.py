"""Makes what fails small: one simplification after the other is tried, and those stay with which it still fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import TypeVar

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, substitute, users, walk, with_fields
from affdsl.ir.types import FloatType, IntegerType, MemRefType
from affdsl.ir.verifier import verify

T = TypeVar("T")


def smallest(
    thing: T,
    simpler: Callable[[T], Iterable[T]],
    fails: Callable[[T], bool],
    *,
    seconds: float = 60,
    tries: int = 10**9,
) -> T:
    """What fails and of which nothing simpler does, or the best when the time or the tries are over.

    Where one simplification succeeds, the next ones of the new thing are tried, then all of them anew.
    """
    end, place, changed = time.monotonic() + seconds, 0, False
    while True:
        for k, smaller in enumerate(islice(simpler(thing), place, None), place):
            tries -= 1
            if time.monotonic() > end or tries < 0:
                return thing
            if fails(smaller):
                thing, place, changed = smaller, k, True
                break
        else:
            if not changed:
                return thing
            place, changed = 0, False


def simpler_modules(module: func.Module, entry: str) -> Iterator[func.Module]:
    """Modules that keep the rules and are a little smaller: without functions, operations, or with plainer ones."""
    for smaller in _smaller_modules(module, entry):
        try:
            verify(smaller)
        except (AffdslError, ValueError):
            continue
        yield smaller


def _smaller_modules(module: func.Module, entry: str) -> Iterator[func.Module]:
    for function in module.functions:
        if function.symbol != entry:
            yield exchanged(module, function)
    for function in module.functions:
        ops = [op for op in walk(function) if op is not function and not op.is_terminator]
        for size in (1 << k for k in reversed(range(len(ops).bit_length()))):
            for at in reversed(range(0, len(ops), size)):
                smaller = _without(function, set(ops[at : at + size]))
                if smaller is not None:
                    yield exchanged(module, function, smaller)
    for function in module.functions:
        for op in list(walk(function))[1:]:
            for new in _simpler(op):
                made = rewrite(function, lambda each, op=op, new=new: new if each is op else None)
                if made is not function:
                    yield exchanged(module, function, made)


def exchanged(module: func.Module, old: func.Func, *new: func.Func) -> func.Module:
    """The module with something else, or nothing, in place of a function."""
    made: func.Module = with_fields(module, body=tuple(o for op in module.body for o in (new if op is old else (op,))))
    return made


def _without(function: func.Func, removed: set[Op]) -> func.Func | None:
    """A function without some operations; None if others need a buffer that they make, or nothing changes.

    Constants take the place of what others read.
    """
    inside = {inner for op in removed for inner in walk(op)}
    read = users(function)
    needed = {v for op in removed for v in op.defines() if any(u not in inside for u in read.get(v, ()))}
    is_plain = all(isinstance(op, arith.Constant) and needed.issuperset(op.defines()) for op in removed)
    if is_plain or any(isinstance(v.type, MemRefType) for v in needed):
        return None
    defining = {v: op for op in removed for v in op.defines()}

    def rule(op: Op) -> tuple[Op, ...] | None:
        # What has been rewritten inside is known by what it defines.
        original = defining.get(next(iter(op.defines()), None), op)
        if original not in removed:
            return None
        return tuple(arith.Constant(v, _plain(v)) for v in original.defines() if v in needed)

    return rewrite(function, rule)


def _plain(value: Value) -> float | int:
    return 1.0 if isinstance(value.type, FloatType) else 1 if value.type == IntegerType(1) else 2


def _simpler(op: Op) -> Iterator[Op | tuple[Op, ...]]:
    """What may stand in place of an operation: what is inside of it, or the same with plainer parts."""
    match op:
        case affine.For() if not op.carried:
            iv = Value(op.iv.type, op.iv.hint)
            yield (affine.Apply(iv, op.lower[0]), *(substitute(o, {op.iv: iv}) for o in op.body))
        case affine.If() | scf.If() if not op.results:
            yield op.then
            yield op.orelse
        case affine.Parallel() if not op.results and len(op.ivs) == 1:
            yield affine.For(op.ivs[0], op.lower[0], op.upper[0], op.body, op.steps[0])
        case arith.Select():
            yield from (with_fields(op, if_true=value, if_false=value) for value in (op.if_true, op.if_false))
    if isinstance(op, affine.For | affine.If | scf.If | affine.Load | affine.Store | affine.Apply | memref.Alloc):
        for name in (field.name for field in fields(op)):
            for new in _plainer(name, getattr(op, name)):
                yield with_fields(op, **{name: new})


def _plainer(name: str, part: object) -> Iterator[object]:
    """What may stand in place of one field of an operation."""
    match name, part:
        case ("step", int()) if part != 1:
            yield 1
        case ("alignment", int()):
            yield None
        case ("orelse", (_, *_)) if not isinstance(part[-1], affine.Yield | scf.Yield):  # type: ignore[index]
            yield ()
        case (_, Affine()):
            yield from _simpler_expr(part)
        case ("lower" | "upper" | "condition", (_, _, *_)):
            yield from ((each,) for each in part)
        case ("lower" | "upper" | "index", (Affine(), *_)):
            for k, expr in enumerate(part):
                for simple in (*_simpler_expr(expr), *([Affine.of(2)] if name == "upper" else [])):
                    if simple != expr:
                        yield (*part[:k], simple, *part[k + 1 :])


def _simpler_expr(expr: Affine) -> Iterator[Affine]:
    if expr != Affine():
        yield Affine()
    if len(expr.terms) > 1 or (expr.terms and expr.constant):
        yield Affine(expr.terms)
        yield from (Affine(((a, c),)) for a, c in expr.terms)


def dropped(items: Sequence[T], k: int) -> tuple[T, ...]:
    """The items but one."""
    return (*items[:k], *items[k + 1 :])
