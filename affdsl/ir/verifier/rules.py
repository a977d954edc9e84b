"""The rules of each operation, one function for each class of operations, and the table of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from affdsl.ir.attributes import StringAttr
from affdsl.ir.counters import too_large, too_large_in
from affdsl.ir.dialects import affine, arith, func, math, memref, scf, ub
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, INDEX, FunctionType, IndexType, IntegerType, MemRefType, Type, UnrankedMemRefType
from affdsl.ir.verifier import complex_numbers, opaque, structured, transfers, types, vector, views
from affdsl.ir.verifier.context import Context, Rules, of_types
from affdsl.ir.verifier.types import must_agree, must_be, must_have


def affine_for(op: affine.For, context: Context) -> Iterator[str]:
    """Bounds on both sides over dims and symbols; a positive step; carried values of one type each."""
    if not op.lower or not op.upper:
        yield "needs at least one lower and one upper bound"
    if op.step <= 0:
        yield f"the step must be positive, but is {op.step}"
    yield from too_large_in(op)
    yield from must_have(INDEX, op.iv)
    yield from context.positions.misplaced((*op.lower, *op.upper))
    yield from _carried(op)


def scf_for(op: scf.For, context: Context) -> Iterator[str]:
    """Bounds, step and counter of one integer type; carried values of one type each."""
    yield from must_be("integer or index", op.iv)
    if not isinstance(op.iv.type, IndexType | IntegerType):
        yield f"{shown(op.iv)} must be a scalar, but has type {op.iv.type}"
    yield from must_agree(op.iv, op.lower, op.upper, op.step)
    if context.positions.constants.get(op.step, 1) <= 0:
        yield f"the step must be positive, but is {context.positions.constants[op.step]}"
    if isinstance(op.iv.type, IndexType):
        yield from _counter(op.lower, op.upper, op.step, context)
    yield from _carried(op)


def _counter(lower: Value, upper: Value, step: Value, context: Context) -> Iterator[str]:
    """Where numbers say how far a loop goes, its counter fits into 64 bits."""
    known = context.positions.constants
    if step in known:
        bounds = [Affine.of(known.get(v, v)) for v in (lower, upper)]
        wrong = too_large(bounds[:1], bounds[1:], known[step])
        yield from [wrong] if wrong else []


def _carried(op: affine.For | scf.For) -> Iterator[str]:
    counts = len(op.inits), len(op.carried), len(op.results)
    if len(set(counts)) > 1:
        yield "has {} initial values, {} carried values and {} results, which must be equally many".format(*counts)
        return
    for init, carried, result in zip(op.inits, op.carried, op.results, strict=True):
        yield from must_agree(init, carried, result)


def affine_if(op: affine.If, context: Context) -> Iterator[str]:
    """Constraints over dims and symbols."""
    yield from context.positions.misplaced([c.expr for c in op.condition])


def scf_if(op: scf.If, context: Context) -> Iterator[str]:
    """The condition is i1."""
    yield from must_have(I1, op.condition)


def parallel(op: affine.Parallel, context: Context) -> Iterator[str]:
    """Bounds and a positive step for each counter; a reduction for each result that its type allows."""
    counts = len(op.ivs), len(op.lower), len(op.upper), len(op.steps)
    if len(set(counts)) > 1:
        text = "has {} counters, {} lower bounds, {} upper bounds and {} steps, which must be equally many"
        yield text.format(*counts)
    if not all(op.lower) or not all(op.upper):
        yield "needs at least one lower and one upper bound for each counter"
    if any(step <= 0 for step in op.steps):
        yield f"the steps must be positive, but are {', '.join(map(str, op.steps))}"
    yield from too_large_in(op)
    yield from must_have(INDEX, *op.ivs)
    yield from context.positions.misplaced([e for group in (*op.lower, *op.upper) for e in group])
    if len(op.reductions) != len(op.results):
        yield f"has {len(op.reductions)} reductions for {len(op.results)} results"
        return
    for kind, result in zip(op.reductions, op.results, strict=True):
        yield from types.reduction(kind, result)


def apply(op: affine.Apply, context: Context) -> Iterator[str]:
    """An expression over index values, whose divisors and factors are symbols."""
    yield from must_have(INDEX, op.result)
    yield from context.positions.misplaced([op.expr], dims=False)


def extreme(op: affine.Min | affine.Max, context: Context) -> Iterator[str]:
    """At least one expression over index values, whose divisors and factors are symbols."""
    if not op.exprs:
        yield "needs at least one expression"
    yield from must_have(INDEX, op.result)
    yield from context.positions.misplaced(op.exprs, dims=False)


def affine_access(op: affine.Load | affine.Store, context: Context) -> Iterator[str]:
    """A subscript over dims and symbols for each dimension; the value has the type of the elements."""
    yield from _access(op.memref, op.result if isinstance(op, affine.Load) else op.value, len(op.index))
    yield from context.positions.misplaced(op.index)


def access(op: memref.Load | memref.Store, context: Context) -> Iterator[str]:
    """An index for each dimension; the value has the type of the elements."""
    yield from _access(op.memref, op.result if isinstance(op, memref.Load) else op.value, len(op.indices))
    yield from must_have(INDEX, *op.indices)


def _access(buffer: Value, value: Value, subscripts: int) -> Iterator[str]:
    yield from types.memref_type(buffer)
    if isinstance(buffer.type, MemRefType):
        if subscripts != buffer.type.rank:
            yield f"{shown(buffer)} has rank {buffer.type.rank}, but {subscripts} subscripts are given"
        yield from must_have(buffer.type.element, value)


def alloc(op: memref.Allocation, context: Context) -> Iterator[str]:
    """A size for each dynamic dimension; a layout that is known; an alignment that is a power of two."""
    yield from types.memref_type(op.result)
    yield from must_have(INDEX, *op.sizes, *op.symbols)
    yield from types.power_of_two(op.alignment)
    if isinstance(op.result.type, MemRefType):
        dynamic = op.result.type.shape.count(None)
        if len(op.sizes) != dynamic:
            yield f"{shown(op.result)} has {dynamic} dynamic dimensions, but {len(op.sizes)} sizes are given"
        unknown = types.open_in_layout(op.result.type)
        if len(op.symbols) != unknown:
            text = "{} has {} numbers in its layout that its type leaves open, but {} symbols are given"
            yield text.format(shown(op.result), unknown, len(op.symbols))


def dealloc(op: memref.Dealloc, context: Context) -> Iterator[str]:
    """A memref."""
    yield from types.any_memref(op.memref)


def rank(op: memref.Rank, context: Context) -> Iterator[str]:
    """A memref."""
    yield from types.any_memref(op.memref)
    yield from must_have(INDEX, op.result)


def address(op: memref.ExtractAlignedPointerAsIndex, context: Context) -> Iterator[str]:
    """A memref."""
    yield from types.any_memref(op.source)
    yield from must_have(INDEX, op.result)


def dim(op: memref.Dim, context: Context) -> Iterator[str]:
    """A memref, and the number of one of its dimensions."""
    yield from types.any_memref(op.memref)
    yield from must_have(INDEX, op.index, op.result)
    axis = context.positions.constants.get(op.index) if context.runs else None
    if axis is not None and isinstance(op.memref.type, MemRefType) and not 0 <= axis < op.memref.type.rank:
        yield f"{shown(op.memref)} has {op.memref.type.rank} dimensions, and none with the number {axis}"


def copy(op: memref.Copy, context: Context) -> Iterator[str]:
    """Two memrefs of one shape and element type."""
    yield from types.any_memref(op.source)
    yield from types.any_memref(op.target)
    source, target = op.source.type, op.target.type
    yield from types.same_elements(op.source, op.target)
    if isinstance(source, MemRefType) and isinstance(target, MemRefType) and not types.shapes_fit(source, target):
        yield f"{shown(op.source)} and {shown(op.target)} differ in shape: {source} and {target}"


def memref_cast(op: memref.Cast, context: Context) -> Iterator[str]:
    """Two types that one buffer can have."""
    yield from types.any_memref(op.source)
    yield from types.any_memref(op.result)
    source, target = op.source.type, op.result.type
    buffers = isinstance(source, MemRefType | UnrankedMemRefType) and isinstance(
        target, MemRefType | UnrankedMemRefType
    )
    if buffers and not types.cast_fits(source, target):
        yield f"there is no cast from {source} to {target}"


def call(op: func.Call, context: Context) -> Iterator[str]:
    """The callee is a function of the module, and takes and gives these types."""
    if context.functions is None:
        return  # a function that is looked at alone
    callee = context.functions.get(op.callee)
    if callee is None:
        yield f"there is no function @{op.callee} in the module"
        return
    found = FunctionType(tuple(a.type for a in op.args), tuple(r.type for r in op.results))
    if found != callee.type:
        yield f"@{op.callee} has type {callee.type}, but is called as {found}"


def function(op: func.Func, context: Context) -> Iterator[str]:
    """Arguments and results are values; the contract is about index arguments, and fits the types."""
    yield from (problem for a in op.args if isinstance(a.type, MemRefType) for problem in types.memref_type(a))
    for attributes in (*op.argument_attributes, *op.result_attributes):
        for name, _ in attributes:
            if "." not in name:
                yield f"the attribute {name} of an argument or result has no dialect, as in dialect.{name}"
    if op.external:
        yield from _external(op)
    if op.shapes and len(op.shapes) != len(op.args):
        yield f"has {len(op.shapes)} shapes for {len(op.args)} arguments"
    for arg, shape in zip(op.args, op.shapes, strict=False):
        if shape is not None:
            yield from _shape(op, arg, shape)
    for fact in op.assumes:
        yield from _contract(op, "an assumption", fact.values())
    yield from _unsigned("argument", op.unsigned, [a.type for a in op.args])
    yield from _unsigned("result", op.unsigned_results, op.result_types)


def _external(op: func.Func) -> Iterator[str]:
    if op.body:
        yield "is defined elsewhere, but has a body here"
    if not op.private and ("sym_visibility", StringAttr("nested")) not in op.attributes:
        yield f"@{op.symbol} is defined elsewhere, so it must be private, not public"


def _shape(op: func.Func, arg: Value, shape: Sequence[Any]) -> Iterator[str]:
    if not isinstance(arg.type, MemRefType):
        yield f"{shown(arg)} has a shape, but its type is {arg.type}"
        return
    if len(shape) != arg.type.rank:
        yield f"{shown(arg)} has rank {arg.type.rank}, but its shape has {len(shape)} entries"
        return
    for axis, (expr, size) in enumerate(zip(shape, arg.type.shape, strict=True)):
        yield from _contract(op, f"the shape of {shown(arg)}", expr.values())
        if size is not None and expr.is_constant and expr.constant != size:
            yield f"{shown(arg)} has size {size} along dimension {axis}, but its shape says {expr.constant}"


def _contract(op: func.Func, what: str, values: Iterator[Value]) -> Iterator[str]:
    for value in values:
        if value not in op.args or value.type != INDEX:
            yield f"{what} reads {shown(value)}, which is no index argument of the function"


def _unsigned(what: str, positions: frozenset[int], of: Sequence[Type]) -> Iterator[str]:
    for position in sorted(positions):
        if not 0 <= position < len(of):
            yield f"{what} {position} is unsigned, but there are only {len(of)}"
            continue
        type = of[position]
        if not isinstance(type.element if isinstance(type, MemRefType) else type, IntegerType):
            yield f"{what} {position} is unsigned, but has type {type}"


RULES: Rules = {
    affine.For: affine_for,
    affine.If: affine_if,
    affine.Parallel: parallel,
    affine.Apply: apply,
    affine.Min: extreme,
    affine.Max: extreme,
    affine.Load: affine_access,
    affine.Store: affine_access,
    affine.Yield: structured.nothing,
    arith.Constant: of_types(types.constant),
    arith.Binary: of_types(types.binary),
    arith.Extended: of_types(types.extended),
    arith.Negate: of_types(types.negate),
    arith.Compare: of_types(types.compare),
    arith.Cast: of_types(types.cast),
    arith.Select: of_types(types.select),
    complex_.Constant: of_types(complex_numbers.constant),
    complex_.Create: of_types(complex_numbers.create),
    complex_.Part: of_types(complex_numbers.part),
    complex_.Unary: of_types(complex_numbers.unary),
    complex_.Binary: of_types(complex_numbers.binary),
    complex_.Compare: of_types(complex_numbers.compare),
    func.Call: call,
    func.Func: function,
    func.Module: structured.nothing,
    func.Return: structured.nothing,
    math.Unary: of_types(types.math_unary),
    math.Binary: of_types(types.math_binary),
    math.Fma: of_types(types.fma),
    memref.Alloc: alloc,
    memref.Alloca: alloc,
    memref.Cast: memref_cast,
    memref.Copy: copy,
    memref.Dealloc: dealloc,
    memref.Dim: dim,
    memref.ExtractAlignedPointerAsIndex: address,
    memref.Load: access,
    memref.Store: access,
    scf.For: scf_for,
    scf.If: scf_if,
    scf.Yield: structured.nothing,
    memref.Rank: rank,
    ub.Poison: structured.nothing,
    Opaque: opaque.opaque,
    OpaqueBlock: structured.nothing,
    OpaqueRegion: structured.nothing,
    **structured.RULES,
    **transfers.RULES,
    **vector.RULES,
    **views.RULES,
}
"""What each class of operations must keep. How blocks end, and where values are visible, is in `structure`."""
