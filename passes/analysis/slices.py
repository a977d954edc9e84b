"""What a value is computed from, and what is computed from it: the slices of an operation."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk


def forward(root: Op, op: Op) -> tuple[Op, ...]:
    """The operations inside of root that need one of them to run first: those that read its results, and so on.

    What an operation holds is computed from what that reads. Each stands behind all that lead to it, unless they lead
    to each other. Only values count: what is written to memory and read again does not.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%x: f32, %y: f32) -> f32 {
    ...     %a = arith.addf %x, %x : f32
    ...     %b = arith.mulf %y, %y : f32
    ...     %c = arith.addf %a, %b : f32
    ...     return %c : f32
    ... }''').functions[0]
    >>> for each in forward(f, f.body[0]):
    ...     print(each)
    %c = arith.addf %a, %b : f32
    func.return %c : f32
    """
    readers: dict[Value, list[Op]] = {}
    for each in walk(root):
        for value in dict.fromkeys(each.reads()):
            readers.setdefault(value, []).append(each)

    def following(each: Op) -> list[Op]:
        inside = [inner for block in _blocks(each) for inner in block]
        return [*inside, *(reader for value in each.defines() for reader in reversed(readers.get(value, ())))]

    return _reached(op, following)[::-1]


def backward(root: Op, op: Op) -> tuple[Op, ...]:
    """The operations inside of root that must run before one of them, each before those that need it.

    These are what computes its operands, the loops around whose counters and carried values it reads, what those need,
    and, of each that holds others, what the others read from outside of it.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%x: f32, %y: f32) -> f32 {
    ...     %a = arith.addf %x, %x : f32
    ...     %b = arith.mulf %y, %y : f32
    ...     %c = arith.addf %a, %b : f32
    ...     return %c : f32
    ... }''').functions[0]
    >>> for each in backward(f, f.body[2]):
    ...     print(each)
    %a = arith.addf %x, %x : f32
    %b = arith.mulf %y, %y : f32
    """
    makers = {v: each for each in walk(root) for v in each.defines()}
    for each in walk(root):
        if isinstance(each, Opaque) and len(each.regions) == 1 and len(blocks := _opaque_blocks(each)) == 1:
            makers.update(dict.fromkeys(blocks[0].args, each))
        elif not isinstance(each, Func | Module | Opaque | OpaqueRegion | OpaqueBlock):
            makers.update(dict.fromkeys(each.binds(), each))

    def before(each: Op) -> list[Op]:
        inside = {id(inner) for inner in walk(each)}
        read = [v for inner in walk(each) if inner is not each for v in inner.mentions()]
        found = [makers[v] for v in (*read, *each.mentions()) if v in makers]
        return [maker for maker in found if maker is each or id(maker) not in inside]

    return _reached(op, before)


def around(root: Op, op: Op) -> tuple[Op, ...]:
    """All operations inside of root that a chain of slices, forward and backward, joins to one, in their order."""
    found: dict[Op, None] = {op: None}
    for each in (waiting := [op]):
        new = [other for other in (*backward(root, each), *forward(root, each)) if other not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return tuple([each for each in walk(root) if each in found])


def _reached(op: Op, following: Callable[[Op], list[Op]]) -> tuple[Op, ...]:
    """What a search from an operation finds, each behind all that it leads to, without the operation itself."""
    found: dict[Op, None] = {}
    begun = {op}
    stack = [(op, iter(following(op)))]
    while stack:
        each, rest = stack[-1]
        new = next((other for other in rest if other not in begun), None)
        if new is not None:
            begun.add(new)
            stack.append((new, iter(following(new))))
            continue
        stack.pop()
        found[each] = None
    return tuple([each for each in found if each is not op])


def _blocks(op: Op) -> list[Block]:
    """The blocks of an operation, opaque or not."""
    return [b.body for b in _opaque_blocks(op)] if isinstance(op, Opaque) else list(op.blocks())


def _opaque_blocks(op: Opaque) -> list[OpaqueBlock]:
    regions = [region for region in op.regions if isinstance(region, OpaqueRegion)]
    return [block for region in regions for block in region.blocks_inside if isinstance(block, OpaqueBlock)]
