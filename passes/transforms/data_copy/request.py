"""One request for a copy: whose accesses go to the fast buffer, and what must hold whatever is copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType, VectorType
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.polyhedral import Map
from affdsl.passes.analysis.storage import is_injective
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.data_copy.point import CopyPoint

"""What can be redirected to a fast buffer."""


class CopyOptions(FrozenValue):
    """How the fast buffer is to be; see `data_copy`."""

    space: int = 0
    layout: tuple[int, ...] = ()
    panels: Mapping[int, int] = field(default_factory=dict)
    dma: bool = False
    tag_space: int = 0
    name: str = ""
    private: bool = False
    still: Value | None = None
    only_static: bool = False
    """Whether sizes that are known only at run time are refused."""


class CopyRequest:
    """The copy of what some operations of one block touch of a buffer.

    Attributes
    ----------
    redirected, reads, writes
        Those that go to the fast buffer: all, and the two kinds.
    beside
        The elements that other accesses write in the array itself: nothing may be taken back to them.
    place
        Where the copies stand.

    Raises
    ------
    IllegalTransform
        Where something else may use the buffer, and what else is in the way whatever is copied.
    ValueError
        For a layout that is none.
    """

    def __init__(
        self, of: Accesses, roots: Sequence[Op], before: Op, buffer: Value, options: CopyOptions, what: str
    ) -> None:
        self.accesses, self.before, self.value, self.options, self.what = of, before, buffer, options, what
        self.array = of.storage.buffer(buffer)
        self._require_whole()
        inside = {inner for root in roots for inner in walk(root)}
        around = {*inside, *(inner for inner in walk(before))}
        touching = [a for a in of.all if of.storage.may_alias(a.buffer, self.array)]
        self.redirected = [of.by_dimensions(a) for a in touching if a.op in inside and self._is_redirected(a)]
        self.reads = [a for a in self.redirected if a.kind == "read"]
        self.writes = [a for a in self.redirected if a.kind == "write"]
        self.place = CopyPoint(of, before, self.array)
        self.beside = self._require_own(touching, inside, around)
        self.rank = self.place.dimensions.rank
        self._require_defined(inside)
        self._require_layout()

    def refuse(self, reason: str, alternative: str = "", at: Op | None = None) -> IllegalTransform:
        return refusal(at or self.before, self.what, reason, alternative)

    def _is_redirected(self, access: Access) -> bool:
        if not isinstance(access.op, affine.Access):
            return False
        still = self.options.still
        if still is not None and any(still in subscript.values() for subscript in access.op.index):
            return False
        memref_ = access.op.memref
        is_handle = (
            isinstance(self.accesses.scope.makers.get(memref_), memref.GetGlobal) and access.buffer is self.array
        )
        return memref_ is self.value or (is_handle and memref_.type == self.value.type)

    def _require_whole(self) -> None:
        is_global = isinstance(self.accesses.scope.makers.get(self.value), memref.GetGlobal)
        if self.value is not self.array.root and not is_global:
            reason = f"{name(self.value)} is a view of {self.array.name}: what lies where is said of that one"
            raise self.refuse(reason, "affine-fold-memref-alias-ops first")
        type = self.value.type
        if not isinstance(type, MemRefType):
            raise self.refuse(f"the number of dimensions of {name(self.value)} is not known")
        if not is_injective(type):
            raise self.refuse(f"several indices of {name(self.value)} may be one element by its layout {type.layout}")

    def _require_own(self, touching: Sequence[Access], inside: set[Op], around: set[Op]) -> Map:
        if not self.redirected:
            same = (
                "" if self.options.still is None else f" with subscripts that {name(self.options.still)} does not move"
            )
            raise self.refuse(f"no affine access inside{same} touches {name(self.value)}")
        written = next(iter(self.writes), None)
        beside = self.place.nothing()
        for access in touching:
            if access.op not in around or (access.op in inside and self._is_redirected(access)):
                continue
            if (access.kind == "write" or written is not None) and self._is_apart(access):
                beside = beside.union(self.place.touched([access])[0]) if access.kind == "write" else beside
            elif access.kind == "write" or written is not None:
                doing = {"read": "reads", "write": "writes"}[access.kind]
                which = self.array.name
                if access.buffer is not self.array:
                    which = f"{access.buffer.name}, which may be the same buffer as {which},"
                kind = op_name(access.op)
                raise self.refuse(f"{kind} {doing} {which} beside the fast buffer, which may then hold other values",
                                  at=access.op)  # fmt: skip
        if written is not None and self.array.kind == "global" and (self._global is None or self._global.constant):
            raise self.refuse(f"{self.array.name} may be constant, so that nothing can be copied back")
        return beside

    def _is_apart(self, access: Access) -> bool:
        """Whether an access touches no element that the fast buffer takes the place of: what it writes, or to write it.

        One that names another memref, and counts elements as that one does, is not.
        """
        if not isinstance(access.op, affine.Access | memref.Load | memref.Store) or access.op.memref is not self.value:
            return False
        others = self.writes if access.kind == "read" else self.redirected
        (here, _), (there, _) = self.place.touched([access]), self.place.touched(others)
        return bool(here.intersect(there).is_empty())

    @property
    def _global(self) -> memref.Global | None:
        body = () if self.accesses.module is None else self.accesses.module.body
        found = (op for op in body if isinstance(op, memref.Global) and f"@{op.symbol}" == self.array.name)
        return next(found, None)

    def has_values(self) -> bool:
        """Whether all elements hold values from the start: what comes from outside of the module does."""
        match self.array.kind:
            case "argument":
                calls = () if self.accesses.module is None else walk(self.accesses.module)
                function = self.accesses.function
                is_called = any(isinstance(op, func.Call) and op.callee == function.symbol for op in calls)
                return not (function.private or is_called)
            case "global":
                return self._global is not None and self._global.value is not None
        return False

    def is_shared(self) -> bool:
        """Whether something may use the buffer at the same time: other iterations, or a DMA."""
        if any(isinstance(op, affine.Parallel | scf.Parallel) for op in self.place.domain.loops):
            return True
        ends = (v for op in self.accesses.scope.starts for v in (op.source, op.target))
        return any(self.accesses.storage.may_alias(self.accesses.storage.buffer(v), self.array) for v in ends)

    def _require_defined(self, inside: set[Op]) -> None:
        maker = self.accesses.scope.makers.get(self.value)
        exists = self.value in self.accesses.function.args if maker is None else self._stands_before(maker)
        if maker in inside or not exists:
            raise self.refuse(f"{name(self.value)} does not exist yet where it would be copied")

    def _stands_before(self, maker: Op) -> bool:
        """Whether an operation stands before the place in one of the blocks around it."""
        if self.accesses.order[maker] > self.accesses.order[self.before]:
            return False
        holders = [op for op in walk(self.accesses.function) if any(maker in block for block in op.blocks())]
        return all(holder is self.accesses.function or self.before in set(walk(holder)) for holder in holders)

    def _require_layout(self) -> None:
        options, rank = self.options, self.rank
        layout = options.layout or tuple(range(rank))
        if sorted(layout) != list(range(rank)):
            raise ValueError(f"the layout of {rank} dimensions is a permutation of {tuple(range(rank))}, got {layout}")
        if any(k not in range(rank) or width < 1 for k, width in options.panels.items()):
            raise ValueError(f"panels give dimensions below {rank} a positive width, got {dict(options.panels)}")
        self.layout = layout
        is_plain = layout == tuple(range(rank)) and not options.panels
        if options.dma and not is_plain:
            raise self.refuse("a DMA copies elements in the order in which they lie", "dma=False")
        vector = next((a.op for a in self.redirected if isinstance(a.op, affine.VectorLoad | affine.VectorStore)), None)
        if vector is not None and not is_plain:
            lanes = _vector(vector)
            kept = layout[rank - lanes :] == tuple(range(rank - lanes, rank)) and not options.panels
            if not kept:
                raise self.refuse("the elements of a vector would lie apart in this layout", at=vector)


def _vector(op: Op) -> int:
    """How many dimensions of its buffer a vector access spans."""
    type = op.result.type if isinstance(op, affine.VectorLoad) else op.value.type  # type: ignore[attr-defined]
    assert isinstance(type, VectorType)
    return type.rank
