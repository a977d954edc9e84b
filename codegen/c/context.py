"""What the operations of a function are written with: the lines, the values, the buffers and the heap of its C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from affdsl.codegen.c import tables
from affdsl.codegen.c.buffers import Buffer, Buffers, Heap
from affdsl.codegen.c.counts import counts
from affdsl.codegen.c.dots import dots
from affdsl.codegen.c.expressions import Code
from affdsl.codegen.c.lines import Lines
from affdsl.codegen.c.liveness import liveness
from affdsl.codegen.c.masks import mask_widths
from affdsl.codegen.c.plan import Plan, contract
from affdsl.codegen.c.powers import powers
from affdsl.codegen.c.products import fusible
from affdsl.codegen.c.prototype import Prototype
from affdsl.codegen.c.recurrences import waiting_extremes
from affdsl.codegen.c.scattered import scattered
from affdsl.codegen.c.shortened import shortened
from affdsl.codegen.c.sines import paired
from affdsl.codegen.c.types import number_type, value_type
from affdsl.codegen.c.unit import Unit
from affdsl.codegen.c.values import Values
from affdsl.codegen.c.vector_helpers import EXTREMES
from affdsl.codegen.c.words import Words
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.debugging import reports
from affdsl.ir.dialects import affine, arith, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import MemRefType

Rows = Mapping[type[Op], Callable[..., None]]
"""What writes each operation: a function of the context and the operation."""


class Target(FrozenValue):
    """The variables that get what a block yields."""

    names: tuple[str, ...]
    combiners: tuple[str, ...] | None = None
    """The kinds of the reductions that the block yields to, if it does."""
    loop: scf.While | None = None
    """The loop that the block is, where another block follows in it,"""
    results: tuple[str, ...] = ()
    """and the variables of what it gives, where they are not `names`,"""
    begins: int = 0
    """and how many lines there were when it began."""
    left: int | None = None
    """Which of the values that are yielded says whether the loop that the block is goes on, if it may end early,"""
    holding: frozenset[Value] = frozenset()
    """the values that are true in it, since it has gone on so far,"""
    tails: frozenset[Op] = frozenset()
    """the branches behind which nothing is left to do in an iteration,"""
    depth: int = 0
    """and how many blocks are open around it."""


@dataclass
class Band:
    """The parallel loops around, which threads share: nothing may leave them."""

    depth: int
    """How many blocks are open around their body."""
    status: str
    """The variable that says that an iteration failed."""
    label: str = ""
    """The label at the end of the body, if anything goes there."""


def _reads_again(op: Op) -> bool:
    """Whether an operation reads a vector several times."""
    return isinstance(op, arith.Binary | arith.Cast) and op.kind in (*EXTREMES, "fptosi", "fptoui")


_LOOPS = (affine.For, affine.Parallel, scf.For, scf.While, scf.Parallel)


class Context:
    """Writes one function: `write`, then `lines.finish` for its lines."""

    def __init__(self, plans: Mapping[str, Plan], symbol: str, made: Prototype, unit: Unit, rows: Rows) -> None:
        self.plan = plan = plans[symbol]
        self.plans, self.unit = plans, unit
        self.failure, self.outputs, self.threads = made.failure, made.outputs, made.threads
        self.ranges = contract(plan)
        self.lines = Lines(made.scope, self.ranges, unit.uncalled, unit.origins)
        self.dots = dots(plan.func) if unit.has_vector_types else {}
        """The operations that are dot products of narrow integers."""
        self.counts = counts(plan.func) if unit.has_vector_types else {}
        """The sums that are how many lanes of a mask are set."""
        self.shortened = shortened(plan.func) if unit.has_vector_types else {}
        """The pairs of registers that are made shorter integers by one shuffle."""
        self.powers = powers(plan.func) if unit.has_vector_types else {}
        """The products that are those with powers of 2."""
        reads: dict[Op, tuple[Value, ...]] = {op: (op.acc, *dot.factors) for op, dot in self.dots.items()}
        reads.update((op, (mask, *op.acc)) for op, mask in self.counts.items())
        reads.update((shuffle, pair) for shuffle, pair in self.shortened.items())
        reads.update((op, (power.factor, power.exponent)) for op, power in self.powers.items())
        self.live = liveness(plan.func, plan.is_checked, reads)
        self.values = Values(plan.func, self.live, self.lines, self.ranges, unit)
        self.buffers = Buffers(plan, made.outputs, made.parameters)
        self.heap = Heap(self.lines)
        self.masks = mask_widths(plan.func)
        """The bits of a lane of each mask."""
        self.scattered = scattered(plan.func) if unit.has_vector_types else frozenset()
        """The vectors whose lanes are taken from memory,"""
        self.spilled: dict[Value, str] = {}
        """and the arrays in which those lie that were written so far."""
        self.read_again = {v for op in walk(plan.func) if _reads_again(op) for v in op.reads()}
        """What operations read that are several instructions on vectors."""
        self.targets: list[Target] = []
        """Where the open blocks yield to, the innermost last."""
        self.streamed = 0
        """How many stores go past the caches, of those that are written."""
        self.band: Band | None = None
        """The parallel loops that are open and shared."""
        self._rows, self._labels = rows, 0
        self._bind_scalars(made.parameters)

    @property
    def is_checked(self) -> bool:
        """Whether accesses are checked."""
        return self.plan.is_checked

    @property
    def notes(self) -> bool:
        """Whether what fails is noted: accesses that are checked, and assertions."""
        return self.plan.notes

    @cached_property
    def reports(self) -> Mapping[Op, tuple[Op, ...]]:
        """For each assertion what is printed right before it, which is part of its message."""
        blocks = [block for op in walk(self.plan.func) for block in op.blocks()]
        return {op: before for block in blocks for op, before in reports(block).items()}

    @cached_property
    def told(self) -> frozenset[Op]:
        """What assertions say, and so is not printed."""
        return frozenset(op for before in self.reports.values() for op in before)

    @cached_property
    def repeated(self) -> frozenset[Op]:
        """The operations in loops of the function, which threads that share them do again and again."""
        loops = (op for op in walk(self.plan.func) if isinstance(op, _LOOPS))
        return frozenset(inner for loop in loops for block in loop.blocks() for op in block for inner in walk(op))

    @cached_property
    def definitions(self) -> Mapping[Value, Op]:
        """Which operation defines each value."""
        return definitions(self.plan.func)

    @cached_property
    def fusible(self) -> frozenset[Op]:
        """The differences that begin with a product which gcc would fuse with them."""
        return fusible(tuple(plan.func for plan in self.plans.values()))

    @cached_property
    def waiting(self) -> frozenset[Op]:
        """The extremes of floats that need what another iteration has made."""
        return frozenset(waiting_extremes(self.plan.func))

    @cached_property
    def paired(self) -> frozenset[Op]:
        """The sines and cosines that the C library makes together."""
        return paired(self.plan.func)

    @cached_property
    def words(self) -> Words:
        """What values and accesses are called in messages."""
        return Words(self.plan.func)

    def write(self) -> None:
        """Write the whole function."""
        self.block(self.plan.func.body)
        if not any(isinstance(op, func.Return) for op in self.plan.func.body):
            self.finish_streams()

    def finish_streams(self, before: int = 0) -> None:
        """Let what is stored past the caches come before all that follows, for other threads, too.

        It is done where more is than there was `before`.
        """
        if self.streamed > before:
            self.lines.add(f"{self.unit.helper('finish_streams')}();")

    @property
    def is_in_loop(self) -> bool:
        """Whether the loop that an operation stands in is one that a single thread runs."""
        loops = [op for op in self.lines.origin if isinstance(op, _LOOPS)]
        return bool(loops) and isinstance(loops[-1], affine.For | scf.For | scf.While)

    def block(self, block: Block) -> None:
        """Write the statements of a block, in braces that are open already."""
        with self.heap.block():
            for op in block:
                if op not in self.live.dead:
                    self._operation(op)
            if not (block and isinstance(block[-1], func.Return)):
                self.heap.free()

    def block_to(self, block: Block, *target: Target) -> None:
        """Write the statements of a block that yields to a target."""
        self.targets += target
        self.block(block)
        del self.targets[len(self.targets) - len(target) :]

    def _operation(self, op: Op) -> None:
        row = self._rows.get(type(op))
        if row is None:
            raise UnsupportedError(f"C output does not know the operation {op_name(op)} yet")
        around, self.lines.origin = self.lines.origin, (*self.lines.origin, op)
        row(self, op)
        self.lines.origin = around

    def writes(self, buffer: Buffer) -> None:
        """Note that a statement which stores to a buffer comes next."""
        self.values.name_readers((buffer.root,))
        self.lines.stored(buffer.name)
        if buffer.base and buffer.name != buffer.base:
            self.lines.read(buffer.name)  # to store through a pointer of our own is to read it

    @contextmanager
    def shared(self, status: str) -> Iterator[None]:
        """The body of parallel loops that threads share; `status` says that an iteration failed."""
        self.band = Band(self.heap.depth, status)
        yield
        if self.band.label:
            self.lines.add(f"{self.band.label}:;")
        self.band = None

    def fail(self, status: str = "2") -> None:
        """Leave, because there is no memory (2), an access is outside, or a callee says so: out of the function, or out
        of this iteration of the parallel band."""
        band = self.band
        self.heap.free_from(0 if band is None else band.depth)
        if band is None:
            self.lines.add(f"return {status};")
            return
        self.lines.directive("#pragma omp atomic write")
        self.lines.add(f"{band.status} = {status};")
        if self.heap.depth == band.depth + 1 and not self.is_checked:  # checks stand in loops over lanes, too
            self.lines.add("continue;")
            return
        if not band.label:
            self._labels += 1
            band.label = "next" if self._labels == 1 else f"next_{self._labels}"
        self.lines.add(f"goto {band.label};")

    def _bind_scalars(self, parameters: Mapping[Value, str]) -> None:
        f = self.plan.func
        for stride in (s for strides in self.plan.strides.values() for s in strides if isinstance(s, Value)):
            self.values.codes[stride] = Code(parameters[stride])
        for position, arg in enumerate(f.args):
            if isinstance(arg.type, MemRefType):
                continue
            name, kind = parameters[arg], number_type(arg.type)
            stored = Code(name)
            value = tables.load(kind, stored, self.unit, unsigned=position in f.unsigned)
            if value is stored or self.values.uses[arg] == 0:
                self.values.codes[arg] = stored
            else:
                self.lines.read(name)
                declared = self.lines.declare(f"{arg.hint}_value", "value", value_type(kind), value)
                self.values.codes[arg] = Code(declared)
