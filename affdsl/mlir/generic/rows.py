"""The generic form of operations as rows: which field is which operand, result, property and region."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NoReturn, Protocol

from affdsl.frozen import FrozenValue, field, fields
from affdsl.ir.applied import Applied, applied
from affdsl.ir.attributes import Attribute, Attributes, DenseArrayAttr, IntegerAttr, MapAttr, OpaqueAttr, without
from affdsl.ir.core import Block, Op, roles
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion, may_end
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.maps import AffineMap, IntegerSet
from affdsl.ir.messages import op_name
from affdsl.ir.types import I32, MemRefType, OpaqueType
from affdsl.mlir.enumerations import problem_of_flag
from affdsl.mlir.form import Form
from affdsl.mlir.positions import Positional


class Writing(Protocol):
    """What gives the maps of an operation: the printer."""

    def positional(self, op: Op, field: str) -> Positional:
        """The map or set of a field, with its operands."""
        ...

    def alias(self, text: str) -> str:
        """A map or set where it is used."""
        ...


class Reading(Protocol):
    """What refuses an operation whose generic form is wrong: the parser."""

    def refuse(self, op: Opaque, problem: str) -> NoReturn:
        """Raise ParseError at the operation."""
        ...


Kind = Literal["one", "many", "map", "set", "expr"]
_KINDS: Mapping[str, Kind] = {
    "Operand": "one", "Operands": "many", "Expr": "expr", "Exprs": "map", "Constraints": "set",
    "Argument": "one", "Arguments": "many", "Result": "one", "Results": "many",
}  # fmt: skip
"""What a field holds, by its annotation."""


class Part(FrozenValue):
    """A field of operands, results or block arguments; a map has its property and holds expressions."""

    name: str
    kind: Kind
    property: str = ""


class Property(FrozenValue):
    """A field that is a property: how its value is an attribute, and back; None stands for absence both ways."""

    name: str
    property: str
    to_attribute: Callable[[Any], Attribute | None]
    from_attribute: Callable[[Attribute | None], Any]
    among_attributes: bool = True  # whether it may stand among the attributes, where there are no properties


class Inside(FrozenValue):
    """A region with one block: the field of its operations, how it ends, and the fields of its arguments."""

    body: str
    terminator: type[Op] | None
    arguments: tuple[str, ...] = ()
    optional: bool = False  # no block at all where the field is empty


class Row(FrozenValue):
    """The text of one class of operations: what the annotations of its fields do not say.

    `form` is the custom form, where no function reads and writes it; where the class stands for several operations,
    `forms` has it for each by its name after the dialect. All else is said of the generic form. `inherent` names
    further properties, kept among the operation's attributes, with what they are where nothing is said. `maps` names
    the properties of fields that hold affine expressions, where it is not `map`.
    """

    cls: type[Op]
    form: Form | None = None
    properties: tuple[Property, ...] = ()
    regions: tuple[Inside, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    inherent: Mapping[str, Attribute | None] = field(default_factory=dict)
    maps: Mapping[str, str] = field(default_factory=dict)
    write: Callable[[Any, Writing], Opaque] | None = None
    read: Callable[[Opaque, Reading], Op] | None = None

    @cached_property
    def operands(self) -> tuple[Part, ...]:
        """The fields of operands, in order."""
        return self.parts(roles(self.cls).operands)

    @cached_property
    def results(self) -> tuple[Part, ...]:
        """The fields of results, in order."""
        return self.parts(roles(self.cls).results)

    @cached_property
    def segments(self) -> bool:
        """Whether operandSegmentSizes must say which operands belong to which field."""
        return sum(part.kind != "one" for part in self.operands) > 1

    def parts(self, names: Sequence[str]) -> tuple[Part, ...]:
        """Fields, as the class annotates them."""
        types = {f.name: str(f.type) for f in fields(self.cls)}
        return tuple([Part(name, _KINDS[types[name]], self.maps.get(name, "map")) for name in names])


_BY_CLASS: dict[type[Op], Row] = {}
_BY_NAME: dict[str, Row] = {}


def register(rows: Sequence[Row]) -> None:
    """Make rows known: each dialect does this once, when it is imported."""
    for row in rows:
        _BY_CLASS[row.cls] = row
        names = [f"{row.cls.name}.{kind}" for kind in row.forms] if row.forms else [row.cls.name]
        _BY_NAME.update(dict.fromkeys(names, row))


def row_of(name: str) -> Row:
    """The row of an operation that the IR has a class for."""
    return _BY_NAME[name]


def forms() -> dict[str, Form]:
    """The custom forms by the names of operations, of all that have one."""
    found = {name: row.forms.get(name.partition(".")[2], row.form) for name, row in _BY_NAME.items()}
    return {name: form for name, form in found.items() if form is not None}


def is_known(name: str) -> bool:
    """Whether the IR has a class for an operation."""
    return name in _BY_NAME


def generic_form(op: Op, writing: Writing) -> Opaque:
    """An operation as an opaque one: what its generic form says. Raises TypeError if there is no row for its class."""
    row = _BY_NAME.get(op_name(op)) or _BY_CLASS.get(type(op))
    if row is None:
        raise TypeError(f"no generic form is known for the operation {type(op).__name__} ({op_name(op)})")
    if row.write is not None:
        return row.write(op, writing)
    properties: list[tuple[str, Attribute]] = []
    operands: list[Value] = []
    sizes: list[int] = []
    for part in row.operands:
        values = _operands(op, part, writing, properties)
        operands += values
        sizes.append(len(values))
    if row.segments:
        properties.append(segments(*sizes))
    for prop in row.properties:
        attribute = prop.to_attribute(getattr(op, prop.name))
        if attribute is not None:
            properties.append((prop.property, attribute))
    discardable = op.attributes
    if discardable and row.inherent:
        properties += [entry for entry in op.attributes if entry[0] in row.inherent]
        discardable = without(op.attributes, *row.inherent)
    properties.sort(key=lambda entry: entry[0])
    results = tuple([v for part in row.results for v in _values(getattr(op, part.name))])
    return Opaque(
        op_name(op), tuple(operands), results, tuple(properties),
        tuple([_region(op, inside, end_of(op, n)) for n, inside in enumerate(row.regions)]) if row.regions else (),
        attributes=discardable, location=op.location,
    )  # fmt: skip


def _operands(op: Op, part: Part, writing: Writing, properties: list[tuple[str, Attribute]]) -> tuple[Value, ...]:
    if part.kind in ("map", "set", "expr"):
        positional = writing.positional(op, part.name)
        properties.append((part.property, OpaqueAttr(writing.alias(positional.text))))
        return (*positional.dims, *positional.symbols)
    return _values(getattr(op, part.name))


def _values(found: object) -> tuple[Value, ...]:
    match found:
        case None:
            return ()
        case Value():
            return (found,)
        case tuple():
            return found
        case _:
            raise TypeError(f"no values: {found!r}")


def end_of(op: Op, block: int) -> Location | None:
    """The place of a terminator that is not stored."""
    place = op.ends[block] if block < len(op.ends) else None
    return place or op.location


def _region(op: Op, inside: Inside, end: Location | None) -> OpaqueRegion:
    body: Block = getattr(op, inside.body)
    if inside.optional and not body:
        return OpaqueRegion(())
    args = tuple([v for name in inside.arguments for v in _values(getattr(op, name))])
    return OpaqueRegion((OpaqueBlock("", args, ended(body, inside.terminator, end)),))


def ended(body: Block, terminator: type[Op] | None, end: Location | None) -> Block:
    """A block with its terminator, where that was left out."""
    if terminator is None or (body and body[-1].is_terminator):
        return body
    make: Callable[..., Op] = terminator
    return (*body, make((), location=end))


def typed_form(opaque: Opaque, reading: Reading) -> Op:
    """An operation of its class, from what its generic form says; itself if the IR has no class for it."""
    row = _BY_NAME.get(opaque.kind)
    if row is None or any(len(r.blocks_inside) > 1 for r in opaque.regions if isinstance(r, OpaqueRegion)):
        return opaque
    if opaque.kind.startswith(_NOT_FOREIGN) and _is_foreign(opaque):
        return opaque
    if row.read is not None:
        return row.read(opaque, reading)
    said = dict(opaque.properties) if opaque.properties else dict(opaque.attributes)
    fields: dict[str, Any] = {}
    written: dict[str, Applied] = {}
    _read_operands(opaque, row, said, fields, written, reading)
    _read_results(opaque, row, fields, reading)
    for prop in row.properties:
        try:
            taken = bool(opaque.properties) or prop.among_attributes
            fields[prop.name] = prop.from_attribute(said.pop(prop.property, None) if taken else None)
        except ValueError as problem:
            reading.refuse(opaque, f"the property {prop.property} of {opaque.kind} {problem}")
    _read_regions(opaque, row, fields, reading)
    if row.forms:
        fields["kind"] = opaque.kind.partition(".")[2]
    rest = [(n, a) for n, a in said.items() if row.inherent.get(n) != a]
    for name, attribute in rest:
        if name in row.inherent and (wrong := problem_of_flag(name, attribute)) is not None:
            reading.refuse(opaque, wrong)
    discardable = opaque.attributes if opaque.properties else ()
    unknown = [n for n, _ in rest if n not in row.inherent] if opaque.properties else []
    if unknown:
        reading.refuse(opaque, f"{opaque.kind} has no property {unknown[0]}")
    ends = _ends(opaque, fields, row)
    attributes = (*rest, *discardable)
    return row.cls(**fields, ends=ends, location=opaque.location, attributes=attributes, written=written or None)


_NOT_FOREIGN = ("arith.", "complex.", "math.", "vector.transfer_")
"""What has classes only for types that have one."""


def _is_foreign(opaque: Opaque) -> bool:
    """Whether an operand or result has a type without a class."""
    types = OpaqueType | MemRefType if opaque.kind == "arith.bitcast" else OpaqueType
    return any(isinstance(v.type, types) for v in (*opaque.operands, *opaque.results))


def _ends(opaque: Opaque, fields: Mapping[str, Any], row: Row) -> tuple[Location | None, ...]:
    """The places of the terminators that are not stored."""
    if not row.regions:
        return ()
    found: list[Location | None] = []
    for inside, region in zip(row.regions, opaque.regions, strict=True):
        ops = [op for block in region.blocks() for b in block if isinstance(b, OpaqueBlock) for op in b.body]
        found.append(ops[-1].location if len(ops) > len(fields[inside.body]) else None)
    return tuple(found) if any(found) else ()


def _read_operands(
    opaque: Opaque,
    row: Row,
    said: dict[str, Attribute],
    fields: dict[str, Any],
    written: dict[str, Applied],
    reading: Reading,
) -> None:
    sizes = _sizes(opaque, row, said, reading)
    rest = list(opaque.operands)
    for part, size in zip(row.operands, sizes, strict=True):
        values, rest = tuple(rest[:size]), rest[size:]
        if part.kind in ("map", "set", "expr"):
            made = _applied(opaque, part, said.pop(part.property, None), values, reading)
            written[part.name] = made
            if part.kind == "expr" and len(made.means) != 1:
                reading.refuse(opaque, f"the map of {opaque.kind} must have one result")
            fields[part.name] = made.means[0] if part.kind == "expr" else made.means
        elif part.kind == "many":
            fields[part.name] = values
        else:
            fields[part.name] = values[0]


def _sizes(opaque: Opaque, row: Row, said: dict[str, Attribute], reading: Reading) -> list[int]:
    """How many operands each part has."""
    given = len(opaque.operands)
    if row.segments:
        match said.pop("operandSegmentSizes", None):
            case DenseArrayAttr(type, items) if type == I32 and len(items) == len(row.operands):
                sizes = [int(item) for item in items]
            case _:
                reading.refuse(
                    opaque, f"{opaque.kind} needs operandSegmentSizes with {len(row.operands)} numbers of type i32"
                )
        for part, size in zip(row.operands, sizes, strict=True):
            if (part.kind == "one" and size != 1) or size < 0:
                reading.refuse(opaque, f"operandSegmentSizes gives {size} values for {part.name}")
    else:
        kinds = [part.kind for part in row.operands]
        rest = given - kinds.count("one")
        sizes = [1 if kind == "one" else rest for kind in kinds]
    if row.segments and sum(sizes) != given:
        reading.refuse(opaque, f"operandSegmentSizes adds up to {sum(sizes)}, but {opaque.kind} has {given} operands")
    if sum(sizes) != given or (sizes and min(sizes) < 0):
        reading.refuse(opaque, f"{opaque.kind} takes {max(sum(sizes), 0)} operands, got {given}")
    return sizes


def _applied(
    opaque: Opaque, part: Part, attribute: Attribute | None, values: tuple[Value, ...], reading: Reading
) -> Applied:
    what = "set" if part.kind == "set" else "map"
    match attribute, part.kind:
        case MapAttr(AffineMap() as map), "map" | "expr":
            trees, equalities, dims, symbols = map.written, None, map.dims, map.symbols
        case MapAttr(IntegerSet() as set), "set":
            trees, equalities = tuple([t for t, _ in set.written]), tuple([e for _, e in set.written])
            dims, symbols = set.dims, set.symbols
        case _:
            reading.refuse(opaque, f"{opaque.kind} needs the property {part.property}, an affine {what}")
    if len(values) != dims + symbols:
        rule = "operand count and affine map dimension and symbol count must match"
        if part.name == "index":
            rule = "expects as many subscripts as affine map inputs"
        reading.refuse(opaque, f"'{opaque.kind}' op {rule}: the {what} takes {dims + symbols}, got {len(values)}")
    try:
        return applied(trees, values[:dims], values[dims:], equalities)
    except ZeroDivisionError as problem:
        reading.refuse(opaque, str(problem))


def _read_results(opaque: Opaque, row: Row, fields: dict[str, Any], reading: Reading) -> None:
    rest = list(opaque.results)
    fixed = [part.kind for part in row.results].count("one")
    variadic = len(row.results) > fixed
    if len(rest) < fixed or (len(rest) > fixed and not variadic):
        reading.refuse(opaque, f"{opaque.kind} has {fixed} results, got {len(rest)}")
    for part in row.results:
        if part.kind == "one":
            fields[part.name] = rest.pop(0)
        else:
            fields[part.name], rest = tuple(rest), []


def _read_regions(opaque: Opaque, row: Row, fields: dict[str, Any], reading: Reading) -> None:
    regions = [region for region in opaque.regions if isinstance(region, OpaqueRegion)]
    if len(regions) != len(row.regions):
        reading.refuse(opaque, f"{opaque.kind} has {len(row.regions)} regions, got {len(regions)}")
    for inside, region in zip(row.regions, regions, strict=True):
        blocks = [block for block in region.blocks_inside if isinstance(block, OpaqueBlock)]
        if not blocks:
            if not inside.optional:
                reading.refuse(opaque, f"a region of {opaque.kind} has no block")
            fields[inside.body] = ()
            continue
        args = list(blocks[0].args)
        for part in row.parts(inside.arguments):
            if part.kind == "one":
                if not args:
                    reading.refuse(opaque, f"the block of {opaque.kind} has too few arguments")
                fields[part.name] = args.pop(0)
            else:
                fields[part.name], args = tuple(args), []
        if args:
            reading.refuse(opaque, f"the block of {opaque.kind} has {len(args)} arguments too many")
        fields[inside.body] = without_terminator(opaque, blocks[0].body, inside.terminator, inside.optional, reading)


def without_terminator(
    opaque: Opaque, ops: Block, terminator: type[Op] | None, keep_alone: bool, reading: Reading
) -> Block:
    """A block less a terminator of its own kind that says nothing; one that stands alone may have to stay."""
    if terminator is None:
        return ops
    if not ops or not may_end(ops[-1]):
        reading.refuse(opaque, f"a block of {opaque.kind} does not end with {terminator.name}")
    last = ops[-1]
    silent = isinstance(last, terminator) and not last.attributes and not any(True for _ in last.reads())
    return ops[:-1] if silent and not (keep_alone and len(ops) == 1) else ops


# Attributes of the usual kinds.


def number_property(name: str, property: str, type: Any, default: int | None = None) -> Property:  # noqa: ANN401
    """A field that is a number, as an integer attribute of a type; absent where it is None."""

    def back(attribute: Attribute | None) -> int | None:
        if attribute is None:
            return default
        if not isinstance(attribute, IntegerAttr):
            raise ValueError("must be an integer")
        if attribute.type != type:
            raise ValueError(f"must be a number of type {type}, not {attribute.type}")
        return attribute.value

    return Property(name, property, lambda n: None if n is None else IntegerAttr(n, type), back)


def named(attributes: Attributes, name: str) -> Attribute | None:
    """The attribute of a name; None if there is none."""
    return dict(attributes).get(name)


def segments(*sizes: int) -> tuple[str, Attribute]:
    """How many operands belong to each field."""
    return "operandSegmentSizes", DenseArrayAttr(I32, tuple(map(str, sizes)))
