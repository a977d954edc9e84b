"""Calls between emitted functions, and what a function returns."""

from __future__ import annotations

from dataclasses import replace

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import IndexType, MemRefType, Type
from codegen.c import tables
from codegen.c.checks import literally
from codegen.c.control import Control
from codegen.c.expressions import (
    Code,
)
from codegen.c.frame import Buffer
from codegen.c.plan import Plan, global_effects, root_of, strides_of
from codegen.c.types import element, scalar, stored_type, value_type


class Calls(Control):
    """Writes func.call and func.return."""

    def _call(self, op: func.Call) -> None:
        callee = self.plans[op.callee]
        f = callee.func
        shown: list[str] = []
        values: dict[Value, Affine] = {}
        for position, (value, parameter) in enumerate(zip(op.args, f.args, strict=True)):
            unsigned = position in f.unsigned
            if isinstance(value.type, MemRefType):
                shown.append(self._pass_array(value, parameter, f, position))
                continue
            kind = scalar(value.type)
            if isinstance(kind, IndexType):
                kept = self._checking or any(r.is_array for r in callee.results)
                values[parameter] = self._fixed(value) if kept else Affine.of(value)
                shown.append(self._expression(values[parameter]).text)
            else:
                shown.append(tables.store(kind, self._value(value), self.unit, unsigned=unsigned).text)
        written = frozenset(root_of(self.plan, op.args[k]) for k in callee.written)
        self._name_readers(written | global_effects(op, self.plan, self.plans))
        scalars: list[tuple[Value, str, bool]] = []
        for value, result in zip(op.results, callee.results, strict=True):
            if result.is_array:
                shown.append(self._receive(value, result.unsigned, tuple(e.substitute(values) for e in result.shape)))
            elif not callee.gives_value:
                name = self._scope.declare("" if _is_converted(value.type, result.unsigned) else value.hint, "result")
                self._declared.append((name, len(self.lines)))
                self._line(f"{stored_type(value.type, result.unsigned)} {name};")
                shown.append(f"&{name}")
                scalars.append((value, name, result.unsigned))
                self.used.add(name)
        if self._checking:
            self._check_shapes(op, callee, values)
            shown.append(self.failure)
        text = f"{callee.name}({', '.join(shown)})"
        if callee.gives_value:
            self._take(op, callee, text)
        elif self._checking:
            status = self._mark(self._declare("", "status", "int32_t", Code(text)))
            self._open(f"if ({status} != 0)")
            self._fail(status)
            self._close()
        elif callee.has_status:
            self._open(f"if ({text} != 0)")
            self._fail()
            self._close()
        else:
            self._line(f"{text};")
        for value, name, unsigned in scalars:
            if self._uses[value] == 0:
                continue
            loaded = tables.load(scalar(value.type), Code(name), self.unit, unsigned=unsigned)
            if loaded.text == name:
                self._codes[value] = loaded
            else:
                self._name(value, loaded)

    def _check_shapes(self, op: func.Call, callee: Plan, values: dict[Value, Affine]) -> None:
        """The arrays have the shapes that the callee takes them to have."""
        for position, promised in enumerate(callee.func.shapes):
            array, parameter = op.args[position], callee.func.args[position]
            for k, size in enumerate(promised or ()):
                name, as_ = self._called(array), literally(f"{callee.func.symbol}: argument {parameter.hint}")
                words = f"the call of {as_} is {name}, of which dimension {k} has size {{0}}, and must have {{1}}"
                self._same_size(op, array, self._size(self._buffers[array], k), size.substitute(values), words)

    def _take(self, op: func.Call, callee: Plan, text: str) -> None:
        value, result = next((v, r) for v, r in zip(op.results, callee.results, strict=True) if not r.is_array)
        if self._uses[value] == 0:
            self._line(f"(void){text};")
        else:
            self._name(value, tables.load(scalar(value.type), Code(text), self.unit, unsigned=result.unsigned))

    def _pass_array(self, value: Value, parameter: Value, f: func.Func, position: int) -> str:
        buffer = self._buffers[value]
        assert isinstance(parameter.type, MemRefType)
        strides, offset = strides_of(parameter.type, f"array {parameter.hint!r} of {f.symbol!r}")
        if buffer.base and buffer.start == Affine.of(offset) and _same(strides, buffer.strides):
            buffer = replace(buffer, name=buffer.base, strides=strides, offset=offset)
        if not _same(strides, buffer.strides) or offset != buffer.offset:
            raise UnsupportedError(
                f"{self.plan.func.symbol!r} passes {value.hint or buffer.name!r}, of type {value.type}, to "
                f"{f.symbol!r}, which takes {parameter.type}: C output cannot change the layout of an array"
            )
        self.used.add(buffer.name)
        kind, unsigned = element(buffer.type), position in f.unsigned
        if unsigned == buffer.unsigned or stored_type(kind, unsigned) == stored_type(kind, buffer.unsigned):
            return buffer.name
        const = "" if position in self.plans[f.symbol].written else "const "
        return f"({const}{stored_type(kind, unsigned)} *){buffer.name}"

    def _receive(self, value: Value, unsigned: bool, shape: tuple[Affine, ...]) -> str:
        """Memory for an array that a callee returns: what our caller handed in, or a buffer of our own."""
        assert isinstance(value.type, MemRefType)
        shape = tuple(self._resolve(size) for size in shape)
        kind = element(value.type)
        own = value in self._result_pointers
        name = self._result_pointers[value] if own else self._scope.declare(value.hint, "buffer")
        mine = any(r.value is value and r.unsigned for r in self.plan.results) if own else unsigned
        self._buffers[value] = Buffer(name, value.type, shape, root_of(self.plan, value), mine)
        self.used.add(name)
        if not own:
            self._obtain(name, value, stored_type(kind, unsigned), [self._expression(s) for s in shape], None)
        elif stored_type(kind, mine) != stored_type(kind, unsigned):
            return f"({stored_type(kind, unsigned)} *){name}"
        return name

    def _return(self, op: func.Return) -> None:
        values = [(v, r) for v, r in zip(op.values, self.plan.results, strict=True) if not r.is_array]
        codes = [tables.store(scalar(v.type), self._value(v), self.unit, unsigned=r.unsigned) for v, r in values]
        for result, name in zip(self.plan.results, self._outputs, strict=True):
            if result.is_array or not name:
                continue
            self._line(f"*{name} = {codes.pop(0)};")
        if codes and self._heap[-1] and codes[0].buffers:
            kind = stored_type(values[-1][0].type, values[-1][1].unsigned)
            name = self._declare("", "result", kind, codes[0])
            self.used.add(name)
            codes = [Code(name)]
        self._free(self._heap[-1])
        if self.plan.has_status:
            self._line("return 0;")
        elif codes:
            self._line(f"return {codes[0]};")


def _same(strides: tuple[int, ...] | None, others: tuple[int | Affine, ...] | None) -> bool:
    """Whether strides are the same numbers."""
    if strides is None or others is None:
        return strides is others
    return tuple(map(Affine.of, strides)) == tuple(map(Affine.of, others))


def _is_converted(type: Type, unsigned: bool) -> bool:
    return stored_type(type, unsigned) != value_type(type)
