"""A program for an earlier version of MLIR, without what that version does not have."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import inf

from affdsl.errors import UnsupportedError
from affdsl.ir.attributes import StringAttr, SymbolAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref, scf, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided
from affdsl.ir.messages import op_name, where
from affdsl.ir.parts import in_parts
from affdsl.ir.semantics import SMALLEST_NORMAL
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import (
    F32,
    F64,
    I64,
    INDEX,
    ComplexType,
    FloatType,
    IntegerType,
    MemRefType,
    StridedLayout,
    VectorType,
    element_of,
    same_shape,
)
from affdsl.mlir.known_versions import LAST, TRIED
from affdsl.passes.lowering.replacing import Rule, Step, replaced


def earlier_mlir(module: Module, version: int) -> Module:
    """The same program in operations that a version of MLIR has.

        arith.maximumf %a, %b           ->  comparisons, choices, and of two zeros their common bits    (before 18)
        arith.index_castui %x : i8      ->  arith.index_cast (arith.extui %x to i64)                    (before 16)
        complex.conj %z                 ->  complex.create %re, (arith.negf %im)                        (before 15)
        vector.from_elements %a, %b     ->  one vector.insert for each                                  (before 19)

    Each gives the same bits. What was called or written otherwise is for `affdsl.mlir.versions`.

    Raises
    ------
    UnsupportedError
        Where an operation cannot be said in that version: `RULES` has all of them.

    >>> from affdsl.mlir.readers import parse
    >>> print(earlier_mlir(parse('''func.func @f(%x: i8) -> index {
    ...     %i = arith.index_castui %x : i8 to index
    ...     return %i : index
    ... }'''), 15).functions[0])
    func.func @f(%x: i8) -> index {
      %0 = arith.extui %x : i8 to i64
      %i = arith.index_cast %0 : i64 to index
      return %i : index
    }
    """
    if version >= LAST:
        return module
    return replaced(module, lambda op: _rule(op, version))


# Extremes of floats


def _extreme(step: Step, op: arith.Binary) -> None:
    """The larger or smaller one; a NaN if one is, and of two zeros the positive or the negative one."""
    a, b, largest = op.left, op.right, op.kind == "maximumf"
    above, below, bits = ("gt", "lt", "andi") if largest else ("lt", "gt", "ori")
    if _decides(step.known.get(b), largest):
        step.select(step.compare(f"u{above}", a, b), a, b)
    else:
        element = element_of(a.type)
        assert isinstance(element, FloatType), "the verifier has seen to that"
        bits_of = same_shape(a.type, IntegerType(element.width))
        first, second = (step.cast("bitcast", v, bits_of) for v in (a, b))
        zero = step.cast("bitcast", step.binary(bits, first, second), a.type)
        unordered = step.select(step.compare("oeq", a, b), zero, step.binary("addf", a, b))
        ordered = step.select(step.compare(f"o{below}", a, b), b, unordered)
        step.select(step.compare(f"o{above}", a, b), a, ordered)


def _decides(op: Op | None, largest: bool) -> bool:
    """Whether a number is none that equals another one with other bits: where both are equal, it is the result."""
    if not isinstance(op, arith.Constant):
        return False
    numbers = op.value if isinstance(op.value, tuple) else (op.value,)
    return all(x == x and (x != 0 or str(x).startswith("-") != largest) for x in map(float, numbers))


def _number_of(step: Step, op: arith.Binary) -> None:
    """The larger or smaller one, or that which is no NaN."""
    both = step.binary({"maxnumf": "maximumf", "minnumf": "minimumf"}[op.kind], op.left, op.right)
    right = step.select(step.compare("uno", op.right, op.right), op.left, both)
    step.select(step.compare("uno", op.left, op.left), op.right, right)


def _reduce_extremes(step: Step, op: vector.Reduction) -> None:
    """The lanes one after the other."""
    assert isinstance(op.source.type, VectorType)
    total = op.acc[0] if op.acc else None
    for k in range(op.source.type.shape[0]):
        lane = step.made(vector.Extract, op.result.type, op.source, (), (k,))
        total = lane if total is None else step.binary(op.combine, total, lane)


def _start_apart(step: Step, op: vector.Reduction) -> None:
    """The number from which it starts is combined with the rest."""
    lanes = step.made(vector.Reduction, op.result.type, op.combine, op.source)
    integers = "" if op.combine.endswith("i") else "i"
    step.binary(f"{op.combine}{integers}", op.acc[0], lanes)


def _in_parts(step: Step, op: affine.Parallel) -> None:
    for each in in_parts(op):
        step.ops.append(each)


# Integers, and functions of floats


def _index(step: Step, op: arith.Cast) -> None:
    source = element_of(op.operand.type)
    wide = op.operand
    if isinstance(source, IntegerType) and source.width < 64:
        wide = step.cast("extui", op.operand, same_shape(op.operand.type, I64))
    step.cast("index_cast", wide, op.result.type)


def _divide(step: Step, op: arith.Binary) -> None:
    """The quotient toward 0, one less or more where there is a rest and that rounds to the wrong side."""
    a, b = op.left, op.right
    zero, one = step.constant(0, a.type), step.constant(1, a.type)
    unsigned = op.kind == "ceildivui"
    quotient = step.binary("divui" if unsigned else "divsi", a, b)
    rest = step.binary("subi", a, step.binary("muli", quotient, b))
    away = step.compare("ne", rest, zero)
    if not unsigned:
        sides = step.compare("slt" if op.kind == "floordivsi" else "sge", step.binary("xori", rest, b), zero)
        away = step.binary("andi", away, sides)
    step.select(away, step.binary("subi" if op.kind == "floordivsi" else "addi", quotient, one), quotient)


def _strict(step: Step, op: arith.Binary) -> None:
    """Without flags, which allow other results, and ask for none."""
    step.binary(op.kind, op.left, op.right)


def _absolute(step: Step, op: math.Unary) -> None:
    zero = step.constant(0, op.operand.type)
    negative = step.compare("slt", op.operand, zero)
    step.select(negative, step.binary("subi", zero, op.operand), op.operand)


def _truncate(step: Step, op: math.Unary) -> None:
    negative = step.compare("olt", op.operand, step.constant(0.0, op.operand.type))
    step.select(negative, step.function("ceil", op.operand), step.function("floor", op.operand))


def _round(step: Step, op: math.Unary) -> None:
    """Away from 0 from the half on: one more than what is below, as long as that is no integer itself."""
    size = step.function("absf", op.operand)
    whole = step.function("floor", size)
    half = step.compare("oge", step.binary("subf", size, whole), step.constant(0.5, size.type))
    found = step.select(half, step.binary("addf", whole, step.constant(1.0, size.type)), whole)
    step.made(math.Binary, size.type, "copysign", found, op.operand)


def _round_even(step: Step, op: math.Unary) -> None:
    """What is left of a number next to one that is so large that it has no digits behind the point."""
    type = element_of(op.operand.type)
    assert isinstance(type, FloatType)
    large = {"f16": 2.0**10, "bf16": 2.0**7, "f32": 2.0**23, "f64": 2.0**52}[type.name]
    size = step.function("absf", op.operand)
    limit = step.constant(large, size.type)
    whole = step.binary("subf", step.binary("addf", size, limit), limit)
    found = step.select(step.compare("olt", size, limit), whole, size)
    step.made(math.Binary, size.type, "copysign", found, op.operand)


def _test(step: Step, op: math.Unary) -> None:
    x, type = op.operand, element_of(op.operand.type)
    assert isinstance(type, FloatType)
    if op.kind == "isnan":
        step.compare("uno", x, x)
    else:
        size = step.function("absf", x)
        infinite = step.constant(inf, size.type)
        if op.kind == "isnormal":
            least = step.constant(SMALLEST_NORMAL[type.name], size.type)
            step.binary("andi", step.compare("oge", size, least), step.compare("olt", size, infinite))
        else:
            step.compare("oeq" if op.kind == "isinf" else "olt", size, infinite)


def c_function(step: Step, op: math.Unary | arith.Binary) -> None:
    """The function of the C library, called for each lane."""
    step.by_lanes(op, lambda lane: _call_one(step, "fmod" if lane.kind == "remf" else lane.kind, lane))


def _call_one(step: Step, kind: str, op: math.Unary | arith.Binary) -> None:
    type = op.result.type
    wide = F64 if type == F64 else F32
    given = tuple([x if type == wide else step.cast("extf", x, wide) for x in op.reads()])
    name = kind if wide == F64 else f"{kind}f"
    text = f"llvm.func @{name}({', '.join([str(wide)] * len(given))}) -> {wide}"
    step.called[name] = Opaque("llvm.func", (), (), (("sym_name", StringAttr(name)),), text=(text,))
    result = op.result if type == wide else Value(wide)
    step.emit(Opaque("llvm.call", given, (result,), (("callee", SymbolAttr((name,))),)))
    if type != wide:
        step.emit(arith.Cast(op.result, "truncf", result))


# Complex numbers, vectors, views


def _conjugate(step: Step, op: complex_.Unary) -> None:
    assert isinstance(op.operand.type, ComplexType), "the verifier has seen to that"
    part = op.operand.type.part
    real, imaginary = (step.made(complex_.Part, part, kind, op.operand) for kind in ("re", "im"))
    step.made(complex_.Create, op.result.type, real, step.made(arith.Negate, part, imaginary))


def _angle(step: Step, op: complex_.Part) -> None:
    real, imaginary = (step.made(complex_.Part, op.result.type, kind, op.operand) for kind in ("re", "im"))
    step.made(math.Binary, op.result.type, "atan2", imaginary, real)


def _from_elements(step: Step, op: vector.FromElements) -> None:
    type = op.result.type
    assert isinstance(type, VectorType)
    vector_ = step.constant(0.0 if isinstance(type.element, FloatType) else 0, type)
    for element, position in zip(op.elements, product(*map(range, type.shape)), strict=True):
        vector_ = step.made(vector.Insert, type, element, vector_, (), position)


def _to_elements(step: Step, op: vector.ToElements) -> None:
    type = op.source.type
    assert isinstance(type, VectorType)
    for result, position in zip(op.results, product(*map(range, type.shape)), strict=True):
        step.emit(vector.Extract(result, op.source, (), position))


def _lanes(step: Step, op: vector.Step) -> None:
    assert isinstance(op.result.type, VectorType)
    step.made(arith.Constant, op.result.type, tuple(range(op.result.type.shape[0])))


def _view(step: Step, op: memref.SubView) -> None:
    """With an offset that is not known: what is 0 times an unknown stride was unknown."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    assert isinstance(type.layout, StridedLayout)
    of = MemRefType(type.shape, type.element, StridedLayout(type.layout.strides, None), type.space)
    made = Value(of)
    step.emit(with_fields(op, result=made))
    step.emit(memref.Cast(op.result, made))


def _bare_call(step: Step, op: Opaque) -> None:
    step.emit(with_fields(op, properties=tuple([entry for entry in op.properties if entry[0] == "callee"])))


# Which operation is replaced in which version


def _no(step: Step, op: Op) -> None:
    raise AssertionError("it has no rule")


_NUMBERS = ("tan", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh", "cbrt", "erfc")
_TESTS = ("isfinite", "isinf", "isnan", "isnormal")

RULES: Mapping[str, tuple[int, Rule]] = {
    "arith.maximumf": (18, _extreme),
    "arith.minimumf": (18, _extreme),
    "arith.maxnumf": (18, _number_of),
    "arith.minnumf": (18, _number_of),
    "arith.index_castui": (16, _index),
    "arith.addui_extended": (16, _no),
    "arith.mulsi_extended": (16, _no),
    "arith.mului_extended": (16, _no),
    "complex.angle": (15, _angle),
    "complex.conj": (15, _conjugate),
    **{f"complex.{kind}": (15, _no) for kind in ("cos", "pow", "sin", "sqrt", "tan", "tanh")},
    "math.absi": (16, _absolute),
    "math.fpowi": (16, _no),
    "math.ipowi": (16, _no),
    "math.round": (15, _round),
    "math.roundeven": (16, _round_even),
    "math.trunc": (16, _truncate),
    **{f"math.{kind}": (22, _test) for kind in _TESTS},
    **{f"math.{kind}": ({"tan": 15, "cbrt": 16, "erfc": 22}.get(kind, 19), c_function) for kind in _NUMBERS},
    "memref.extract_aligned_pointer_as_index": (16, _no),
    "memref.extract_strided_metadata": (16, _no),
    "scf.index_switch": (16, _no),
    "vector.from_elements": (19, _from_elements),
    "vector.step": (19, _lanes),
    "vector.to_elements": (22, _to_elements),
}
"""The first version that has an operation, or the first one of which that is known, and what takes its place before;
`_no` where nothing does."""


def _rule(op: Op, version: int) -> Rule | None:
    """What replaces an operation in a version. Raises UnsupportedError where nothing does."""
    since, rule = _special(op) or RULES.get(op_name(op), (0, _no))
    if version >= since:
        return None
    if rule is _no:
        raise UnsupportedError(
            f"{where(op)}: MLIR {version} does not have it, {'MLIR' if since in TRIED else 'as far as is known MLIR'} "
            f"{since} does: write something else, or hand the text on to a later version"
        )
    return rule


def _special(op: Op) -> tuple[int, Rule] | None:
    """The version, and the rule, where more than the name of an operation decides."""
    match op:
        case Opaque(kind="llvm.call") if any(name == "op_bundle_sizes" for name, _ in op.properties):
            return 20, _bare_call
        case Opaque(kind="vector.print") if op.properties:
            return 19, _no
        case vector.Reduction(combine=kind) if kind in _FLOATS:
            return 18, _reduce_extremes
        case vector.Reduction(acc=(_,)) if not isinstance(op.result.type, FloatType):
            return 15, _start_apart
        case vector.MultiReduction(combine=kind) if kind in _FLOATS:
            return 18, _no
        case affine.Parallel() if not _FLOATS.isdisjoint(op.reductions):
            return 18, _in_parts
        case arith.Binary(attributes=said) if any(name == "fastmath" for name, _ in said):
            return 16, _strict
        case arith.Binary(kind="floordivsi" | "ceildivsi" | "ceildivui") if isinstance(op.result.type, VectorType):
            return 19, _divide  # arith-expand makes constants of another type
        case memref.SubView() if _is_told_more(op):
            return 19, _view
        case scf.For() if op.is_unsigned:
            return 22, _no
        case scf.For() if op.iv.type != INDEX:
            return 16, _no
    return None


_FLOATS = frozenset(("maximumf", "minimumf", "maxnumf", "minnumf"))


def _is_told_more(op: memref.SubView) -> bool:
    """Whether the type knows an offset that is 0 times a stride which is not known."""
    assert isinstance(op.result.type, MemRefType), "the verifier has seen to that"
    assert isinstance(op.source.type, MemRefType), "the verifier has seen to that"
    layout, of = op.result.type.layout, strided(op.source.type)
    return isinstance(layout, StridedLayout) and layout.offset is not None and of is not None and None in of.strides
