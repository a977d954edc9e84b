"""The rules of operations that the IR has no class for, though their dialects are ours; those of others have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from affdsl.frozen import FrozenValue
from affdsl.ir.attributes import DenseArrayAttr, SymbolAttr, TypeAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import func
from affdsl.ir.dialects.opaque import DIALECTS, Opaque, OpaqueBlock, may_end
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.types import FunctionType, Type
from affdsl.ir.verifier.context import Context, needed
from affdsl.ir.verifier.opaque_arithmetic import arithmetic
from affdsl.ir.verifier.opaque_rules import RULES

_MANY = 1 << 30


class Signature(FrozenValue):
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
        yield from needed(_counts(op, signature))
    if op.kind.startswith(("arith.", "math.")):
        yield from arithmetic(op)
    elif op.kind == "func.constant":
        yield from _function_constant(op, context)
    elif op.kind in RULES:
        yield from RULES[op.kind](op)


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
