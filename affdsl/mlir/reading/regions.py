"""The blocks of a region, with their labels and arguments."""

from __future__ import annotations

from collections.abc import Generator

from affdsl.ir.core import Block
from affdsl.ir.dialects.opaque import OpaqueBlock, may_end
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.mlir.parser import Head, Parser

Blocks = Generator[None, Block, tuple[OpaqueBlock, ...]]


def read_blocks(p: Parser, head: Head, arguments: int = 0) -> Blocks:
    """`operations ^bb1(%x: f32): operations`, up to the `}` that ends the region.

    `arguments`: how many of the first block are named before the region, as those of a function are.
    """
    s = p.scanner
    blocks: list[OpaqueBlock] = []
    labels: list[str] = []
    named_before = len(p.successors)
    if s.token[:1] != "^":
        ops = yield
        if ops or s.token[:1] == "^":
            blocks.append(OpaqueBlock("", (), ops))
            _check_end(p, ops, s.token[:1] == "^", head)
    elif arguments:
        s.fail("the first block has no label where its arguments are named before")
    while s.token[:1] == "^":
        place, label = s.start, read_label(p)
        if label in labels:
            s.fail(f"there are two blocks ^{label}", place)
        labels.append(label)
        parameters = p.listed(p.block_parameter) if s.token == "(" else ()
        s.expect(":")
        args = tuple([p.define(a.use, a.type, a.location) for a in parameters])
        ops = yield
        blocks.append(OpaqueBlock(label, args, ops))
        _check_end(p, ops, len(blocks) > 1 or s.token[:1] == "^", head)
    for label, place in p.successors[named_before:]:
        if label not in labels:
            s.fail(f"there is no block ^{label} in this region", place)
        if label == blocks[0].label:
            s.fail(f"no operation may lead back to the first block of a region, ^{label}", head.offset)
    del p.successors[named_before:]
    return (OpaqueBlock("", blocks[0].args, blocks[0].body),) if len(blocks) == 1 else tuple(blocks)


def read_region(p: Parser, head: Head) -> Blocks:
    """`{ operations ^bb1(%x: f32): operations }`"""
    p.scanner.expect("{")
    before = p.enter()
    blocks = yield from read_blocks(p, head)
    p.leave(before)
    p.scanner.expect("}")
    return blocks


def _check_end(p: Parser, ops: Block, several: bool, head: Head) -> None:
    """Where there are several blocks, each ends with a terminator, which says where to go on."""
    if several and not ops:
        p.scanner.fail("a block is empty, but where there are several, each ends with a terminator", head.offset)
    if several and not may_end(ops[-1]):
        text = f"{op_name(ops[-1])} ends a block, but is no terminator, such as a branch or a return"
        p.scanner.fail(text, p.last)


def read_successor(p: Parser) -> str:
    """`^bb1` where an operation may go on, without the sign."""
    place, label = p.scanner.start, read_label(p)
    p.successors.append((label, place))
    return label


def read_target(p: Parser) -> tuple[str, tuple[Value, ...]]:
    """`^bb1(%x, %y : f32, i32)`, where an operation may go on: the label, and what the block gets."""
    label = read_successor(p)
    if not p.scanner.accept("("):
        return label, ()
    uses = p.uses()
    p.scanner.expect(":")
    values = p.typed(uses, p.type_list())
    p.scanner.expect(")")
    return label, values


def read_label(p: Parser) -> str:
    """`^bb1`, without the sign."""
    s = p.scanner
    if not s.token.startswith("^") or len(s.token) < 2:
        s.fail("expected the label of a block, like ^bb1")
    return s.advance()[1:]
