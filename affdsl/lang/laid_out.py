"""A program for arrays that are parts of others: the same, with their elements at an offset that is known only then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from affdsl.ir import layouts
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Call, Func
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import rewrite, substitute, walk, with_fields
from affdsl.ir.types import MemRefType, StridedLayout
from affdsl.lang.trace import Program, spellings

_made: WeakKeyDictionary[Program, dict[frozenset[int], Program | None]] = WeakKeyDictionary()


def laid_out(program: Program, positions: frozenset[int]) -> Program | None:
    """The program that takes contiguous parts of arrays for some of its arguments, which are contiguous arrays.

    MLIR takes a `memref<?xf64>` to begin where its buffer does, so that a part of one has another type. A function that
    is given both is there twice. None where the program does something with an array that needs a whole one: it copies
    by DMA, or passes have given it another shape.

    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def cleared(x: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         x[i] = 0.0
    >>> print(laid_out(cleared.program, frozenset([0])).func.args[1].type)
    memref<?xf64, strided<[1], offset: ?>>
    """
    known = _made.setdefault(program, {})
    if positions not in known:
        known[positions] = _laid_out(program, positions)
    return known[positions]


def _laid_out(program: Program, positions: frozenset[int]) -> Program | None:
    args = program.func.args
    new: dict[Value, Value] = {}
    for n in positions:
        arg = args[len(program.sizes) + n]
        new[arg] = Value(_with_offset(arg.type), arg.hint, arg.location)
    callees = dict(program.callees)
    renamed: dict[Call, str] = {}
    for op in walk(program.func):
        given = [v for v in op.reads() if v in new]
        match op:
            case _ if not given or _is_access(op):
                continue
            case memref.SubView(source=source, result=result):
                new[result] = _retyped(result, _layout_of_part(op, new[source].type))
            case memref.Cast(source=source, result=result) if _layout(result) is None:
                new[result] = _retyped(result, _with_offset(result.type).layout)
            case memref.Cast():
                continue
            case Call():
                callee = _called(callees[op.callee], op, new)
                if callee is None:
                    return None
                if callee is not callees[op.callee]:
                    name = next(s for s in spellings(op.callee) if callees.get(s, callee) is callee)
                    callees[name], renamed[op] = callee, name
            case _:
                return None

    def rule(op: Op) -> Op | None:
        match op:
            case memref.SubView() | memref.Cast() if op.result in new:
                return with_fields(op, result=new[op.result])
            case Call() if op in renamed:
                return with_fields(op, callee=renamed[op])
        return None

    terms: dict[Value, Term] = {**new}
    made: Func = substitute(rewrite(program.func, rule), terms)
    func = with_fields(made, args=tuple(new.get(arg, arg) for arg in args))
    used = {op.callee for op in walk(func) if isinstance(op, Call)}
    return replace(program, func=func, callees={s: c for s, c in callees.items() if s in used})


def _called(callee: Program, op: Call, new: Mapping[Value, Value]) -> Program | None:
    """What a call of it is to be, with parts for some of its arguments."""
    places = frozenset(
        k - len(callee.sizes)
        for k, (given, arg) in enumerate(zip(op.args, callee.func.args, strict=True))
        if given in new and _layout(arg) is None
    )
    return laid_out(callee, places) if places else callee


def _is_access(op: Op) -> bool:
    """Whether an operation takes an array of whatever layout: it reads or writes elements, or asks for a size."""
    touches = op.memory is not None and (op.memory.reads is not None or op.memory.writes is not None)
    return touches or isinstance(op, affine.Prefetch | memref.Prefetch | memref.Dim)


def _layout(value: Value) -> object:
    return value.type.layout if isinstance(value.type, MemRefType) else None


def _layout_of_part(op: memref.SubView, source: object) -> StridedLayout:
    """The layout of a part of an array that has another layout now."""
    assert isinstance(source, MemRefType)
    assert isinstance(op.source.type, MemRefType)
    assert isinstance(op.result.type, MemRefType)
    layout, wanted = layouts.strided(op.source.type), layouts.strided(op.result.type)
    assert layout is not None
    assert wanted is not None
    axes = layouts.kept(
        op.static_sizes, layouts.subview(layout, op.static_offsets, op.static_strides), op.result.type.shape, wanted
    )
    assert axes is not None, "the verifier has seen it"
    own = layouts.strided(source)
    assert own is not None
    found = layouts.subview(own, op.static_offsets, op.static_strides)
    return StridedLayout(tuple(found.strides[k] for k in axes), found.offset)


def _with_offset(type: object) -> MemRefType:
    """The type of a contiguous array that begins somewhere in a buffer."""
    assert isinstance(type, MemRefType)
    return MemRefType(type.shape, type.element, StridedLayout(layouts.row_major(type.shape), None), type.space)


def _retyped(value: Value, layout: object) -> Value:
    type = value.type
    assert isinstance(type, MemRefType)
    assert isinstance(layout, StridedLayout)
    return Value(MemRefType(type.shape, type.element, layout, type.space), value.hint, value.location)
