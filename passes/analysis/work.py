"""How much one run of an operation computes: arithmetic by kind and type, elements loaded and stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, complex, math, memref, vector
from affdsl.ir.types import I1, ComplexType, FloatType, IndexType, IntegerType, Type, VectorType, element_of

Work: TypeAlias = Counter[tuple[str, str]]
"""How often each kind of operation on numbers of each type was done."""

FLOPS = {
    **dict.fromkeys(("addf", "subf", "mulf", "divf"), 1),
    **dict.fromkeys(("maximumf", "minimumf", "maxnumf", "minnumf", "sqrt"), 1),
    "fma": 2,
    "rsqrt": 2,
}
"""How many floating-point operations one of each kind is, as processors count them: a sign, a comparison, a conversion
and rounding to a whole number are none, and a product with a sum in one instruction is two."""
_FREE = frozenset(("absf", "copysign", "ceil", "floor", "round", "roundeven", "trunc", *math.FLOAT_TESTS))
_REDUCED = {"maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui"}


def flops(work: Work) -> int:
    """The floating-point operations. Functions like `exp` are none: how many they take is for a library to say.

    >>> flops(Counter({("fma", "f32"): 10, ("addf", "f32"): 1, ("exp", "f32"): 7, ("addi", "i64"): 5}))
    21
    """
    return sum(FLOPS.get(kind, 0) * count for (kind, _), count in work.items())


def flops_by_type(work: Work) -> dict[str, int]:
    """The floating-point operations on numbers of each type."""
    found: Counter[str] = Counter()
    for (kind, type), count in work.items():
        found[type] += FLOPS.get(kind, 0) * count
    return {type: count for type, count in found.items() if count}


def functions(work: Work) -> int:
    """How often an elementary function was computed: exp, sin, pow and the like, and remainders of floats."""
    return sum(count for (kind, _), count in work.items() if kind in _FUNCTIONS)


def integer_operations(work: Work) -> int:
    """How many operations on integers there were that are elements or scalars, and not indices."""
    return sum(count for (kind, _), count in work.items() if kind in arith.INTEGER_BINARY)


def work_of(op: Op) -> Work:
    """What one run of an operation does, without what its blocks do.

    >>> from affdsl.ir.expr import Value
    >>> from affdsl.ir.types import F32
    >>> x, y = Value(F32), Value(VectorType((8,), F32))
    >>> work_of(arith.Binary(x, "addf", x, x)), work_of(vector.Fma(y, y, y, y))
    (Counter({('addf', 'f32'): 1}), Counter({('fma', 'f32'): 8}))
    """
    return Counter({(kind, name): count for kind, name, count in _parts(op) if count})


def _parts(op: Op) -> Iterable[tuple[str, str, int]]:
    match op:
        case arith.Binary() | arith.Extended() if _is_counted(op.left.type):
            return [(op.kind, *_lanes(op.left.type))]
        case math.Unary() | math.Binary() if op.kind not in _FREE:
            return [(op.kind, *_lanes(op.result.type))]
        case complex.Binary(kind="add" | "sub" | "mul"):
            name = _lanes(op.result.type)[0]
            return [(kind, name, count) for kind, count in _COMPLEX[op.kind]]
        case complex.Binary() | complex.Unary() | complex.Part() if f"complex.{op.kind}" in _FUNCTIONS:
            return [
                (f"complex.{op.kind}", *_lanes(op.operand.type if isinstance(op, complex.Part) else op.result.type))
            ]
        case math.Fma() | vector.Fma():
            return [("fma", *_lanes(op.result.type))]
        case vector.Reduction():
            name, count = _lanes(op.source.type)
            return [(_combined(op.combine, name), name, count - 1 + len(op.acc))]
        case vector.MultiReduction():
            name, count = _lanes(op.source.type)
            return [(_combined(op.combine, name), name, count)]
        case vector.OuterProduct():
            name, count = _lanes(op.result.type)
            if not op.acc:
                return [(_combined("mul", name), name, count)]
            if op.combine == "add" and name[0] in "fb":
                return [("fma", name, count)]
            return [(_combined("mul", name), name, count), (_combined(op.combine, name), name, count)]
        case vector.Contract():
            name, _ = _lanes(op.acc.type)
            count = prod(_box(op))
            return [(_combined("mul", name), name, count), (_combined(op.combine, name), name, count)]
        case memref.AtomicRMW() if op.combine != "assign":
            return [(_REDUCED.get(op.combine, op.combine), *_lanes(op.value.type))]
        case (
            affine.Load()
            | memref.Load()
            | affine.VectorLoad()
            | vector.TransferRead()
            | vector.Load()
            | vector.Gather()
        ):
            return [("load", *_lanes(op.result.type))]
        case vector.MaskedLoad() | vector.ExpandLoad():
            return [("load", *_lanes(op.result.type))]
        case affine.Store() | memref.Store() | affine.VectorStore() | vector.TransferWrite() | vector.Store():
            return [("store", *_lanes(op.value.type))]
        case vector.MaskedStore() | vector.Scatter() | vector.CompressStore():
            return [("store", *_lanes(op.value.type))]
    return []


def reductions_of(op: affine.Parallel) -> Work:
    """What an iteration of a parallel loop does with the values that it yields."""
    pairs = zip(op.reductions, op.results, strict=True)
    return Counter((_REDUCED.get(kind, kind), str(result.type)) for kind, result in pairs if kind != "assign")


def _is_counted(type: Type) -> bool:
    element = element_of(type)
    return isinstance(element, FloatType | IntegerType) and element != I1 and not isinstance(element, IndexType)


def _lanes(type: Type) -> tuple[str, int]:
    """The name of the type of the numbers, and how many there are."""
    element, count = (type.element, prod(type.shape)) if isinstance(type, VectorType) else (type, 1)
    return str(element.part if isinstance(element, ComplexType) else element), count


def _combined(combine: str, type: str) -> str:
    """The kind of arith by which a vector operation combines numbers."""
    of_floats, of_integers = vector.KINDS[combine]
    return (of_floats if type[0] in "fb" else of_integers) or combine


def _box(op: vector.Contract) -> list[int]:
    """How many points the box of a contraction has along each dimension."""
    sizes: dict[int, int] = {}
    for value, map in zip((op.left, op.right, op.acc), op.maps, strict=True):
        shape = value.type.shape if isinstance(value.type, VectorType) else ()
        for dim, size in zip(vector.map_dims(map) or (), shape, strict=False):
            if dim is not None:
                sizes[dim] = size
    return list(sizes.values())


_COMPLEX = {"add": [("addf", 2)], "sub": [("subf", 2)], "mul": [("mulf", 4), ("subf", 1), ("addf", 1)]}
"""What sums, differences and products of complex numbers are on floats."""
_OF_COMPLEX = frozenset((*complex.UNARY, "div", "pow", "abs", "angle")) - {"neg", "conj"}
_FUNCTIONS = frozenset((*math.FLOAT_UNARY, *math.FLOAT_BINARY, "fpowi", "remf")) - _FREE - FLOPS.keys()
_FUNCTIONS |= {f"complex.{kind}" for kind in _OF_COMPLEX}
