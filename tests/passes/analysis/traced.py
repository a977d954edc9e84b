"""Every access that a function makes when it runs, in order: what dependence analysis is measured against.

The interpreter runs the function; beside it stands what each operation touches, which is read off its operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.buffers import Allocation, BufferView, Index
from affdsl.ir.interpreter.contract import Argument, argument, check_contract
from affdsl.ir.interpreter.environment import Env, Step
from affdsl.ir.interpreter.externals import External
from affdsl.ir.interpreter.program import _Program
from affdsl.ir.numeric import quiet
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX, MemRefType
from tests.passes.analysis.touched import ROLES, Access, Role, every, touches


@dataclass(frozen=True)
class Root:
    """A storage: what made it (an argument, the result of an alloc, or the symbol of a global), and its index."""

    origin: Value | str
    number: int = 0


@dataclass(frozen=True, eq=False)
class Instance:
    """One operation, executed once, reads or writes some elements of one storage.

    `ivs` are the induction variables of all loops around, outermost first. `elements` are coordinates in the storage as
    it was made, whatever view was used. `execution` is the same for all that one execution of an operation does: a copy
    reads and writes, and a call does all that the called function does.
    """

    op: Op
    role: Role
    ivs: Index
    buffer: Root
    elements: frozenset[Index]
    time: int
    execution: int


@dataclass(frozen=True, eq=False)
class Trace:
    """What a function did, in order.

    `loops` has the induction variables around each of its operations, outermost first. `symbols` has the number that
    each index was that is an argument or made at the top of the function: those are the symbols of affine expressions.
    """

    function: func.Func
    instances: tuple[Instance, ...]
    loops: Mapping[Op, tuple[Value, ...]]
    symbols: Mapping[Value, int]


def trace(
    function: func.Func,
    *args: Argument,
    module: func.Module | None = None,
    externals: Mapping[str, External] | None = None,
) -> Trace:
    """Run a function, as `affdsl.ir.interpreter.run` does, and list what it accesses.

    New buffers hold poison, which may be read. A function that is defined elsewhere counts as reading, and then
    writing, all elements of the memrefs that it is given. An affine.parallel runs in lexicographic order.

    Raises NotImplementedError for operations on memory that it does not know.
    """
    functions = {f.symbol: f for f in module.functions} if module is not None else {}
    buffers = {op.symbol: op for op in module.body if isinstance(op, memref.Global)} if module is not None else {}
    tracer = _Tracer({function.symbol: function, **functions}, buffers, externals or {}, "poison")
    with quiet():
        given = [argument(function, k, arg) for k, arg in enumerate(args)]
        for value, number in zip(function.args, given, strict=True):
            if isinstance(number, BufferView):
                tracer.made(value, number)
        env: Env = dict(zip(function.args, given, strict=True))
        check_contract(function, env)
        for step in tracer.compiled(function).steps:
            step(env)
    tops = (*function.args, *(v for op in function.body for v in op.defines()))
    symbols = {v: env[v] for v in tops if v.type == INDEX}
    return Trace(function, tuple(tracer.instances), loops_around(function), symbols)


def loops_around(function: func.Func) -> dict[Op, tuple[Value, ...]]:
    """The induction variables around each operation of a function, outermost first."""
    found: dict[Op, tuple[Value, ...]] = {function: ()}
    for op in walk(function):  # parents first
        for block in op.blocks():
            for inner in block:
                found[inner] = (*found[op], *ivs_of(op))
    return found


def ivs_of(op: Op) -> tuple[Value, ...]:
    """The induction variables of a loop, outermost first; none if it is no loop."""
    match op:
        case affine.For() | scf.For():
            return (op.iv,)
        case affine.Parallel() | scf.Parallel():
            return op.ivs
        case _:
            return ()


@dataclass(frozen=True, eq=False)
class _RowMajor:
    """The element at each address of a storage whose elements lie one behind the other."""

    start: int
    size: int
    shape: Index

    def __getitem__(self, address: int) -> Index:
        place, rest = divmod(address - self.start, self.size)
        assert not rest, "in the middle of an element"
        index = []
        for extent in reversed(self.shape):
            place, coordinate = divmod(place, extent)
            index.append(coordinate)
        if place:
            raise KeyError(address)
        return tuple(index[::-1])


def _elements_at(buffer: BufferView, size: int) -> _RowMajor | dict[int, Index]:
    """The element at each address of a new buffer."""
    if 0 in buffer.shape:
        return {}
    addresses = buffer.addresses(buffer.positions())
    start = int(addresses.flat[0])
    if np.array_equal(addresses.ravel(), start + size * np.arange(addresses.size)):
        return _RowMajor(start, size, buffer.shape)
    at = dict(zip(addresses.tolist(), product(*map(range, buffer.shape)), strict=True))
    assert len(at) == addresses.size, "two elements of one buffer lie at the same place"
    return at


@dataclass(frozen=True, eq=False)
class _Elements:
    """A storage, and which of its elements each address belongs to."""

    root: Root
    at: _RowMajor | dict[int, Index]
    size: int

    def of(self, buffer: BufferView, index: Iterable[Index]) -> frozenset[Index]:
        """The elements that some elements of a view are; several for each where the view joins bytes."""
        base: int = buffer.cells.__array_interface__["data"][0]
        width = buffer.cells.itemsize
        starts = [base + buffer.position(i) * width for i in index]
        return frozenset(self.at[a] for start in starts for a in range(start, start + width, self.size))


class _Tracer(_Program):
    """Compiles as the interpreter does, with a note of what is touched before each step."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.instances: list[Instance] = []
        self.storages: dict[Allocation, _Elements] = {}
        self.executions: dict[Value | str, int] = {}
        self.around: tuple[Value, ...] = ()
        self.execution = 0
        self.caller: tuple[Op, Index] | None = None
        self.copies: dict[tuple[Allocation, Index], list[Access]] = {}

    # What is compiled: the loops around an operation are known here

    def loop(self, op: affine.For | scf.For) -> Step:
        with self._inside(op):
            return super().loop(op)

    def parallel(self, op: affine.Parallel) -> Step:
        with self._inside(op):
            return super().parallel(op)

    def scf_parallel(self, op: scf.Parallel) -> Step:
        with self._inside(op):
            return super().scf_parallel(op)

    @contextmanager
    def _inside(self, op: Op) -> Iterator[None]:
        outer = self.around
        self.around = (*outer, *ivs_of(op))
        yield
        self.around = outer

    def block(self, block: Block) -> Any:
        steps, take = super().block(block)
        ops = [op for op in block if not op.is_terminator]
        # One step for each operation; at the end may stand one that ends the lives of local buffers.
        assert len(steps) - len(ops) in (0, 1)
        traced = [self._traced(op, step) for op, step in zip(ops, steps, strict=False)]
        return (*traced, *steps[len(ops) :]), take

    def _traced(self, op: Op, step: Step) -> Step:
        match op:
            case memref.Alloc() | memref.Alloca() | memref.GetGlobal():
                origin = op.symbol if isinstance(op, memref.GetGlobal) else op.result

                def make(env: Env) -> None:
                    step(env)
                    self.made(origin, env[op.result])

                return make
            case func.Call():
                return self._traced_call(op, step)
        touched = touches(op)
        if touched is None:
            return step
        ivs = self.around

        def note(env: Env) -> None:
            if self.caller is None:
                self.execution += 1
            for role, buffer, index in self.with_copies(op, list(touched(env))):
                self.note(op, role, tuple(env[iv] for iv in ivs), buffer, index)
            step(env)

        return note

    def _traced_call(self, op: func.Call, step: Step) -> Step:
        ivs, memrefs = self.around, [v for v in op.args if isinstance(v.type, MemRefType)]
        callee = self.functions.get(op.callee)

        def call(env: Env) -> None:
            outer = self.caller
            if outer is None:
                self.execution += 1
                self.caller = (op, tuple(env[iv] for iv in ivs))
            if callee is not None and callee.external:
                for role in ROLES:
                    for value in memrefs:
                        self.note(op, role, (), env[value], every(env[value]))
            step(env)
            self.caller = outer

        return call

    # What is noted as it runs

    def made(self, origin: Value | str, buffer: BufferView) -> None:
        """A buffer is seen for the first time, or again if it is a global one."""
        if buffer.storage in self.storages:
            return
        number = self.executions[origin] = self.executions.get(origin, -1) + 1
        size = buffer.cells.itemsize
        self.storages[buffer.storage] = _Elements(Root(origin, number), _elements_at(buffer, size), size)

    def with_copies(self, op: Op, accesses: list[Access]) -> list[Access]:
        """What an operation touches, and where it waits for a copy what that touches: see the note at the end."""
        if isinstance(op, affine.DmaStart | memref.DmaStart):
            *ends, (_, tag, (place,)) = accesses
            self.copies[tag.storage, place] = ends
        elif isinstance(op, affine.DmaWait | memref.DmaWait):
            _, tag, (place,) = accesses[0]
            return [*self.copies.pop((tag.storage, place), []), *accesses]
        return accesses

    def note(self, op: Op, role: Role, ivs: Index, buffer: BufferView, index: Iterable[Index]) -> None:
        """An access, which is one of the call if a called function makes it."""
        known = self.storages[buffer.storage]
        elements = known.of(buffer, index)
        if self.caller is not None:
            op, ivs = self.caller
        if elements:
            time = len(self.instances)
            self.instances.append(Instance(op, role, ivs, known.root, elements, time, self.execution))


# Note: copies that take time
#
# A copy by DMA moves its elements at any time between dma_start and dma_wait, so both count as reading the source and
# writing the target: what uses the target must stay behind the wait, and what writes the source as well. The start
# writes the tag; the wait reads it and, as the next start on that tag must come later, writes it.
#
# The tag of a view is found by the index in that view: a tag that is used through two views is not supported.
