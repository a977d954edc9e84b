"""The affine dialect in generic form."""

from __future__ import annotations

from affdsl.ir.applied import applied
from affdsl.ir.attributes import ArrayAttr, Attribute, DenseAttr, IntegerAttr, MapAttr, OpaqueAttr, without
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Affine
from affdsl.ir.maps import AffineMap
from affdsl.ir.types import I64, INDEX, OpaqueType
from affdsl.later import pattern
from affdsl.mlir.constants import NotNumbersError, number
from affdsl.mlir.form import YIELD, Form
from affdsl.mlir.generic.rows import (
    Inside,
    Reading,
    Row,
    Writing,
    end_of,
    ended,
    named,
    number_property,
    without_terminator,
)


def _write_parallel(op: affine.Parallel, writing: Writing) -> Opaque:
    lower, upper = writing.positional(op, "lower"), writing.positional(op, "upper")
    region = OpaqueRegion((OpaqueBlock("", op.ivs, ended(op.body, affine.Yield, end_of(op, 0))),))
    properties: list[tuple[str, Attribute]] = [
        ("lowerBoundsGroups", _groups(op.lower)),
        ("lowerBoundsMap", OpaqueAttr(writing.alias(lower.text))),
        ("reductions", ArrayAttr(tuple([IntegerAttr(_NUMBERS[kind], I64) for kind in op.reductions]))),
        ("steps", ArrayAttr(tuple([IntegerAttr(step, I64) for step in op.steps]))),
        ("upperBoundsGroups", _groups(op.upper)),
        ("upperBoundsMap", OpaqueAttr(writing.alias(upper.text))),
    ]
    operands = (*lower.dims, *lower.symbols, *upper.dims, *upper.symbols)
    return Opaque(
        op.name, operands, op.results, tuple(properties), (region,), attributes=op.attributes, location=op.location
    )


def _groups(bounds: tuple[tuple[Affine, ...], ...]) -> DenseAttr:
    sizes = [len(group) for group in bounds]
    text = str(sizes[0]) if sizes and len(set(sizes)) == 1 else str(sizes) if sizes else ""
    return DenseAttr(text, OpaqueType(f"tensor<{len(sizes)}xi32>"))


def _read_parallel(opaque: Opaque, reading: Reading) -> affine.Parallel:
    said = opaque.properties or opaque.attributes
    maps = [named(said, name) for name in ("lowerBoundsMap", "upperBoundsMap")]
    groups = [named(said, name) for name in ("lowerBoundsGroups", "upperBoundsGroups")]
    steps, kinds = named(said, "steps"), named(said, "reductions")
    match maps, steps, kinds:
        case [MapAttr(AffineMap() as low), MapAttr(AffineMap() as high)], ArrayAttr(steps_), ArrayAttr(kinds_):
            pass
        case _:
            reading.refuse(opaque, "affine.parallel needs lowerBoundsMap, upperBoundsMap, steps and reductions")
    if len(opaque.operands) != low.dims + low.symbols + high.dims + high.symbols:
        reading.refuse(opaque, f"the maps of affine.parallel do not take {len(opaque.operands)} operands")
    first, rest = opaque.operands[: low.dims + low.symbols], opaque.operands[low.dims + low.symbols :]
    lower = applied(low.written, first[: low.dims], first[low.dims :])
    upper = applied(high.written, rest[: high.dims], rest[high.dims :])
    sizes = [_sizes(opaque, group, reading) for group in groups]
    numbers = {n: kind for kind, n in _NUMBERS.items()}
    names = [numbers.get(item.value) if isinstance(item, IntegerAttr) else None for item in kinds_]
    counts = [item.value for item in steps_ if isinstance(item, IntegerAttr)]
    if None in names or len(counts) != len(steps_):
        reading.refuse(opaque, "the reductions or steps of affine.parallel are no numbers that are known")
    if [sum(s) for s in sizes] != [len(lower.trees), len(upper.trees)]:
        given = f"{len(lower.trees)} and {len(upper.trees)}"
        reading.refuse(
            opaque, f"the groups {sizes} of affine.parallel do not add up to the {given} results of its maps"
        )
    blocks = [b for r in opaque.regions for found in r.blocks() for b in found if isinstance(b, OpaqueBlock)]
    if len(blocks) != 1 or len(blocks[0].args) != len(counts):
        reading.refuse(opaque, "affine.parallel has one block with an argument for each step")
    body = without_terminator(opaque, blocks[0].body, affine.Yield, False, reading)
    ends = (blocks[0].body[-1].location,) if len(body) < len(blocks[0].body) else ()
    known = ("lowerBoundsMap", "upperBoundsMap", "lowerBoundsGroups", "upperBoundsGroups", "steps", "reductions")
    return affine.Parallel(
        blocks[0].args, _split(lower.means, sizes[0]), _split(upper.means, sizes[1]), tuple(counts), body,
        tuple([name for name in names if name is not None]), opaque.results, location=opaque.location,
        attributes=without(opaque.attributes, *known),
        written={"lower": lower, "upper": upper}, ends=ends,
    )  # fmt: skip


_COUNTED = pattern(r"(?:tensor|vector)<(\d+)xi32>")
"""The types that numbers of groups may have."""


def _sizes(opaque: Opaque, attribute: Attribute | None, reading: Reading) -> list[int]:
    match attribute:
        case DenseAttr(text, type) if found := _COUNTED.fullmatch(str(type)):
            count = found[1]
            try:
                items = [int(number(item.strip(), I64)) for item in text.strip("[]").split(",") if item.strip()]
            except NotNumbersError as problem:
                reading.refuse(opaque, str(problem))
            return items * int(count) if not text.startswith("[") and len(items) == 1 else items
    reading.refuse(opaque, "affine.parallel needs lowerBoundsGroups and upperBoundsGroups")


def _split(flat: tuple[object, ...], sizes: list[int]) -> tuple[tuple[Affine, ...], ...]:
    rest = iter([e for e in flat if isinstance(e, Affine)])
    return tuple([tuple([next(rest) for _ in range(size)]) for size in sizes])


_NUMBERS = {kind: number for number, kind in enumerate(sorted(memref.ATOMIC))}
"""The numbers that stand for reductions in the generic form."""

ROWS = (
    Row(
        affine.For, properties=(number_property("step", "step", INDEX),),
        regions=(Inside("body", affine.Yield, ("iv", "carried")),),
        maps={"lower": "lowerBoundMap", "upper": "upperBoundMap"},
    ),
    Row(
        affine.If, regions=(Inside("then", affine.Yield), Inside("orelse", affine.Yield, optional=True)),
        maps={"condition": "condition"},
    ),
    Row(affine.Parallel, write=_write_parallel, read=_read_parallel),
    Row(affine.Apply),
    Row(affine.Min),
    Row(affine.Max),
    Row(affine.Load, Form("%memref[index:affine]{} : <memref:memref>", {"result": "element memref"})),
    Row(affine.Store, Form("%value, %memref[index:affine]{} : <memref:memref>", {"value": "element memref"})),
    Row(affine.VectorLoad, Form("%memref[index:affine]{} : <memref:memref>, <result:lanes>")),
    Row(affine.VectorStore, Form("%value, %memref[index:affine]{} : <memref:memref>, <value:lanes>")),
    Row(affine.Yield, YIELD),
)  # fmt: skip
