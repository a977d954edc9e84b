"""Functions of other dialects, such as gpu.func, as passes that run on any function see them."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Func
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.traverse import with_fields


def on_function(op: Op, change: Callable[[Func], Func | None]) -> Op | None:
    """A function as `change` makes it; None for what is no function, has no body, or does not change.

    A function of another dialect is given as a `func.func` with the same arguments and block, if it has one block.
    """
    if isinstance(op, Func):
        return None if op.external else change(op)
    match op:
        case Opaque(regions=(OpaqueRegion(blocks_inside=(OpaqueBlock() as block,)) as region,)):
            if not op.kind.endswith(".func") or op.kind == "func.func":
                return None
            given = Func("", block.args, block.body, location=op.location)
            new = change(given)
            if new is None or new.body is block.body:
                return None
            inside = with_fields(region, blocks_inside=(with_fields(block, body=new.body),))
            return with_fields(op, regions=(inside,))
    return None
