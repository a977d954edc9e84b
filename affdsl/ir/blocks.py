"""How blocks end: what they hand on."""

from __future__ import annotations

from affdsl.ir.core import Block
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value


def yielded(block: Block) -> tuple[Value, ...]:
    """What a block yields at its end; nothing where it ends otherwise."""
    last = block[-1] if block else None
    return last.values if isinstance(last, affine.Yield | scf.Yield) else ()


def split_body(block: Block) -> tuple[Block, tuple[Value, ...]]:
    """The operations of a block without a yield at its end, and what that yields."""
    ends = bool(block) and isinstance(block[-1], affine.Yield | scf.Yield)
    return (block[:-1], yielded(block)) if ends else (block, ())
