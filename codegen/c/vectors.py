"""The vector dialect as C statements: plain loops over lanes, which compilers turn into vector instructions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import INDEX, FloatType, IntegerType, ScalarType, VectorType
from codegen.c import tables
from codegen.c.checks import literally
from codegen.c.expressions import PRIMARY, Code, infix, number
from codegen.c.frame import Buffer
from codegen.c.lanes import Lanes, Place, flat, lane_type
from codegen.c.memory import plus, times
from codegen.c.names import Scope
from codegen.c.sites import Misfit
from codegen.c.types import element, value_type, width

I64 = IntegerType(64)


class Vectors(Lanes):
    """Writes the operations of the vector dialect."""

    def _vector(self, op: Op) -> None:
        match op:
            case vector.TransferRead() | vector.TransferWrite():
                self._transfer(op)
            case vector.Load() | vector.MaskedLoad():
                mask, otherwise = (op.mask, op.pass_thru) if isinstance(op, vector.MaskedLoad) else (None, None)
                self._load_vector(op, op.result, op.memref, self._start(op.indices), mask, otherwise)
            case vector.Store() | vector.MaskedStore():
                mask = op.mask if isinstance(op, vector.MaskedStore) else None
                self._store_vector(op, op.value, op.memref, self._start(op.indices), mask)
            case vector.Gather() | vector.Scatter():
                self._gather(op)
            case vector.ExpandLoad() | vector.CompressStore():
                self._expand(op)
            case vector.Fma():
                kind = lane_type(op.result)
                a, b, c = op.a, op.b, op.c
                lane = self._flat_lane
                self._fill_flat(op.result, lambda k: tables.fma(kind, lane(a, k), lane(b, k), lane(c, k), self.unit))
            case vector.Reduction():
                self._reduce(op)
            case vector.MultiReduction():
                self._multi_reduce(op)
            case vector.Contract():
                self._contract(op)
            case vector.OuterProduct():
                self._outer_product(op)
            case vector.Step():
                self._fill_flat(op.result, lambda k: k)
            case vector.CreateMask():
                self._mask(op.result, [self._again(bound) for bound in op.bounds])
            case vector.ConstantMask():
                self._mask(op.result, [number(size) for size in op.sizes])
            case _:
                self._rearrange(op)

    # --- Memory

    def _start(self, indices: Sequence[Value]) -> list[Code]:
        """Indices as expressions that may be written in loops over lanes."""
        return [self._stable(v) if v in self._pending else self._expression(Affine.of(v)) for v in indices]

    def _kept(self, start: Sequence[Code]) -> list[Code]:
        """Indices under names where what they read may change."""
        return [self._constant_of("int64_t", s) if s.variables or s.buffers else s for s in start]

    def _memory(self, memref: Value, value: Value) -> tuple[Buffer, ScalarType]:
        """The buffer of a memref whose elements are the lanes of a vector, and their type."""
        buffer = self._buffers[memref]
        kind = element(buffer.type)
        if self._vector_type(value).element != kind:
            raise UnsupportedError(f"C output has no access to {buffer.type} as {value.type}")
        self.used.add(buffer.name)
        return buffer, kind

    def _read_at(self, buffer: Buffer, kind: ScalarType, place: Code) -> Code:
        lvalue = Code(f"{buffer.name}[{place}]", PRIMARY, place.buffers | {buffer.root}, place.variables)
        return tables.load_element(kind, lvalue, self.unit, unsigned=buffer.unsigned)

    def _write_at(self, buffer: Buffer, kind: ScalarType, place: Code, value: Code, condition: Code | None) -> None:
        if condition is not None:
            self._open(f"if ({condition})")
        self._line(f"{buffer.name}[{place}] = {tables.store(kind, value, self.unit, unsigned=buffer.unsigned)};")
        if condition is not None:
            self._close()

    def _load_vector(
        self,
        op: Op,
        result: Value,
        memref: Value,
        start: Sequence[Code],
        mask: Value | None = None,
        otherwise: Value | None = None,
    ) -> None:
        """result = the elements of memref from start on, where mask is set."""
        buffer, kind = self._memory(memref, result)
        shape = self._vector_type(result).shape
        start = self._along(op, start, memref, result, mask)

        def lane(place: Place) -> Code:
            if mask is not None:
                self._check_lane(op, memref, _shifted(start, place), flat(shape, place), self._lane(mask, place))
            shown = self._read_at(buffer, kind, self._place(buffer, _shifted(start, place)))
            if mask is None or otherwise is None:
                return shown
            return tables.select(kind, self._lane(mask, place), shown, self._lane(otherwise, place))

        self._fill(result, lane)

    def _store_vector(
        self, op: Op, value: Value, memref: Value, start: Sequence[Code], mask: Value | None = None
    ) -> None:
        """The elements of memref from start on = value, where mask is set."""
        buffer, kind = self._memory(memref, value)
        start = self._along(op, start, memref, value, mask)
        self._name_readers((buffer.root,))
        shape = self._vector_type(value).shape
        place = self._loops(shape)
        condition = None if mask is None else self._lane(mask, place)
        if condition is not None:
            self._check_lane(op, memref, _shifted(start, place), flat(shape, place), condition)
        target = self._place(buffer, _shifted(start, place))
        self._write_at(buffer, kind, target, self._lane(value, place), condition)
        self._end(place)

    def _transfer(self, op: vector.TransferRead | vector.TransferWrite) -> None:
        value = op.result if isinstance(op, vector.TransferRead) else op.value
        buffer, kind = self._memory(op.memref, value)
        start = self._kept(self._start(op.indices))
        self._check_fixed(op, start)
        if isinstance(op, vector.TransferRead):
            padding = self._again(op.padding)
            name = self._new(value)
            place = self._loops(self._vector_type(value).shape)
            index, condition = self._reached(op, buffer, start, place)
            self._check_promised(op, value, index, place, condition)
            shown = self._read_at(buffer, kind, self._place(buffer, index))
            if condition is not None:
                shown = tables.select(kind, condition, shown, padding)
            self._line(f"{name}[{flat(self._vector_type(value).shape, place)}] = {shown};")
        else:
            self._name_readers((buffer.root,))
            place = self._loops(self._vector_type(value).shape)
            index, condition = self._reached(op, buffer, start, place)
            self._check_promised(op, value, index, place, condition)
            self._write_at(buffer, kind, self._place(buffer, index), self._lane(value, place), condition)
        self._end(place)

    def _reached(
        self, op: vector.TransferRead | vector.TransferWrite, buffer: Buffer, start: Sequence[Code], place: Place
    ) -> tuple[list[Code], Code | None]:
        """The index of a lane's element, and the condition for which there is one; None if always."""
        index, tests = list(start), []
        for k, d in enumerate(vector.map_dims(op.map) or ()):
            if d is None:
                continue
            index[d] = plus(start[d], place[k])
            if not op.in_bounds[k]:
                if not self._ranges.is_natural(self._resolve(Affine.of(op.indices[d]))):
                    tests.append(infix(">=", index[d], number(0)))
                tests.append(infix("<", index[d], self._expression(self._size(buffer, d))))
        if op.mask:
            tests.insert(0, self._lane(op.mask[0], [place[k] for k in vector.mask_dims(op.map)]))
        condition = tests[0] if tests else None
        for test in tests[1:]:
            assert condition is not None
            condition = infix("&&", condition, test)
        return index, condition

    # --- Checks

    def _check_lane(self, op: Op, memref: Value, index: Sequence[Code], lane: Code, when: Code) -> None:
        """A lane that a mask may leave out is inside."""
        if self._checking:
            self._checked(op, memref, index, _written(op), lane=lane, when=when)

    def _check_fixed(self, op: vector.TransferRead | vector.TransferWrite, start: Sequence[Code]) -> None:
        """The index is inside along the dimensions that the vector does not have."""
        stay = [d for d in range(len(start)) if d not in (vector.map_dims(op.map) or ())]
        if self._checking:
            self._checked(op, op.memref, start, _written(op), among=stay)

    def _check_promised(
        self,
        op: vector.TransferRead | vector.TransferWrite,
        value: Value,
        index: Sequence[Code],
        place: Place,
        condition: Code | None,
    ) -> None:
        """A lane is inside where the operation promises it."""
        moves = [(k, d) for k, d in enumerate(vector.map_dims(op.map) or ()) if d is not None]
        promised = [d for k, d in moves if op.in_bounds[k]]
        if self._checking and promised:
            lane = flat(self._vector_type(value).shape, place)
            self._checked(op, op.memref, index, _written(op), lane=lane, when=condition, among=promised)

    def _check_behind(self, op: Op, memref: Value, start: Sequence[Code], offset: Code, lane: Code, when: Code) -> None:
        """The element `offset` behind start is one: along the last dimension, or beyond it in contiguous memory."""
        if not self._checking or not start:
            return
        buffer = self._buffers[memref]
        start, offset = [self._steady(c) for c in start], self._steady(offset)
        sizes, rank = self._sizes_of(buffer), len(start)
        at, of = (f"(const int64_t[{rank}]){{{', '.join(c.text for c in codes)}}}" for codes in (start, sizes))
        helper = self.unit.helper("affdsl_is_behind")
        test = f"{helper}({rank}, {at}, {of}, {offset}, {int(buffer.strides is None)}) == 0"
        places = ", ".join(f"{{{2 + k}}}" for k in range(rank))
        shape = ", ".join(f"{{{2 + rank + k}}}" for k in range(rank))
        words = literally(self._words.access(op, memref, _written(op)))
        text = f"{words}: lane {{0}}, {{1}} elements behind index ({places}), is out of bounds"
        site = Misfit(
            self._words.where(op), f"{text} of {self._called(memref)}, which has sizes ({shape})",
            self._words.array(memref), 2 + 2 * rank,
        )  # fmt: skip
        self._stop_if([test], site, [lane, offset, *start, *sizes], when)

    def _gather(self, op: vector.Gather | vector.Scatter) -> None:
        value = op.result if isinstance(op, vector.Gather) else op.value
        buffer, kind = self._memory(op.memref, value)
        start = self._kept(self._start(op.indices))
        base = self._place(buffer, start)
        offset_type = lane_type(op.offsets)

        def target(lane: Code) -> Code:
            offset = tables.convert("index_cast", offset_type, INDEX, self._flat_lane(op.offsets, lane), self.unit)
            self._check_behind(op, op.memref, start, offset, lane, self._flat_lane(op.mask, lane))
            return plus(base, times(offset, self._last_stride(buffer)))

        if isinstance(op, vector.Gather):

            def gathered(lane: Code) -> Code:
                found, otherwise = self._read_at(buffer, kind, target(lane)), self._flat_lane(op.pass_thru, lane)
                return tables.select(kind, self._flat_lane(op.mask, lane), found, otherwise)

            self._fill_flat(op.result, gathered)
            return
        self._name_readers((buffer.root,))
        (lane,) = self._loops((prod(self._vector_type(value).shape),))
        self._write_at(buffer, kind, target(lane), self._flat_lane(value, lane), self._flat_lane(op.mask, lane))
        self._end((lane,))

    def _expand(self, op: vector.ExpandLoad | vector.CompressStore) -> None:
        value = op.result if isinstance(op, vector.ExpandLoad) else op.value
        buffer, kind = self._memory(op.memref, value)
        start = self._kept(self._start(op.indices))
        base = self._place(buffer, start)
        if isinstance(op, vector.ExpandLoad):
            name = self._new(value)
        else:
            self._name_readers((buffer.root,))
        following = self._declare("", "next", "int64_t", number(0), const=False)
        self.used.add(following)
        place = plus(base, times(Code(following), self._last_stride(buffer)))
        (lane,) = self._loops((prod(self._vector_type(value).shape),))
        self._open(f"if ({self._flat_lane(op.mask, lane)})")
        self._check_behind(op, op.memref, start, Code(following), lane, Code("1"))
        if isinstance(op, vector.ExpandLoad):
            self._line(f"{name}[{lane}] = {self._read_at(buffer, kind, place)};")
            self._line(f"++{following};")
            self._close("} else {")
            self._indent += 1
            self._line(f"{name}[{lane}] = {self._flat_lane(op.pass_thru, lane)};")
            self._indent -= 1
            self._line("}")
        else:
            self._write_at(buffer, kind, place, self._flat_lane(value, lane), None)
            self._line(f"++{following};")
            self._close()
        self._end((lane,))

    def _along(self, op: Op, start: Sequence[Code], memref: Value, value: Value, mask: Value | None) -> list[Code]:
        """Indices of a vector that reaches along the last dimensions of a memref, checked where no mask says more."""
        if self._vector_type(value).rank > len(start):
            raise UnsupportedError(f"{value.type} has more dimensions than {memref.type}: C output cannot place them")
        if self._checking and mask is None:
            return self._checked(op, memref, start, _written(op), reach=self._vector_type(value).shape)
        return self._kept(start)

    def _constant_of(self, type: str, shown: Code) -> Code:
        name = self._declare("", self._temporary, type, shown)
        self.used.add(name)
        return Code(name)

    def _last_stride(self, buffer: Buffer) -> Code:
        return self._expression(Affine.of(buffer.strides[-1] if buffer.strides else 1))

    # --- Computation

    def _reduce(self, op: vector.Reduction) -> None:
        kind, lanes = lane_type(op.source), prod(self._vector_type(op.source).shape)
        first = self._value(op.acc[0]) if op.acc else self._flat_lane(op.source, number(0))
        name = self._declare(op.result.hint, "total", value_type(kind), first, const=False)
        self._codes[op.result] = Code(name)
        lane = Scope(self._scope).declare("", "lane")
        begin = 0 if op.acc else 1
        if begin < lanes:
            self._open(f"for (int64_t {lane} = {begin}; {lane} < {lanes}; ++{lane})")
            combined = tables.binary(
                combiner(op.combine, kind), kind, Code(name), self._flat_lane(op.source, Code(lane)), self.unit
            )
            self._assign(name, combined, kind)
            self._close()

    def _totals(self, result: Value, acc: Value) -> str:
        """A scalar or vector that starts as acc."""
        if not isinstance(result.type, VectorType):
            name = self._declare(result.hint, "total", value_type(result.type), self._value(acc), const=False)
            self._codes[result] = Code(name)
            return name
        name = self._new(result, "total")
        self._assign_lanes(name, acc)
        return name

    def _accumulate(self, name: str, result: Value, place: Place, combine: str, item: Code) -> None:
        """name[place] = name[place] combined with item."""
        kind = lane_type(result)
        shape = result.type.shape if isinstance(result.type, VectorType) else None
        target = name if shape is None else f"{name}[{flat(shape, place)}]"
        self._assign(target, tables.binary(combiner(combine, kind), kind, Code(target), item, self.unit), kind)

    def _multi_reduce(self, op: vector.MultiReduction) -> None:
        name, shape = self._totals(op.result, op.acc), self._vector_type(op.source).shape
        place = self._loops(shape)
        kept = [part for k, part in enumerate(place) if k not in op.dims]
        self._accumulate(name, op.result, kept, op.combine, self._lane(op.source, place))
        self._end(place)

    def _contract(self, op: vector.Contract) -> None:
        kind, source = lane_type(op.acc), lane_type(op.left)
        maps = [[d for d in vector.map_dims(m) or () if d is not None] for m in op.maps]
        shapes = self._vector_type(op.left).shape + self._vector_type(op.right).shape
        sizes: dict[int, int] = dict(zip(maps[0] + maps[1], shapes, strict=True))
        name = self._totals(op.result, op.acc)
        point = self._loops([sizes[d] for d in range(len(op.iterators))])
        factors = [self._lane(v, [point[d] for d in of]) for v, of in zip((op.left, op.right), maps, strict=False)]
        if source != kind:
            extend = "extf" if isinstance(kind, FloatType) else "extsi"
            factors = [tables.convert(extend, source, kind, factor, self.unit) for factor in factors]
        left, right = factors
        product = tables.binary(combiner("mul", kind), kind, left, right, self.unit)
        self._accumulate(name, op.result, [point[d] for d in maps[2]], op.combine, product)
        self._end(point)

    def _outer_product(self, op: vector.OuterProduct) -> None:
        kind = lane_type(op.result)
        scalar = None if isinstance(op.right.type, VectorType) else self._again(op.right)

        def lane(place: Place) -> Code:
            right = self._lane(op.right, place[1:]) if scalar is None else scalar
            left = self._lane(op.left, place[:1])
            if not op.acc:
                return tables.binary(combiner("mul", kind), kind, left, right, self.unit)
            total = self._lane(op.acc[0], place)
            if op.combine == "add" and isinstance(kind, FloatType):
                return tables.fma(kind, left, right, total, self.unit)
            product = tables.binary(combiner("mul", kind), kind, left, right, self.unit)
            return tables.binary(combiner(op.combine, kind), kind, total, product, self.unit)

        self._fill(op.result, lane)

    def _mask(self, result: Value, bounds: Sequence[Code]) -> None:
        """result is set below bounds along all dimensions."""
        shape = self._vector_type(result).shape
        self.unit.header("stdbool.h")
        if not shape:
            self._splat(result, self._constant_of("bool", infix(">", bounds[0], number(0))))
            return
        if all(bound.text.isdigit() for bound in bounds):
            numbers = [int(bound.text) for bound in bounds]
            if 0 in numbers or tuple(numbers) == shape:
                self._splat(result, Code("false" if 0 in numbers else "true"))
                return

        def lane(place: Place) -> Code:
            tests = [infix("<", part, bound) for part, bound in zip(place, bounds, strict=True)]
            condition = tests[0]
            for test in tests[1:]:
                condition = infix("&&", condition, test)
            return condition

        self._fill(result, lane)

    # --- Lanes rearranged

    def _rearrange(self, op: Op) -> None:
        match op:
            case vector.Broadcast():
                self._broadcast(op)
            case vector.Extract():
                self._extract(op)
            case vector.Insert():
                self._insert(op)
            case vector.ExtractStridedSlice():
                offsets = (*op.offsets, *(0 for _ in self._vector_type(op.source).shape[len(op.offsets) :]))
                self._fill(op.result, lambda place: self._lane(op.source, _offset(place, offsets)))
            case vector.InsertStridedSlice():
                self._insert_slice(op)
            case vector.Shuffle():
                self._shuffle(op)
            case vector.Transpose():
                back = [op.permutation.index(k) for k in range(len(op.permutation))]
                self._fill(op.result, lambda place: self._lane(op.source, [place[k] for k in back]))
            case vector.ShapeCast():
                if op.source in self._splats:
                    self._splat(op.result, self._splats[op.source])
                else:
                    self._codes[op.result] = self._codes[op.source]
            case vector.BitCast():
                self._bit_cast(op)
            case vector.FromElements():
                self._listed(op.result, [self._value(v) for v in op.elements])
            case vector.ToElements():
                for k, result in enumerate(op.results):
                    if self._uses[result]:
                        self._define(result, self._flat_lane(op.source, number(k)))
            case _:
                raise UnsupportedError(f"C output does not know the operation {op.name} yet")

    def _vector_constant(self, op: arith.Constant) -> None:
        """A constant vector: one literal where all lanes are equal."""
        kind = lane_type(op.result)
        numbers = op.value if isinstance(op.value, tuple) else (op.value,)
        shown = [tables.headers_of(tables.literal(n, kind), self.unit) for n in numbers]
        if len({s.text for s in shown}) == 1:
            self._splat(op.result, shown[0])
        else:
            self._listed(op.result, shown)

    def _broadcast(self, op: vector.Broadcast) -> None:
        if not isinstance(op.source.type, VectorType):
            self._splat(op.result, self._again(op.source))
            return
        if op.source in self._splats:
            self._splat(op.result, self._splats[op.source])
            return
        shape = self._vector_type(op.source).shape

        def lane(place: Place) -> Code:
            last = place[len(place) - len(shape) :]
            same = [number(0) if size == 1 else part for size, part in zip(shape, last, strict=True)]
            return self._lane(op.source, same)

        self._fill(op.result, lane)

    def _positions(self, op: vector.Extract | vector.Insert) -> list[Code]:
        return [self._again(p) if isinstance(p, Value) else number(p) for p in op.positions]

    def _extract(self, op: vector.Extract) -> None:
        rank = self._vector_type(op.source).rank
        if vector.POISON in op.static_position:
            self._poisoned(op.result)
            return
        positions = self._positions(op)
        if isinstance(op.result.type, VectorType):
            self._fill(op.result, lambda place: self._lane(op.source, [*positions, *place][:rank]))
        else:
            self._define(op.result, self._lane(op.source, positions))

    def _poisoned(self, result: Value) -> None:
        kind = lane_type(result)
        shown = tables.headers_of(tables.literal(0, kind), self.unit)  # any number will do
        if isinstance(result.type, VectorType):
            self._splat(result, shown)
        else:
            self._define(result, shown)

    def _insert(self, op: vector.Insert) -> None:
        if vector.POISON in op.static_position:
            self._poisoned(op.result)
            return
        positions, shape = self._positions(op), self._vector_type(op.target).shape
        single = None if isinstance(op.value.type, VectorType) else self._again(op.value)
        name = self._new(op.result)
        self._assign_lanes(name, op.target)
        place = self._loops(shape[len(positions) :])
        item = single if single is not None else self._lane(op.value, place)
        self._line(f"{name}[{flat(shape, [*positions, *place])}] = {item};")
        self._end(place)

    def _insert_slice(self, op: vector.InsertStridedSlice) -> None:
        shape, inner = self._vector_type(op.target).shape, self._vector_type(op.value).shape
        name = self._new(op.result)
        self._assign_lanes(name, op.target)
        place = self._loops(inner)
        whole = _offset([number(0)] * (len(shape) - len(inner)) + list(place), op.offsets)
        self._line(f"{name}[{flat(shape, whole)}] = {self._lane(op.value, place)};")
        self._end(place)

    def _shuffle(self, op: vector.Shuffle) -> None:
        shape = self._vector_type(op.result).shape
        rows = (self._vector_type(op.left).shape or (1,))[0]
        nothing = tables.headers_of(tables.literal(0, lane_type(op.result)), self.unit)
        inner = prod(shape[1:])

        def lane(row: int, place: Code) -> Code:
            if row == vector.POISON:
                return nothing
            source, first = (op.left, row) if row < rows else (op.right, row - rows)
            return self._flat_lane(source, plus(number(first * inner), place))

        if inner == 1:
            self._listed(op.result, [lane(row, number(0)) for row in op.mask])
            return
        name = self._new(op.result)
        for k, row in enumerate(op.mask):
            (place,) = self._loops((inner,))
            self._line(f"{name}[{plus(number(k * inner), place)}] = {lane(row, place)};")
            self._end((place,))

    def _bit_cast(self, op: vector.BitCast) -> None:
        old, new = lane_type(op.source), lane_type(op.result)
        before, after = _bits(old), _bits(new)
        if before == after:
            self._fill_flat(
                op.result, lambda k: tables.convert("bitcast", old, new, self._flat_lane(op.source, k), self.unit)
            )
            return
        if before % after and after % before:
            raise UnsupportedError(f"C output has no bitcast from {op.source.type} to {op.result.type}")
        lanes = prod(self._vector_type(op.result).shape)
        name = self._new(op.result)
        (lane,) = self._loops((lanes,))
        if before < after:
            parts = after // before
            bits = self._declare("", "bits", "int64_t", number(0), const=False)
            self.used.add(bits)
            (part,) = self._loops((parts,))
            taken = self._bits_of(old, self._flat_lane(op.source, plus(times(lane, number(parts)), part)))
            shifted = tables.binary("shli", I64, taken, times(part, number(before)), self.unit)
            self._assign(bits, tables.binary("ori", I64, Code(bits), shifted, self.unit), I64)
            self._end((part,))
            whole = Code(bits)
        else:
            parts = before // after
            taken = self._bits_of(old, self._flat_lane(op.source, infix("/", lane, number(parts))))
            place = times(infix("%", lane, number(parts)), number(after))
            whole = tables.binary("shrui", I64, taken, place, self.unit)
        self._line(f"{name}[{lane}] = {self._of_bits(new, whole)};")
        self._end((lane,))

    def _bits_of(self, kind: ScalarType, shown: Code) -> Code:
        """The bits of a number in an int64_t."""
        integer = IntegerType(_bits(kind))
        if isinstance(kind, FloatType):
            shown = tables.convert("bitcast", kind, integer, shown, self.unit)
        return shown if integer == I64 else tables.convert("extui", integer, I64, shown, self.unit)

    def _of_bits(self, kind: ScalarType, shown: Code) -> Code:
        """The number with the lowest bits of an int64_t."""
        integer = IntegerType(_bits(kind))
        if integer != I64:
            shown = tables.convert("trunci", I64, integer, shown, self.unit)
        return tables.convert("bitcast", integer, kind, shown, self.unit) if isinstance(kind, FloatType) else shown


def combiner(kind: str, type: ScalarType) -> str:
    """The kind of arith that a kind of `vector.KINDS` is for numbers of a type."""
    floats, integers = vector.KINDS[kind]
    name = floats if isinstance(type, FloatType) else integers
    assert name is not None, "the verifier refuses kinds that a type does not have"
    return name


def _shifted(start: Sequence[Code], place: Place) -> list[Code]:
    """start with the numbers of place added to its last dimensions."""
    first = len(start) - len(place)
    return [*start[:first], *(plus(part, lane) for part, lane in zip(start[first:], place, strict=True))]


def _written(op: Op) -> tuple[Affine, ...]:
    """The index of an access, of its first lane."""
    if isinstance(op, affine.VectorLoad | affine.VectorStore):
        return op.index
    indices: tuple[Value, ...] = getattr(op, "indices", ())
    return tuple(map(Affine.of, indices))


def _offset(place: Place, offsets: Sequence[int]) -> list[Code]:
    return [plus(part, number(offset)) for part, offset in zip(place, offsets, strict=True)]


def _bits(kind: ScalarType) -> int:
    return kind.width if isinstance(kind, FloatType) else width(kind)
