"""Functions with vectors on arrays whose strides callers pass, once more for arrays whose rows are contiguous."""

from __future__ import annotations

from dataclasses import replace

from affdsl.codegen.c.plan import Plan
from affdsl.codegen.c.prototype import Prototype
from affdsl.ir.dialects import affine, vector
from affdsl.ir.expr import Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType

_VECTORS = (
    affine.VectorLoad | affine.VectorStore | vector.TransferRead | vector.TransferWrite | vector.Load | vector.Store
    | vector.MaskedLoad | vector.MaskedStore
)  # fmt: skip


def in_rows(plan: Plan, name: str) -> tuple[Plan, tuple[Value, ...]]:
    """A plan, under a name, where the strides that follow it are 1: then neighbours are loaded and stored at once.

    There are no such strides where that makes no difference, or where each access is checked.
    """
    arrays = {op.memref for op in walk(plan.func) if isinstance(op, _VECTORS) and not plan.notes}
    roots = {plan.roots[a] for a in arrays if isinstance(a.type, MemRefType) and has_rows(a.type) is None}
    found = {arg: strides for arg, strides in plan.strides.items() if arg in roots}
    ones = tuple(s for strides in found.values() for s in strides[-1:] if isinstance(s, Value))
    strides = {arg: tuple(1 if s in ones else s for s in of) for arg, of in plan.strides.items()}
    return replace(plan, name=name, strides=strides), ones


def choice(plan: Plan, made: Prototype, other: Prototype, ones: tuple[Value, ...]) -> list[str]:
    """The lines with which a function hands on to the one where some strides are 1."""
    names = {made.parameters[s] for s in ones}
    given = ", ".join(p.name for p in made.all if p.name not in names)
    call = f"{other.name}({given})"
    test = " && ".join(f"{made.parameters[s]} == 1" for s in ones)
    if plan.has_status or plan.gives_value:
        return [f"    if ({test})", f"        return {call};"]
    return [f"    if ({test}) {{", f"        {call};", "        return;", "    }"]
