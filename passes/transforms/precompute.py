"""Computes once, before loops, what they compute of each element of an array that they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import fresh, rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType, NumberType
from affdsl.passes.analysis.access import accesses_of
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name as called
from affdsl.passes.transforms.computed_alike import computed_alike
from affdsl.passes.transforms.loops.nests import loop_of, replaced
from affdsl.passes.transforms.loops.pieces import defined_inside

Exprs = tuple[Affine, ...]
KINDS = ("addf", "subf", "mulf", "divf", "addi", "subi", "muli")
"""What is computed: operations that have a result for all numbers."""


def precompute(function: Func, buffer: Value, iv: Value, *, module: Module | None = None) -> Func:
    """Compute once, before a loop, what it computes of each element of an array with a value from before the loop.

        for i: for j: S(x * A[i], j)      ->      T = alloc like A
                                                  for i: T[i] = x * A[i]
                                                  for i: for j: S(T[i], j)

    The new array has the shape of the old one, and holds the elements that the loop reads, each computed once for all
    iterations that use it. Every result is the same to the bit.

        for i: { p[0] = x; for j: p[j] = S(p[j - 1]); for j: T(i, p[j]) }
            ->  T = alloc like p; T[0] = x; for j: T[j] = S(T[j - 1]); for i: for j: T(i, T[j]); for j: p[j] = T[j]

    An array that the loop stores itself, the same in each iteration, is computed before it as a whole
    (`computed_alike`), also where the iterations store it to different rows: p[i, j].

    Refuses where the loop may write to the array in another way, or does anything but to compute, load and store; where
    no load, or more than one, is used in one such operation alone; and where bounds of loops that the element depends
    on move with loops that it does not depend on.

    Parameters
    ----------
    buffer
        The memref.
    iv
        The induction variable of the outermost of the loops.
    module
        What the function stands in: it shows which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With what is in the way, and where.

    References
    ----------
    Cociorva et al., "Space-time trade-off optimization for a class of electronic structure calculations", PLDI 2002.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>, %B: memref<8x9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 8 {
    ...     affine.for %j = 0 to 9 {
    ...       %a = affine.load %A[%i] : memref<8xf32>
    ...       %b = arith.mulf %x, %a : f32
    ...       affine.store %b, %B[%i, %j] : memref<8x9xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(precompute(f, f.args[0], f.body[0].iv))
    func.func @f(%A: memref<8xf32>, %B: memref<8x9xf32>, %x: f32) {
      %A_made = memref.alloc() : memref<8xf32>
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i] : memref<8xf32>
        %b = arith.mulf %x, %a : f32
        affine.store %b, %A_made[%i] : memref<8xf32>
      }
      affine.for %i = 0 to 8 {
        affine.for %j = 0 to 9 {
          %b = affine.load %A_made[%i] : memref<8xf32>
          affine.store %b, %B[%i, %j] : memref<8x9xf32>
        }
      }
      memref.dealloc %A_made : memref<8xf32>
      return
    }
    """
    what = f"precompute what loop {called(iv)} makes of {called(buffer)}"
    loop = loop_of(function, iv, what)
    if _require_readable(function, loop, buffer, module, what):
        return computed_alike(function, loop, buffer, _sizes(buffer, loop), module, what)
    load, use = _used_alike(loop, buffer, what)
    made = Value(MemRefType(_memref(buffer).shape, _element(use)), f"{buffer.hint or 'array'}_made")
    sizes = _sizes(buffer, loop)
    nest = _nest(loop, load, use, made, what)
    after = rewrite(loop, _reading(load, use, made))
    assert isinstance(after, affine.For)
    alloc = memref.Alloc(made, tuple(op.result for op in sizes if isinstance(op, memref.Dim)), location=loop.location)
    return replaced(function, loop, *sizes, alloc, *nest, after, memref.Dealloc(made, location=loop.location))


def _require_readable(function: Func, loop: affine.For, buffer: Value, module: Module | None, what: str) -> bool:
    """Whether a loop stores to an array. Refuse where it may write to it in another way, or does what is not seen."""
    accesses = accesses_of(function, module)
    mine = (affine.Load, affine.Store)
    own = next((a.buffer for a in accesses.all if isinstance(a.op, mine) and a.op.memref is buffer), None)
    if own is None:
        raise refusal(loop, what, f"no affine access inside touches {called(buffer)}")
    known = (affine.For, affine.If, affine.Load, affine.Store, affine.Yield)
    for op in walk(loop):
        if not isinstance(op, known) and not is_pure(op):
            raise refusal(loop, what, f"it holds {op_name(op)}, which does more than to compute, load and store")
    stores = False
    for access in accesses.inside(loop):
        if access.kind == "write" and accesses.storage.may_alias(access.buffer, own):
            if not isinstance(access.op, affine.Store) or access.op.memref is not buffer:
                raise refusal(loop, what, f"it may write to {called(buffer)}, at {access.op.location}")
            stores = True
    return stores


def _used_alike(loop: affine.For, buffer: Value, what: str) -> tuple[affine.Load, arith.Binary]:
    """The load of an array whose element is used in one operation alone, with a value from before the loop."""
    inside = {v for op in walk(loop) if not isinstance(op, arith.Constant) for v in (*op.defines(), *op.binds())}
    users: dict[Value, list[Op]] = {}
    for op in walk(loop):
        for value in op.reads():
            users.setdefault(value, []).append(op)
    found: list[tuple[affine.Load, arith.Binary]] = []
    for load in walk(loop):
        if not isinstance(load, affine.Load) or load.memref is not buffer:
            continue
        match users.get(load.result, []):
            case [arith.Binary(left=left, right=right, kind=kind) as use] if kind in KINDS and left is not right:
                other = right if left is load.result else left
                if other not in inside:
                    found.append((load, use))
    if len(found) != 1:
        many = "several loads of it are" if found else "no load of it is"
        reason = f"{many} used in one operation alone, with a value from before the loop: one of {', '.join(KINDS)}"
        raise refusal(loop, what, reason)
    return found[0]


def _nest(loop: affine.For, load: affine.Load, use: arith.Binary, made: Value, what: str) -> Block:
    """The loops around a load that its element depends on, around what is computed of it."""
    path = _path(loop, load)
    if path is None:
        raise refusal(loop, what, "the load stands under a condition")
    index, bounds = _written_out(loop, load, path, what)
    own = {v for e in index for v in e.values()}
    wanted = set(own)
    kept: list[affine.For] = []
    for each in reversed(path):
        if each.iv in wanted:
            kept.append(each)
            wanted |= {v for exprs in bounds[each] for e in exprs for v in e.values()}
    left = {each.iv for each in path if each not in kept}
    if any(each.iv not in own for each in kept):
        raise refusal(loop, what, "bounds of loops around the element move with loops that it does not depend on")
    if not left:
        raise refusal(loop, what, "each iteration of all of the loops uses another element")
    for each in path:
        if each not in kept and left.intersection(v for exprs in bounds[each] for e in exprs for v in e.values()):
            raise refusal(loop, what, "bounds of loops that the element does not depend on move with each other")
    new: dict[Value, Term] = {each.iv: fresh(each.iv) for each in path if each in kept}

    def moved(exprs: Sequence[Affine]) -> tuple[Affine, ...]:
        return tuple(e.substitute(new) for e in exprs)

    value, result = fresh(load.result), fresh(use.result)
    numbers = [op for op in walk(loop) if isinstance(op, arith.Constant) and op.result in (use.left, use.right)]
    operands: dict[Value, Value] = {load.result: value, **{op.result: fresh(op.result) for op in numbers}}
    body: Block = (
        *(with_fields(op, result=operands[op.result]) for op in numbers),
        with_fields(load, result=value, index=moved(index), written=None),
        with_fields(
            use,
            result=result,
            left=operands.get(use.left, use.left),
            right=operands.get(use.right, use.right),
        ),
        affine.Store(result, made, moved(index), location=use.location),
    )
    for each in reversed(path):
        lower, upper = map(moved, bounds[each])
        if each in kept:
            iv = new[each.iv]
            assert isinstance(iv, Value)
            body = (affine.For(iv, lower, upper, body, step=each.step, location=each.location),)
        else:
            trips = [last - first for last in upper for first in lower]
            runs = tuple(Constraint(trip - 1) for trip in trips if not trip.is_constant or trip.constant < 1)
            body = (affine.If(runs, body, location=each.location),) if runs else body
    return body


def _written_out(
    loop: affine.For, load: affine.Load, path: Sequence[affine.For], what: str
) -> tuple[Exprs, dict[affine.For, tuple[Exprs, Exprs]]]:
    """The subscripts of a load and the bounds of the loops around it, by what is known where these begin."""
    applies: dict[Value, Term] = {}
    for op in walk(loop):
        if isinstance(op, affine.Apply):
            applies[op.result] = op.expr.substitute(applies)

    def written_out(exprs: Exprs) -> Exprs:
        return tuple(e.substitute(applies) for e in exprs)

    index = written_out(load.index)
    bounds = {each: (written_out(each.lower), written_out(each.upper)) for each in path}
    inside = defined_inside(loop) - {each.iv for each in path}
    needed = (*index, *(e for pair in bounds.values() for exprs in pair for e in exprs))
    lost = next((v for e in needed for v in e.values() if v in inside), None)
    if lost is not None:
        reason = f"its place, or a bound of a loop around it, depends on {called(lost)}, which is only known inside"
        raise refusal(load, what, reason)
    return index, bounds


def _path(op: Op, load: Op) -> list[affine.For] | None:
    """The loops from one down to a load; None if something else is on the way."""
    if not isinstance(op, affine.For):
        return None
    if any(inner is load for inner in op.body):
        return [op]
    return next(([op, *found] for inner in op.body if (found := _path(inner, load)) is not None), None)


def _reading(load: affine.Load, use: arith.Binary, made: Value) -> Callable[[Op], Op | Iterable[Op] | None]:
    """The rule that drops a load, and reads what is made of it instead of computing that."""

    def rule(op: Op) -> Op | Iterable[Op] | None:
        if op is load:
            return ()
        if op is use:
            return affine.Load(use.result, made, load.index, location=use.location)
        return None

    return rule


def _sizes(buffer: Value, loop: affine.For) -> tuple[Op, ...]:
    """What computes the sizes of an array that its type does not say."""
    found: list[Op] = []
    for k, size in enumerate(_memref(buffer).shape):
        if size is None:
            axis = Value(INDEX)
            found.append(arith.Constant(axis, k, location=loop.location))
            found.append(memref.Dim(Value(INDEX), buffer, axis, location=loop.location))
    return tuple(found)


def _memref(buffer: Value) -> MemRefType:
    assert isinstance(buffer.type, MemRefType)
    return buffer.type


def _element(use: arith.Binary) -> NumberType:
    type = use.result.type
    assert isinstance(type, NumberType), "numbers of an array and a value make numbers"
    return type
