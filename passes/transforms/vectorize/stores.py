"""One store behind a condition, where both of its branches store to the same element."""

from __future__ import annotations

from affdsl.ir.core import Block, Lanewise, Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import like, map_blocks, walk, with_fields
from affdsl.passes.transforms.vectorize.loads import MayAlias

_If = affine.If | scf.If
_Store = affine.Store | memref.Store


def stored_once(loop: affine.For, may_alias: MayAlias) -> affine.For:
    """The loop with the elements that both branches of a condition store to stored behind it.

        if c: A[i] = x else: A[i] = y   ->   r = if c: yield x else: yield y; A[i] = r

    On vectors that is one store of all lanes, instead of two of some. It is the same object if there is nothing to do.
    """
    body = _block(loop.body, may_alias)
    return loop if body is loop.body else with_fields(loop, body=body)


def _block(block: Block, may_alias: MayAlias) -> Block:
    """A block with the stores in it moved; the same object if none does."""
    found: list[Op] = []
    for op in block:
        made = map_blocks(op, lambda inner: _block(inner, may_alias))
        found += _behind(made, may_alias) if isinstance(made, _If) else [made]
    new = tuple(found)
    return block if new == block else new


def _behind(op: _If, may_alias: MayAlias) -> list[Op]:
    """A condition, and behind it the stores that both branches do, in their order."""
    moved: list[Op] = []
    while (pair := _pair(op, may_alias)) is not None:
        then = pair[0]
        value = like(then.value)
        blocks = [_without(op, block, store) for block, store in zip(op.blocks(), pair, strict=True)]
        op = with_fields(op, results=(*op.results, value), then=blocks[0], orelse=blocks[1])
        moved.insert(0, with_fields(then, value=value))
    return [op, *moved]


def _pair(op: _If, may_alias: MayAlias) -> tuple[_Store, _Store] | None:
    """The last stores of both branches that may run behind a condition, and are to one element."""
    then, orelse = (_last(block, may_alias) for block in (op.then, op.orelse))
    for store in then:
        for other in orelse:
            if _is_same_element(store, other):
                return store, other
    return None


def _is_same_element(a: _Store, b: _Store) -> bool:
    if a.memref is not b.memref:
        return False
    if isinstance(a, affine.Store) and isinstance(b, affine.Store):
        return a.index == b.index
    return isinstance(a, memref.Store) and isinstance(b, memref.Store) and a.indices == b.indices


def _last(block: Block, may_alias: MayAlias) -> list[_Store]:
    """The stores of a block that may run behind it: what follows touches nothing that may be the same element."""
    made = {v for op in block for v in op.defines()}
    found: list[_Store] = []
    touched: list[Value] = []
    for op in reversed(block):
        if isinstance(op, _Store):
            own = [v for v in op.mentions() if v is not op.value]
            if made.isdisjoint(own) and not any(may_alias(op.memref, each) for each in touched):
                found.append(op)
            touched.append(op.memref)
        elif isinstance(op, affine.Load | memref.Load):
            touched.append(op.memref)
        elif not all(isinstance(each, Lanewise | arith.Constant | affine.Yield | scf.Yield) for each in walk(op)):
            return found
    return found


def _without(op: _If, block: Block, store: _Store) -> Block:
    """A branch without a store, which yields what that stored."""
    last = block[-1]
    ends = isinstance(last, affine.Yield | scf.Yield)
    given = last.values if isinstance(last, affine.Yield | scf.Yield) else ()
    rest = [each for each in (block[:-1] if ends else block) if each is not store]
    yielded = scf.Yield if isinstance(op, scf.If) else affine.Yield
    return (*rest, yielded((*given, store.value)))
