"""How operations and types were written in earlier versions of MLIR, from 14 on: one row for what changed when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith, func, math, memref, scf, vector
from affdsl.ir.types import MemRefType, StridedLayout, Type
from affdsl.ir.written import Tree, add, mul, spell_tree
from affdsl.mlir.irregular.func import write_func
from affdsl.mlir.known_versions import LAST, Version
from affdsl.mlir.printer import TODAY, Printer, Spelling, Writer

PROPERTIES = 19
"""From this version on the properties of operations in generic form are apart from attributes; 17 and 18 take both."""
STRIDED = 16
"""From this version on `strided<[...]>` is the layout of an array with any strides."""
NO_BRACES = 24
"""The first version of which it is known that it reads no property among the attributes in braces."""

Change = Callable[[Writer], Writer]
"""Makes the writer of before a version of that of the version."""


class Row(Frozen):
    """What was written otherwise before a version."""

    since: int
    changes: Mapping[type[Op], Change]


def spelling(version: Version) -> Spelling:
    """How a version writes what is not as today; `passes.lowering.earlier_mlir` replaces what it does not have at all.

    >>> spelling(22) is TODAY
    True
    """
    if not isinstance(version, int) or LAST <= version < NO_BRACES:
        return TODAY
    if version >= NO_BRACES:
        return Spelling(tuple([(kind, _bare_braces) for kind in _WITH_BRACES]))
    changes = [(kind, change) for row in ROWS if version < row.since for kind, change in row.changes.items()]
    return Spelling(
        tuple(changes),
        names=_GENERIC_15 if version < 15 else {},
        properties=version >= PROPERTIES,
        spell=type_text if version < STRIDED else str,
    )


def type_text(type: Type) -> str:
    """A type before MLIR 16.

    >>> from affdsl.ir.types import F32
    >>> type_text(MemRefType((4, None), F32, StridedLayout((None, 1), None)))
    'memref<4x?xf32, affine_map<(d0, d1)[s0, s1] -> (d0 * s1 + s0 + d1)>>'
    """
    if not isinstance(type, MemRefType) or not isinstance(type.layout, StridedLayout):
        return str(type)
    text = str(MemRefType(type.shape, type.element, None, 0)).removesuffix(">")
    return f"{text}, affine_map<{_map(type.layout)}>{f', {type.space}' if type.space else ''}>"


def _map(layout: StridedLayout) -> str:
    """Its offset is the first symbol, and each unknown stride the next one, as MLIR made such maps."""
    symbols = [f"s{n}" for n, _ in enumerate(s for s in (layout.offset, *layout.strides) if s is None)]
    rest = iter(symbols)
    at: Tree = next(rest) if layout.offset is None else layout.offset
    for k, stride in enumerate(layout.strides):
        at = add(at, mul(f"d{k}", next(rest) if stride is None else stride))
    dims = ", ".join([f"d{k}" for k, _ in enumerate(layout.strides)])
    operands = f"({dims})[{', '.join(symbols)}]" if symbols else f"({dims})"
    return f"{operands} -> ({spell_tree(at)})"


# What was written otherwise


def _called(**names: str) -> Change:
    """Another name, by the one of today with _ for the dot."""

    def change(write: Writer) -> Writer:
        def written(p: Printer, op: Op) -> str | Iterator[Block]:
            text = write(p, op)
            assert isinstance(text, str), "it is one line"
            name, space, rest = text.partition(" ")
            return f"{names.get(name.replace('.', '_'), name)}{space}{rest}"

        return written

    return change


def _bare_function(_: Writer) -> Writer:
    """`func @f(...) {`; without attributes of arguments where arrays are given back, which lowering made arguments"""

    def written(p: Printer, op: func.Func) -> Iterator[Block]:
        gives_back = any(isinstance(type, MemRefType) for type in op.result_types)
        return write_func(p, op, "func", promises=not gives_back)

    return written


def _of_vector(_: Writer) -> Writer:
    """`vector.extract %v[0] : vector<4xf32>`, and `vector.extractelement %v[%i : index] : vector<4xf32>`"""

    def written(p: Printer, op: vector.Extract) -> str:
        type = p.type(op.source)
        if op.position and len(op.static_position) == 1:
            return f"vector.extractelement {p.names(op.source)}[{p.names(op.position[0])} : index] : {type}"
        at = ", ".join(map(str, op.static_position))
        return f"vector.extract {p.names(op.source)}[{at}]{p.dictionary(op)} : {type}"

    return written


def _quoted(write: Writer) -> Writer:
    """`vector.reduction "add", %v : vector<4xf32> into f32`"""

    def written(p: Printer, op: vector.Reduction) -> str:
        text = write(p, op)
        assert isinstance(text, str), "it is one line"
        return text.replace(f"<{op.combine}>", f'"{op.combine}"', 1)

    return written


def _into_vector(write: Writer) -> Writer:
    def written(p: Printer, op: vector.Insert) -> str | Iterator[Block]:
        if not op.position or len(op.static_position) > 1:
            return write(p, op)
        operands = f"{p.names(op.value)}, {p.names(op.target)}[{p.names(op.position[0])} : index]"
        return f"vector.insertelement {operands} : {p.type(op.target)}"

    return written


def _apart(_: Writer) -> Writer:
    """`scf.reduce(%x) : f32 { ^bb0(%a: f32, %b: f32): ... }` for each number, and no end of the loop's block."""

    def written(p: Printer, op: scf.Reduce) -> Iterator[Block]:
        combiners = [c for c in op.combiners if isinstance(c, scf.Combiner)]
        for value, c in zip(op.values, combiners, strict=True):
            p.line(None, f"scf.reduce({p.names(value)}) : {p.type(value)} {{")
            with p.scope():
                shown = [f"{p.names.define_argument(v)}: {p.type(v)}" for v in (c.left, c.right)]
                p.line(None, f"^bb0({', '.join(shown)}):")
                yield c.body
            p.line(None, "}")

    return written


def _bare_braces(write: Writer) -> Writer:
    """The generic form where the custom one has properties in braces, as `memref.alloc() {alignment = 64 : i64}`."""

    def written(p: Printer, op: Op) -> str | Iterator[Block]:
        says_more = op.attributes or isinstance(op, _SLICES) or getattr(op, "alignment", None) is not None
        return p.generic(op) if says_more else write(p, op)

    return written


_SLICES = (vector.ExtractStridedSlice, vector.InsertStridedSlice)
_WITH_BRACES = (
    *_SLICES, memref.Alloc, memref.Alloca, memref.Global, memref.Load, memref.Store, vector.Load, vector.Store,
    vector.MaskedLoad, vector.MaskedStore, vector.Gather, vector.Scatter, vector.ExpandLoad, vector.CompressStore,
)  # fmt: skip

ROWS = (
    Row(
        since=18,
        changes={vector.Extract: _of_vector, vector.Insert: _into_vector, scf.Reduce: _apart},
    ),
    Row(since=16, changes={math.Unary: _called(math_absf="math.abs")}),
    Row(
        since=15,
        changes={
            func.Func: _bare_function,
            func.Call: _called(func_call="call"),
            func.Return: _called(func_return="return"),
            arith.Select: _called(arith_select="select"),
            vector.Reduction: _quoted,
        },
    ),
)
"""Each row changes what those above it have made: later versions stand first."""

_GENERIC_15 = {"cf.assert": "std.assert"}
"""What operations in generic form were called before MLIR 15."""
