"""In which order a transformed program makes the accesses of the program before: found out by running both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import Argument
from affdsl.ir.interpreter.externals import External
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import INDEX, IntegerType, MemRefType
from affdsl.ir.verifier import verify
from tests.passes.analysis.touched import sides
from tests.passes.analysis.traced import Instance, ivs_of, loops_around, trace

I64 = IntegerType(64)
ROWS, COLUMNS, ZERO = 10, 1024, 400
Run = tuple[int, ...]
"""One execution of an operation: its number in the text, then the counters of the loops around it."""


@dataclass(frozen=True)
class Reversed:
    """Two executions, the first of which ran first and runs last now, and an element that both touch."""

    source: Run
    sink: Run
    element: tuple[int, ...]
    roles: tuple[str, str]


class LostError(Exception):
    """An execution is not there any more, or is there twice."""


def numbers(function: func.Func) -> dict[Op, int]:
    """The numbers of the operations that access memory, in the order of the text."""
    return {op: k for k, op in enumerate(op for op in loops_around(function) if sides(op))}


def marked(function: func.Func) -> func.Func:
    """The function where each access is preceded by loads that say which one it is, and in which iteration.

    They are of a new last argument, which nothing writes, so they change no dependence. Their numbers go into what is
    loaded or stored, if that is an i64, so that no statement is separated from its mark.
    """
    around = loops_around(function)
    number = numbers(function)
    mark = Value(MemRefType((ROWS, COLUMNS), I64), "mark")
    dims = {iv for op in around if isinstance(op, affine.For | affine.Parallel) for iv in ivs_of(op)}

    def rule(op: Op) -> Sequence[Op] | None:
        if op not in number:
            return None
        values = [Value(I64) for _ in (0, *around[op])]
        ops: list[Op] = [affine.Load(values[0], mark, (Affine(), Affine.of(number[op])))]
        for k, (value, iv) in enumerate(zip(values[1:], around[op], strict=True), 1):
            if iv in dims:
                ops.append(affine.Load(value, mark, (Affine.of(k), iv + ZERO)))
            else:  # the counter of an scf.for may not stand in an affine expression
                row, zero, place = (Value(INDEX) for _ in range(3))
                ops += [arith.Constant(row, k), arith.Constant(zero, ZERO), arith.Binary(place, "addi", iv, zero)]
                ops.append(memref.Load(value, mark, (row, place)))
        if isinstance(op, affine.Store) and op.value.type == I64:
            stored, mixing = _mixed(op.value, values)
            return [*ops, *mixing, with_fields(op, value=stored)]
        if isinstance(op, affine.Load) and op.result.type == I64:
            loaded = Value(I64)
            _, mixing = _mixed(loaded, values, op.result)
            return [*ops, with_fields(op, result=loaded), *mixing]
        return [*ops, op]

    made = rewrite(function, rule)
    shapes = {"shapes": (*made.shapes, None)} if made.shapes else {}
    return with_fields(made, args=(*made.args, mark), **shapes)


def _mixed(start: Value, values: Sequence[Value], result: Value | None = None) -> tuple[Value, list[Op]]:
    """What mixes values into one, which is `result` if that is given."""
    ops: list[Op] = []
    for k, value in enumerate(values):
        new = result if result is not None and k == len(values) - 1 else Value(I64)
        ops.append(arith.Binary(new, "xori", start, value))
        start = new
    return start, ops


def executions(
    function: func.Func,
    args: Sequence[Argument],
    module: func.Module | None = None,
    externals: Mapping[str, External] | None = None,
) -> list[tuple[Run, Instance]]:
    """What a marked function accesses, with which execution each access belongs to, in order."""
    mark = np.random.default_rng(5).integers(0, 2**60, (ROWS, COLUMNS))
    made = trace(function, *args, mark, module=module, externals=externals)
    found: list[tuple[Run, Instance]] = []
    collected: list[int] = []
    run: Run = ()
    execution = -1
    for instance in made.instances:
        if instance.buffer.origin is function.args[-1]:
            if len(instance.elements) > 1:  # vectors access for several executions at once
                raise LostError
            ((row, column),) = instance.elements
            collected = [column] if row == 0 else [*collected, column - ZERO]
            continue
        if instance.execution != execution:
            run, execution = tuple(collected), instance.execution
        found.append((run, instance))
    return found


def first_reversed(
    before: func.Func,
    change: Callable[[func.Func, func.Module | None], func.Func],
    args: Callable[[], Sequence[Argument]],
    module: func.Module | None = None,
    externals: Mapping[str, External] | None = None,
) -> Reversed | None:
    """Two dependent accesses of a function that a change of it brings into another order; None if there are none.

    Raises LostError where an execution was lost or doubled.
    """
    program = Program.of(before, module, externals)
    after = program.changed(change)
    return compared(program.executions(program.function, args()), program.executions(after, args()))


@dataclass(frozen=True)
class Program:
    """A marked function, the module that it stands in, if any, and what that calls."""

    function: func.Func
    module: func.Module | None
    externals: Mapping[str, External] | None

    @staticmethod
    def of(
        before: func.Func, module: func.Module | None = None, externals: Mapping[str, External] | None = None
    ) -> Program:
        """The program of a function that is not marked yet."""
        prepared = marked(before)
        return Program(prepared, module and _with(module, before, prepared), externals)

    def changed(self, change: Callable[[func.Func, func.Module | None], func.Func]) -> func.Func:
        """The marked function after a change, which keeps the rules."""
        after = change(self.function, self.module)
        verify(func.Module((after,)) if self.module is None else _with(self.module, self.function, after))
        return after

    def executions(self, function: func.Func, args: Sequence[Argument]) -> list[tuple[Run, Instance]]:
        """What the marked function accesses, or one that it was made into."""
        return executions(function, args, self.module and _with(self.module, self.function, function), self.externals)


def _with(module: func.Module, old: func.Func, new: func.Func) -> func.Module:
    made: func.Module = with_fields(module, body=tuple(new if op is old else op for op in module.body))
    return made


def compared(old: Sequence[tuple[Run, Instance]], new: Sequence[tuple[Run, Instance]]) -> Reversed | None:
    """Two dependent accesses that are in another order in a second run. Raises LostError."""
    times: dict[tuple[Run, str], int] = {}
    for run, instance in new:
        key = (run, instance.role)
        times[key] = min(times.get(key, instance.time), instance.time)
    if {(run, i.role) for run, i in old} != set(times) or len(old) != len(new):
        raise LostError
    touching: dict[object, list[tuple[Run, Instance]]] = defaultdict(list)
    for run, instance in old:
        for element in instance.elements:
            touching[instance.buffer, element].append((run, instance))
    for (_, element), accesses in touching.items():
        last: tuple[int, Run, Instance] | None = None
        last_write: tuple[int, Run, Instance] | None = None
        for run, instance in accesses:
            now = times[run, instance.role]
            behind = last if instance.role == "write" else last_write
            if behind is not None and behind[0] > now and behind[2].execution != instance.execution:
                return Reversed(behind[1], run, element, (behind[2].role, instance.role))
            if last is None or now > last[0]:
                last = (now, run, instance)
            if instance.role == "write" and (last_write is None or now > last_write[0]):
                last_write = (now, run, instance)
    return None


def reverses(old: Sequence[tuple[Run, Instance]], new: Sequence[tuple[Run, Instance]], source: Run, sink: Run) -> bool:
    """Whether two executions touch one element, one of them writing, in this order, and in the other one afterwards."""
    first = [i for run, i in old if run == source]
    second = [i for run, i in old if run == sink]
    meet = any(
        a.buffer == b.buffer and a.elements & b.elements and "write" in (a.role, b.role) and a.time < b.time
        for a in first
        for b in second
    )
    after = {run: i.time for run, i in reversed(new) if run in (source, sink)}
    return meet and after[source] > after[sink]
