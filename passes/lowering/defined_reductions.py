"""Reductions of floats that MLIR starts from another zero than ours, or of which it leaves open which zero they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import copysign, inf

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.parts import in_parts
from affdsl.ir.traverse import OpT, definitions, rewrite, users, walk, with_fields
from affdsl.ir.types import I1, I32, FloatType, IntegerType

_EXTREMES = {"maxnumf": ("maximumf", -inf), "minnumf": ("minimumf", inf)}
"""Extremes of which MLIR leaves open which of two zeros they are; those that it does not, and their neutral number."""


def defined_reductions(root: OpT) -> OpT:
    """The same program with reductions that have the results that they have here, also once MLIR has lowered them.

        affine.parallel reduce ("addf")    ->  affine.parallel reduce ("addf", "andi"), which sees that all are -0.0
        affine.parallel reduce ("maximumf")  ->  affine.parallel of parts, each with a number of its own, and a loop
        vector.reduction <add>, %v         ->  vector.reduction <add>, %v, -0.0
        vector.reduction <maxnumf>, %v     ->  vector.reduction <maximumf> of %v with -inf for NaN, and NaN if all are

    MLIR's lowering starts sums from 0.0, so that a sum of nothing but -0.0 is 0.0. Where a sum is only added to numbers
    that are not -0.0, nobody sees that. Its lowering to OpenMP has no extremes of floats, nor combines single bits.

    >>> from affdsl.mlir.readers import parse
    >>> print(defined_reductions(parse('''func.func @f(%v: vector<4xf32>) -> f32 {
    ...     %sum = vector.reduction <add>, %v : vector<4xf32> into f32
    ...     return %sum : f32
    ... }''')).functions[0])
    func.func @f(%v: vector<4xf32>) -> f32 {
      %cst = arith.constant -0.000000e+00 : f32
      %sum = vector.reduction <add>, %v, %cst : vector<4xf32> into f32
      return %sum : f32
    }
    """
    if not any(map(_may_be_open, walk(root))):
        return root
    readers, makers = users(root), definitions(root)

    def is_hidden(sum: Value) -> bool:
        """Whether nobody sees which zero a sum is."""
        return all(_hides(op, sum, makers) for op in readers.get(sum, ()))

    def rule(op: Op) -> Sequence[Op] | None:
        match op:
            case affine.Parallel() if _has_extreme(op):
                return in_parts(op)
            case affine.Parallel():
                sums = [k for k in _sums(op) if not is_hidden(op.results[k]) and not _is_watched(op, k, readers)]
                return tuple(_watched(op, sums)) if sums else None
            case vector.Reduction(combine="add", acc=()) if _is_sum(op) and not is_hidden(op.result):
                start = arith.Constant(Value(op.result.type), -0.0, location=op.location)
                return start, with_fields(op, acc=(start.result,))
            case vector.Reduction(combine=kind) if kind in _EXTREMES:
                return _extreme(op)
        return None

    return rewrite(root, rule)


def _may_be_open(op: Op) -> bool:
    match op:
        case affine.Parallel():
            return bool(_sums(op)) or _has_extreme(op)
        case vector.Reduction():
            return op.combine in _EXTREMES or (_is_sum(op) and not op.acc)
    return False


def _has_extreme(op: affine.Parallel) -> bool:
    return not {"maximumf", "minimumf"}.isdisjoint(op.reductions)


def _sums(op: affine.Parallel) -> list[int]:
    return [k for k, kind in enumerate(op.reductions) if kind == "addf"]


def _is_sum(op: vector.Reduction) -> bool:
    return op.combine == "add" and isinstance(op.result.type, FloatType)


def _hides(op: Op, sum: Value, makers: Mapping[Value, Op]) -> bool:
    """Whether an operation adds a sum to a number that is not -0.0."""
    if not (isinstance(op, arith.Binary) and op.kind == "addf"):
        return False
    maker = makers.get(op.right if op.left is sum else op.left)
    number = maker.value if isinstance(maker, arith.Constant) else None
    return isinstance(number, float) and (number != 0 or copysign(1, number) > 0)


def _is_watched(op: affine.Parallel, k: int, readers: Mapping[Value, Sequence[Op]]) -> bool:
    """Whether a sum is chosen by what another reduction has seen, as `_watched` makes it."""
    seen = {v for v, kind in zip(op.results, op.reductions, strict=True) if kind == "andi"}
    tests = {v for each in seen for user in readers.get(each, ()) for v in user.defines()}
    return all(isinstance(user, arith.Select) and user.condition in tests for user in readers.get(op.results[k], ()))


def _watched(op: affine.Parallel, sums: Sequence[int]) -> Iterator[Op]:
    """A band that tells of some sums whether they are of nothing but -0.0, and the sums that they are then."""
    *body, end = op.body
    assert isinstance(end, affine.Yield), "the body of a reduction ends with affine.yield"
    results, seen, tests = list(op.results), list[Value](), list[Value]()
    inside, chosen = Emitter(op.location, body), Emitter(op.location)
    for k in sums:
        type = op.results[k].type
        assert isinstance(type, FloatType), "an addf adds floats"
        results[k] = Value(type)
        bits = inside.cast("bitcast", end.values[k], IntegerType(type.width))
        test = inside.compare("eq", bits, inside.constant(-1 << type.width - 1, bits.type))
        tests.append(inside.cast("extui", test, I32))
        seen.append(Value(I32))
        all_are = chosen.compare("ne", seen[-1], chosen.constant(0, I32))
        zero = chosen.constant(-0.0, type)
        chosen.emit(arith.Select(op.results[k], all_are, zero, results[k]))
    body.append(with_fields(end, values=(*end.values, *tests)))
    reductions = (*op.reductions, *["andi"] * len(sums))
    yield with_fields(op, body=tuple(body), reductions=reductions, results=(*results, *seen))
    yield from chosen.ops


def _extreme(op: vector.Reduction) -> tuple[Op, ...]:
    """The extreme of those lanes that are numbers; NaN where none is."""
    kind, neutral = _EXTREMES[op.combine]
    lanes, type = op.source.type, op.result.type
    made = Emitter(op.location)
    is_nan = made.compare("uno", op.source, op.source)
    numbers = made.select(is_nan, made.constant(neutral, lanes), op.source)
    found = made.made(vector.Reduction, type, kind, numbers)
    all_are = made.made(vector.Reduction, I1, "and", is_nan)
    extreme = made.select(all_are, made.made(vector.Extract, type, op.source, (), (0,)), found)
    for start in op.acc:
        extreme = made.binary(op.combine, start, extreme)
    return made.giving(extreme, op.result)
