"""Views of buffers, global buffers, DMA and prefetches as C: pointers, strides and loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import prod

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.mixed import Mixed, mixed
from affdsl.ir.numeric import dtype
from affdsl.ir.types import INDEX, IntegerType, MemRefType
from codegen.c import tables
from codegen.c.calls import Calls
from codegen.c.expressions import MULTIPLY, Code, cast, infix, number
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
            for k, size in enumerate(op.result.type.shape):
                if self._checking and size is not None:
                    words = f"the cast of {self._called(op.source)}: dimension {k} has size {{0}}, and must have {{1}}"
                    self._same_size(op, op.source, self._size(known, k), Affine.of(size), words)
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
        self._check_part(op, offsets, sizes, strides)
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
            whole=_whole(source),
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
        self._check_reach(op, source, offset, sizes, strides)
        self._at(op.result, whole, self._expression(offset), tuple(sizes), tuple(strides))

    def _expand_shape(self, op: memref.ExpandShape) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.result.type, MemRefType)
        shape = tuple(self._numbers(mixed(op.static_sizes, op.sizes)))
        for axis, group in enumerate(op.groups):
            self._check_product(op, source, [axis], [shape[k] for k in group])
        strides: dict[int, Affine] = {}
        if source.strides is not None:
            for group, stride in zip(op.groups, self._strides(source), strict=True):
                for axis in reversed(group):
                    strides[axis] = stride
                    stride = self._product(stride, shape[axis])
        steps = None if source.strides is None else tuple(strides.get(k, Affine.of(1)) for k in range(len(shape)))
        self._buffers[op.result] = replace(
            source, type=op.result.type, shape=shape, strides=steps, whole=_whole(source)
        )

    def _collapse_shape(self, op: memref.CollapseShape) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.result.type, MemRefType)
        sizes = [self._size(source, k) for k in range(source.type.rank)]
        shape = tuple(reduce(self._product, [sizes[k] for k in group], Affine.of(1)) for group in op.groups)
        steps = None if source.strides is None else tuple(self._together(op, source, sizes))
        self._buffers[op.result] = replace(
            source, type=op.result.type, shape=shape, strides=steps, whole=_whole(source)
        )

    def _together(self, op: memref.CollapseShape, source: Buffer, sizes: Sequence[Affine]) -> Sequence[Affine]:
        strides, found = self._strides(source), []
        for group in op.groups:
            longer = [k for k in group if sizes[k] != Affine.of(1)] or [group[-1]]
            if len(longer) > 1 and not sizes[longer[-1]].is_constant:
                raise UnsupportedError(
                    f"memref.collapse_shape of {source.name!r}: the size of dimension {longer[-1]} is known only at "
                    "run time, and so is the stride of the dimensions as one"
                )
            self._check_contiguous(op, sizes, strides, longer)
            found.append(strides[longer[-1]])
        return found

    def _bytes_as(self, op: memref.View) -> None:
        source, shift = self._buffers[op.source], self._expression(Affine.of(op.shift))
        assert isinstance(op.result.type, MemRefType)
        if element(op.result.type) == IntegerType(1):
            raise UnsupportedError(f"memref.view of {source.name!r} as i1: not every byte is a bool in C")
        given = iter(op.sizes)
        shape = tuple(self._fixed(next(given)) if s is None else Affine.of(s) for s in op.result.type.shape)
        self._check_bytes(op, source, shift, shape)
        constant, c_type = "const " if source.constant else "", stored_type(element(op.result.type))
        self.used.add(source.name)
        shown = source.name if shift.text == "0" else f"({infix('+', Code(source.name), shift)})"
        pointer = f"({constant}{c_type} *)({constant}void *){shown}"
        name = self._pointer(op.result, source, pointer, c_type)
        self._buffers[op.result] = replace(
            source, name=name, base=name, type=op.result.type, shape=shape, strides=None, offset=0, unsigned=False,
            start=Affine.of(0), whole=None,
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
            if self._checking:
                self._checked(op, op.shape, [number(axis)], [Affine.of(axis)])
            place = self._place(sizes, [number(axis)])
            stored = tables.load_element(kind, Code(f"{sizes.name}[{place}]"), self.unit, unsigned=sizes.unsigned)
            shape.append(self._named(cast("int64_t", stored) if kind != INDEX else stored, "size"))
        self._check_product(op, source, list(range(source.type.rank)), shape)
        self._buffers[op.result] = replace(source, type=op.result.type, shape=tuple(shape), whole=_whole(source))

    def _take_apart(self, op: memref.ExtractStridedMetadata) -> None:
        source = self._buffers[op.source]
        assert isinstance(op.base.type, MemRefType)
        if source.start is None:
            raise UnsupportedError(
                f"memref.extract_strided_metadata of {source.name!r}: its offset is known only at run time"
            )
        self._buffers[op.base] = replace(
            source, name=source.base or source.name, type=op.base.type, shape=(), strides=(), offset=0,
            start=Affine.of(0), whole=_whole(source),
        )  # fmt: skip
        self._affine[op.offset] = source.start + source.offset
        for k, (size, stride) in enumerate(zip(op.sizes, op.strides, strict=True)):
            self._affine[size] = self._size(source, k)
            self._affine[stride] = self._strides(source)[k]

    # --- Checks

    def _array_of(self, codes: Sequence[Code]) -> str:
        """Numbers as an array in C."""
        return f"(const int64_t[{len(codes) or 1}]){{{', '.join(c.text for c in codes) or '1'}}}"

    def _steadied(self, exprs: Sequence[Affine]) -> list[Code]:
        return [self._steady(self._expression(e)) for e in exprs]

    def _check_part(
        self, op: memref.SubView, offsets: Sequence[Affine], sizes: Sequence[Affine], strides: Sequence[Affine]
    ) -> None:
        """Every so many elements of an array are elements of it, along each dimension."""
        if not self._checking:
            return
        name = self._called(op.source)
        for k, size in enumerate(self._sizes_of(self._buffers[op.source])):
            offset, count, jump = self._steadied([offsets[k], sizes[k], strides[k]])
            test = f"{self.unit.helper('affdsl_is_span')}({size}, {offset}, {count}, {jump}) == 0"
            words = f"the part of {name} with {{1}} elements {{2}} apart from {{0}} on is out of bounds for dimension "
            words = f"{words}{k} of {name}, which has size {{3}}"
            self._misfit(op, op.source, words, [test], [offset, count, jump, size])

    def _check_reach(
        self,
        op: memref.ReinterpretCast,
        source: Buffer,
        offset: Affine,
        sizes: Sequence[Affine],
        strides: Sequence[Affine],
    ) -> None:
        """The elements of a buffer under other strides are elements of it."""
        if not self._checking:
            return
        whole = _whole(source)
        if (source.whole is None and source.strides is not None) or None in whole:
            raise UnsupportedError(f"how large the buffer of {source.name!r} is, which is reinterpreted, is not known")
        count = self._product_of([s for s in whole if s is not None])
        start, lengths, steps = self._steady(self._expression(offset)), self._steadied(sizes), self._steadied(strides)
        listed = f"{len(sizes)}, {self._array_of(lengths)}, {self._array_of(steps)}"
        test = f"{self.unit.helper('affdsl_reach')}({count}, {start}, {listed}) == 0"
        names = self._called(op.result), self._called(op.source)
        words = f"{names[0]} from element {{0}} on reaches out of the buffer of {names[1]}, which has {{1}} elements"
        self._misfit(op, op.source, words, [test], [start, count])

    def _check_product(
        self, op: memref.ExpandShape | memref.Reshape, source: Buffer, axes: Sequence[int], sizes: Sequence[Affine]
    ) -> None:
        """Some dimensions of an array have as many elements as sizes say."""
        if not self._checking:
            return
        old, new = self._product_of([self._size(source, k) for k in axes]), self._product_of(sizes)
        if old.text == new.text:
            return
        along = ", ".join(map(str, axes))
        words = f"{self._called(op.source)} has {{0}} elements along dimension {along}, and its new shape {{1}}"
        self._misfit(op, op.source, words, [f"{old} != {new}"], [old, new])

    def _check_bytes(self, op: memref.View, source: Buffer, shift: Code, shape: Sequence[Affine]) -> None:
        """The bytes of an array are as many as the view of them has, which begins where an element may."""
        if not self._checking:
            return
        assert isinstance(op.result.type, MemRefType)
        (size,) = self._sizes_of(source)
        shift, width = self._steady(shift), Affine.of(dtype(element(op.result.type)).itemsize)
        bytes = self._product_of([*shape, width])
        tests = [f"{shift} < 0", f"{bytes} < 0", f"{shift} % {self._expression(width)} != 0"]
        tests += [f"{bytes} > {size}", f"{shift} > {size} - {bytes}"]
        words = f"the view of {{1}} bytes of {self._called(op.source)} from byte {{0}} on does not fit: it has {{2}}"
        self._misfit(op, op.source, words, tests, [shift, bytes, size])

    def _check_contiguous(
        self, op: memref.CollapseShape, sizes: Sequence[Affine], strides: Sequence[Affine], axes: Sequence[int]
    ) -> None:
        """Dimensions that become one lie behind one another in memory."""
        if not self._checking:
            return
        for outer, inner in pairwise(axes):
            wanted = self._product(sizes[inner], strides[inner])
            words = (
                f"dimensions {outer} and {inner} of {self._called(op.source)} cannot become one: the stride is {{0}}"
            )
            self._same_size(op, op.source, strides[outer], wanted, f"{words}, and must be {{1}}")

    def _product_of(self, sizes: Sequence[Affine]) -> Code:
        """The product of sizes, -1 where it is none."""
        known = [s.constant for s in sizes if s.is_constant]
        if len(known) == len(sizes):
            return number(prod(known))
        call = f"{self.unit.helper('affdsl_product')}({len(sizes)}, {self._array_of(self._steadied(sizes))})"
        name = self._declare("", "count", "int64_t", Code(call))
        self.used.add(name)
        return Code(name)

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
            written = op.source_index, op.target_index
        else:
            written = tuple(map(Affine.of, op.source_indices)), tuple(map(Affine.of, op.target_indices))
        self._check_tag(op)
        self._check_divisors(op, [e for index in written for e in index])
        ends = [self._expression(e) for e in written[0]], [self._expression(e) for e in written[1]]
        self._name_readers((target.root,))
        self.used |= {source.name, target.name}
        elements = self._expression(Affine.of(op.elements))
        if self._checking:
            elements = self._steady(elements)
            ends = self._check_transfer(op, written, ends, elements)
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
        value = tables.load_element(kind, Code(f"{source.name}[{first}]"), self.unit, unsigned=source.unsigned)
        self._line(f"{target.name}[{into}] = {tables.store(kind, value, self.unit, unsigned=target.unsigned)};")
        self._close()

    def _dma_wait(self, op: affine.DmaWait | memref.DmaWait) -> None:
        """The copy was made where it began."""
        self._check_tag(op)

    def _check_tag(self, op: affine.DmaStart | affine.DmaWait | memref.DmaStart | memref.DmaWait) -> None:
        if self._checking:
            if isinstance(op, affine.DmaStart | affine.DmaWait):
                index = op.tag_index
            else:
                index = tuple(map(Affine.of, op.tag_indices))
            self._index_of(op, op.tag, index)

    def _check_transfer(
        self,
        op: affine.DmaStart | memref.DmaStart,
        written: tuple[Sequence[Affine], Sequence[Affine]],
        ends: tuple[list[Code], list[Code]],
        elements: Code,
    ) -> tuple[list[Code], list[Code]]:
        """All elements that are copied are elements of both arrays; gives the indices of the first ones."""
        words = f"the copy of {self._called(op.source)} to {self._called(op.target)}"
        self._misfit(op, op.source, f"{words} has {{0}} elements", [f"{elements} < 0"], [elements])
        chunk: list[Code] = []
        if op.stride:
            chunk = [self._steady(self._expression(Affine.of(v))) for v in op.stride]
            tests = [f"{chunk[1]} <= 0", f"{elements} % {chunk[1].at(MULTIPLY + 1)} != 0"]
            self._misfit(op, op.source, f"{words}: {{0}} elements are no chunks of {{1}}", tests, [elements, chunk[1]])
        some = infix(">", elements, number(0))
        strided = op.stride and self._strided_end(op)
        found: list[list[Code]] = []
        for array, index, codes in zip((op.source, op.target), written, ends, strict=True):
            buffer = self._buffers[array]
            if buffer.strides is not None:
                raise UnsupportedError(
                    f"whether a copy of {buffer.name!r}, a view, leaves it cannot be checked in C yet"
                )
            codes = self._checked(op, array, codes, index, when=some)
            found.append(codes)
            count = self._product_of([self._size(buffer, k) for k in range(buffer.type.rank)])
            place = self._steady(self._place(buffer, codes))
            listed = f"{count}, {place}, {elements}"
            if strided is array:
                test = f"{self.unit.helper('affdsl_is_chunked')}({listed}, {chunk[0]}, {chunk[1]}) == 0"
            else:
                test = f"{self.unit.helper('affdsl_is_span')}({listed}, 1) == 0"
            name = self._called(array)
            fits = f"{words}: {{0}} elements from element {{1}} on are out of bounds of {name}, which has {{2}}"
            self._misfit(op, array, fits, [test], [elements, place, count])
        return found[0], found[1]

    def _strided_end(self, op: affine.DmaStart | memref.DmaStart) -> Value:
        """The array whose elements are copied in chunks: the one in the memory space of the lower number."""
        low_source = _space(self._buffers[op.source]) < _space(self._buffers[op.target])
        return op.source if low_source else op.target

    def _prefetch(self, op: affine.Prefetch | memref.Prefetch) -> None:
        if not op.is_data:
            return
        index = op.index if isinstance(op, affine.Prefetch) else tuple(map(Affine.of, op.indices))
        self._check_divisors(op, index)
        buffer = self._buffers[op.memref]
        self.used.add(buffer.name)
        place = self._place(buffer, [self._expression(e) for e in index])
        macro = self.unit.helper("affdsl_prefetch")
        self._line(f"{macro}({buffer.name}, {place}, {int(op.is_write)}, {op.locality});")

    def _atomic(self, op: memref.AtomicRMW) -> None:
        buffer = self._buffers[op.memref]
        kind = element(buffer.type)
        value = self._stable(op.value)
        target = self._element(op, op.memref, tuple(map(Affine.of, op.indices)))
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
        self._line(f"{name} = {tables.load_element(kind, target, self.unit, unsigned=buffer.unsigned)};")
        self._line(f"{target} = {tables.store(kind, new, self.unit, unsigned=buffer.unsigned)};")
        self._indent -= 1
        self._line("}")
        self._codes[op.result] = Code(name)


def _whole(buffer: Buffer) -> tuple[Affine | None, ...]:
    """The shape of the whole buffer that this one is a part of."""
    return buffer.shape if buffer.whole is None else buffer.whole


def _space(buffer: Buffer) -> int:
    return buffer.type.space if isinstance(buffer.type.space, int) else 0


def _from(name: str, place: Code) -> str:
    return name if place.text == "0" else f"&{name}[{place}]"
