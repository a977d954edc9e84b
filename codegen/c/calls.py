"""Calls between emitted functions, and what a function returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from affdsl.codegen.c import tables
from affdsl.codegen.c.allocation import obtain
from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.checks import called, literally, same_size
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.descriptors import descriptor, ranked_descriptor
from affdsl.codegen.c.expressions import Code
from affdsl.codegen.c.memory import strides_in
from affdsl.codegen.c.plan import Plan, global_effects, root_of
from affdsl.codegen.c.strides import strides_of
from affdsl.codegen.c.types import element, number_type, stored_type, value_type
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.mixed import Static
from affdsl.ir.types import IndexType, MemRefType, Type, UnrankedMemRefType


def call_function(c: Context, op: func.Call) -> None:
    """Call a function of the file, and leave where it fails."""
    callee = c.plans[op.callee]
    f = callee.func
    shown: list[str] = []
    values: dict[Value, Affine] = {}
    for position, (value, parameter) in enumerate(zip(op.args, f.args, strict=True)):
        unsigned = position in f.unsigned
        if callee.has_descriptors and isinstance(parameter.type, MemRefType | UnrankedMemRefType):
            shown.append(f"&{descriptor(c, value, parameter.type)}")
            continue
        if isinstance(parameter.type, UnrankedMemRefType):
            shown += [str(c.buffers[value].type.rank), f"&{ranked_descriptor(c, value)}"]
            continue
        if isinstance(value.type, MemRefType):
            shown += _pass_array(c, value, parameter, f, position)
            continue
        kind = number_type(value.type)
        if isinstance(kind, IndexType):
            kept = c.is_checked or any(r.is_array for r in callee.results)
            values[parameter] = c.values.fixed(value) if kept else Affine.of(value)
            shown.append(c.values.expression(values[parameter]).text)
        else:
            shown.append(tables.store(kind, c.values.of(value), c.unit, unsigned=unsigned).text)
    written = frozenset(root_of(c.plan, op.args[k]) for k in callee.written)
    c.values.name_readers(written | global_effects(op, c.plan, c.plans))
    scalars: list[tuple[Value, str, bool]] = []
    for value, result in zip(op.results, callee.results, strict=True):
        if result.is_array:
            shown.append(_receive(c, value, result.unsigned, tuple(e.substitute(values) for e in result.shape)))
        elif not callee.gives_value:
            hint = "" if _is_converted(value.type, result.unsigned) else value.hint
            name = c.lines.without_value(hint, "result", stored_type(value.type, result.unsigned))
            shown.append(f"&{name}")
            scalars.append((value, name, result.unsigned))
            c.lines.read(name)
    if c.is_checked:
        _check_shapes(c, op, callee, values)
    if callee.takes_threads:
        shown.append(c.lines.read(c.threads))
    if callee.notes:
        shown.append(c.lines.read(c.failure))
    text = f"{callee.name}({', '.join(shown)})"
    if callee.gives_value:
        _take_result(c, op, callee, text)
    elif callee.notes:
        status = c.lines.keep("", "status", "int32_t", Code(text)).text
        with c.lines.block(f"if ({status} != 0)"):
            c.fail(status)
    elif callee.has_status:
        with c.lines.block(f"if ({text} != 0)"):
            c.fail()
    else:
        c.lines.add(f"{text};")
    for value, name, unsigned in scalars:
        if c.values.uses[value] == 0:
            continue
        loaded = tables.load(number_type(value.type), Code(name), c.unit, unsigned=unsigned)
        if loaded.text == name:
            c.values.codes[value] = loaded
        else:
            c.values.name(value, loaded)


def _check_shapes(c: Context, op: func.Call, callee: Plan, values: dict[Value, Affine]) -> None:
    """The arrays have the shapes that the callee takes them to have."""
    for position, promised in enumerate(callee.func.shapes):
        array, parameter = op.args[position], callee.func.args[position]
        for k, size in enumerate(promised or ()):
            name, as_ = called(c, array), literally(f"{callee.func.symbol}: argument {parameter.hint}")
            words = f"the call of {as_} is {name}, of which dimension {k} has size {{0}}, and must have {{1}}"
            same_size(c, op, array, c.buffers.size(c.buffers[array], k), size.substitute(values), words)


def _take_result(c: Context, op: func.Call, callee: Plan, text: str) -> None:
    value, result = next((v, r) for v, r in zip(op.results, callee.results, strict=True) if not r.is_array)
    if c.values.uses[value] == 0:
        c.lines.add(f"(void){text};")
    else:
        c.values.name(value, tables.load(number_type(value.type), Code(text), c.unit, unsigned=result.unsigned))


def _pass_array(c: Context, value: Value, parameter: Value, f: func.Func, position: int) -> list[str]:
    """The pointer to an array, and those of its strides that the callee does not know."""
    buffer = c.buffers[value]
    assert isinstance(parameter.type, MemRefType)
    wanted, offset = strides_of(parameter.type, f"array {parameter.hint!r} of {f.symbol!r}")
    given: Sequence[int | Affine] | None = buffer.strides if wanted is None else strides_in(c, buffer)
    if buffer.base and offset is not None and buffer.start == Affine.of(offset) and _fit(wanted, given):
        buffer = replace(buffer, name=buffer.base, offset=offset)
    if not _fit(wanted, given) or (offset is not None and offset != buffer.offset):
        raise UnsupportedError(
            f"{c.plan.func.symbol!r} passes {value.hint or buffer.name!r}, of type {value.type}, to "
            f"{f.symbol!r}, which takes {parameter.type}: C output cannot change the layout of an array"
        )
    c.lines.read(buffer.name)
    pairs = zip(wanted or (), given or (), strict=True)
    strides = [c.values.expression(s).text for w, s in pairs if w is None]
    shown = buffer.name if offset == buffer.offset or buffer.offset == 0 else f"{buffer.name} + {buffer.offset}"
    kind, unsigned = element(buffer.type), position in f.unsigned
    const = "" if position in c.plans[f.symbol].written else "const "
    is_same = unsigned == buffer.unsigned or stored_type(kind, unsigned) == stored_type(kind, buffer.unsigned)
    if is_same and not (buffer.constant and not const):
        return [shown, *strides]
    return [f"({const}{stored_type(kind, unsigned)} *){shown if shown == buffer.name else f'({shown})'}", *strides]


def _receive(c: Context, value: Value, unsigned: bool, shape: tuple[Affine, ...]) -> str:
    """Memory for an array that a callee returns: what our caller handed in, or a buffer of our own."""
    assert isinstance(value.type, MemRefType)
    shape = tuple(c.values.resolve(size) for size in shape)
    kind = element(value.type)
    own = value in c.buffers.results
    name = c.buffers.results[value] if own else c.lines.scope.declare(value.hint, "buffer")
    mine = any(r.value is value and r.unsigned for r in c.plan.results) if own else unsigned
    c.buffers[value] = Buffer(name, value.type, shape, root_of(c.plan, value), mine)
    c.lines.read(name)
    if not own:
        obtain(c, name, value, stored_type(kind, unsigned), [c.values.expression(s) for s in shape], None)
    elif stored_type(kind, mine) != stored_type(kind, unsigned):
        return f"({stored_type(kind, unsigned)} *){name}"
    return name


def return_values(c: Context, op: func.Return) -> None:
    """Hand the results to the caller, free what is left, and leave."""
    c.finish_streams()
    values = [(v, r) for v, r in zip(op.values, c.plan.results, strict=True) if not r.is_array]
    codes = [tables.store(number_type(v.type), c.values.of(v), c.unit, unsigned=r.unsigned) for v, r in values]
    for result, name in zip(c.plan.results, c.outputs, strict=True):
        if result.is_array or not name:
            continue
        c.lines.stored(name)
        c.lines.add(f"*{name} = {codes.pop(0)};")
    if codes and c.heap.innermost and codes[0].buffers:
        kind = stored_type(values[-1][0].type, values[-1][1].unsigned)
        codes = [c.lines.keep("", "result", kind, codes[0])]
    c.heap.free()
    if c.plan.has_status:
        c.lines.add("return 0;")
    elif codes:
        c.lines.add(f"return {codes[0]};")


def _fit(wanted: Static | None, given: Sequence[int | Affine] | None) -> bool:
    """Whether strides are those that are wanted, where numbers are; None is row-major and contiguous."""
    if wanted is None or given is None:
        return wanted is given
    return all(w is None or Affine.of(w) == Affine.of(s) for w, s in zip(wanted, given, strict=True))


def _is_converted(type: Type, unsigned: bool) -> bool:
    return stored_type(type, unsigned) != value_type(type)
