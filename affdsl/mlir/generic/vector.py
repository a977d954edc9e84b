"""The vector dialect in generic form."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

from affdsl.ir.attributes import ArrayAttr, Attribute, DenseArrayAttr, IntegerAttr, MapAttr, OpaqueAttr, StringAttr
from affdsl.ir.dialects import vector
from affdsl.ir.maps import AffineMap
from affdsl.ir.mixed import Static
from affdsl.ir.types import I1, I64, FloatType, Type, VectorType, element_of
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.form import Form, Said
from affdsl.mlir.generic.rows import Property, Row, number_property
from affdsl.mlir.generic.views import DYNAMIC, static_attribute

T = TypeVar("T")


def _kind(attribute: Attribute | None) -> str:
    match attribute:
        case None:
            return "add"
        case OpaqueAttr(text) if text.startswith("#vector.kind<") and text[13:-1] in vector.KINDS:
            return text[13:-1]
    raise ValueError(f"must be #vector.kind<...> with one of {', '.join(vector.KINDS)}")


def _iterators(attribute: Attribute | None) -> tuple[str, ...]:
    names = {f"#vector.iterator_type<{kind}>": kind for kind in vector.ITERATORS}

    def name(item: Attribute) -> str:
        match item:
            case StringAttr(text) if text in vector.ITERATORS:
                return text
            case OpaqueAttr(text) if text in names:
                return names[text]
        raise ValueError(f"must be a list of {' and '.join(vector.ITERATORS)}, not of {attribute_text(item)}")

    return tuple([name(item) for item in _items(attribute)])


def _map(attribute: Attribute | None) -> AffineMap:
    match attribute:
        case MapAttr(AffineMap() as map):
            return map
    raise ValueError("must be an affine map")


def _integer(attribute: Attribute | None) -> int:
    if not isinstance(attribute, IntegerAttr):
        raise ValueError("must be a list of integers")
    return attribute.value


def _items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    if not isinstance(attribute, ArrayAttr):
        raise ValueError("must be a list")
    return attribute.items


def _static(attribute: Attribute | None) -> Static:
    return tuple(None if n == DYNAMIC else n for n in _dense(attribute))


def _dense(attribute: Attribute | None) -> tuple[int, ...]:
    if not isinstance(attribute, DenseArrayAttr):
        raise ValueError("must be array<i64: ...>")
    return tuple(int(item) for item in attribute.items)


def _listed(name: str, write: Callable[[T], Attribute], read: Callable[[Attribute], T], property: str = "") -> Property:
    """A field that is a tuple, as a list of attributes."""
    return Property(
        name, property or name,
        lambda parts: ArrayAttr(tuple([write(part) for part in parts])),
        lambda attribute: tuple([read(item) for item in _items(attribute)]),
    )  # fmt: skip


def _array(name: str, property: str = "") -> Property:
    """A field that is a tuple of numbers, as array<i64: ...>."""
    return Property(name, property or name, static_attribute, _dense)


def _flag(attribute: Attribute | None) -> bool:
    return attribute is not None and bool(_integer(attribute))


COMBINE = Property("combine", "kind", lambda kind: OpaqueAttr(f"#vector.kind<{kind}>"), _kind)
MAP = Property("map", "permutation_map", MapAttr, _map)
IN_BOUNDS = _listed("in_bounds", lambda b: IntegerAttr(int(b), I1), lambda a: bool(_integer(a)))
NONTEMPORAL = Property("nontemporal", "nontemporal", lambda b: IntegerAttr(1, I1) if b else None, _flag)
ALIGNMENT = number_property("alignment", "alignment", I64)
MAPS = _listed("maps", MapAttr, _map, "indexing_maps")
ITERATORS = Property(
    "iterators", "iterator_types",
    lambda kinds: ArrayAttr(tuple(OpaqueAttr(f"#vector.iterator_type<{kind}>") for kind in kinds)), _iterators,
)  # fmt: skip
OFFSETS, SIZES, STRIDES = (
    _listed(name, lambda n: IntegerAttr(n, I64), _integer) for name in ("offsets", "sizes", "strides")
)
POSITION = Property("static_position", "static_position", static_attribute, _static)

# The custom form of 2019: kinds as strings, min and max of floats or of integers.


def _kind_today(fields: dict[str, Any]) -> None:
    old = vector.OLD_KINDS.get(fields["combine"])
    if old is not None:
        floats, integers = old
        fields["combine"] = floats if isinstance(element_of(fields["result"].type), FloatType) else integers


# Types that follow from others


def _shuffled(said: Said) -> tuple[Type, ...]:
    (first,) = said.types["left"]
    assert isinstance(first, VectorType), "the form asks for a vector"
    return (VectorType((len(said.fields["mask"]), *first.shape[1:]), first.element),)


def _multiplied(said: Said) -> tuple[Type, ...]:
    """A dimension for each of those of the two sides, the right one of which may be a scalar."""
    sides = [type for name in ("left", "right") for type in said.types[name] if isinstance(type, VectorType)]
    flags = tuple([flag for type in sides for flag in type.scalable or (False,) * type.rank])
    shape = tuple([size for type in sides for size in type.shape])
    return (VectorType(shape, sides[0].element, flags if any(flags) else ()),)


def _elements(said: Said) -> tuple[Type, ...]:
    (source,) = said.types["source"]
    assert isinstance(source, VectorType), "the form asks for a vector"
    return (source.element,) * (said.names or min(prod(source.shape), 1 << 20))


def _access(text: str) -> Form:
    return Form(text, {"indices": "index"})


_CAST = Form("%source{} : <source> to <result>")
_OF_RESULT = "{} : <result>"
_MASKED = "%memref[%indices*], %mask, %{0}{{alignment}} : <memref:buffer>, <mask:vector>, <{0}:vector>"
_SPREAD = (
    "%memref[%indices*] [%offsets], %mask, %{0}{{alignment}} : "
    "<memref:buffer>, <offsets:vector>, <mask:vector>, <{0}:vector>"
)
_LOADED = " into <result:vector>"

ROWS = (
    Row(vector.TransferRead, properties=(MAP, IN_BOUNDS)),
    Row(vector.TransferWrite, properties=(MAP, IN_BOUNDS)),
    Row(
        vector.Load, _access("%memref[%indices*]{nontemporal alignment} : <memref:buffer>, <result:vector>"),
        (NONTEMPORAL, ALIGNMENT),
    ),
    Row(
        vector.Store, _access("%value, %memref[%indices*]{nontemporal alignment} : <memref:buffer>, <value:vector>"),
        (NONTEMPORAL, ALIGNMENT),
    ),
    Row(vector.MaskedLoad, _access(_MASKED.format("pass_thru") + _LOADED), (ALIGNMENT,)),
    Row(vector.MaskedStore, _access(_MASKED.format("value")), (ALIGNMENT,)),
    Row(vector.Gather, _access(_SPREAD.format("pass_thru") + _LOADED), (ALIGNMENT,)),
    Row(vector.Scatter, _access(_SPREAD.format("value")), (ALIGNMENT,)),
    Row(vector.ExpandLoad, _access(_MASKED.format("pass_thru") + _LOADED), (ALIGNMENT,)),
    Row(vector.CompressStore, _access(_MASKED.format("value")), (ALIGNMENT,)),
    Row(vector.Fma, Form("%a, %b, %c{} : <a,b,c,result>")),
    Row(
        vector.Reduction,
        Form(
            "combine:combine, %source(?, %acc?){flags} : <source> into <result>", {"acc": "result"}, made=_kind_today
        ),
        (COMBINE,), inherent={"fastmath": OpaqueAttr("#arith.fastmath<none>")},
    ),
    Row(
        vector.MultiReduction,
        Form("combine:combine, %source, %acc{} dims:numbers : <source> to <result,acc>", made=_kind_today),
        (COMBINE, _array("dims", "reduction_dims")),
    ),
    Row(vector.Contract, properties=(MAPS, ITERATORS, COMBINE)),
    Row(
        vector.OuterProduct,
        Form(
            "%left, %right(?, %acc?){combine} : <left:vector>, <right>", {"acc": _multiplied, "result": _multiplied}
        ),
        (COMBINE,),
    ),
    Row(vector.Broadcast, _CAST),
    Row(vector.Extract, Form("%source[mixed:position]{} : <result> from <source>"), (POSITION,)),
    Row(vector.Insert, Form("%value, %target [mixed:position]{} : <value> into <result,target>"), (POSITION,)),
    Row(
        vector.ExtractStridedSlice,
        Form("%source{offsets:numbers sizes:numbers strides:numbers} : <source> to <result>"),
        (OFFSETS, SIZES, STRIDES),
    ),
    Row(
        vector.InsertStridedSlice,
        Form("%value, %target{offsets:numbers strides:numbers} : <value> into <result,target>"), (OFFSETS, STRIDES),
    ),
    Row(
        vector.Shuffle,
        Form("%left, %right mask:numbers{} : <left:vector>, <right>", {"result": _shuffled}), (_array("mask"),),
    ),
    Row(
        vector.Transpose, Form("%source, permutation:numbers{} : <source> to <result>"), (_array("permutation"),)
    ),
    Row(vector.ShapeCast, _CAST),
    Row(vector.BitCast, _CAST),
    Row(vector.FromElements, Form("%elements*{} : <result:vector>", {"elements": "element result"})),
    Row(vector.ToElements, Form("%source{} : <source:vector>", {"results": _elements})),
    Row(vector.Step, Form(_OF_RESULT)),
    Row(vector.CreateMask, Form(f"%bounds*{_OF_RESULT}", {"bounds": "index"})),
    Row(vector.ConstantMask, Form(f"sizes:numbers{_OF_RESULT}"), (_array("sizes", "mask_dim_sizes"),)),
)  # fmt: skip
