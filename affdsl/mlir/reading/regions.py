"""The blocks of a region, with their labels and arguments."""

from __future__ import annotations

from collections.abc import Generator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock
from affdsl.mlir.parser import Parser

Blocks = Generator[None, Block, tuple[OpaqueBlock, ...]]


def read_blocks(p: Parser) -> Blocks:
    """`operations ^bb1(%x: f32): operations`, up to the `}` that ends the region."""
    s = p.scanner
    blocks: list[OpaqueBlock] = []
    labels: set[str] = set()
    forward = p.begin_forward()
    if s.token[:1] != "^":
        ops = yield
        if ops or s.token[:1] == "^":
            blocks.append(OpaqueBlock("", (), ops))
    while s.token[:1] == "^":
        place, label = s.start, read_label(p)
        if label in labels:
            s.fail(f"there are two blocks ^{label}", place)
        labels.add(label)
        parameters = p.listed(p.block_parameter) if s.token == "(" else ()
        s.expect(":")
        args = tuple([p.define(a.use, a.type, a.location) for a in parameters])
        ops = yield
        blocks.append(OpaqueBlock(label, args, ops))
    _check_successors(p, blocks, labels)
    p.end_forward(forward)
    return (OpaqueBlock("", blocks[0].args, blocks[0].body),) if len(blocks) == 1 else tuple(blocks)


def read_label(p: Parser) -> str:
    """`^bb1`, without the sign."""
    s = p.scanner
    if not s.token.startswith("^") or len(s.token) < 2:
        s.fail("expected the label of a block, like ^bb1")
    return s.advance()[1:]


def _check_successors(p: Parser, blocks: list[OpaqueBlock], labels: set[str]) -> None:
    for op in [op for block in blocks for op in block.body]:
        for label in op.successors if isinstance(op, Opaque) else ():
            if label not in labels:
                p.scanner.fail(f"there is no block ^{label} in this region{_named_at(op)}")


def _named_at(op: Op) -> str:
    return f" (line {op.location.line} names it)" if op.location is not None else ""
