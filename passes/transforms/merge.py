"""Keeps what a local variable holds in the element of an array that is stored from it."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import holders, rewrite, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import access_name, name
from affdsl.passes.transforms.hoist import may_meet
from affdsl.passes.transforms.scalar_replace.elements import is_called_in_parallel


def merge(function: Func, buffer: Value, *, module: Module | None = None) -> Func:
    """Let a local variable be the element of an array that is stored behind it: one place for both.

        t = 0; for k: t = t + S(k); A[i] = 2 * t   ->   A[i] = 0; for k: A[i] = A[i] + S(k); A[i] = 2 * A[i]

    The store stands in the block that makes the variable, behind all that uses it, and nothing else touches the element
    from the first value of the variable on. Where the last value is stored as it is, that store goes. The numbers are
    the same, to the bit. A sum that stands in memory needs no place of its own for each iteration when the loops around
    it are distributed.

    Parameters
    ----------
    buffer
        The memref without dimensions that memref.alloc or memref.alloca gives.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If the function does not make the variable, or something else than loads and stores uses it; if no element of
        its type is stored behind it that nothing touches before; or if threads may run that at the same time.

    References
    ----------
    Lefebvre and Feautrier, "Automatic storage management for parallel programs", Parallel Computing 24, 1998.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9x9xf32>, %B: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 {
    ...     %t = memref.alloca() : memref<f32>
    ...     affine.store %x, %t[] : memref<f32>
    ...     affine.for %k = 0 to 9 {
    ...       %a = affine.load %A[%i, %k] : memref<9x9xf32>
    ...       %b = affine.load %t[] : memref<f32>
    ...       %c = arith.addf %b, %a : f32
    ...       affine.store %c, %t[] : memref<f32>
    ...     }
    ...     %d = affine.load %t[] : memref<f32>
    ...     affine.store %d, %B[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(merge(f, f.body[0].body[0].result).body[0])
    affine.for %i = 0 to 9 {
      affine.store %x, %B[%i] : memref<9xf32>
      affine.for %k = 0 to 9 {
        %a = affine.load %A[%i, %k] : memref<9x9xf32>
        %b = affine.load %B[%i] : memref<9xf32>
        %c = arith.addf %b, %a : f32
        affine.store %c, %B[%i] : memref<9xf32>
      }
    }
    """
    what = f"merge {name(buffer)} with what is stored from it"
    blocks = (block for op in walk(function) for block in op.blocks())
    block = next((each for each in blocks if _makes(each, buffer)), ())
    if not block:
        raise refusal(function, what, f"@{function.symbol} does not make {name(buffer)}: others may need it")
    uses = [op for op in walk(function) if buffer in op.mentions()]
    if _may_run_at_once(function, block, module):
        raise refusal(function, what, "a parallel loop around it, or a call in one: others may store the same element")
    odd = next((op for op in uses if not isinstance(op, affine.Load | affine.Store | memref.Dealloc)), None)
    odd = odd or next((op for op in uses if isinstance(op, affine.Store) and op.value is buffer), None)
    if odd is not None or not isinstance(buffer.type, MemRefType) or buffer.type.rank:
        raise refusal(odd or function, what, f"{name(buffer)} is no variable that is only loaded and stored")
    using = [op for op in block if _uses(op, buffer)]
    if not using or not isinstance(using[0], affine.Store):
        raise refusal(function, what, f"nothing is stored in {name(buffer)} before all else that is done with it")
    store = _store(function, block, using, what, module)
    readers = sum(store.value in op.reads() for op in walk(function))
    is_kept = isinstance(using[-1], affine.Load) and using[-1].result is store.value

    def rule(op: Op) -> Op | Sequence[Op] | None:
        if buffer in op.defines() or (isinstance(op, memref.Dealloc) and op.memref is buffer):
            return ()
        if is_kept and (op is store or (op is using[-1] and readers == 1)):
            return ()
        if isinstance(op, affine.Load | affine.Store) and op.memref is buffer:
            return with_fields(op, memref=store.memref, index=store.index, written=None)
        return None

    return rewrite(function, rule)


def _may_run_at_once(function: Func, block: Block, module: Module | None) -> bool:
    """Whether threads may run a block at the same time, as far as a module shows it."""
    loops = (op for op in holders(function) if isinstance(op, affine.Parallel | scf.Parallel))
    if any(inner is block for loop in loops for op in walk(loop) for inner in op.blocks()):
        return True
    return module is not None and is_called_in_parallel(function.symbol, module)


def _makes(block: Block, buffer: Value) -> bool:
    return any(isinstance(op, memref.Allocation) and op.result is buffer for op in block)


def _uses(op: Op, buffer: Value) -> bool:
    """Whether an operation, or one inside of it, loads or stores a variable."""
    return any(buffer in inner.mentions() for inner in walk(op) if isinstance(inner, affine.Load | affine.Store))


def _store(function: Func, block: Block, using: Sequence[Op], what: str, module: Module | None) -> affine.Store:
    """The first store behind all uses of a variable whose element may hold it. Raises IllegalTransform."""
    first, last = using[0], block.index(using[-1])
    assert isinstance(first, affine.Store)
    accesses = Dependences(function, module).accesses
    why: list[IllegalTransform] = []
    for op in block[last + 1 :]:
        if not isinstance(op, affine.Store) or op.value.type != first.value.type:
            continue
        between = block[block.index(first) : block.index(op)]
        made = {v for each in between for v in each.defines()}
        (own,) = accesses.inside(op)
        if made.intersection({op.memref, *(v for e in op.index for v in e.values())}):
            why.append(refusal(op, what, f"where {access_name(own)} goes is known only behind the first value"))
            continue
        around = len(accesses.domains[op].ivs)
        touching = [a for each in between for a in accesses.inside(each) if may_meet(accesses, own, a, around)]
        if not touching:
            return op
        reason = f"{access_name(touching[0])} may touch the element of {access_name(own)} before that"
        why.append(refusal(touching[0].op, what, reason))
    if why:
        raise why[0]
    raise refusal(first, what, "no element of its type is stored behind all that uses it, in the same block")
