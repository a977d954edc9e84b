"""Where the memrefs of a function lie, and which memory its blocks must give back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from affdsl.codegen.c.lines import Lines
from affdsl.codegen.c.plan import Plan, root_of
from affdsl.codegen.c.strides import strides_of
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import MemRefType


class Buffer(FrozenValue):
    """Where a memref lies: its pointer, its shape, and its strides where it is not row-major and contiguous."""

    name: str
    type: MemRefType
    shape: tuple[Affine | None, ...]
    root: object
    unsigned: bool = False
    strides: tuple[int | Affine, ...] | None = None
    offset: int = 0
    base: str = ""
    """The pointer to the whole buffer, where it is another one."""
    start: Affine | None = field(default_factory=Affine)
    """The number of the element that `name` points at in the whole buffer, where that is known."""
    constant: bool = False
    """Whether its elements are const."""
    whole: tuple[Affine | None, ...] | None = None
    """The shape of the whole buffer, where this is a part or another shape of it."""


class Buffers(dict[Value, Buffer]):
    """The buffers of memrefs; `results` names the memory of the caller for those that are returned."""

    def __init__(self, plan: Plan, outputs: Sequence[str], parameters: Mapping[Value, str]) -> None:
        super().__init__()
        self._function = plan.func.symbol
        self.results = {r.value: name for r, name in zip(plan.results, outputs, strict=True) if r.is_array}
        f = plan.func
        for position, arg in enumerate(f.args):
            if isinstance(arg.type, MemRefType):
                shape = f.shapes[position] if f.shapes else None
                strides = None if arg not in plan.strides else tuple(map(Affine.of, plan.strides[arg]))
                _, offset = strides_of(arg.type, f"array {arg.hint!r} of {f.symbol!r}")
                known: tuple[Affine | None, ...] = tuple(None if s is None else Affine.of(s) for s in arg.type.shape)
                self[arg] = Buffer(
                    parameters[arg], arg.type, known if shape is None else shape, root_of(plan, arg),
                    position in f.unsigned, strides, offset or 0, start=None if offset is None else Affine(),
                    constant=position not in plan.written,
                )  # fmt: skip

    def size(self, buffer: Buffer, position: int) -> Affine:
        """The size of a dimension."""
        size = buffer.shape[position]
        if size is None:
            raise UnsupportedError(
                f"array {buffer.name!r} of {self._function!r} has a size that no index argument gives; "
                "say its shape in the function's contract"
            )
        return size

    def sizes(self, buffer: Buffer) -> list[Affine]:
        """The sizes of all dimensions."""
        return [self.size(buffer, k) for k in range(buffer.type.rank)]


class Owned(FrozenValue):
    """A buffer from malloc that the block which made it must free."""

    name: str
    root: object


class Heap:
    """What each open block owns, the innermost last."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._blocks: list[list[Owned]] = []

    @property
    def depth(self) -> int:
        """How many blocks are open."""
        return len(self._blocks)

    @property
    def innermost(self) -> Sequence[Owned]:
        """What the innermost block owns."""
        return self._blocks[-1]

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block that owns what is made in the meantime."""
        self._blocks.append([])
        yield
        self._blocks.pop()

    def own(self, name: str, root: object) -> None:
        """The innermost block has a buffer from malloc."""
        self._blocks[-1].append(Owned(name, root))

    def free(self) -> None:
        """Free what the innermost block owns, at its end."""
        self.free_from(self.depth - 1)

    def free_from(self, depth: int) -> None:
        """Free what the blocks from a depth on own, to leave them."""
        for block in reversed(self._blocks[depth:]):
            for owned in reversed(block):
                self._lines.add(f"free({owned.name});")

    def leave(self, depth: int) -> None:
        """Free what the blocks from a depth on own, where the innermost one ends by leaving them all."""
        self.free_from(depth)
        self._blocks[-1].clear()

    def release(self, root: object) -> bool:
        """Free a buffer before its block ends; whether some block owns it."""
        for block in reversed(self._blocks):
            for owned in block:
                if owned.root is root:
                    self._lines.add(f"free({owned.name});")
                    if block is self._blocks[-1]:
                        block.remove(owned)
                    else:
                        self._lines.add(f"{owned.name} = NULL;")
                    return True
        return False
