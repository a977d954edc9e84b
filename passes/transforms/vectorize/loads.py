"""One load for several of one element, where nothing between them stores."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Block, Lanewise, Op
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import substitute, walk, with_fields

_Place = tuple[Value, tuple[Affine, ...]]
_QUIET = (Lanewise, arith.Constant, affine.Load, affine.If, scf.If, affine.Apply, affine.Yield, scf.Yield)
"""Operations that store nothing, other than by those inside of them."""


def loaded_once(loop: affine.For) -> affine.For:
    """The loop with each element loaded once in a piece that stores nothing; the same object if that is so already."""
    new: dict[Value, Term] = {}
    body = _block(loop.body, {}, new)
    return with_fields(loop, body=body) if new else loop


def _block(block: Block, before: Mapping[_Place, Value], new: dict[Value, Term]) -> Block:
    known = dict(before)
    found: list[Op] = []
    for op in block:
        made = substitute(op, new)
        if isinstance(made, affine.Load) and (made.memref, made.index) in known:
            new[made.result] = known[made.memref, made.index]
            continue
        if isinstance(made, affine.Load):
            known[made.memref, made.index] = made.result
        if isinstance(made, affine.If | scf.If):
            made = with_fields(made, then=_block(made.then, known, new), orelse=_block(made.orelse, known, new))
        if not all(isinstance(each, _QUIET) for each in walk(made)):
            known.clear()
        found.append(made)
    return tuple(found)
