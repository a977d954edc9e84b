"""What mlir-opt calls the values of a text: numbers, and for constants and some others what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.attributes import OpaqueAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith, func, memref, scf
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.mlir.literals import constant_name


def numbered(root: Op) -> dict[Value, str]:
    """The name of each value of an operation, `%` included, as mlir-opt 22 prints them.

    A value of a block has a number before those of the blocks inside; `%c0` and `%alloc` say what they are, with a
    number behind where they are there already.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<?xf32>, %n: index) -> f32 {
    ...   %zero = arith.constant 0.0 : f32
    ...   %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f32) {
    ...     %a = affine.load %A[%i] : memref<?xf32>
    ...     %t = arith.addf %s, %a : f32
    ...     affine.yield %t : f32
    ...   }
    ...   return %sum : f32
    ... }''').functions[0]
    >>> list(numbered(function).values())
    ['%arg0', '%arg1', '%cst', '%0', '%arg2', '%arg3', '%1', '%2']
    """
    found: dict[Value, str] = {}
    waiting = [(region, _Counted()) for region in reversed(_regions(root))]
    while waiting:
        region, before = waiting.pop()
        counted = before.copy()
        inside: list[tuple[_Region, _Counted]] = []
        for args, block in region.blocks:
            found.update((v, f"%arg{counted.next('arg')}") for v in args)
            for op in block:
                counted.name(op, found)
                fresh = isinstance(op, func.Func)
                inside += [(each, _Counted() if fresh else counted) for each in _regions(op)]
        waiting += reversed(inside)
    return found


class _Region(Frozen):
    """The blocks of a region, each with its arguments."""

    blocks: Sequence[tuple[Sequence[Value], Block]]


class _Counted:
    """The numbers and names that are taken where a block begins."""

    def __init__(self) -> None:
        self.numbers = {"": 0, "arg": 0, "again": 0}
        self.used: set[str] = set()

    def copy(self) -> _Counted:
        made = _Counted()
        made.numbers, made.used = dict(self.numbers), set(self.used)
        return made

    def next(self, of: str) -> int:
        number = self.numbers[of]
        self.numbers[of] = number + 1
        return number

    def name(self, op: Op, found: dict[Value, str]) -> None:
        """Name the results of an operation."""
        values = tuple(op.defines())
        if not values:
            return
        said = _said(op)
        base = self._unique(said) if said else str(self.next(""))
        several = len(values) > 1
        found.update((v, f"%{base}#{k}" if several else f"%{base}") for k, v in enumerate(values))

    def _unique(self, name: str) -> str:
        made = name
        while made in self.used:
            made = f"{name}_{self.next('again')}"
        self.used.add(made)
        return made


_NAMES: Mapping[type[Op], str] = {
    complex_.Constant: "cst",
    memref.Alloc: "alloc",
    memref.Alloca: "alloca",
    memref.Cast: "cast",
    memref.CollapseShape: "collapse_shape",
    memref.Dim: "dim",
    memref.ExpandShape: "expand_shape",
    memref.ExtractAlignedPointerAsIndex: "intptr",
    memref.ReinterpretCast: "reinterpret_cast",
    memref.Reshape: "reshape",
    memref.SubView: "subview",
    memref.View: "view",
}


_NAMES_OF_KINDS: Mapping[str, str] = {
    "memref.assume_alignment": "assume_align",
    "memref.memory_space_cast": "memspacecast",
    "tensor.collapse_shape": "collapsed",
    "tensor.expand_shape": "expanded",
    "tensor.extract": "extracted",
    "tensor.extract_slice": "extracted_slice",
    "tensor.generate": "generated",
    "tensor.insert": "inserted",
    "tensor.insert_slice": "inserted_slice",
    "tensor.pad": "padded",
    **{
        f"{dialect}.{name}": name
        for dialect, names in {
            "tensor": "cast concat dim from_elements gather rank reshape scatter splat", "vector": "vscale",
        }.items()
        for name in names.split()
    },
}  # fmt: skip


def _said(op: Op) -> str:
    """What a result is called by what it is; nothing where it is a number."""
    match op:
        case arith.Constant():
            return "cst" if isinstance(op.value, tuple) else constant_name(op.value, op.result.type)
        case Opaque(kind=kind, properties=(("dimension", OpaqueAttr(text=text)), *_)) if kind.startswith("gpu."):
            return f"{kind[4:]}_{text.split()[-1].rstrip('>')}"
        case Opaque(kind=kind):
            return _NAMES_OF_KINDS.get(kind, "")
    return _NAMES.get(type(op), "")


def _regions(op: Op) -> list[_Region]:
    match op:
        case scf.While():
            pairs = ((op.before_args, op.before), (op.after_args, op.after))
            return [_Region((pair,)) for pair in pairs]
        case scf.Reduce():
            return [_Region((((c.left, c.right), c.body),)) for c in op.combiners if isinstance(c, scf.Combiner)]
        case scf.IndexSwitch():
            cases = [case.body for case in op.cases if isinstance(case, scf.Case)]
            return [_Region((((), block),)) for block in (op.default, *cases)]
        case Opaque():
            return [_Region(tuple(_blocks(region))) for region in op.regions if isinstance(region, OpaqueRegion)]
    blocks = [*op.blocks()]
    args = [tuple(op.binds()) if k == 0 else () for k, _ in enumerate(blocks)]
    return [_Region(((given, block),)) for given, block in zip(args, blocks, strict=True)]


def _blocks(region: OpaqueRegion) -> Iterator[tuple[Sequence[Value], Block]]:
    for block in region.blocks_inside:
        if isinstance(block, OpaqueBlock):
            yield block.args, block.body
