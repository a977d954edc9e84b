"""One load for several of one element, and none for what was stored just before, where nothing between them stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from affdsl.ir.core import Block, Lanewise, Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import substitute, walk, with_fields

MayAlias = Callable[[Value, Value], bool]
Place = tuple[Value, tuple[Affine | Value, ...]]
"""An array, and where in it: by expressions, or by values that data says."""
QUIET = (Lanewise, arith.Constant, affine.Load, memref.Load, affine.If, scf.If, affine.Apply, affine.Yield, scf.Yield)
"""Operations that store nothing, other than by those inside of them."""


def loaded_once(loop: affine.For, may_alias: MayAlias) -> affine.For:
    """The loop with each element loaded once in a piece that stores to no other one that may be it.

    What a store has left is the number that it stored; a value that is cast twice is cast once, so that it is one place
    in a table. It is the same object if there is nothing to do.
    """
    new: dict[Value, Term] = {}
    body = _block(loop.body, {}, new, may_alias)
    return with_fields(loop, body=body) if new else loop


def _block(block: Block, before: Mapping[Place, Value], new: dict[Value, Term], may_alias: MayAlias) -> Block:
    known, casts = dict(before), dict[object, Value]()
    found: list[Op] = []
    for op in block:
        made = substitute(op, new)
        if isinstance(made, arith.Cast | affine.Load | memref.Load):
            if isinstance(made, arith.Cast):
                key = made.kind, made.operand, made.result.type, made.attributes
                same = casts.setdefault(key, made.result)
            else:
                same = known.setdefault(_place(made), made.result)
            if same is not made.result:
                new[made.result] = same
                continue
        match made:
            case affine.Store():
                known = {place: v for place, v in known.items() if not may_meet(place, made, may_alias)}
                known[made.memref, made.index] = made.value
            case affine.If() | scf.If():
                then, orelse = (_block(each, known, new, may_alias) for each in (made.then, made.orelse))
                made = with_fields(made, then=then, orelse=orelse)
            case affine.For():
                made = with_fields(made, body=_block(made.body, {}, new, may_alias))
        if not isinstance(made, affine.Store) and not all(isinstance(each, QUIET) for each in walk(made)):
            known.clear()
        found.append(made)
    return tuple(found)


def _place(load: affine.Load | memref.Load) -> Place:
    return load.memref, load.index if isinstance(load, affine.Load) else load.indices


def may_meet(place: Place, store: affine.Store, may_alias: MayAlias) -> bool:
    """Whether a store may be to an element: not where the two lie apart in some dimension."""
    memref, index = place
    if not may_alias(memref, store.memref):
        return False
    if memref is not store.memref:
        return True
    apart = [a - b for a, b in zip(index, store.index, strict=True) if isinstance(a, Affine)]
    return not any(each.is_constant and each.constant for each in apart)
