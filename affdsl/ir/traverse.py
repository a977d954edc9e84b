"""All recursion over IR: walk, users, rewrite, substitute, clone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from affdsl.ir.applied import Applied
from affdsl.ir.core import KEPT, Block, Op, roles
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.types import INDEX

OpT = TypeVar("OpT", bound=Op)
T = TypeVar("T")


def walk(op: Op) -> Iterator[Op]:
    """op and everything inside, parents first."""
    waiting = [op]
    while waiting:
        inner = waiting.pop()
        yield inner
        for name in reversed(inner.block_fields):
            waiting.extend(reversed(getattr(inner, name) or ()))


def holders(op: Op) -> Iterator[Op]:
    """op and everything inside that may hold blocks, parents first: much faster than `walk` where bodies are long."""
    waiting = [op]
    while waiting:
        outer = waiting.pop()
        yield outer
        for name in reversed(outer.block_fields):
            waiting.extend([inner for inner in reversed(getattr(outer, name) or ()) if inner.block_fields])


def ways(op: Op, around: tuple[Op, ...] = ()) -> Iterator[tuple[Op, ...]]:
    """The way to op and to everything inside that may hold blocks, parents first: the operations around, and itself."""
    way = (*around, op)
    yield way
    for block in op.blocks():
        for inner in block:
            if inner.block_fields:
                yield from ways(inner, way)


def way_to(op: Op, inner: Op) -> tuple[Op, ...]:
    """The operations around one that is op, or stands inside of it, from op on, and itself."""
    if inner is op:
        return (op,)
    return next((*way, inner) for way in ways(op) if any(inner in block for block in way[-1].blocks()))


def outermost(op: Op, kinds: tuple[type[OpT], ...]) -> Iterator[OpT]:
    """The operations of some classes inside of op that stand in no other of these there."""
    for block in op.blocks():
        for inner in block:
            if isinstance(inner, kinds):
                yield inner
            else:
                yield from outermost(inner, kinds)


_gathered: WeakKeyDictionary[Op, dict[Callable[[Op], Iterable[object]], tuple[object, ...]]] = WeakKeyDictionary()
"""What was gathered in operations that hold blocks, as long as they live: they never change."""


def gathered(op: Op, of: Callable[[Op], Iterable[T]]) -> tuple[T, ...]:
    """What `of` gives for op and for everything inside, parents first, each once.

    It is kept for each nest, so that after a step only what has changed is looked at: `of` must be one function, which
    looks at nothing but the operation that it is given. It must not give an operation that holds blocks, which what is
    kept with it would keep for ever.
    """
    kept = _gathered.get(op)
    if kept is None:
        kept = _gathered[op] = {}
    found = kept.get(of)
    if found is None:
        parts: dict[object, None] = dict.fromkeys(of(op))
        for block in op.blocks():
            for inner in block:
                for each in gathered(inner, of) if inner.block_fields else of(inner):
                    parts[each] = None
        found = kept[of] = tuple(parts)
    return cast("tuple[T, ...]", found)


def affine_exprs(op: Op) -> Iterator[Affine]:
    """The affine expressions of an operation: bounds, subscripts, conditions."""
    left: list[object] = [getattr(op, name) for name in roles(type(op)).operands]
    while left:
        match left.pop():
            case Affine() as expr:
                yield expr
            case Constraint(expr=expr):
                yield expr
            case tuple() as several:
                left += several


def subscripts(op: Op) -> tuple[Affine, ...]:
    """The subscripts of an access, whether they are affine expressions or values. Raises KeyError for what is none."""
    fields: dict[str, tuple[Affine | Value, ...]] = vars(op)
    return tuple(map(Affine.of, fields["index" if "index" in fields else "indices"]))


def operands_first(root: T, operands: Callable[[T], Iterable[T]]) -> list[T]:
    """A value, or an operation, behind all that it is computed from, as `operands` says, each once.

    Work that is done in this order grows with the number of values. A recursion would come to a value again for each
    of its uses, which doubles the work in each step of x = x * x; and chains may be longer than Python's stack is deep.
    """
    found: dict[T, None] = {}
    begun: set[T] = set()
    stack = [root]
    while stack:
        each = stack[-1]
        if each in begun:
            stack.pop()
            found.setdefault(each)
            continue
        begun.add(each)
        stack.extend(v for v in reversed(tuple(operands(each))) if v not in begun)
    return list(found)


def users(root: Op) -> dict[Value, list[Op]]:
    """Who reads what inside root: computed when asked for, never stored."""
    result: dict[Value, list[Op]] = defaultdict(list)
    for op in walk(root):
        for value in op.reads():
            result[value].append(op)
    return result


def definitions(root: Op) -> dict[Value, Op]:
    """Which operation inside root defines each value, as a result or as an argument of its blocks."""
    return {v: op for op in walk(root) for values in (op.defines(), op.binds()) for v in values}


def with_fields(op: OpT, **new: object) -> OpT:
    """op with some fields replaced. Much cheaper than `dataclasses.replace`, which runs the constructor."""
    copy = object.__new__(type(op))
    fields = copy.__dict__
    fields.update(op.__dict__)
    for kept in KEPT:
        fields.pop(kept, None)
    fields.update(new)
    return copy


def map_blocks(op: OpT, on_block: Callable[[Block], Block]) -> OpT:
    """op with every block that it holds passed through on_block; op itself if none changes."""
    new: dict[str, object] = {}
    for name in op.block_fields:
        block = getattr(op, name)
        if block is not None and (changed := kept(block, on_block(block))) is not block:
            new[name] = changed
    return with_fields(op, **new) if new else op


def kept(block: Block, ops: Iterable[Op]) -> Block:
    """Operations as a block: the block itself where they are its own, in order. So what is around it stays, too."""
    new = tuple(ops)
    return block if len(new) == len(block) and all(map(is_, new, block)) else new


def rewrite(root: OpT, rule: Callable[[Op], Op | Iterable[Op] | None]) -> OpT:
    """root with rule applied to every inner operation, innermost first. None keeps an operation, () removes it."""

    def on_block(block: Block) -> Block:
        out: list[Op] = []
        for op in block:
            inner = map_blocks(op, on_block) if op.block_fields else op
            new = rule(inner)
            if new is None:
                out.append(inner)
            elif isinstance(new, Op):
                out.append(new)
            else:
                out.extend(new)
        return kept(block, out)

    return map_blocks(root, on_block)


def without_unread(root: OpT, may_go: Callable[[Op], bool]) -> OpT:
    """root without those operations inside that may go and define nothing that is read, but by others that go.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%n: index) {
    ...   %0 = arith.addi %n, %n : index
    ...   %1 = arith.muli %0, %n : index
    ...   return
    ... }''').functions[0]
    >>> [op.name for op in without_unread(f, lambda op: op.name == "arith").body]
    []
    """
    ops = [*walk(root)]
    readers = Counter(v for op in ops for v in op.reads())
    gone: set[Op] = set()
    for op in reversed(ops):
        if may_go(op) and not any(readers[v] for v in op.defines()):
            gone.add(op)
            readers.subtract(op.reads())
    return rewrite(root, lambda op: () if op in gone else None) if gone else root


def substitute(op: OpT, new: Mapping[Value, Term]) -> OpT:
    """op with the values that it and its blocks read replaced; what it defines stays.

    An affine position takes any expression; a plain operand takes a value, and raises ValueError otherwise:
    give it an `affine.apply` first.
    """
    if not new:
        return op
    changed: dict[str, object] = {}
    role = roles(type(op))
    for name in (*role.operands, *role.contract):
        part = getattr(op, name)
        replaced = _replace(part, new)
        if replaced is not part:
            changed[name] = replaced
    for name in role.regions:
        block: Block | None = getattr(op, name)
        if block:
            inner = tuple(substitute(o, new) for o in block)
            if any(a is not b for a, b in zip(inner, block, strict=True)):
                changed[name] = inner
    if op.written is not None and (changed or _is_written_with(op.written, new)):
        changed["written"] = _rewritten(op.written, new)
    return with_fields(op, **changed) if changed else op


def clone(op: OpT, new: dict[Value, Term]) -> OpT:
    """A copy of op that defines fresh values; `new` maps old values to their copies and grows."""
    for inner in walk(op):
        for values in (inner.defines(), inner.binds()):
            for v in values:
                new[v] = Value(v.type, v.hint, v.location)
    return _redefine(op, new)


def clone_block(block: Block, new: dict[Value, Term]) -> Block:
    """Copies of the operations of a block, in order; `new` grows as in `clone`."""
    return tuple(clone(op, new) for op in block)


def _redefine(op: OpT, new: Mapping[Value, Term]) -> OpT:
    role = roles(type(op))
    changed: dict[str, object] = {}
    for name in (*role.operands, *role.results, *role.arguments, *role.contract):
        part = getattr(op, name)
        if part:  # most fields are empty
            changed[name] = _replace(part, new)
    for name in role.regions:
        block: Block | None = getattr(op, name)
        if block:
            changed[name] = tuple([_redefine(o, new) for o in block])
    if op.written is not None:
        changed["written"] = _rewritten(op.written, new)
    return with_fields(op, **changed)


def _is_written_with(written: Mapping[str, Applied], new: Mapping[Value, Term]) -> bool:
    """Whether maps were written with operands that are replaced: perhaps with some that change no result."""
    return any(v in new for applied in written.values() for v in (*applied.dims, *applied.symbols))


def _rewritten(written: Mapping[str, Applied], new: Mapping[Value, Term]) -> Mapping[str, Applied] | None:
    """How maps were written, with operands renamed; what gets an expression for an operand is written anew."""
    kept = {name: applied.renamed(new) for name, applied in written.items()}
    return {name: applied for name, applied in kept.items() if applied is not None} or None


def _replace(part: object, new: Mapping[Value, Term]) -> object:
    match part:
        case Value():
            term = new.get(part, part)
            if isinstance(term, Value):
                return term
            value = Affine.of(term).value
            if value is None:
                raise ValueError(f"{part!r} is a plain operand: it can be replaced by a value, not by an expression")
            return value
        case Affine() | Constraint():
            return part.substitute(new)
        case None:
            return None
        case tuple():
            items = tuple(_replace(item, new) for item in part)
            return items if any(a is not b for a, b in zip(items, part, strict=True)) else part
        case _:
            raise TypeError(f"neither a value nor an expression: {part!r}")


def like(value: Value) -> Value:
    """A new value with the type, the name and the place of one."""
    return Value(value.type, value.hint, value.location)


def likes(values: Iterable[Value]) -> tuple[Value, ...]:
    """A new value for each of some."""
    return tuple(map(like, values))


def fresh(like: Value | None = None, hint: str = "") -> Value:
    """A new index value, called as `hint` says or as the value that it is like."""
    return Value(INDEX if like is None else like.type, hint or ("" if like is None else like.hint))
