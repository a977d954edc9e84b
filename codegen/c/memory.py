"""Accesses, buffers of the heap and of the stack, and copies as C statements."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import FloatType, MemRefType, ScalarType
from codegen.c import tables
from codegen.c.checks import Checks
from codegen.c.expressions import (
    ADD,
    PRIMARY,
    UNARY,
    Code,
    cast,
    code,
    infix,
    number,
)
from codegen.c.frame import Buffer, Heap
from codegen.c.plan import is_small, root_of, strides_of
from codegen.c.types import element, stored_type, width
from codegen.c.unit import Unit


class Memory(Checks):
    """Writes what reads and writes memory, makes it and gives it back."""

    def _element(self, op: Op, memref_value: Value, index: Sequence[Affine]) -> Code:
        """The element that an operation touches as an lvalue."""
        buffer = self._buffers[memref_value]
        self.used.add(buffer.name)
        codes = self._index_of(op, memref_value, index)
        if not codes and buffer.offset == 0:
            self.used.add(buffer.name)
            return Code(f"*{buffer.name}", UNARY, frozenset((buffer.root,)))
        place = self._place(buffer, codes)
        return Code(f"{buffer.name}[{place}]", PRIMARY, place.buffers | {buffer.root}, place.variables)

    def _place(self, buffer: Buffer, index: Sequence[Code]) -> Code:
        place = number(buffer.offset)
        for k, part in enumerate(index):
            if buffer.strides is not None:
                place = plus(place, times(part, self._expression(Affine.of(buffer.strides[k]))))
            elif k == 0:
                place = part
            else:
                place = plus(
                    times(place, self._expression(self._size(buffer, k)) if place.text != "0" else place), part
                )
        return place

    def _load(self, op: affine.Load | memref.Load) -> None:
        buffer = self._buffers[op.memref]
        kind = element(buffer.type)
        lvalue = self._element(op, op.memref, _index(op))
        self._define(op.result, tables.load_element(kind, lvalue, self.unit, unsigned=buffer.unsigned))

    def _store(self, op: affine.Store | memref.Store) -> None:
        buffer = self._buffers[op.memref]
        kind = element(buffer.type)
        value = self._value(op.value)
        target = self._element(op, op.memref, _index(op))
        self._name_readers((buffer.root,))
        stored = tables.store(kind, value, self.unit, unsigned=buffer.unsigned)
        self._assign(target.text, value, kind, stored, unsigned=buffer.unsigned)

    def _assign(
        self, target: str, value: Code, kind: ScalarType, stored: Code | None = None, *, unsigned: bool = False
    ) -> None:
        """target = value, as `target op= operand` where that is the same; `stored` is what memory gets."""
        if value.binary is not None and (shown := _compound(target, value, kind, unsigned=unsigned)):
            self._line(shown)
        else:
            self._line(f"{target} = {value if stored is None else stored};")

    def _allocate(self, op: memref.Alloc | memref.Alloca) -> None:
        type = op.result.type
        assert isinstance(type, MemRefType)
        if type.layout is not None and strides_of(type, f"buffer {op.result.hint!r}")[0] is not None:
            raise UnsupportedError(
                f"buffer {op.result.hint!r} has the layout {type}; C output allocates row-major buffers"
            )
        sizes = iter(op.sizes)
        shape = tuple(self._fixed(next(sizes)) if s is None else Affine.of(s) for s in type.shape)
        for size in shape:
            if size.value is not None:
                self._ranges.know(size.value, 0)
        own = op.result in self._result_pointers
        name = self._result_pointers[op.result] if own else self._scope.declare(op.result.hint, "buffer")
        unsigned = any(r.value is op.result and r.unsigned for r in self.plan.results)
        self._buffers[op.result] = Buffer(name, type, shape, root_of(self.plan, op.result), unsigned)
        if own:
            return
        c_type = stored_type(element(type))
        if isinstance(op, memref.Alloca) and is_small(op):
            count = 1
            for s in type.shape:
                count *= s or 0
            self._declared.append((name, len(self.lines)))
            align = "" if op.alignment is None else f"_Alignas({op.alignment}) "
            self._line(f"{align}{c_type} {name}[{count}];")
            return
        self._obtain(name, op.result, c_type, [self._expression(s) for s in shape], op.alignment)

    def _obtain(self, name: str, value: Value, c_type: str, sizes: Sequence[Code], alignment: int | None) -> None:
        """Declare a buffer of the heap that this block owns."""
        listed = ", ".join(s.text for s in sizes) or "1"
        start = f"sizeof({c_type}), {len(sizes) or 1}, (const int64_t[]){{{listed}}}"
        if alignment is not None and alignment > 16:
            allocation = f"{self.unit.helper('new_aligned')}({alignment}, {start})"
        else:
            allocation = f"{self.unit.helper('new_buffer')}({start})"
        self._declared.append((name, len(self.lines)))
        self._line(f"{c_type} *{name} = {allocation};")
        self._open(f"if ({name} == NULL)")
        self._fail()
        self._close()
        self.unit.header("stdlib.h")
        self.used.add(name)
        self._heap[-1].append(Heap(name, self.plan.roots[value]))

    def _fixed(self, value: Value) -> Affine:
        """A size as an expression that keeps its value: of arguments and constants, or under a name."""
        expr = self._resolve(Affine.of(value))
        if expr.value is None or value not in self._pending:
            return expr
        self._name(value, self._pending.pop(value))
        return Affine.of(value)

    def _deallocate(self, op: memref.Dealloc) -> None:
        root = self.plan.roots[op.memref]
        self._name_readers((root_of(self.plan, op.memref),))
        for depth, block in enumerate(reversed(self._heap)):
            for heap in block:
                if heap.root is root:
                    self._line(f"free({heap.name});")
                    if depth == 0:
                        block.remove(heap)
                    else:
                        self._line(f"{heap.name} = NULL;")
                    return
        raise UnsupportedError(
            f"memref.dealloc of {op.memref.hint or 'a buffer'!r} in {self.plan.func.symbol!r}: "
            "C output frees only what the function allocated itself"
        )

    def _free(self, buffers: Sequence[Heap]) -> None:
        for heap in reversed(buffers):
            self._line(f"free({heap.name});")

    def _fail(self, status: str = "2") -> None:
        """Leave, because there is no memory (2), an access is outside, or a callee says so: out of the function, or out
        of this iteration of the parallel band."""
        first = 0 if self._parallel is None else self._parallel
        for block in reversed(self._heap[first:]):
            self._free(block)
        if self._parallel is None:
            self._line(f"return {status};")
            return
        self._directive("#pragma omp atomic write")
        self._line(f"{self._status} = {status};")
        if self._depth == self._parallel + 1 and not self._checking:  # checks stand in loops over lanes, too
            self._line("continue;")
            return
        if self._skip is None:
            self._labels += 1
            self._skip = "next" if self._labels == 1 else f"next_{self._labels}"
        self._line(f"goto {self._skip};")

    def _copy(self, op: memref.Copy) -> None:
        source, target = self._buffers[op.source], self._buffers[op.target]
        if self._checking:
            names = self._called(op.source), self._called(op.target)
            for k in range(target.type.rank):
                words = f"the copy of {names[0]} to {names[1]}: dimension {k} of {names[0]} has size {{0}}, and of "
                sizes = self._size(source, k), self._size(target, k)
                self._same_size(op, op.target, *sizes, f"{words}{names[1]} {{1}}")
        self._name_readers((target.root,))
        self.used |= {source.name, target.name}
        if source.strides is None and target.strides is None:
            self.unit.header("string.h")
            bytes = Code(f"sizeof(*{target.name})")
            shape = [self._expression(self._size(target if target.shape[k] is not None else source, k))
                     for k in range(target.type.rank)]  # fmt: skip
            for size in shape:
                bytes = infix("*", bytes, size if size.text.isdigit() else cast("size_t", size))
            self._line(f"memcpy({target.name}, {source.name}, {_product_first(bytes)});")
            return
        ivs = []
        for k in range(target.type.rank):
            bound = self._expression(self._size(target if target.shape[k] is not None else source, k))
            name = self._scope.declare("", self._counter)
            self._open(f"for (int64_t {name} = 0; {name} < {bound.at(ADD)}; ++{name})")
            ivs.append(Code(name))
        to = f"{target.name}[{self._place(target, ivs)}]"
        kind = element(source.type)
        value = tables.load_element(
            kind, Code(f"{source.name}[{self._place(source, ivs)}]"), self.unit, unsigned=source.unsigned
        )
        self._line(f"{to} = {tables.store(kind, value, self.unit, unsigned=target.unsigned)};")
        for _ in ivs:
            self._close()


def _compound(target: str, value: Code, kind: ScalarType, *, unsigned: bool) -> str | None:
    assert value.binary is not None
    operator, left, right = value.binary
    bits = 0 if isinstance(kind, FloatType) else width(kind)
    wraps = operator.startswith("wrap")
    operator = operator.removeprefix("wrap")
    if isinstance(kind, FloatType):
        fits = operator in ("+", "-", "*", "/") and kind.name in ("f32", "f64")
        read = target
    elif unsigned and bits in (32, 64):
        fits = operator in ("+", "-", "*", "&", "|", "^")
        read = f"(int{bits}_t){target}"
    else:
        fits = operator in ("&", "|", "^") and not wraps
        read = target
    if not fits:
        return None
    other = right if left.text == read else left if right.text == read and operator != "-" and operator != "/" else None
    if other is None:
        return None
    if unsigned and bits:
        other = tables.store(kind, other, Unit(), unsigned=True)
    return f"{target} {operator}= {other};"


def _index(op: affine.Load | memref.Load | affine.Store | memref.Store) -> tuple[Affine, ...]:
    if isinstance(op, affine.Load | affine.Store):
        return op.index
    return tuple(Affine.of(v) for v in op.indices)


def plus(left: Code, right: Code) -> Code:
    """left + right, of indices, which do not overflow."""
    if left.text == "0":
        return right
    if right.text == "0":
        return left
    if left.text.isdigit() and right.text.isdigit():
        return number(int(left.text) + int(right.text))
    if right.level == ADD and not right.text.startswith("-"):  # no overflow here, so any order is the same
        return code(f"{left.at(ADD)} + {right.text}", ADD, left, right)
    return infix("+", left, right)


def times(left: Code, right: Code) -> Code:
    """left * right, of indices."""
    if "0" in (left.text, right.text):
        return number(0)
    if left.text == "1" or right.text == "1":
        return right if left.text == "1" else left
    if left.text.isdigit() and right.text.isdigit():
        return number(int(left.text) * int(right.text))
    return infix("*", left, right)


def _product_first(bytes: Code) -> str:
    """A product that starts with sizeof, with it at the end."""
    first, *rest = bytes.text.split(" * ", 1)
    return f"{rest[0]} * {first}" if rest else first
