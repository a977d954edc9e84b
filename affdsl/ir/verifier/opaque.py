"""The rules of operations that the IR has no class for, though their dialects are ours; those of others have none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from affdsl.ir.attributes import DenseArrayAttr, IntegerAttr, MapAttr, SymbolAttr, TypeAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, func, math
from affdsl.ir.dialects.opaque import DIALECTS, Opaque, OpaqueBlock, may_end
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided
from affdsl.ir.maps import AffineMap
from affdsl.ir.messages import op_name, shown
from affdsl.ir.opaque_types import element_text, scalar, shaped
from affdsl.ir.types import (
    I1,
    INDEX,
    FunctionType,
    IndexType,
    MemRefType,
    OpaqueType,
    StridedLayout,
    Type,
    UnrankedMemRefType,
    VectorType,
)
from affdsl.ir.verifier.context import Context
from affdsl.ir.verifier.types import must_have

_MANY = 1 << 30


@dataclass(frozen=True)
class Signature:
    """How many operands, results, regions and successors an operation has, and which properties it needs."""

    operands: tuple[int, int]
    results: tuple[int, int]
    regions: int = 0
    successors: tuple[int, int] = (0, 0)
    needs: tuple[str, ...] = ()


def _signature(operands: int, results: int, *needs: str, regions: int = 0) -> Signature:
    return Signature((operands, operands), (results, results), regions, needs=needs)


SIGNATURES: dict[str, Signature] = {
    "arith.scaling_extf": _signature(2, 1),
    "arith.scaling_truncf": _signature(2, 1),
    "builtin.unrealized_conversion_cast": Signature((0, _MANY), (1, _MANY)),
    "cf.assert": _signature(1, 0, "msg"),
    "cf.br": Signature((0, _MANY), (0, 0), 0, (1, 1)),
    "cf.cond_br": Signature((1, _MANY), (0, 0), 0, (2, 2), ("operandSegmentSizes",)),
    "cf.switch": Signature((1, _MANY), (0, 0), 0, (1, _MANY), ("case_operand_segments", "operandSegmentSizes")),
    "func.call_indirect": Signature((1, _MANY), (0, _MANY)),
    "func.constant": _signature(0, 1, "value"),
    "math.clampf": _signature(3, 1),
    "math.sincos": _signature(1, 2),
    "memref.alloca_scope": Signature((0, 0), (0, _MANY), 1),
    "memref.alloca_scope.return": Signature((0, _MANY), (0, 0)),
    "memref.assume_alignment": _signature(1, 1, "alignment"),
    "memref.atomic_rmw": Signature((2, _MANY), (1, 1), needs=("kind",)),
    "memref.atomic_yield": _signature(1, 0),
    "memref.distinct_objects": Signature((1, _MANY), (1, _MANY)),
    "memref.extract_aligned_pointer_as_index": _signature(1, 1),
    "memref.generic_atomic_rmw": Signature((1, _MANY), (1, 1), 1),
    "memref.memory_space_cast": _signature(1, 1),
    "memref.prefetch": Signature((1, _MANY), (0, 0), needs=("isWrite", "localityHint", "isDataCache")),
    "memref.realloc": Signature((1, 2), (1, 1)),
    "memref.transpose": _signature(1, 1, "permutation"),
    "scf.forall": Signature((0, _MANY), (0, _MANY), 1, needs=("operandSegmentSizes", "staticLowerBound")),
    "scf.forall.in_parallel": _signature(0, 0, regions=1),
    "ub.unreachable": _signature(0, 0),
    "vector.deinterleave": _signature(1, 2),
    "vector.interleave": _signature(2, 1),
    "vector.mask": Signature((1, 2), (0, _MANY), 1),
    "vector.print": Signature((0, 1), (0, 0)),
    "vector.scalable.extract": _signature(1, 1, "pos"),
    "vector.scalable.insert": _signature(2, 1, "pos"),
    "vector.scan": _signature(2, 2, "kind", "reduction_dim", "inclusive"),
    "vector.type_cast": _signature(1, 1),
    "vector.vscale": _signature(0, 1),
    "vector.yield": Signature((0, _MANY), (0, 0)),
}


def opaque(op: Opaque, context: Context) -> Iterator[str]:
    """The numbers of operands, results, regions and successors, and what little is known of the types."""
    signature = SIGNATURES.get(op.kind)
    if signature is not None:
        problems = list(_counts(op, signature))
        yield from problems
        if problems:
            return
    dialect, _, kind = op.kind.partition(".")
    if dialect in ("arith", "math"):
        yield from _arithmetic(op, kind)
    elif op.kind == "func.constant":
        yield from _function_constant(op, context)
    elif op.kind in _RULES:
        yield from _RULES[op.kind](op)


def ending(op: Opaque) -> Iterator[tuple[Op, str]]:
    """Blocks of one region of an operation of ours end with a terminator; the operation at which they do not."""
    if op.kind.partition(".")[0] not in DIALECTS or op.kind in _WITHOUT_END:
        return
    gives = _results_of(op)
    for region in op.regions:
        for block in [b for inner in region.blocks() for b in inner if isinstance(b, OpaqueBlock)]:
            if not block.body:
                yield op, "has a block that is empty, and so does not end with a terminator"
            elif not may_end(block.body[-1]):
                yield block.body[-1], f"ends a block of {op.kind}, but is no terminator"
            elif op.kind in _ENDS and op_name(block.body[-1]) != _ENDS[op.kind]:
                yield op, f"has a block that ends with {op_name(block.body[-1])}; that takes {_ENDS[op.kind]}"
            elif isinstance(block.body[-1], func.Return) and gives is not None:
                found = tuple(v.type for v in block.body[-1].values)
                if found != gives:
                    yield block.body[-1], f"hands on ({_list(found)}), but {op.kind} gives ({_list(gives)})"


def _results_of(op: Opaque) -> tuple[Type, ...] | None:
    """What a function gives."""
    match dict(op.properties or op.attributes).get("function_type"):
        case TypeAttr(FunctionType(_, results)):
            return results
    return None


def _list(types: tuple[Type, ...]) -> str:
    return ", ".join(map(str, types))


_ENDS = {
    "memref.alloca_scope": "memref.alloca_scope.return", "memref.generic_atomic_rmw": "memref.atomic_yield",
    "scf.forall": "scf.forall.in_parallel", "vector.mask": "vector.yield",
}  # fmt: skip
_WITHOUT_END = ("builtin.module", "scf.forall.in_parallel")


def _counts(op: Opaque, signature: Signature) -> Iterator[str]:
    for what, found, (low, high) in (
        ("operands", len(op.operands), signature.operands),
        ("results", len(op.results), signature.results),
        ("regions", len(op.regions), (signature.regions, signature.regions)),
        ("successors", len(op.successors), signature.successors),
    ):
        if not low <= found <= high:
            wanted = str(low) if low == high else f"at least {low}" if high == _MANY else f"{low} to {high}"
            yield f"takes {wanted} {what}, but has {found}"
    said = {name for name, _ in (*op.properties, *op.attributes)}
    for name in signature.needs:
        if name not in said:
            yield f"needs the attribute {name}"
    if op.properties and not signature.needs and op.kind not in _WITH_OPTIONAL_PROPERTIES:
        yield f"has no properties, such as {op.properties[0][0]}"
    yield from _segments(op)


_WITH_OPTIONAL_PROPERTIES = (
    "arith.scaling_extf", "arith.scaling_truncf", "func.call_indirect", "math.clampf", "math.sincos", "memref.realloc",
    "vector.print",
)  # fmt: skip


def _segments(op: Opaque) -> Iterator[str]:
    """operandSegmentSizes adds up to the operands."""
    match dict(op.properties or op.attributes).get("operandSegmentSizes"):
        case DenseArrayAttr(type, items):
            sizes = [int(item) for item in items]
            if str(type) != "i32":
                yield f"operandSegmentSizes must be numbers of type i32, not {type}"
            if any(size < 0 for size in sizes) or sum(sizes) != len(op.operands):
                yield f"operandSegmentSizes {sizes} do not add up to the {len(op.operands)} operands"
            elif op.kind == "cf.cond_br" and (len(sizes) != 3 or sizes[0] != 1):
                yield f"operandSegmentSizes must be 1 and the numbers of values for two blocks, not {sizes}"


def branches(op: Opaque, blocks: Mapping[str, OpaqueBlock]) -> Iterator[str]:
    """What a branch of cf hands to each block is what the block takes."""
    for label, values in zip(op.successors, _handed(op), strict=False):
        args = blocks[label].args if label in blocks else ()
        if len(values) != len(args):
            yield f"hands {len(values)} values to ^{label}, which takes {len(args)}"
            continue
        for value, arg in zip(values, args, strict=True):
            if value.type != arg.type:
                yield f"hands {shown(value)} of type {value.type} to ^{label}, which takes {arg.type}"


def _handed(op: Opaque) -> list[tuple[Value, ...]]:
    """The values for each successor, where the operation is one of cf."""
    sizes = dict(op.properties or op.attributes).get("operandSegmentSizes")
    match op.kind, sizes:
        case "cf.br", _:
            return [op.operands]
        case "cf.cond_br", DenseArrayAttr(_, (_, first, _)):
            return [op.operands[1 : 1 + int(first)], op.operands[1 + int(first) :]]
        case "cf.switch", DenseArrayAttr(_, (_, first, _)):
            counts = dict(op.properties or op.attributes).get("case_operand_segments")
            ends = [1, 1 + int(first)]
            for count in counts.items if isinstance(counts, DenseArrayAttr) else ():
                ends.append(ends[-1] + int(count))
            return [op.operands[low:high] for low, high in pairwise(ends)]
    return []


# --- Arithmetic on types without a class: tensors, wide integers, floats of other formats


def _arithmetic(op: Opaque, kind: str) -> Iterator[str]:
    name = "arith" if op.kind.startswith("arith.") else "math"
    operands, results = list(op.operands), list(op.results)
    wanted = _numbers_of(name, kind)
    if wanted is not None and (len(operands), len(results)) != wanted:
        yield f"takes {wanted[0]} operands and gives {wanted[1]} results, not {len(operands)} and {len(results)}"
        return
    if kind in arith.CASTS and name == "arith":
        source, target = arith.CASTS[kind]
        yield from _number(source, operands[:1])
        yield from _number(target, results[:1])
        if _sizes(operands[0].type) != _sizes(results[0].type):
            yield f"there is no {kind} from {operands[0].type} to {results[0].type}"
        return
    kinds = _class_of(name, kind)
    if kinds is None:
        return
    yield from _number(kinds, operands)
    same = [*operands, *results] if kind not in ("cmpi", "cmpf", "addui_extended", *math.FLOAT_TESTS) else operands
    for value in same[1:]:
        if value.type != same[0].type and kind != "fpowi":
            yield f"{shown(value)} has type {value.type}, but {shown(same[0])} has type {same[0].type}"


def _numbers_of(dialect: str, kind: str) -> tuple[int, int] | None:
    """How many operands and results an operation has."""
    if dialect == "arith":
        if kind in arith.EXTENDED:
            return 2, 2
        if kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY, "cmpi", "cmpf"):
            return 2, 1
        return {"constant": (0, 1), "select": (3, 1)}.get(kind, (1, 1)) if kind in _ARITH else None
    if kind in (*math.FLOAT_BINARY, "fpowi", "ipowi"):
        return 2, 1
    if kind == "fma":
        return 3, 1
    return (1, 1) if kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.INTEGER_UNARY) else None


_ARITH = (*arith.CASTS, "constant", "negf", "select")


def _class_of(dialect: str, kind: str) -> str | None:
    """The class of the operands of an operation; None where they have several."""
    if dialect == "arith":
        if kind in (*arith.FLOAT_BINARY, "negf", "cmpf"):
            return "float"
        return "integer or index" if kind in (*arith.INTEGER_BINARY, *arith.EXTENDED, "cmpi") else None
    if kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.FLOAT_BINARY, "fma", "clampf", "sincos"):
        return "float"
    return "integer or index" if kind in (*math.INTEGER_UNARY, "ipowi") else None


def _number(wanted: str, values: list[Value]) -> Iterator[str]:
    for value in values:
        of = shaped(value.type) if wanted == "integer or float" else None  # what arith.bitcast takes: buffers too
        found = scalar(element_text(value.type) if of is None else of.element)
        if found is None or found.kind not in wanted.split(" or ") or found.sign:
            yield f"{shown(value)} must be {'an' if wanted[0] == 'i' else 'a'} {wanted}, but has type {value.type}"


def _sizes(type: Type) -> tuple[str, tuple[int | None, ...] | None]:
    """What a type is of numbers, a vector or a tensor, and its sizes; those of buffers may differ."""
    found = shaped(type) if isinstance(type, OpaqueType | VectorType) else None
    what = str(type).partition("<")[0] if shaped(type) is not None else ""
    return what, None if found is None else found.shape


# --- Buffers


def _memory_space_cast(op: Opaque) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    match source, target:
        case MemRefType(), MemRefType():
            same = (source.shape, source.element, source.layout) == (target.shape, target.element, target.layout)
        case UnrankedMemRefType(), UnrankedMemRefType():
            same = source.element == target.element
        case _:
            same = False
    if not same:
        yield f"changes nothing but the memory space, and so makes no {target} of {source}"


def _realloc(op: Opaque) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    yield from _power_of_two(op)
    if not isinstance(source, MemRefType) or not isinstance(target, MemRefType) or (source.rank, target.rank) != (1, 1):
        yield f"takes a buffer of one dimension and gives one, not {source} and {target}"
        return
    if (source.element, source.space) != (target.element, target.space):
        yield f"keeps elements and memory space, and so cannot make {target} of {source}"
    dynamic = target.shape.count(None)
    if len(op.operands) - 1 != dynamic:
        yield f"takes {dynamic} sizes for {target}, but has {len(op.operands) - 1}"
    for size in op.operands[1:]:
        if not isinstance(size.type, IndexType):
            yield f"{shown(size)} must have type index, but has type {size.type}"


def _transpose(op: Opaque) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    match dict(op.properties or op.attributes).get("permutation"), source, target:
        case MapAttr(AffineMap() as map), MemRefType(), MemRefType():
            order = [int(tree[1:]) for tree in map.written if isinstance(tree, str)]
        case _:
            yield f"takes a buffer and a permutation and gives a buffer, not {source} and {target}"
            return
    if map.symbols or sorted(order) != list(range(source.rank)) or len(order) != len(map.written):
        yield f"the permutation must name each of the {source.rank} dimensions of {source} once: {map}"
        return
    layout = strided(source)
    if layout is None:
        yield f"{shown(op.operands[0])} has the layout of {source}, of which strides say nothing"
        return
    shape = tuple(source.shape[axis] for axis in order)
    strides = StridedLayout(tuple(layout.strides[axis] for axis in order), layout.offset)
    wanted = MemRefType(shape, source.element, strides, source.space)
    plain = (target.shape, target.element, target.space) == (shape, source.element, source.space)
    if not plain or strided(target) != strides:
        yield f"{shown(op.results[0])} must have type {wanted}, but has {target}"


def _power_of_two(op: Opaque) -> Iterator[str]:
    alignment = dict((*op.properties, *op.attributes)).get("alignment", IntegerAttr(1, I1))
    if not isinstance(alignment, IntegerAttr) or alignment.value <= 0 or alignment.value & (alignment.value - 1):
        given = alignment.value if isinstance(alignment, IntegerAttr) else "no number"
        yield f"the alignment must be a power of two, but is {given}"


def _assume_alignment(op: Opaque) -> Iterator[str]:
    yield from _power_of_two(op)
    if op.operands[0].type != op.results[0].type:
        yield f"gives the buffer that it takes, of type {op.operands[0].type}, not {op.results[0].type}"


# --- Control


def _conditional(op: Opaque) -> Iterator[str]:
    condition = op.operands[0]
    if condition.type != I1:
        yield f"{shown(condition)} must have type i1, but has type {condition.type}"


def _function_constant(op: Opaque, context: Context) -> Iterator[str]:
    value = dict(op.properties or op.attributes).get("value")
    if not isinstance(value, SymbolAttr) or len(value.path) != 1:
        yield "needs the name of a function as its value"
        return
    if context.functions is None:
        return
    callee = context.functions.get(value.path[0])
    if callee is None:
        yield f"there is no function @{value.path[0]} in the module"
    elif callee.type != op.results[0].type:
        yield f"@{value.path[0]} has type {callee.type}, not {op.results[0].type}"


# --- Vectors


def _interleave(op: Opaque) -> Iterator[str]:
    first, second, result = op.operands[0].type, op.operands[1].type, op.results[0].type
    if first != second or _doubled(first) != result:
        yield f"makes of two vectors of one type one with twice as many elements in each row, not {result} of {first}"


def _deinterleave(op: Opaque) -> Iterator[str]:
    source, first, second = op.operands[0].type, op.results[0].type, op.results[1].type
    if first != second or _doubled(first) != source:
        yield f"makes of a vector two with half as many elements in each row, not {first} of {source}"


def _doubled(type: Type) -> VectorType | None:
    """A vector with twice as many elements along its last dimension; one of none for no dimension."""
    if not isinstance(type, VectorType):
        return None
    shape = (*type.shape[:-1], 2 * type.shape[-1]) if type.shape else (2,)
    return VectorType(shape, type.element, type.scalable)


def _mask(op: Opaque) -> Iterator[str]:
    """One operation at most, whose results are those of the mask; the values for what is masked have their type."""
    mask = op.operands[0].type
    if not isinstance(mask, VectorType) or mask.element != I1:
        yield f"{shown(op.operands[0])} is a mask, which must be a vector of i1, but has type {mask}"
    body = [o for region in op.regions for inner in region.blocks() for b in inner for o in _body(b)][:-1]
    if len(body) > 1:
        yield f"is around {len(body)} operations, but takes one"
    results = [v.type for v in op.results]
    inside = [v.type for o in body for v in o.defines()]
    if body and results != inside:
        yield f"gives ({', '.join(map(str, results))}), but the operation inside ({', '.join(map(str, inside))})"
    if not body and (results or len(op.operands) > 1):
        yield "is around no operation, and so has neither results nor values for them"
    for value in op.operands[1:]:
        if [value.type] != results:
            yield f"{shown(value)} has type {value.type}, which is not that of the result"


def _body(block: Op) -> tuple[Op, ...]:
    return block.body if isinstance(block, OpaqueBlock) else ()


def _scan(op: Opaque) -> Iterator[str]:
    source, initial = op.operands[0].type, op.operands[1].type
    axis = dict(op.properties or op.attributes).get("reduction_dim")
    if [v.type for v in op.results] != [source, initial]:
        yield f"gives values of the types of its operands, {source} and {initial}"
    if not isinstance(source, VectorType) or not isinstance(initial, VectorType) or not isinstance(axis, IntegerAttr):
        yield "takes two vectors, and reduction_dim, a number"
    elif not 0 <= axis.value < source.rank:
        yield f"reduction_dim must be from 0 to {source.rank - 1}, but is {axis.value}"
    elif source.shape[: axis.value] + source.shape[axis.value + 1 :] != initial.shape:
        yield f"{shown(op.operands[1])} has type {initial}, but {source} less dimension {axis.value} is needed"


def _type_cast(op: Opaque) -> Iterator[str]:
    """A buffer as a buffer of one vector that holds it all."""
    source, target = op.operands[0].type, op.results[0].type
    match source, target:
        case MemRefType(layout=None), MemRefType(shape=(), element=VectorType() as vector):
            if (source.shape, str(source.element)) == (vector.shape, str(vector.element)):
                return
        case MemRefType(layout=None), MemRefType(layout=None) if source.element == target.element:
            return
    yield f"makes of a buffer one of a vector that holds it all, not {target} of {source}"


_RULES: dict[str, Callable[[Opaque], Iterator[str]]] = {
    "cf.assert": _conditional,
    "cf.cond_br": _conditional,
    "memref.assume_alignment": _assume_alignment,
    "memref.extract_aligned_pointer_as_index": lambda op: must_have(INDEX, *op.results),
    "memref.memory_space_cast": _memory_space_cast,
    "memref.realloc": _realloc,
    "memref.transpose": _transpose,
    "vector.deinterleave": _deinterleave,
    "vector.interleave": _interleave,
    "vector.mask": _mask,
    "vector.scan": _scan,
    "vector.type_cast": _type_cast,
}
