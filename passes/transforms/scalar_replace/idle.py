"""Variables that a loop no longer needs, once it carries what they held: what is stored is used, and nothing stored."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.passes.transforms.loops.nests import any_loop_of
from affdsl.passes.transforms.loops.pieces import block_around, with_block


def without_idle_variables(function: Func, iv: Value) -> Func:
    """The function where variables made beside a loop are not loaded right behind a store, nor stored for nothing.

        v = alloca; v[] = x; t = v[]; r = for i, a = t: ...; v[] = r   ->   r = for i, a = x: ...

    It is the same object where there are none.
    """
    block = block_around(function, any_loop_of(function, iv, "look for idle variables"))
    made, known = _forwarded(block, iv)
    kept = _needed(made)
    if len(kept) == len(block):
        return function
    return renamed(with_block(function, block, kept), known)


def _variables(block: Block) -> set[Value]:
    """The buffers of one element that a block makes."""
    made = [op.result for op in block if isinstance(op, memref.Alloca | memref.Alloc)]
    return {v for v in made if isinstance(v.type, MemRefType) and not v.type.rank}


def _forwarded(block: Block, iv: Value) -> tuple[list[Op], dict[Value, Value]]:
    """A block without loads of variables behind a store and before a loop, and what these would have loaded.

    Those behind the loop stay: what they are of may be taken apart from it.
    """
    variables, held = _variables(block), dict[Value, Value]()
    made, known = list[Op](), dict[Value, Value]()
    at = next((k for k, op in enumerate(block) if iv in op.binds()), 0)
    for k, op in enumerate(block):
        if k < at and isinstance(op, affine.Load) and op.memref in held:
            known[op.result] = held[op.memref]
            continue
        if isinstance(op, affine.Store) and op.memref in variables and op.value not in variables:
            held[op.memref] = known.get(op.value, op.value)
        else:
            for v in variables.intersection(v for each in walk(op) for v in each.mentions()):
                held.pop(v, None)
        made.append(op)
    return made, known


def _needed(block: list[Op]) -> Block:
    """A block without stores to variables that nothing loads later, and without variables that nothing uses."""
    variables, used = _variables((*block,)), set[Value]()
    found: list[Op] = []
    for op in reversed(block):
        if isinstance(op, affine.Store) and op.memref in variables - used and op.value not in variables:
            continue
        if variables.intersection(op.defines()) - used:
            continue
        used.update(v for each in walk(op) for v in each.mentions())
        found.append(op)
    return (*reversed(found),)
