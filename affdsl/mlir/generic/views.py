"""Views of buffers and global buffers in generic form."""

from __future__ import annotations

from math import prod

from affdsl.ir.attributes import (
    ArrayAttr,
    Attribute,
    Attributes,
    DenseArrayAttr,
    DenseAttr,
    IntegerAttr,
    StringAttr,
    SymbolAttr,
    TypeAttr,
    UnitAttr,
    without,
)
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.integers import width, wrap
from affdsl.ir.layouts import Groups
from affdsl.ir.location import Location
from affdsl.ir.mixed import Static
from affdsl.ir.types import I1, I64, FloatType, MemRefType, OpaqueType, ScalarType
from affdsl.mlir.constants import NotNumbersError, Numbers, dense_text, numbers_of
from affdsl.mlir.form import Form
from affdsl.mlir.generic.rows import Property, Reading, Row, Writing, named
from affdsl.mlir.literals import from_bits

DYNAMIC = -(1 << 63)
"""How MLIR writes a number that is known only at run time."""


def static_property(name: str, property: str = "") -> Property:
    """A field of known numbers, None where one is a value."""

    def back(attribute: Attribute | None) -> Static:
        if not isinstance(attribute, DenseArrayAttr):
            raise ValueError("must be an array of numbers, array<i64: ...>")
        numbers = [int(item) for item in attribute.items]
        return tuple([None if n == DYNAMIC else n for n in numbers])

    return Property(name, property or name, static_attribute, back)


def static_attribute(numbers: Static) -> Attribute:
    """Known numbers, None where one is a value, as an attribute."""
    return DenseArrayAttr(I64, tuple([str(DYNAMIC if n is None else n) for n in numbers]))


def _groups_property() -> Property:
    def back(attribute: Attribute | None) -> Groups:
        match attribute:
            case ArrayAttr(groups):
                inner = [g.items if isinstance(g, ArrayAttr) else (None,) for g in groups]
                if all(isinstance(n, IntegerAttr) for group in inner for n in group):
                    return tuple([tuple([n.value for n in group if isinstance(n, IntegerAttr)]) for group in inner])
        raise ValueError("must be a list of lists of numbers")

    return Property("groups", "reassociation", groups_attribute, back)


def groups_attribute(groups: Groups) -> Attribute:
    """Which dimensions belong together, as an attribute."""
    return ArrayAttr(tuple([ArrayAttr(tuple([IntegerAttr(n, I64) for n in group])) for group in groups]))


def unit_property(name: str, property: str, *, among_attributes: bool = True) -> Property:
    """A field that is True where a property is there."""

    def back(attribute: Attribute | None) -> bool:
        if attribute not in (None, UnitAttr(), IntegerAttr(0, I1), IntegerAttr(1, I1)):
            raise ValueError("must be there or not, and have no value")
        return attribute in (UnitAttr(), IntegerAttr(1, I1))

    return Property(name, property, lambda on: UnitAttr() if on else None, back, among_attributes)


def symbol_property(name: str, property: str) -> Property:
    """A field that is the name of something in the module."""

    def back(attribute: Attribute | None) -> str:
        if not isinstance(attribute, SymbolAttr) or len(attribute.path) != 1:
            raise ValueError("must be a name, like @g")
        return attribute.path[0]

    return Property(name, property, lambda symbol: SymbolAttr((symbol,)), back)


# Global buffers


def elements(text: str, type: MemRefType) -> Numbers:
    """The numbers of dense<text>. Raises NotNumbersError; an opaque one if they have no numbers here."""
    if text.startswith('"'):
        return _from_bytes(text, type)
    return numbers_of(DenseAttr(text, type), type)


def _from_bytes(text: str, type: MemRefType) -> Numbers:
    """The numbers whose bytes, those of the least value first, stand in hexadecimal digits."""
    element = type.element
    if not isinstance(element, ScalarType):
        raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
    count = prod(size or 0 for size in type.shape)
    try:
        data = bytes.fromhex(text.strip('"').removeprefix("0x"))
    except ValueError:
        raise NotNumbersError(f"{text} are no hexadecimal digits of bytes") from None
    if element == I1 and len(data) == -(-count // 8):
        return tuple([bool(data[k // 8] >> k % 8 & 1) for k in range(count)])
    bits_of = element.width if isinstance(element, FloatType) else width(element)
    size = next(n for n in (1, 2, 4, 8) if 8 * n >= bits_of)
    if element == I1 or len(data) % size or len(data) // size not in (1, count):
        raise NotNumbersError(f"{len(data)} bytes are not those of {count} elements of type {element}")
    found: list[int | float | bool] = []
    for start in range(0, len(data), size):
        bits = int.from_bytes(data[start : start + size], "little")
        number = from_bits(bits, element) if isinstance(element, FloatType) else wrap(bits, bits_of)
        if number != number and bits != _plain_nan(element):
            raise NotNumbersError("a NaN with a payload", opaque=True)
        found.append(number)
    return found[0] if len(found) == 1 and count != 1 else tuple(found)


def _plain_nan(type: ScalarType) -> int:
    return {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}[str(type)]


def global_in_generic_form(
    symbol: str, type: MemRefType, initial: Attribute | None, constant: bool, private: bool, alignment: int | None,
    attributes: Attributes, location: Location | None,
) -> Opaque:  # fmt: skip
    """A global buffer by its properties; its elements may have no numbers here."""
    properties: list[tuple[str, Attribute | None]] = [
        ("alignment", None if alignment is None else IntegerAttr(alignment, I64)),
        ("constant", UnitAttr() if constant else None),
        ("initial_value", initial),
        ("sym_name", StringAttr(symbol)),
        ("sym_visibility", StringAttr("private") if private else named(attributes, "sym_visibility")),
        ("type", TypeAttr(type)),
    ]
    return Opaque(
        "memref.global", (), (), tuple([(name, value) for name, value in properties if value is not None]),
        location=location, attributes=without(attributes, "sym_visibility"),
    )  # fmt: skip


def elements_type(type: MemRefType) -> OpaqueType:
    """The type that the elements of a global buffer have where they are given."""
    sizes = "".join(f"{size}x" for size in type.shape)
    return OpaqueType(f"tensor<{sizes}{type.element}>")


def _write_global(op: memref.Global, writing: Writing) -> Opaque:
    initial: Attribute | None = None
    if op.value is not None:
        initial = DenseAttr(dense_text(op.value, op.type), elements_type(op.type))
    elif not op.external:
        initial = UnitAttr()
    return global_in_generic_form(
        op.symbol, op.type, initial, op.constant, op.private, op.alignment, op.attributes, op.location
    )


def _read_global(opaque: Opaque, reading: Reading) -> Op:
    said = opaque.properties or opaque.attributes
    symbol, type, initial = (named(said, name) for name in ("sym_name", "type", "initial_value"))
    alignment, visibility = named(said, "alignment"), named(said, "sym_visibility")
    if not isinstance(symbol, StringAttr) or not isinstance(type, TypeAttr) or not isinstance(type.type, MemRefType):
        reading.refuse(opaque, "memref.global needs the properties sym_name, a name, and type, a memref")
    if opaque.operands or opaque.results:
        reading.refuse(opaque, "memref.global has no operands and no results")
    if alignment is not None and (not isinstance(alignment, IntegerAttr) or alignment.type != I64):
        reading.refuse(opaque, "the alignment of memref.global must be a number of type i64")
    if visibility not in (None, *map(StringAttr, ("public", "private", "nested"))):
        reading.refuse(opaque, "the visibility of memref.global must be public, private or nested")
    if named(said, "constant") not in (None, UnitAttr(), IntegerAttr(0, I1), IntegerAttr(1, I1)):
        reading.refuse(opaque, "the property constant of memref.global must be there or not, and have no value")
    value: Numbers | None = None
    if isinstance(initial, DenseAttr):
        wanted = elements_type(type.type)
        if str(initial.type) not in (str(wanted), str(type.type)):
            reading.refuse(opaque, f"the elements of memref.global have type {initial.type}, not {wanted}")
        try:
            value = elements(initial.text, type.type)
        except NotNumbersError as problem:
            if problem.opaque:
                return opaque
            reading.refuse(opaque, str(problem))
    elif initial is not None and not isinstance(initial, UnitAttr):
        return opaque
    known = ("sym_name", "type", "initial_value", "alignment", "constant", "sym_visibility")
    rest = without(opaque.attributes, *known)
    private = isinstance(visibility, StringAttr) and visibility.value == "private"
    if visibility is not None and not private:
        rest = (("sym_visibility", visibility), *rest)
    constant = named(said, "constant") in (UnitAttr(), IntegerAttr(1, I1))
    return memref.Global(
        symbol.value, type.type, value, constant, private, initial is None,
        None if alignment is None else alignment.value, location=opaque.location, attributes=rest,
    )  # fmt: skip


def _read_metadata(opaque: Opaque, reading: Reading) -> Op:
    source = opaque.operands[0] if len(opaque.operands) == 1 else None
    if source is None or not isinstance(source.type, MemRefType) or len(opaque.results) != 2 + 2 * source.type.rank:
        reading.refuse(opaque, f"{opaque.kind} takes a memref and gives two results, and two for each dimension")
    (base, offset), rest, rank = opaque.results[:2], opaque.results[2:], source.type.rank
    return memref.ExtractStridedMetadata(
        base, offset, rest[:rank], rest[rank:], source,
        location=opaque.location, attributes=(*opaque.properties, *opaque.attributes),
    )  # fmt: skip


_PARTS = tuple(static_property(name) for name in ("static_offsets", "static_sizes", "static_strides"))

ROWS = (
    Row(
        memref.SubView,
        Form("%source[mixed:offsets] [mixed:sizes] [mixed:strides]{} : <source> to <result:memref>"), _PARTS,
    ),
    Row(
        memref.ReinterpretCast,
        Form(
            "%source to offset: [mixed:offsets], sizes: [mixed:sizes], strides: [mixed:strides]{} : "
            "<source> to <result:memref>"
        ),
        _PARTS,
    ),
    Row(
        memref.ExpandShape,
        Form("%source groups:groups output_shape [mixed:sizes]{} : <source> into <result:memref>"),
        (_groups_property(), static_property("static_sizes", "static_output_shape")),
    ),
    Row(
        memref.CollapseShape, Form("%source groups:groups{} : <source> into <result:memref>"), (_groups_property(),)
    ),
    Row(
        memref.View,
        Form("%source[%shift][%sizes*]{} : <source> to <result:memref>", {"shift": "index", "sizes": "index"}),
    ),
    Row(memref.Reshape),
    Row(memref.ExtractStridedMetadata, read=_read_metadata),
    Row(memref.Rank, Form("%memref{} : <memref>", {"result": "index"})),
    Row(memref.ExtractAlignedPointerAsIndex, Form("%source{} : <source> -> <result>")),
    Row(
        memref.GetGlobal, Form("symbol:name : <result:memref>{generic}"), (symbol_property("symbol", "name"),)
    ),
    Row(memref.Global, write=_write_global, read=_read_global),
)  # fmt: skip
