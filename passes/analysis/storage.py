"""Which buffer a memref is, or is a part of, and which buffers may share elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from affdsl.frozen import Frozen
from affdsl.ir.core import UNTOUCHED, KeptInPlace, Op
from affdsl.ir.dialects import func, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.maps import dim
from affdsl.ir.mixed import Mixed
from affdsl.ir.traverse import gathered
from affdsl.ir.types import ComplexType, FloatType, IntegerType, MemRefType, StridedLayout, UnrankedMemRefType
from affdsl.passes.analysis.aliases import ANY_GLOBAL, Aliases, calls
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import is_empty
from affdsl.passes.analysis.scope import Scope
from affdsl.passes.analysis.summary import NEW, Summaries, stores_a_buffer
from affdsl.passes.analysis.views import VIEWS, Index, below, digits, linear

_ASKING = (memref.Dim, memref.Rank, memref.ExtractAlignedPointerAsIndex)
"""What asks something of a buffer, and touches no element."""


class Buffer(Frozen):
    """One array: an argument, what an allocation makes, or a global one.

    Attributes
    ----------
    root
        Its memref: the argument, the result of the allocation, or the first memref.get_global of the function. Where
        it comes from is unknown if `kind` is that.
    kind
        "argument", "local", "global" or "unknown".
    name
        What messages call it.
    loops
        How many loops stand around the allocation: in each of their iterations it makes another array.
    escapes
        Whether something besides loads, stores and views gets hold of it while the function runs.
    is_returned
        Whether the function returns it, or a part of it.
    """

    root: Value
    kind: str
    name: str
    loops: int = 0
    escapes: bool = False
    is_returned: bool = False

    @property
    def type(self) -> MemRefType | UnrankedMemRefType:
        """The type of its memref."""
        assert isinstance(self.root.type, MemRefType | UnrankedMemRefType)
        return self.root.type

    @property
    def rank(self) -> int:
        """The number of dimensions; 0 where it is known only at run time."""
        return self.type.rank if isinstance(self.type, MemRefType) else 0


_BUFFERS = (MemRefType, UnrankedMemRefType)


class Storage:
    """The buffers of one function, and which of them may be one, as far as its module shows it."""

    def __init__(
        self, function: func.Func, scope: Scope, summaries: Summaries, module: func.Module | None = None
    ) -> None:
        self.function = function
        self.scope = scope
        self._summaries = summaries
        used, self._escaping = _used(function, scope)
        self._returned = _returned(function, scope)
        self._buffers: dict[Value | str, Buffer] = {}
        self._unknown: list[Buffer] = []
        self._aliases = Aliases(module, summaries).of(function)
        for value in used:
            self.buffer(value)
        for root in _globals_of_calls(function, summaries, module):
            self._buffers.setdefault(root.hint, Buffer(root, "global", f"@{root.hint}", escapes=True))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Every buffer that the function uses."""
        return tuple(dict.fromkeys(self._buffers.values()))

    def buffer(self, value: Value) -> Buffer:
        """The buffer that a memref is, or is a part of."""
        root = value
        key: Value | str = root
        while True:
            match self.scope.makers.get(root):
                case memref.GetGlobal(symbol=symbol) as maker:
                    key = symbol
                    break
                case func.Call(callee=callee, args=args, results=results) as maker:
                    # What a call gives may be what it was given.
                    of = self._summaries.of(callee).results
                    if not of or not isinstance(place := of[results.index(root)], int):
                        break
                    root = args[place]
                case maker if isinstance(maker, VIEWS):
                    root = maker.source
                case maker:
                    break
            key = root
        found = self._buffers.get(key)
        if found is None:
            found = self._buffers[key] = self._new(root, maker)
        return found

    def named(self, name: str) -> Buffer:
        """The global buffer of a name, as `@g`, that the function uses, or one that it calls."""
        return self._buffers[name.removeprefix("@")]

    def _new(self, root: Value, maker: Op | None) -> Buffer:
        name = root.hint or "a buffer"
        if isinstance(maker, memref.GetGlobal):
            return Buffer(root, "global", f"@{maker.symbol}", escapes=True)
        if isinstance(maker, memref.Allocation) or self._is_made_by(maker, root):
            loops = self.scope.loops_around[root]
            return Buffer(root, "local", name, loops, root in self._escaping, root in self._returned)
        if root in self.function.args:
            return Buffer(root, "argument", name, escapes=True)
        self._unknown.append(Buffer(root, "unknown", name, escapes=True))
        return self._unknown[-1]

    def _is_made_by(self, maker: Op | None, root: Value) -> bool:
        """Whether a call certainly makes the buffer that it gives."""
        if not isinstance(maker, func.Call):
            return False
        given = self._summaries.of(maker.callee).results
        return bool(given) and given[maker.results.index(root)] == NEW

    def may_alias(self, a: Buffer, b: Buffer) -> bool:
        """Whether two buffers may have an element in common. Arguments have none, unless a call shows that they do."""
        if a is b:
            return True
        if "unknown" in (a.kind, b.kind):
            return a.escapes and b.escapes
        if "local" in (a.kind, b.kind):
            return False
        return bool(self._aliases) and self._are_shown_as_one(a, b)

    def may_share(self, a: Value, b: Value) -> bool:
        """Whether two memrefs may have an element in common."""
        return self.may_alias(self.buffer(a), self.buffer(b))

    def others(self, buffer: Buffer) -> list[Buffer]:
        """The other buffers that may have an element in common with one."""
        some = buffer.kind == "unknown" or (self._aliases and buffer.kind != "local")
        able = self._buffers.values() if some else self._unknown
        return [other for other in able if other is not buffer and self.may_alias(buffer, other)]

    def _are_shown_as_one(self, a: Buffer, b: Buffer) -> bool:
        """Whether a call in the module shows that two arguments, or one and a global, may be one."""
        if a.kind == b.kind == "global":
            return False
        keys = [x.name if x.kind == "global" else self.function.args.index(x.root) for x in (a, b)]
        anything = [ANY_GLOBAL if x.kind == "global" else key for x, key in zip((a, b), keys, strict=True)]
        return frozenset(keys) in self._aliases or frozenset(anything) in self._aliases

    def element(self, value: Value, index: Sequence[Affine], domain: Domain) -> tuple[Buffer, Index | None, Domain]:
        """The element at index of a memref as an element of its buffer; None where that cannot be said.

        Before the indices stand those of the loops around the allocation. The index is over the induction variables,
        locals and symbols of the domain, which is given back with more locals.
        """
        buffer = self.buffer(value)
        found: Index | None = tuple(index)
        while value is not buffer.root and found is not None:
            maker = self.scope.makers.get(value)
            if isinstance(maker, memref.GetGlobal):
                break
            if isinstance(maker, func.Call):
                return buffer, None, domain
            value, found, domain = self._through(maker, found, domain)
        if found is None or isinstance(buffer.type, UnrankedMemRefType) or not is_injective(buffer.type):
            return buffer, None, domain
        exprs, domain = self.scope.exprs(found, domain)
        return buffer, (*map(Affine.of, domain.ivs[: buffer.loops]), *exprs), domain

    def _through(self, view: Op | None, index: Index, domain: Domain) -> tuple[Value, Index | None, Domain]:
        """The source of a view, and where the element lies there."""
        step = below(view, index)
        if step is not None:
            return *step, domain
        match view:
            case memref.ReinterpretCast(source=source, parts=(offsets, _, strides)):
                return self._in_whole(source, _combined(index, offsets, strides), domain)
            case memref.Reshape(source=source, result=result):
                return source, _same_position(index, result, source), domain
            case memref.View(source=source, shift=shift, result=result):
                found, domain = _in_bytes(index, result, shift, domain)
                return source, found, domain
        assert isinstance(view, VIEWS)
        return view.source, None, domain

    def _in_whole(self, source: Value, position: Affine, domain: Domain) -> tuple[Value, Index | None, Domain]:
        """The element at a position of the whole buffer that a memref is a part of."""
        buffer = self.buffer(source)
        type = buffer.type
        found = digits(position, type.shape) if isinstance(type, MemRefType) and type.layout is None else None
        return buffer.root, found, domain


@lru_cache(maxsize=1000)
def is_injective(type: MemRefType) -> bool:
    """Whether the layout of a buffer puts different elements into different places.

    Where strides are known only at run time, whoever makes the buffer answers for it.
    """
    if type.layout is None:
        return True
    if isinstance(type.layout, StridedLayout):
        if any(stride is None for stride in type.layout.strides):
            return True
        places: tuple[Affine, ...] = (sum((dim(k) * (s or 0) for k, s in enumerate(type.layout.strides)), Affine()),)
    else:
        if type.layout.symbols:
            return True
        places = type.layout.results
    others = {dim(k): dim(type.rank + k) for k in range(type.rank)}
    box = []
    for axis, size in enumerate(type.shape):
        for k in (axis, type.rank + axis):
            box.append(Constraint(Affine.of(dim(k))))
            if size is not None:
                box.append(Constraint(size - 1 - dim(k)))
    box += [Constraint(e - e.substitute(others), equality=True) for e in places]
    return all(is_empty([*box, Constraint(dim(k) - dim(type.rank + k) - 1)]) is True for k in range(type.rank))


def storage_of(function: func.Func, module: func.Module | None = None) -> Storage:
    """The buffers of a function, for whoever asks nothing of its accesses."""
    return Storage(function, Scope(function), Summaries(module), module)


def _combined(index: Index, offsets: Mixed, strides: Mixed) -> Affine:
    offset = Affine.of(offsets[0]) if offsets else Affine()
    return sum((i * Affine.of(s) for i, s in zip(index, strides, strict=True)), offset)


def _same_position(index: Index, result: Value, source: Value) -> Index | None:
    """The element of source at the same position in row-major order."""
    if not (isinstance(result.type, MemRefType) and isinstance(source.type, MemRefType)):
        return None
    position = linear(index, result.type.shape)
    return None if position is None else digits(position, source.type.shape)


def _in_bytes(index: Index, result: Value, shift: Value, domain: Domain) -> tuple[Index | None, Domain]:
    """The bytes of an element of a memref.view: one local for which of them."""
    type = result.type
    assert isinstance(type, MemRefType)
    position = linear(index, type.shape)
    if position is None or not isinstance(type.element, IntegerType | FloatType | ComplexType):
        return None, domain
    byte, domain = domain.some("byte")
    size = max(1, (type.element.width + 7) // 8)
    domain = domain.where(((Constraint(Affine.of(byte)), Constraint(size - 1 - byte)),))
    return (position * size + shift + byte,), domain


def _is_known_user(op: Op) -> bool:
    """Whether an operation uses a buffer and does not hand it on."""
    return op.memory not in (None, UNTOUCHED) or isinstance(op, (KeptInPlace, *_ASKING, *VIEWS))


def handed_on(op: Op) -> list[Value]:
    """The memrefs of which an operation lets something besides loads, stores and views get hold."""
    if isinstance(op, func.Return) or (_is_known_user(op) and not stores_a_buffer(op)):
        return []
    return [value for value in op.reads() if isinstance(value.type, _BUFFERS)]


def _used(function: func.Func, scope: Scope) -> tuple[list[Value], frozenset[Value]]:
    """The memrefs that occur, and the roots of those of which something besides loads, stores and views gets hold."""
    escaping = [_root(value, scope.makers) for value in gathered(function, handed_on)]
    return [*gathered(function, _mentioned)], frozenset(escaping)


def _mentioned(op: Op) -> list[Value]:
    """The memrefs that an operation reads, defines or binds."""
    return [value for value in (*op.reads(), *op.defines(), *op.binds()) if isinstance(value.type, _BUFFERS)]


def _globals_of_calls(function: func.Func, summaries: Summaries, module: func.Module | None) -> list[Value]:
    """What stands for the global buffers that the functions touch which a function calls; the hint is the symbol."""
    names = {
        place.removeprefix("@")
        for op in gathered(function, calls)
        for place in summaries.of(op.callee).reads | summaries.of(op.callee).writes
        if isinstance(place, str)
    }
    body = module.body if module is not None and names else ()
    return [Value(op.type, op.symbol) for op in body if isinstance(op, memref.Global) and op.symbol in names]


def _returned(function: func.Func, scope: Scope) -> frozenset[Value]:
    """The roots of what the function returns."""
    returns = (op for op in function.body if isinstance(op, func.Return))
    return frozenset(_root(value, scope.makers) for op in returns for value in op.values)


def _root(value: Value, makers: Mapping[Value, Op]) -> Value:
    while isinstance(maker := makers.get(value), VIEWS):
        value = maker.source
    return value
