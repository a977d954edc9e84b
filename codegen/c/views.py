"""Views of buffers, global buffers, DMA and prefetches as C: pointers, strides and loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import Groups
from affdsl.ir.mixed import Mixed, mixed
from affdsl.ir.types import INDEX, IntegerType, MemRefType
from codegen.c import tables
from codegen.c.calls import Calls
from codegen.c.expressions import Code, cast, infix, number
from codegen.c.frame import Buffer
from codegen.c.memory import plus, times
from codegen.c.plan import root_of
from codegen.c.types import element, stored_type, value_type

View = (
    memref.SubView
    | memref.ReinterpretCast
    | memref.ExpandShape
    | memref.CollapseShape
    | memref.View
    | memref.Reshape
    | memref.ExtractStridedMetadata
    | memref.GetGlobal
    | memref.Cast
)


class Views(Calls):
    """Writes what gives buffers another shape, and what moves many elements at once."""

    def _view(self, op: View) -> None:
        match op:
            case memref.Cast():
                self._cast(op)
            case memref.GetGlobal():
                self._get_global(op)
            case memref.SubView():
                self._subview(op)
            case memref.ReinterpretCast():
                self._reinterpret(op)
            case memref.ExpandShape():
                self._expand_shape(op)
            case memref.CollapseShape():
                self._collapse_shape(op)
            case memref.View():
                self._bytes_as(op)
            case memref.Reshape():
                self._reshape(op)
            case memref.ExtractStridedMetadata():
                self._take_apart(op)

    def _cast(self, op: memref.Cast) -> None:
        known = self._buffers[op.source]
        if isinstance(op.result.type, MemRefType):
            if len(known.shape) != op.result.type.rank:
                raise UnsupportedError(f"a cast of {known.name!r} to {op.result.type}, which has another rank")
            sizes = zip(known.shape, op.result.type.shape, strict=True)
            known = replace(known, shape=tuple(Affine.of(size) if size is not None else s for s, size in sizes))
        self._buffers[op.result] = known

    def _get_global(self, op: memref.GetGlobal) -> None:
        assert isinstance(op.result.type, MemRefType)
        found = self.plan.buffers[op.symbol]
        shape = tuple(Affine.of(size or 0) for size in op.result.type.shape)
        root = root_of(self.plan, op.result)
        self._buffers[op.result] = Buffer(found.name, op.result.type, shape, root, constant=found.definition.constant)

    def _subview(self, op: memref.SubView) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.result.type, MemRefType)
        offsets, sizes, strides = (self._numbers(part) for part in op.parts)
        steps = [self._product(s, t) for s, t in zip(strides, self._strides(source), strict=True)]
        place = self._place(source, [self._expression(o) for o in offsets])
        axes = list(range(source.type.rank))
        missing = len(axes) - op.result.type.rank
        for axis in [k for k, size in enumerate(op.static_sizes) if size == 1]:
            if missing and self._may_drop(op, axes, axis, steps):
                axes.remove(axis)
                missing -= 1
        shape = tuple(sizes[k] for k in axes)
        self._at(op.result, source, place, shape, tuple(steps[k] for k in axes))

    def _may_drop(self, op: memref.SubView, axes: Sequence[int], axis: int, steps: Sequence[Affine]) -> bool:
        """Whether the result can do without a dimension: what is left has its sizes still in order."""
        assert isinstance(op.result.type, MemRefType)
        left = [op.static_sizes[k] for k in axes if k != axis]
        wanted = iter(left)
        return all(any(size == found for found in wanted) for size in op.result.type.shape)

    def _at(
        self, result: Value, source: Buffer, place: Code, shape: tuple[Affine, ...], strides: tuple[Affine, ...]
    ) -> None:
        """result begins at a place in source."""
        name = source.name
        if place.text != "0":
            self.used.add(source.name)
            name = self._pointer(result, source, f"{source.name} + {place.text}")
        assert isinstance(result.type, MemRefType)
        start = None if place.text != "0" or source.start is None else source.start
        if place.text.isdigit() and source.start is not None:
            start = source.start + int(place.text)
        self._buffers[result] = replace(
            source,
            name=name,
            type=result.type,
            shape=shape,
            strides=strides,
            offset=0,
            start=start,
            base=source.base or source.name,
        )

    def _pointer(self, result: Value, source: Buffer, shown: str, c_type: str = "") -> str:
        name = self._scope.declare(result.hint, "part")
        self._declared.append((name, len(self.lines)))
        constant = "const " if source.constant else ""
        c_type = c_type or stored_type(element(source.type), source.unsigned)
        self._line(f"{constant}{c_type} *{name} = {shown};")
        return name

    def _reinterpret(self, op: memref.ReinterpretCast) -> None:
        source = self._buffers[op.source]
        (offset,), sizes, strides = (self._numbers(part) for part in op.parts)
        self.used.add(source.base or source.name)
        whole = replace(source, name=source.base or source.name, offset=0, start=Affine.of(0))
        self._at(op.result, whole, self._expression(offset), tuple(sizes), tuple(strides))

    def _expand_shape(self, op: memref.ExpandShape) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.result.type, MemRefType)
        shape = tuple(self._numbers(mixed(op.static_sizes, op.sizes)))
        strides: dict[int, Affine] = {}
        if source.strides is not None:
            for group, stride in zip(op.groups, self._strides(source), strict=True):
                for axis in reversed(group):
                    strides[axis] = stride
                    stride = self._product(stride, shape[axis])
        steps = None if source.strides is None else tuple(strides.get(k, Affine.of(1)) for k in range(len(shape)))
        self._buffers[op.result] = replace(source, type=op.result.type, shape=shape, strides=steps)

    def _collapse_shape(self, op: memref.CollapseShape) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.result.type, MemRefType)
        sizes = [self._size(source, k) for k in range(source.type.rank)]
        shape = tuple(reduce(self._product, [sizes[k] for k in group], Affine.of(1)) for group in op.groups)
        steps = None if source.strides is None else tuple(self._together(source, sizes, op.groups))
        self._buffers[op.result] = replace(source, type=op.result.type, shape=shape, strides=steps)

    def _together(self, source: Buffer, sizes: Sequence[Affine], groups: Groups) -> Sequence[Affine]:
        strides, found = self._strides(source), []
        for group in groups:
            longer = [k for k in group if sizes[k] != Affine.of(1)] or [group[-1]]
            if len(longer) > 1 and not sizes[longer[-1]].is_constant:
                raise UnsupportedError(
                    f"memref.collapse_shape of {source.name!r}: the size of dimension {longer[-1]} is known only at "
                    "run time, and so is the stride of the dimensions as one"
                )
            found.append(strides[longer[-1]])
        return found

    def _bytes_as(self, op: memref.View) -> None:
        source, shift = self._buffers[op.source], self._expression(Affine.of(op.shift))
        assert isinstance(op.result.type, MemRefType)
        if element(op.result.type) == IntegerType(1):
            raise UnsupportedError(f"memref.view of {source.name!r} as i1: not every byte is a bool in C")
        given = iter(op.sizes)
        shape = tuple(self._fixed(next(given)) if s is None else Affine.of(s) for s in op.result.type.shape)
        constant, c_type = "const " if source.constant else "", stored_type(element(op.result.type))
        self.used.add(source.name)
        shown = source.name if shift.text == "0" else f"({infix('+', Code(source.name), shift)})"
        pointer = f"({constant}{c_type} *)({constant}void *){shown}"
        name = self._pointer(op.result, source, pointer, c_type)
        self._buffers[op.result] = replace(
            source, name=name, base=name, type=op.result.type, shape=shape, strides=None, offset=0, unsigned=False,
            start=Affine.of(0),
        )  # fmt: skip

    def _reshape(self, op: memref.Reshape) -> None:
        source, sizes = self._buffers[op.source], self._buffers[op.shape]
        if not isinstance(op.result.type, MemRefType) or source.strides is not None:
            raise UnsupportedError(f"memref.reshape of {source.name!r} to {op.result.type}: its rank must be known")
        kind, shape = element(sizes.type), []
        for axis, size in enumerate(op.result.type.shape):
            if size is not None:
                shape.append(Affine.of(size))
                continue
            self.used.add(sizes.name)
            place = self._place(sizes, [number(axis)])
            stored = tables.load(kind, Code(f"{sizes.name}[{place}]"), self.unit, unsigned=sizes.unsigned)
            shape.append(self._named(cast("int64_t", stored) if kind != INDEX else stored, "size"))
        self._buffers[op.result] = replace(source, type=op.result.type, shape=tuple(shape))

    def _take_apart(self, op: memref.ExtractStridedMetadata) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.base.type, MemRefType)
        if source.start is None:
            raise UnsupportedError(
                f"memref.extract_strided_metadata of {source.name!r}: its offset is known only at run time"
            )
        self._buffers[op.base] = replace(
            source, name=source.base or source.name, type=op.base.type, shape=(), strides=(), offset=0,
            start=Affine.of(0),
        )  # fmt: skip
        self._affine[op.offset] = source.start + source.offset
        for k, (size, stride) in enumerate(zip(op.sizes, op.strides, strict=True)):
            self._affine[size] = self._size(source, k)
            self._affine[stride] = self._strides(source)[k]

    # --- Numbers

    def _numbers(self, parts: Mixed) -> list[Affine]:
        """Sizes, offsets or strides as expressions that keep their value."""
        return [self._fixed(p) if isinstance(p, Value) else Affine.of(p) for p in parts]

    def _strides(self, buffer: Buffer) -> tuple[Affine, ...]:
        """The strides of a buffer, those of a contiguous one from its sizes."""
        if buffer.strides is not None:
            return tuple(Affine.of(s) for s in buffer.strides)
        strides: list[Affine] = []
        step = Affine.of(1)
        for k in range(buffer.type.rank - 1, -1, -1):
            strides.append(step)
            if k:
                step = self._product(step, self._size(buffer, k))
        return tuple(reversed(strides))

    def _product(self, left: Affine, right: Affine) -> Affine:
        """left * right, under a name where that is no affine expression."""
        if left.is_constant or right.is_constant:
            return left * right
        return self._named(times(self._expression(left), self._expression(right)), "stride")

    def _named(self, shown: Code, hint: str) -> Affine:
        value = Value(INDEX, hint)
        name = self._declare(hint, hint, "int64_t", shown)
        self.used.add(name)
        self._codes[value] = Code(name)
        return Affine.of(value)

    # --- Transfers

    def _dma_start(self, op: affine.DmaStart | memref.DmaStart) -> None:
        source, target = self._buffers[op.source], self._buffers[op.target]
        if isinstance(op, affine.DmaStart):
            ends = [self._expression(e) for e in op.source_index], [self._expression(e) for e in op.target_index]
        else:
            at, to = map(Affine.of, op.source_indices), map(Affine.of, op.target_indices)
            ends = [self._expression(e) for e in at], [self._expression(e) for e in to]
        self._name_readers((target.root,))
        self.used |= {source.name, target.name}
        elements = self._expression(Affine.of(op.elements))
        first, into = self._place(source, ends[0]), self._place(target, ends[1])
        if not op.stride:
            self.unit.header("string.h")
            bytes = infix("*", cast("size_t", elements), Code(f"sizeof(*{target.name})"))
            self._line(f"memcpy({_from(target.name, into)}, {_from(source.name, first)}, {bytes});")
            return
        distance, count = (
            self._expression(known) if (known := self._resolve(Affine.of(v))).is_constant else self._stable(v)
            for v in op.stride
        )
        name = self._scope.declare("", self._counter)
        step = Code(name)
        jump = plus(times(infix("/", step, count), distance), infix("%", step, count))
        low_source = _space(source) < _space(target)
        if _space(source) == _space(target) or not isinstance(op.source.type, MemRefType):
            raise UnsupportedError(
                f"{op.name} from {source.name!r} to {target.name!r} with a stride: both are in one memory space, so "
                "that nothing says whose stride it is"
            )
        first, into = plus(first, jump if low_source else step), plus(into, step if low_source else jump)
        self._open(f"for (int64_t {name} = 0; {name} < {elements}; ++{name})")
        self._scope.reserve(name)
        kind = element(source.type)
        value = tables.load(kind, Code(f"{source.name}[{first}]"), self.unit, unsigned=source.unsigned)
        self._line(f"{target.name}[{into}] = {tables.store(kind, value, self.unit, unsigned=target.unsigned)};")
        self._close()

    def _prefetch(self, op: affine.Prefetch | memref.Prefetch) -> None:
        if not op.is_data:
            return
        index = op.index if isinstance(op, affine.Prefetch) else tuple(map(Affine.of, op.indices))
        buffer = self._buffers[op.memref]
        self.used.add(buffer.name)
        place = self._place(buffer, [self._expression(e) for e in index])
        macro = self.unit.helper("affdsl_prefetch")
        self._line(f"{macro}({buffer.name}, {place}, {int(op.is_write)}, {op.locality});")

    def _atomic(self, op: memref.AtomicRMW) -> None:
        buffer = self._buffers[op.memref]
        kind = element(buffer.type)
        value = self._stable(op.value)
        target = self._element(op.memref, tuple(map(Affine.of, op.indices)))
        self._name_readers((buffer.root,))
        name = self._scope.declare(op.result.hint, "old")
        self._declared.append((name, len(self.lines)))
        self._line(f"{value_type(op.result.type)} {name};")
        new = value
        if op.combine != "assign":
            how = tables.REDUCTION_KIND.get(op.combine, op.combine)
            new = tables.binary(how, kind, Code(name), value, self.unit)
        self._directive("#pragma omp critical(affdsl_atomic)")
        self._line("{")
        self._indent += 1
        self._line(f"{name} = {tables.load(kind, target, self.unit, unsigned=buffer.unsigned)};")
        self._line(f"{target} = {tables.store(kind, new, self.unit, unsigned=buffer.unsigned)};")
        self._indent -= 1
        self._line("}")
        self._codes[op.result] = Code(name)


def _space(buffer: Buffer) -> int:
    return buffer.type.space if isinstance(buffer.type.space, int) else 0


def _from(name: str, place: Code) -> str:
    return name if place.text == "0" else f"&{name}[{place}]"
