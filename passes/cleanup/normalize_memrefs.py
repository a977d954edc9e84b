"""Gives buffers with an affine layout the shape that the layout makes of them, and no layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.traverse import definitions, rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType, StridedLayout
from affdsl.ir.verifier.positions import Positions
from affdsl.passes.affine.positions import computed, positions_of
from affdsl.passes.analysis import polyhedral
from affdsl.passes.cleanup.symbol_dce import references


def normalize_memrefs(module: Module) -> Module:
    """The same program with each static layout applied to subscripts and sizes.

        memref.alloc() : memref<16x32xf32, affine_map<(i, j) -> (i floordiv 4, j floordiv 8, i mod 4, j mod 8)>>
        affine.load %A[%i, %j]
                                            ->
        memref.alloc() : memref<4x4x4x8xf32>
        affine.load %A[%i floordiv 4, %j floordiv 8, %i mod 4, %j mod 8]

    A buffer and all that it is handed to, as an argument or result of private functions, change together. They stay as
    they are if one of them is an argument or result of a function that can be called from outside, is used by an
    operation that is no load, store, dim, dealloc or call, or if the layout has symbols, gives two elements one place,
    or a place below 0.

    >>> from affdsl.mlir.readers import parse
    >>> print(normalize_memrefs(parse('''func.func @f(%i: index, %x: f32) {
    ...     %A = memref.alloc() : memref<8xf32, affine_map<(d0) -> (d0 + 4)>>
    ...     affine.store %x, %A[%i] : memref<8xf32, affine_map<(d0) -> (d0 + 4)>>
    ...     return
    ... }''')).functions[0])
    func.func @f(%i: index, %x: f32) {
      %A = memref.alloc() : memref<12xf32>
      affine.store %x, %A[%i + 4] : memref<12xf32>
      return
    }
    """
    body = tuple(normalize_memrefs(op) if isinstance(op, Module) else op for op in module.body)
    if any(a is not b for a, b in zip(body, module.body, strict=True)):
        module = with_fields(module, body=body)
    new = _new_values(module)
    if not new:
        return module
    positions, makers = positions_of(module), definitions(module)
    return rewrite(module, lambda op: _rewritten(op, new, positions, makers))


class _Normal(FrozenValue):
    """A value under its new type, and where the layout had each element."""

    value: Value
    map: AffineMap
    old: MemRefType

    def index(self, old: Sequence[Affine]) -> tuple[Affine, ...]:
        """The new subscripts of an element."""
        return self.map.apply(old)


def _new_values(module: Module) -> dict[Value, _Normal]:
    """What becomes of the buffers that change."""
    plain = dict.fromkeys(f for f in module.functions if not any(isinstance(o, func.Func | Module) for o in _inside(f)))
    closed = {f.symbol: f for f in plain if f.private and not f.external}
    for top in module.body:
        for op in walk(top):
            # A call from a plain function is looked at below; otherwise who knows what is done with the function.
            for path in () if isinstance(op, func.Call) and top in plain else references(op):
                closed.pop(path[0], None)
    together = _Classes()
    makers = definitions(module)
    for function in plain:
        for op in walk(function):
            _look(op, function, closed, makers, together)
    new: dict[Value, _Normal] = {}
    normal: dict[MemRefType, tuple[AffineMap, MemRefType] | None] = {}
    for value in together.unbarred():
        type = value.type
        assert isinstance(type, MemRefType)
        if type not in normal:
            normal[type] = _normal(type)
        found = normal[type]
        if found is not None:
            new[value] = _Normal(Value(found[1], value.hint, value.location), found[0], type)
    return new


def _inside(op: Op) -> Iterator[Op]:
    return (inner for block in op.blocks() for outer in block for inner in walk(outer))


class _Classes:
    """Values that are one buffer, or are handed to each other, and whether something keeps them as they are."""

    def __init__(self) -> None:
        self._leader: dict[Value, Value] = {}
        self._barred: set[Value] = set()

    def unite(self, a: Value, b: Value) -> None:
        self._leader[self.find(a)] = self.find(b)

    def bar(self, value: Value) -> None:
        self._barred.add(value)

    def find(self, value: Value) -> Value:
        self._leader.setdefault(value, value)
        while (above := self._leader[value]) is not value:
            self._leader[value] = self._leader[above]
            value = self._leader[value]
        return value

    def unbarred(self) -> list[Value]:
        """The values that nothing keeps, in the order in which they were met."""
        barred = {self.find(v) for v in self._barred}
        return [v for v in list(self._leader) if self.find(v) not in barred]


def _look(
    op: Op, function: func.Func, closed: Mapping[str, func.Func], makers: Mapping[Value, Op], together: _Classes
) -> None:
    """Take note of the buffers that an operation defines and uses."""
    for value in (*op.defines(), *op.binds(), *op.reads()):
        if _has_layout(value):
            together.find(value)
    kept: Iterable[Value]
    match op:
        case func.Func():
            kept = () if op.symbol in closed else op.args
        case func.Return():
            kept = () if function.symbol in closed else op.values
        case func.Call() if op.callee in closed:
            callee, kept = closed[op.callee], ()
            for given, taken in zip(op.args, callee.args, strict=True):
                _same(given, taken, together)
            end = callee.body[-1] if callee.body else None
            if isinstance(end, func.Return):
                for made, result in zip(end.values, op.results, strict=True):
                    _same(made, result, together)
        case memref.Allocation():
            kept = (op.result,) if op.symbols else ()
        case affine.Load() | memref.Load() | memref.Dealloc():
            kept = ()
        case affine.Store() | memref.Store():
            kept = (op.value,)
        case memref.Dim():
            kept = () if _axis(op, makers) is not None else (op.memref,)
        case _:
            kept = (*op.defines(), *op.binds(), *op.reads())
    for value in kept:
        if _has_layout(value):
            together.bar(value)


def _same(a: Value, b: Value, together: _Classes) -> None:
    if _has_layout(a):
        together.unite(a, b)


def _has_layout(value: Value) -> bool:
    return isinstance(value.type, MemRefType) and value.type.layout is not None


def _axis(op: memref.Dim, makers: Mapping[Value, Op]) -> int | None:
    """The dimension that memref.dim asks for, if it is known and there is one."""
    match makers.get(op.index), op.memref.type:
        case arith.Constant(value=int() as axis), MemRefType() as type if 0 <= axis < type.rank:
            return axis
    return None


def _normal(type: MemRefType) -> tuple[AffineMap, MemRefType] | None:
    """The layout as a map and the type without it; None if the layout must stay."""
    map = _map(type)
    sizes = [size for size in type.shape if size]
    if map is None or map.symbols or len(sizes) < type.rank:
        return None
    box = _box([dim(k) for k in range(type.rank)], sizes)
    low = [polyhedral.minimum(e, box) for e in map.results]
    high = [polyhedral.maximum(e, box) for e in map.results]
    shape = tuple(h + 1 for h in high if h is not None)
    if len(shape) < len(high) or any(number is None or number < 0 for number in low) or not _is_injective(map, sizes):
        return None
    return map, MemRefType(shape, type.element, None, type.space)


def _map(type: MemRefType) -> AffineMap | None:
    match type.layout:
        case StridedLayout(strides, int() as offset):
            place = Affine((), offset)
            for axis, stride in enumerate(strides):
                if stride is None:
                    return None
                place += dim(axis) * stride
            return AffineMap(type.rank, 0, (place,))
        case AffineMap() as map:
            return map
    return None


def _box(axes: Sequence[Value], sizes: Sequence[int]) -> list[Constraint]:
    return [c for v, n in zip(axes, sizes, strict=True) for c in (Constraint(Affine.of(v)), Constraint(n - 1 - v))]


def _is_injective(map: AffineMap, sizes: Sequence[int]) -> bool:
    """Whether no two elements have one place."""
    first, second = [dim(k) for k in range(map.dims)], [Value(INDEX, "other") for _ in range(map.dims)]
    meet = [Constraint(a - b, equality=True) for a, b in zip(map.apply(first), map.apply(second), strict=True)]
    inside = [*_box(first, sizes), *_box(second, sizes), *meet]
    # Of two different elements one is behind along some axis.
    return all(
        polyhedral.is_empty([*inside, Constraint(a - b - 1)]) is True for a, b in zip(first, second, strict=True)
    )


def _rewritten(
    op: Op, new: Mapping[Value, _Normal], positions: Positions, makers: Mapping[Value, Op]
) -> Op | Iterable[Op] | None:
    def renamed(values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(new[v].value if v in new else v for v in values)

    match op:
        case func.Func() if not op.external:
            return _function(op, new, renamed)
        case func.Return() if any(v in new for v in op.values):
            return with_fields(op, values=renamed(op.values))
        case func.Call() if any(v in new for v in (*op.args, *op.results)):
            return with_fields(op, args=renamed(op.args), results=renamed(op.results))
        case memref.Allocation() if op.result in new:
            return with_fields(op, result=new[op.result].value)
        case memref.Dealloc() if op.memref in new:
            return with_fields(op, memref=new[op.memref].value)
        case affine.Load() | affine.Store() if op.memref in new:
            normal = new[op.memref]
            return with_fields(op, memref=normal.value, index=normal.index(op.index), written=None)
        case memref.Load() | memref.Store() if op.memref in new:
            normal, before = new[op.memref], list[Op]()
            exprs = normal.index([Affine.of(v) for v in op.indices])
            indices = tuple(computed(expr, op, before, positions) for expr in exprs)
            return (*before, with_fields(op, memref=normal.value, indices=indices))
        case memref.Dim() if op.memref in new:
            axis = _axis(op, makers)
            assert axis is not None, "a buffer with another kind of memref.dim stays as it is"
            return arith.Constant(op.result, new[op.memref].old.shape[axis] or 0, location=op.location)
    return None


def _function(
    op: func.Func, new: Mapping[Value, _Normal], renamed: Callable[[Iterable[Value]], tuple[Value, ...]]
) -> func.Func | None:
    """A function with other arguments and results; its body is done already."""
    end = op.body[-1] if op.body else None
    results = tuple(v.type for v in end.values) if isinstance(end, func.Return) else op.result_types
    if results == op.result_types and not any(a in new for a in op.args):
        return None
    shapes = tuple(None if a in new else s for a, s in zip(op.args, op.shapes, strict=True)) if op.shapes else ()
    return with_fields(op, args=renamed(op.args), result_types=results, shapes=shapes)
