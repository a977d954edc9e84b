"""The vector dialect, read from its custom form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affdsl.ir.attributes import Attribute, Attributes, DenseArrayAttr, DictAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.maps import AffineMap
from affdsl.ir.mixed import Static, unmixed
from affdsl.ir.types import I1, INDEX, FloatType, IntegerType, MemRefType, Type, VectorType
from affdsl.ir.verifier.types import element
from affdsl.mlir.generic.rows import Property
from affdsl.mlir.generic.vector import (
    ALIGNMENT,
    COMBINE,
    IN_BOUNDS,
    ITERATORS,
    MAP,
    MAPS,
    NONTEMPORAL,
    OFFSETS,
    SIZES,
    STRIDES,
)
from affdsl.mlir.parser import Head, Parser, Reader, Use
from affdsl.mlir.reading.arith import flags

I32 = IntegerType(32)


def _base(p: Parser) -> tuple[Use, list[Use]]:
    """`%m[%i, %j]`"""
    return p.use(), list(p.listed(p.use, "[", "]"))


def _indices(p: Parser, uses: list[Use]) -> tuple[Value, ...]:
    return p.typed(uses, (INDEX,) * len(uses))


def _vector(p: Parser) -> VectorType:
    place, type = p.scanner.start, p.type()
    if not isinstance(type, VectorType):
        p.scanner.fail(f"expected a type like vector<4xf32>, got {type}", place)
    return type


def _memref(p: Parser, head: Head) -> MemRefType:
    place, type = p.scanner.start, p.type()
    if not isinstance(type, MemRefType):
        p.scanner.fail(f"{head.name} needs a memref, got {type}", place)
    return type


def then(p: Parser) -> Use:
    """`, %x`"""
    p.scanner.expect(",")
    return p.use()


def _dictionary(p: Parser, *wanted: Property) -> tuple[list[Any], Attributes]:
    """`{name = attribute, ...}`: what it says of some fields, None for those that it does not, and the rest."""
    place, attributes = p.scanner.start, p.dictionary()
    said = dict(attributes)
    found = [_field(p, prop, said[prop.property], place) if prop.property in said else None for prop in wanted]
    names = [prop.property for prop in wanted]
    return found, tuple([entry for entry in attributes if entry[0] not in names])


def _needed(p: Parser, head: Head, *wanted: Property) -> tuple[list[Any], Attributes]:
    """A dictionary that says all of some fields."""
    place = p.scanner.start
    found, rest = _dictionary(p, *wanted)
    for prop, value in zip(wanted, found, strict=True):
        if value is None:
            p.scanner.fail(f"{head.name} needs the attribute {prop.property}", place)
    return found, rest


def _field(p: Parser, prop: Property, attribute: Attribute, place: int) -> Any:  # noqa: ANN401
    try:
        return prop.from_attribute(attribute)
    except ValueError as problem:
        p.scanner.fail(f"the attribute {prop.property} {problem}", place)


def kind(p: Parser) -> str:
    """`<add>`, or `"add"` as it was written in 2019"""
    s = p.scanner
    if s.is_string:
        place, name = s.start, s.string()
    else:
        s.expect("<")
        place, name = s.start, s.word()
        s.expect(">")
    if name not in vector.KINDS and name not in _OLD:
        s.fail(f"there is no kind {name}; known: {', '.join(vector.KINDS)}", place)
    return name


_OLD = {"min": ("minnumf", "minsi"), "max": ("maxnumf", "maxsi")}
"""What the kinds of 2019 are for floats and for integers."""


def _numbers(p: Parser) -> tuple[int, ...]:
    """`[1, 2]`"""
    return p.listed(p.scanner.integer, "[", "]")


def read_transfer_read(p: Parser, head: Head) -> Op:
    """`vector.transfer_read %A[%i], %pad, %mask {in_bounds = [true]} : memref<...>, vector<...>`"""
    base, at = _base(p)
    pad = then(p)
    mask = [p.use()] if p.scanner.accept(",") else []
    place = p.scanner.start
    (map, in_bounds), attributes = _dictionary(p, MAP, IN_BOUNDS)
    source = p.colon_type()
    p.scanner.expect(",")
    type = _vector(p)
    map, in_bounds, of = _transfer(p, map, in_bounds, source, type, place)
    memref, indices, padding = p.resolve(base, source), _indices(p, at), p.resolve(pad, of)
    masks = tuple(p.resolve(use, _mask_type(map, type)) for use in mask)
    result = p.result(head, type)
    if not isinstance(source, MemRefType):
        operands, counts = (memref, *indices, padding, *masks), (1, len(indices), 1, len(masks))
        return _opaque_transfer(head, operands, (result,), counts, map, in_bounds, attributes)
    return vector.TransferRead(
        result, memref, indices, padding, map, in_bounds, masks, location=head.location, attributes=attributes
    )  # fmt: skip


def read_transfer_write(p: Parser, head: Head) -> Op:
    """`vector.transfer_write %v, %A[%i], %mask {in_bounds = [true]} : vector<...>, memref<...>`"""
    stored = p.use()
    p.scanner.expect(",")
    base, at = _base(p)
    mask = [p.use()] if p.scanner.accept(",") else []
    place = p.scanner.start
    (map, in_bounds), attributes = _dictionary(p, MAP, IN_BOUNDS)
    p.scanner.expect(":")
    type = _vector(p)
    p.scanner.expect(",")
    target = p.type()
    map, in_bounds, _ = _transfer(p, map, in_bounds, target, type, place)
    value, memref, indices = p.resolve(stored, type), p.resolve(base, target), _indices(p, at)
    masks = tuple(p.resolve(use, _mask_type(map, type)) for use in mask)
    if not isinstance(target, MemRefType):
        operands, counts = (value, memref, *indices, *masks), (1, 1, len(indices), len(masks))
        return _opaque_transfer(head, operands, p.results(head, (target,)), counts, map, in_bounds, attributes)
    p.no_results(head)
    return vector.TransferWrite(
        value, memref, indices, map, in_bounds, masks, location=head.location, attributes=attributes
    )  # fmt: skip


def _transfer(
    p: Parser,
    map: AffineMap | None,
    in_bounds: tuple[bool, ...] | None,
    source: Type,
    type: VectorType,
    place: int,
) -> tuple[AffineMap, tuple[bool, ...], Type]:
    """Map and flags, with what they are where nothing is said; the type of an element of memref."""
    rank, of = _shaped(p, source, place)
    inner = of.rank if isinstance(of, VectorType) else 0
    if map is None:
        if rank < type.rank - inner:
            p.scanner.fail(f"{type} has more dimensions than {source}, which has {rank}: say a permutation_map", place)
        map = vector.minor_identity(rank, type.rank - inner)
    if in_bounds is None:
        in_bounds = (False,) * len(map.results)
    return map, in_bounds, of


def _shaped(p: Parser, source: Type, place: int) -> tuple[int, Type]:
    """The rank and the elements' type of a memref, or of a tensor, which is kept as text."""
    if isinstance(source, MemRefType):
        return source.rank, source.element
    text = str(source)
    if not text.startswith("tensor<") or text.startswith("tensor<*"):
        p.scanner.fail(f"expected a memref or a tensor, got {source}", place)
    sizes, _, last = text[7:-1].split(",")[0].rpartition("x")
    names = {"index": INDEX} | {name: FloatType(name) for name in ("f16", "bf16", "f32", "f64")}
    of = names.get(last) or (IntegerType(int(last[1:])) if last[1:].isdigit() else None)
    if of is None:
        p.scanner.fail(f"transfers of {source} are read in generic form only", place)
    return len(sizes.split("x")) if sizes else 0, of


def _mask_type(map: AffineMap, type: VectorType) -> VectorType:
    scalable = type.scalable or (False,) * type.rank
    kept = [k for k in vector.mask_dims(map) if k < type.rank]
    flags = tuple(scalable[k] for k in kept)
    return VectorType(tuple(type.shape[k] for k in kept), I1, flags if any(flags) else ())


def _opaque_transfer(
    head: Head,
    operands: tuple[Value, ...],
    results: tuple[Value, ...],
    counts: tuple[int, ...],
    map: AffineMap,
    in_bounds: tuple[bool, ...],
    attributes: Attributes,
) -> Opaque:
    """A transfer of a tensor, which has no class here."""
    said = (
        ("in_bounds", IN_BOUNDS.to_attribute(in_bounds)),
        ("operandSegmentSizes", DenseArrayAttr(I32, tuple(str(n) for n in counts))),
        ("permutation_map", MAP.to_attribute(map)),
    )
    properties = tuple([(name, attribute) for name, attribute in said if attribute is not None])
    return Opaque(head.name, operands, results, properties, location=head.location, attributes=attributes)


def read_load(p: Parser, head: Head) -> Op:
    """`vector.load %A[%i] : memref<...>, vector<...>`"""
    base, at = _base(p)
    (nontemporal, alignment), attributes = _dictionary(p, NONTEMPORAL, ALIGNMENT)
    p.scanner.expect(":")
    source = _memref(p, head)
    p.scanner.expect(",")
    type = _vector(p)
    memref, indices = p.resolve(base, source), _indices(p, at)
    return vector.Load(
        p.result(head, type), memref, indices, bool(nontemporal), alignment,
        location=head.location, attributes=attributes,
    )  # fmt: skip


def read_store(p: Parser, head: Head) -> Op:
    """`vector.store %v, %A[%i] : memref<...>, vector<...>`"""
    p.no_results(head)
    stored = p.use()
    p.scanner.expect(",")
    base, at = _base(p)
    (nontemporal, alignment), attributes = _dictionary(p, NONTEMPORAL, ALIGNMENT)
    p.scanner.expect(":")
    target = _memref(p, head)
    p.scanner.expect(",")
    value = p.resolve(stored, _vector(p))
    return vector.Store(
        value, p.resolve(base, target), _indices(p, at), bool(nontemporal), alignment,
        location=head.location, attributes=attributes,
    )  # fmt: skip


def read_masked(p: Parser, head: Head) -> Op:
    """`vector.maskedload %A[%i], %mask, %v : memref<...>, vector<...>, vector<...> into vector<...>`, and the like

    With offsets: `vector.gather %A[%i] [%offsets], %mask, %v : ...`.
    """
    cls = _MASKED[head.name]
    base, at = _base(p)
    offsets = list(p.listed(p.use, "[", "]")) if cls in (vector.Gather, vector.Scatter) else []
    mask, value = then(p), then(p)
    (alignment,), attributes = _dictionary(p, ALIGNMENT)
    p.scanner.expect(":")
    types: list[Type] = [_memref(p, head)]
    for _ in (*offsets, mask, value):
        p.scanner.expect(",")
        types.append(_vector(p))
    memref, *vectors = p.typed([base, *offsets, mask, value], types)
    result: tuple[Value, ...] = ()
    if p.scanner.accept("into"):
        result = (p.result(head, _vector(p)),)
    elif cls in (vector.MaskedLoad, vector.Gather, vector.ExpandLoad):
        p.scanner.fail("expected 'into'")
    if cls in (vector.MaskedStore, vector.Scatter, vector.CompressStore):
        p.no_results(head)
    return cls(  # type: ignore[no-any-return]
        *result, memref, _indices(p, at), *vectors, alignment, location=head.location, attributes=attributes
    )  # fmt: skip


_MASKED: dict[str, Any] = {
    cls.name: cls
    for cls in (
        vector.MaskedLoad, vector.MaskedStore, vector.Gather, vector.Scatter, vector.ExpandLoad, vector.CompressStore,
    )
}  # fmt: skip


def read_fma(p: Parser, head: Head) -> Op:
    """`vector.fma %a, %b, %c : vector<...>`"""
    uses = [p.use(), then(p), then(p)]
    attributes = p.dictionary()
    type = p.colon_type()
    a, b, c = p.typed(uses, (type,) * 3)
    return vector.Fma(p.result(head, type), a, b, c, location=head.location, attributes=attributes)


def read_reduction(p: Parser, head: Head) -> Op:
    """`vector.reduction <add>, %v, %acc fastmath<reassoc> : vector<...> into f32`"""
    combine = kind(p)
    source = then(p)
    acc = [p.use()] if p.scanner.accept(",") else []
    attributes = flags(p, head)
    value = p.resolve(source, p.colon_type())
    p.scanner.expect("into")
    type = p.type()
    start = p.typed(acc, (type,) * len(acc))
    result = p.result(head, type)
    return vector.Reduction(
        result, _new_kind(combine, type), value, start, location=head.location, attributes=attributes
    )  # fmt: skip


def _new_kind(kind: str, type: Type) -> str:
    floats, integers = _OLD.get(kind, (kind, kind))
    return floats if isinstance(element(type), FloatType) else integers


def read_multi_reduction(p: Parser, head: Head) -> Op:
    """`vector.multi_reduction <add>, %v, %acc [0, 1] : vector<...> to f32`"""
    combine = kind(p)
    source, acc = then(p), then(p)
    attributes = p.dictionary()
    dims = _numbers(p)
    value = p.resolve(source, p.colon_type())
    p.scanner.expect("to")
    type = p.type()
    start = p.resolve(acc, type)
    result = p.result(head, type)
    return vector.MultiReduction(
        result, _new_kind(combine, type), value, start, dims, location=head.location, attributes=attributes
    )  # fmt: skip


def read_contract(p: Parser, head: Head) -> Op:
    """`vector.contract {indexing_maps = [...], iterator_types = [...]} %a, %b, %c : ..., ... into f32`"""
    s = p.scanner
    place = s.start
    said = p.attribute()
    entries = said.items if isinstance(said, DictAttr) else ()
    known = dict(entries)
    missing = [prop.property for prop in (MAPS, ITERATORS) if prop.property not in known]
    if missing:
        s.fail(f"vector.contract needs the attribute {missing[0]}", place)
    maps, iterators = (_field(p, prop, known[prop.property], place) for prop in (MAPS, ITERATORS))
    combine = _field(p, COMBINE, known["kind"], place) if "kind" in known else "add"
    uses = p.uses()
    attributes = p.dictionary()
    types = [p.colon_type()]
    s.expect(",")
    types.append(p.type())
    s.expect("into")
    type = p.type()
    left, right, acc = p.typed(uses, [*types, type], place)
    rest = tuple([e for e in entries if e[0] not in ("indexing_maps", "iterator_types", "kind")])
    return vector.Contract(
        p.result(head, type), left, right, acc, maps, iterators, combine,
        location=head.location, attributes=(*rest, *attributes),
    )  # fmt: skip


def read_outer_product(p: Parser, head: Head) -> Op:
    """`vector.outerproduct %a, %b, %acc {kind = #vector.kind<add>} : vector<...>, vector<...>`"""
    uses = [p.use(), then(p)]
    acc = [p.use()] if p.scanner.accept(",") else []
    (combine,), attributes = _dictionary(p, COMBINE)
    p.scanner.expect(":")
    left = _vector(p)
    p.scanner.expect(",")
    right = p.type()
    shape = left.shape + (right.shape if isinstance(right, VectorType) else ())
    sides = [t.scalable or (False,) * t.rank for t in (left, right) if isinstance(t, VectorType)]
    scalable = tuple(flag for side in sides for flag in side)
    type = VectorType(shape, left.element, scalable if any(scalable) else ())
    a, b, *start = p.typed([*uses, *acc], [left, right, *(type for _ in acc)])
    return vector.OuterProduct(
        p.result(head, type), a, b, tuple(start), combine or "add", location=head.location, attributes=attributes
    )  # fmt: skip


def read_cast(p: Parser, head: Head) -> Op:
    """`vector.broadcast %x : f32 to vector<...>`; shape_cast and bitcast"""
    use, attributes = p.use(), p.dictionary()
    value = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    result = p.result(head, p.type())
    cls = _CASTS[head.name]
    return cls(result, value, location=head.location, attributes=attributes)  # type: ignore[no-any-return]


_CASTS: dict[str, Any] = {cls.name: cls for cls in (vector.Broadcast, vector.ShapeCast, vector.BitCast)}


def read_splat(p: Parser, head: Head) -> Op:
    """`vector.splat %x : vector<...>`, which is a broadcast today"""
    use, attributes = p.use(), p.dictionary()
    p.scanner.expect(":")
    type = _vector(p)
    value = p.resolve(use, type.element)
    return vector.Broadcast(p.result(head, type), value, location=head.location, attributes=attributes)


def _position(p: Parser) -> tuple[Static, tuple[Value, ...]]:
    """`[1, %i]`"""
    parts = p.listed(lambda: p.operand(INDEX) if p.is_value else p.scanner.integer(), "[", "]")
    return unmixed(parts)


def read_extract(p: Parser, head: Head) -> Op:
    """`vector.extract %v[1, %i] : f32 from vector<...>`"""
    use = p.use()
    static, position = _position(p)
    attributes = p.dictionary()
    type = p.colon_type()
    p.scanner.expect("from")
    source = p.resolve(use, p.type())
    return vector.Extract(
        p.result(head, type), source, position, static, location=head.location, attributes=attributes
    )  # fmt: skip


def read_insert(p: Parser, head: Head) -> Op:
    """`vector.insert %x, %v [1, %i] : f32 into vector<...>`"""
    use, target = p.use(), then(p)
    static, position = _position(p)
    attributes = p.dictionary()
    value = p.resolve(use, p.colon_type())
    p.scanner.expect("into")
    type = p.type()
    return vector.Insert(
        p.result(head, type), value, p.resolve(target, type), position, static,
        location=head.location, attributes=attributes,
    )  # fmt: skip


def read_extract_slice(p: Parser, head: Head) -> Op:
    """`vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<...> to vector<...>`"""
    use = p.use()
    (offsets, sizes, strides), attributes = _needed(p, head, OFFSETS, SIZES, STRIDES)
    source = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    return vector.ExtractStridedSlice(
        p.result(head, p.type()), source, offsets, sizes, strides, location=head.location, attributes=attributes
    )  # fmt: skip


def read_insert_slice(p: Parser, head: Head) -> Op:
    """`vector.insert_strided_slice %x, %v {offsets = [1], strides = [1]} : vector<...> into vector<...>`"""
    use, target = p.use(), then(p)
    (offsets, strides), attributes = _needed(p, head, OFFSETS, STRIDES)
    value = p.resolve(use, p.colon_type())
    p.scanner.expect("into")
    type = p.type()
    return vector.InsertStridedSlice(
        p.result(head, type), value, p.resolve(target, type), offsets, strides,
        location=head.location, attributes=attributes,
    )  # fmt: skip


def read_shuffle(p: Parser, head: Head) -> Op:
    """`vector.shuffle %a, %b [0, 3, 1] : vector<...>, vector<...>`"""
    uses = [p.use(), then(p)]
    mask = _numbers(p)
    attributes = p.dictionary()
    p.scanner.expect(":")
    first = _vector(p)
    p.scanner.expect(",")
    left, right = p.typed(uses, (first, p.type()))
    type = VectorType((len(mask), *first.shape[1:]), first.element)
    return vector.Shuffle(p.result(head, type), left, right, mask, location=head.location, attributes=attributes)


def read_transpose(p: Parser, head: Head) -> Op:
    """`vector.transpose %v, [1, 0] : vector<...> to vector<...>`"""
    use = p.use()
    p.scanner.expect(",")
    permutation = _numbers(p)
    attributes = p.dictionary()
    source = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    return vector.Transpose(
        p.result(head, p.type()), source, permutation, location=head.location, attributes=attributes
    )  # fmt: skip


def read_from_elements(p: Parser, head: Head) -> Op:
    """`vector.from_elements %x, %y : vector<2xf32>`"""
    uses, attributes = p.uses_or_none(), p.dictionary()
    p.scanner.expect(":")
    type = _vector(p)
    elements = p.typed(uses, (type.element,) * len(uses))
    return vector.FromElements(p.result(head, type), elements, location=head.location, attributes=attributes)


def read_to_elements(p: Parser, head: Head) -> Op:
    """`vector.to_elements %v : vector<2xf32>`"""
    use, attributes = p.use(), p.dictionary()
    p.scanner.expect(":")
    type = _vector(p)
    source = p.resolve(use, type)
    count = 1
    for size in type.shape:
        count *= size
    results = p.results(head, (type.element,) * (len(head.results) or min(count, 1 << 20)))
    return vector.ToElements(results, source, location=head.location, attributes=attributes)


def read_step(p: Parser, head: Head) -> Op:
    """`vector.step : vector<4xindex>`"""
    attributes = p.dictionary()
    return vector.Step(p.result(head, p.colon_type()), location=head.location, attributes=attributes)


def read_create_mask(p: Parser, head: Head) -> Op:
    """`vector.create_mask %n, %m : vector<4x8xi1>`"""
    uses, attributes = p.uses_or_none(), p.dictionary()
    bounds = _indices(p, uses)
    return vector.CreateMask(p.result(head, p.colon_type()), bounds, location=head.location, attributes=attributes)


def read_constant_mask(p: Parser, head: Head) -> Op:
    """`vector.constant_mask [3, 4] : vector<4x8xi1>`"""
    sizes, attributes = _numbers(p), p.dictionary()
    return vector.ConstantMask(p.result(head, p.colon_type()), sizes, location=head.location, attributes=attributes)


READERS: Mapping[str, Reader] = {
    "vector.transfer_read": read_transfer_read, "vector.transfer_write": read_transfer_write,
    "vector.load": read_load, "vector.store": read_store,
    "vector.fma": read_fma, "vector.reduction": read_reduction, "vector.multi_reduction": read_multi_reduction,
    "vector.contract": read_contract, "vector.outerproduct": read_outer_product,
    "vector.splat": read_splat, "vector.extract": read_extract, "vector.insert": read_insert,
    "vector.extract_strided_slice": read_extract_slice, "vector.insert_strided_slice": read_insert_slice,
    "vector.shuffle": read_shuffle, "vector.transpose": read_transpose,
    "vector.from_elements": read_from_elements, "vector.to_elements": read_to_elements,
    "vector.step": read_step, "vector.create_mask": read_create_mask, "vector.constant_mask": read_constant_mask,
} | dict.fromkeys(_MASKED, read_masked) | dict.fromkeys(_CASTS, read_cast)  # fmt: skip
