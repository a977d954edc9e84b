"""What a function makes for itself, before and after its nests run as one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.mlir.naming import names_of
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.optimize.figures import Goal
from affdsl.passes.optimize.fusion import Fusion
from affdsl.passes.optimize.program import Program
from affdsl.passes.transforms.fuse.costs import SIZE


class Extent(FrozenValue):
    """The sizes of a buffer as text, how many bytes these are, and where so many stay until they are used again.

    >>> str(Extent("3 x M f32", 12000, "L1"))
    '3 x M f32, 12000 bytes, by way of L1'
    """

    shape: str
    bytes: int
    level: str

    def __str__(self) -> str:
        return f"{self.shape}, {self.bytes} bytes, by way of {self.level}"


class Stored(FrozenValue):
    """A buffer before and after: None where nothing is left of it. `reason` is why it stays as it is, where it does."""

    name: str
    before: Extent
    after: Extent | None
    reason: str = ""

    def __str__(self) -> str:
        if self.after == self.before:
            return f"{self.name}: {self.before} as before{f': {self.reason}' if self.reason else ''}"
        return f"{self.name}: {self.before} -> {'nothing' if self.after is None else self.after}"


def storage(fusion: Fusion) -> Sequence[Stored]:
    """Each buffer that the function makes."""
    found = []
    names = {value: value.hint or f"%{name}" for value, name in names_of(fusion.start.function).items()}
    for old, new in fusion.buffers.items():
        reasons = [each.reason for each in fusion.decisions if each.what == (old,) and not each.taken]
        before = extent(fusion.start, old, fusion.goal)
        after = None if new is None else extent(fusion.program, new, fusion.goal)
        found.append(Stored(names[old], before, after, reasons[-1] if reasons else ""))
    return found


def extent(program: Program, buffer: Value, goal: Goal) -> Extent:
    """How large a buffer is: in terms of the arguments of the function, and for the sizes that are aimed at."""
    made = next(op for op in program.buffers if op.result is buffer)
    type = made.result.type
    assert isinstance(type, MemRefType)
    applied = {op.result: op.expr for op in walk(program.function) if isinstance(op, affine.Apply)}
    dynamic = iter(made.sizes)
    sizes = [Affine.of(each if each is not None else next(dynamic)) for each in type.shape]
    sizes = [applied.get(size.value, size) if size.value is not None else size for size in sizes]
    given = goal.numbers(program)
    numbers = (size.evaluate({v: given.get(v, SIZE) for v in size.values()}) for size in sizes)
    bytes = prod(numbers) * (width_of(type.element) or 1)
    shape = f"{' x '.join(map(spell, sizes))} {type.element}".strip()
    return Extent(shape, bytes, goal.level(bytes))
