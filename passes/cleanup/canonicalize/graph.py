"""A program as a graph that changes in place: nodes in linked lists, with the users of each value at hand.

The operations of a node are the frozen ones of the IR. Their blocks live in the graph, and their affine maps beside
them as `Applied` maps, so that a rewrite touches no more than the node itself and the users of what it defines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.applied import Applied
from affdsl.ir.core import Block, Op, roles
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import tree_of
from affdsl.ir.traverse import OpT, with_fields
from affdsl.ir.types import Type
from affdsl.mlir.positions import symbolic_values
from affdsl.passes.analysis.effects import is_own, is_removable

AFFINE_FIELDS: dict[type[Op], tuple[str, ...]] = {
    affine.For: ("lower", "upper"), affine.If: ("condition",), affine.Parallel: ("lower", "upper"),
    affine.Apply: ("expr",), affine.Min: ("exprs",), affine.Max: ("exprs",),
    affine.Load: ("index",), affine.Store: ("index",), affine.VectorLoad: ("index",), affine.VectorStore: ("index",),
    affine.Prefetch: ("index",), affine.DmaStart: ("source_index", "target_index", "tag_index"),
    affine.DmaWait: ("tag_index",),
}  # fmt: skip
"""The fields that hold expressions; all other operands are values."""

Maps = Mapping[str, Applied]
Payload = int | float | bool | tuple[int | float | bool, ...]
"""What an arith.constant holds."""

_NO_MAPS: Maps = {}


class OpNode:
    """An operation in its place."""

    __slots__ = ("after", "alive", "before", "body", "maps", "op", "reads", "regions", "remapped")

    def __init__(self, op: Op, maps: Maps) -> None:
        self.op = op
        self.maps = maps
        self.remapped = False
        self.reads = _reads(op, maps)
        self.regions: dict[str, Body] = {}
        self.body: Body | None = None
        self.before: OpNode | None = None
        self.after: OpNode | None = None
        self.alive = True

    def region(self, name: str) -> Body:
        """The block in a field of the operation."""
        return self.regions[name]


class Body:
    """A block: a linked list of nodes."""

    __slots__ = ("first", "last", "owner")

    def __init__(self, owner: OpNode) -> None:
        self.owner = owner
        self.first: OpNode | None = None
        self.last: OpNode | None = None

    def __iter__(self) -> Iterator[OpNode]:
        node = self.first
        while node is not None:
            after = node.after
            yield node
            node = after

    @property
    def terminator(self) -> OpNode | None:
        """The last node, if it is a terminator; one that yields no value need not be there."""
        return self.last if self.last is not None and self.last.op.is_terminator else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is done here, but for handing on values."""
        return self.first is None or self.first is self.terminator


class Graph:
    """The nodes below a root, and everything that rewrites need."""

    def __init__(self, root: Op) -> None:
        self.queue: list[OpNode] = []
        self._queued: set[OpNode] = set()
        self._definitions: dict[Value, OpNode] = {}
        self._binders: dict[Value, OpNode] = {}
        self._users: dict[Value, dict[OpNode, int]] = {}
        self.root = self._load(root)

    def _load(self, op: Op) -> OpNode:
        node = OpNode(op, maps_of(op))
        self._enter(node)
        for name in op.block_fields:
            body = node.regions[name] = Body(node)
            for inner in getattr(op, name) or ():
                self._link(self._load(inner), body, None)
        return node

    def result(self) -> Op:
        """The root as frozen operations; what has not changed is the same object as before."""
        return _unloaded(self.root)

    def definition(self, value: Value) -> Op | None:
        """The operation whose result a value is; None for an argument."""
        node = self._definitions.get(value)
        return None if node is None else node.op

    def node(self, value: Value) -> OpNode | None:
        """The node whose result a value is; None for an argument."""
        return self._definitions.get(value)

    def binder(self, value: Value) -> OpNode | None:
        """The node of which a value is an argument of a block."""
        return self._binders.get(value)

    def users(self, value: Value) -> list[OpNode]:
        """The nodes that read a value, the latest first."""
        return list(reversed(self._users.get(value, {})))

    def uses(self, value: Value) -> int:
        """How often a value is read."""
        return sum(self._users.get(value, {}).values())

    def payload(self, value: Value) -> Payload | None:
        """What a value is that an arith.constant defines: a number, or those of a vector."""
        match self.definition(value):
            case arith.Constant(value=number):
                return number
        return None

    def insert(self, op: Op, before: OpNode, maps: Maps | None = None) -> OpNode:
        """A new node before another one; the blocks that the operation holds are empty at first."""
        assert before.body is not None
        return self.append(op, before.body, before, maps)

    def append(self, op: Op, body: Body, before: OpNode | None = None, maps: Maps | None = None) -> OpNode:
        """A new node at the end of a body, or before another one in it."""
        node = OpNode(op, _NO_MAPS if maps is None else maps)
        node.remapped = bool(node.maps)
        self._enter(node)
        for name in op.block_fields:
            node.regions[name] = Body(node)
        self._link(node, body, before)
        self.push(node)
        return node

    def constant(self, payload: Payload, type: Type, before: OpNode) -> Value:
        """A new constant."""
        result = Value(type, "", before.op.location)
        self.insert(arith.Constant(result, payload, location=before.op.location), before)
        return result

    def update(self, node: OpNode, op: Op | None = None, maps: Maps | None = None) -> None:
        """Give a node another operation, with the same fields for blocks, or other maps."""
        for value in node.reads:
            self._unread(value, node)
        if op is not None:
            self._leave(node)
            node.op = op
        if maps is not None:
            node.maps = maps
            node.remapped = True
        old, node.reads = node.reads, _reads(node.op, node.maps)
        self._enter(node)
        still = set(node.reads)
        for value in old:
            if value not in still:
                self._push_definition(value)
        self.push(node)

    def remap(self, node: OpNode, maps: Maps) -> bool:
        """Give a node other maps; whether one of them is another one."""
        if all(node.maps[name] == map for name, map in maps.items()):
            return False
        self.update(node, maps=maps)
        return True

    def set(self, node: OpNode, **fields: object) -> None:
        """Change fields of a node's operation."""
        self.update(node, with_fields(node.op, **fields))

    def rename(self, old: Value, new: Value) -> None:
        """Let new be read wherever old was."""
        if old is new:
            return
        for user in self.users(old):
            self.rename_in(user, old, new)

    def rename_in(self, user: OpNode, old: Value, new: Value) -> None:
        """Let one node read new wherever it reads old."""
        op = renamed(user.op, {old: new})
        maps = user.maps
        if any(old in m.operands for m in maps.values()):
            maps = {k: m.with_values(lambda v: new if v is old else v) for k, m in maps.items()}
            user.remapped = True
        for value in user.reads:
            self._unread(value, user)
        user.op, user.maps = op, maps
        user.reads = _reads(op, maps)
        for value in user.reads:
            self._read(value, user)
        self.push(user)

    def replace(self, node: OpNode, values: Sequence[Value]) -> None:
        """Let values be read instead of what a node defines, and erase it."""
        for old, new in zip(tuple(node.op.defines()), values, strict=True):
            self.rename(old, new)
        self.erase(node)

    def erase(self, node: OpNode) -> None:
        """Take a node out, with everything inside; nobody may read what it defines."""
        for body in node.regions.values():
            for inner in reversed(list(body)):
                self.erase(inner)
        for value in node.reads:
            self._unread(value, node)
        for value in node.reads:
            self._push_definition(value)
        self._leave(node)
        if node.body is not None:
            if node.body.owner.body is not None:
                self.push(node.body.owner)
            self._unlink(node)
        node.alive = False

    def move(self, node: OpNode, body: Body, before: OpNode | None) -> None:
        """Take a node elsewhere."""
        self._unlink(node)
        self._link(node, body, before)

    def inline(self, body: Body, before: OpNode) -> None:
        """Move the nodes of a body, less its terminator, in front of another node."""
        assert before.body is not None
        last = body.terminator
        for inner in body:
            if inner is not last:
                self.move(inner, before.body, before)
                self.push(inner)

    def push(self, node: OpNode) -> None:
        """Have a node looked at again, and the nodes around it."""
        current: OpNode | None = node
        while current is not None:
            if current not in self._queued:
                self._queued.add(current)
                self.queue.append(current)
            current = None if current.body is None else current.body.owner

    def start(self, *, top_down: bool = True) -> None:
        """Have all nodes looked at, from top to bottom or from bottom to top."""
        self.queue = list(self.walk())
        if top_down:
            self.queue.reverse()
        self._queued = set(self.queue)

    def pop(self) -> OpNode | None:
        """The next node to be looked at."""
        while self.queue:
            node = self.queue.pop()
            self._queued.discard(node)
            if node.alive:
                return node
        return None

    def walk(self, root: OpNode | None = None) -> Iterator[OpNode]:
        """All nodes below root, from top to bottom."""
        stack: list[Iterator[OpNode]] = [iter(body) for body in reversed((root or self.root).regions.values())]
        while stack:
            for node in stack[-1]:
                yield node
                if node.regions:
                    stack += [iter(body) for body in reversed(node.regions.values())]
                    break
            else:
                stack.pop()

    def is_dead(self, node: OpNode) -> bool:
        """Whether nobody would miss a node."""
        op = node.op
        if any(value in self._users for value in op.defines()):
            return False
        if not node.regions:
            return is_removable(op)
        if not is_removable(op, ()):
            return False
        bodies = list(node.regions.values())
        while bodies:
            body = bodies.pop()
            inner = body.last
            while inner is not None:
                if not is_own(inner.op):
                    return False
                bodies.extend(inner.regions.values())
                inner = inner.before
        return True

    def _enter(self, node: OpNode) -> None:
        for value in node.op.defines():
            self._definitions[value] = node
        for value in node.op.binds():
            self._binders[value] = node
        for value in node.reads:
            self._read(value, node)

    def _leave(self, node: OpNode) -> None:
        for value in node.op.defines():
            if self._definitions.get(value) is node:
                del self._definitions[value]
        for value in node.op.binds():
            if self._binders.get(value) is node:
                del self._binders[value]

    def _read(self, value: Value, node: OpNode) -> None:
        users = self._users.setdefault(value, {})
        users[node] = users.get(node, 0) + 1

    def _unread(self, value: Value, node: OpNode) -> None:
        users = self._users[value]
        if users[node] > 1:
            users[node] -= 1
        else:
            del users[node]
            if not users:
                del self._users[value]

    def _push_definition(self, value: Value) -> None:
        """Look again at what defines a value that has lost a reader, if hardly any are left."""
        node = self._definitions.get(value)
        if node is not None and len(self._users.get(value, ())) <= 1:
            self.push(node)

    def _link(self, node: OpNode, body: Body, before: OpNode | None) -> None:
        after = before
        last = body.last if after is None else after.before
        node.body, node.before, node.after = body, last, after
        if last is None:
            body.first = node
        else:
            last.after = node
        if after is None:
            body.last = node
        else:
            after.before = node

    def _unlink(self, node: OpNode) -> None:
        body = node.body
        assert body is not None
        if node.before is None:
            body.first = node.after
        else:
            node.before.after = node.after
        if node.after is None:
            body.last = node.before
        else:
            node.after.before = node.before
        node.body = node.before = node.after = None


def maps_of(op: Op) -> Maps:
    """The expressions of an operation as maps: as they were written, or over the values in them."""
    fields = AFFINE_FIELDS.get(type(op))
    if fields is None:
        return _NO_MAPS
    return {name: _map_of(op, name) for name in fields}


def _map_of(op: Op, name: str) -> Applied:
    applied = op.spelling(name)
    if applied is not None:
        return applied
    part = getattr(op, name)
    items = part if isinstance(part, tuple) else (part,)
    flat = [e for item in items for e in (item if isinstance(item, tuple) else (item,))]
    if name == "condition":
        return map_of([c.expr for c in flat], tuple([c.equality for c in flat]))
    return map_of(flat)


def map_of(exprs: Sequence[Affine], equalities: tuple[bool, ...] | None = None) -> Applied:
    """Expressions as a map: values are dimensions, but for those that must be symbols."""
    marked = symbolic_values(exprs, ())
    names: dict[Value, str] = {}
    groups: dict[str, list[Value]] = {"d": [], "s": []}
    for expr in exprs:
        for value in expr.values():
            if value not in names:
                letter = "s" if value in marked else "d"
                names[value] = f"{letter}{len(groups[letter])}"
                groups[letter].append(value)
    trees = tuple([tree_of(e, names.__getitem__) for e in exprs])
    return Applied(trees, tuple(groups["d"]), tuple(groups["s"]), equalities)


def _reads(op: Op, maps: Maps) -> tuple[Value, ...]:
    if not maps:
        return tuple(op.reads())
    values: list[Value] = []
    for name in roles(type(op)).operands:
        if name in maps:
            values += maps[name].operands
        else:
            part = getattr(op, name)
            values += part if isinstance(part, tuple) else (part,)
    return tuple(values)


def renamed(op: OpT, new: Mapping[Value, Value]) -> OpT:
    """op with its operands renamed, but for those in affine maps and those that its blocks read."""
    changed: dict[str, object] = {}
    skipped = AFFINE_FIELDS.get(type(op), ())
    for name in roles(type(op)).operands:
        if name in skipped:
            continue
        part = getattr(op, name)
        if isinstance(part, Value):
            if part in new:
                changed[name] = new[part]
        elif any(v in new for v in part):
            changed[name] = tuple([new.get(v, v) for v in part])
    return with_fields(op, **changed) if changed else op


def _unloaded(node: OpNode) -> Op:
    op = node.op
    changed: dict[str, object] = {}
    for name, body in node.regions.items():
        old: Block = getattr(op, name) or ()
        new = tuple([_unloaded(inner) for inner in body])
        if len(new) != len(old) or any(a is not b for a, b in zip(new, old, strict=True)):
            changed[name] = new
    if node.remapped:
        made = dict(node.maps)
        changed |= {name: _meaning(op, name, a) for name, a in made.items()}
        changed["written"] = made
    return with_fields(op, **changed) if changed else op


def _meaning(op: Op, name: str, applied: Applied) -> object:
    means: tuple[Affine, ...] | tuple[Constraint, ...] = applied.means
    match op:
        case affine.Apply():
            return means[0]
        case affine.Parallel():
            sizes = [len(group) for group in getattr(op, name)]
            rest = iter(means)
            return tuple([tuple([next(rest) for _ in range(size)]) for size in sizes])
        case _:
            return means
