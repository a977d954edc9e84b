"""A kernel called from another kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.dialects import func, memref
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import MemRefType
from affdsl.lang.annotations import ArrayType, Parameter, solves
from affdsl.lang.arrays import Array
from affdsl.lang.builder import current
from affdsl.lang.dtypes import NUMBERS, DType, Number
from affdsl.lang.indices import Index, as_value, index_of
from affdsl.lang.laid_out import laid_out
from affdsl.lang.scalars import Scalar, constant
from affdsl.lang.source import assigned_names, here, problem, user_frame
from affdsl.lang.trace import Program, recursion, spellings
from affdsl.lang.traced import Traced


def is_traced(x: object) -> bool:
    """Whether x belongs to a kernel being built."""
    return isinstance(x, Array | Traced)


def call(program: Program, args: Sequence[object]) -> Array | Scalar | tuple[Array | Scalar, ...] | None:
    """Build a call of program; what it returns, as the caller sees it.

    Raises ProgramTypeError where an argument does not fit, ProgramError where sizes disagree or arrays overlap.
    """
    builder = current()
    symbol = program.func.symbol
    if symbol == builder.name and builder.means_itself:
        raise recursion(symbol)
    if len(args) != len(program.parameters):
        raise problem(
            ProgramTypeError,
            f"{symbol} takes {len(program.parameters)} arguments, got {len(args)}",
            f"its arguments are {', '.join(p.name for p in program.parameters)}",
        )
    bound: dict[Value, Term] = {}
    given = [_argument(symbol, p, x, bound) for p, x in zip(program.parameters, args, strict=True)]
    arrays = [(p, p.type, x) for p, x in zip(program.parameters, given, strict=True)
              if isinstance(x, Array) and isinstance(p.type, ArrayType)]  # fmt: skip
    _solve(program, arrays, bound)
    _check_sizes(symbol, arrays, bound)
    _check_overlap(symbol, program, given)
    _require_assumed(symbol, program, bound)
    program = _for_parts(symbol, program, given)
    operands = [as_value(Index(Affine.of(bound[s]))) for s in program.sizes]
    for n, (p, x) in enumerate(zip(program.parameters, given, strict=True)):
        if isinstance(x, Array):
            if n in program.written:
                _mark_written(symbol, p, x)
            operands.append(_as_type(x, program.func.args[len(program.sizes) + n]))
        else:
            operands.append(as_value(x))
    callee = next(s for s in spellings(symbol) if builder.callees.get(s, program) is program)
    builder.callees[callee] = program
    return _emit(callee, program, operands, bound)


def _for_parts(symbol: str, program: Program, given: Sequence[object]) -> Program:
    """The program that takes the parts of arrays that it is given where it is written for contiguous arrays."""
    parts = {
        n: x for n, (p, x) in enumerate(zip(program.parameters, given, strict=True))
        if isinstance(x, Array) and x.is_part and isinstance(p.type, ArrayType) and not p.type.strided
    }  # fmt: skip
    found = laid_out(program, frozenset(parts)) if parts else program
    if found is None:
        n, x = next(iter(parts.items()))
        raise problem(
            ProgramTypeError,
            f"argument {program.parameters[n].name} of {symbol} must be a whole array, and {x.name} is a part of one",
            f"{symbol} copies it by DMA, or was transformed to take it in another shape: copy the part to an array of "
            f"affdsl.alloc, or call the kernel as it was written",
        )
    return found


def _argument(symbol: str, p: Parameter, x: object, bound: dict[Value, Term]) -> Array | Scalar | Index:
    match p.type:
        case ArrayType(dtype, shape):
            if not isinstance(x, Array):
                raise problem(
                    ProgramTypeError, f"argument {p.name} of {symbol} is the array {p.type!r}, got {x!r}",
                    "pass an array of the kernel: an argument, what affdsl.alloc gives, or a part of one, as in A[i]",
                )  # fmt: skip
            if x.type.dtype != dtype or x.ndim != len(shape):
                has_more = x.type.dtype == dtype and 0 < len(shape) < x.ndim
                raise problem(
                    ProgramTypeError, f"argument {p.name} of {symbol} is {p.type!r}, got {x!r}",
                    "element type and number of dimensions must be the same: copy it to an array that has them",
                    f"a part of it with as many is {x.name}[{'i, ' * (x.ndim - len(shape))}...]" if has_more else "",
                )  # fmt: skip
            space = x.value.type.space if isinstance(x.value.type, MemRefType) else 0
            if space:
                raise problem(
                    ProgramTypeError, f"argument {p.name} of {symbol} lies in memory space 0, and {x.name} in {space}",
                    "copy it to an array of affdsl.alloc, which is in space 0",
                )  # fmt: skip
            if x.type.strided and not p.type.strided:
                what = "is a part with gaps between its elements" if not x.whole.type.strided else "has any strides"
                raise problem(
                    ProgramTypeError, f"argument {p.name} of {symbol} is contiguous, and {x.name} {what}",
                    f"annotate it as {p.name}: affdsl.{replace(p.type, strided=True)!r}, or copy {x.name} to an array "
                    "of affdsl.alloc",
                )  # fmt: skip
            return x
        case Index():
            size = index_of(x, f"argument {p.name} of {symbol}")
            if not isinstance(size, Index):
                raise problem(
                    ProgramTypeError, f"argument {p.name} of {symbol} is a size, but {size.describe()} is known only "
                    "as data", "pass a number, a symbol, or an expression of them")  # fmt: skip
            assert p.symbol is not None
            bound[p.symbol] = size.expr
            return size
        case DType(kind="index"):
            return index_of(x, f"argument {p.name} of {symbol}")
        case DType():
            if not isinstance(x, Traced):
                return constant(_number(symbol, p, x), p.type)
            scalar = x.scalar()
            if scalar.dtype != p.type:
                raise problem(ProgramTypeError, f"argument {p.name} of {symbol} is {p.type!r}, got {scalar.describe()}",
                              f"convert it: affdsl.{p.type}(...)")  # fmt: skip
            return scalar


def _number(symbol: str, p: Parameter, x: object) -> Number:
    if isinstance(x, NUMBERS):
        return x
    raise problem(ProgramTypeError, f"argument {p.name} of {symbol} is {p.type!r}, got {x!r}")


def _solve(program: Program, arrays: Sequence[tuple[Parameter, ArrayType, Array]], bound: dict[Value, Term]) -> None:
    """Find each size of the callee from the arrays that it is given."""
    for size in program.sizes:
        candidates = [
            (x.type.shape[d] - expr.constant) // expr.terms[0][1]
            for _, type, x in arrays
            for d, expr in enumerate(type.shape)
            if solves(expr, size)
        ]
        bound[size] = candidates[0]


def _check_sizes(
    symbol: str, arrays: Sequence[tuple[Parameter, ArrayType, Array]], bound: Mapping[Value, Term]
) -> None:
    """Raise ProgramError where sizes differ, or may.

    Of calls with parts it is said here only where they differ by a number, or where the callee has a number, which is
    in its type. The rest is proved when the caller is whole, with what is around the call, or checked by each call.
    """
    has_parts = any(x.is_part for _, _, x in arrays)
    for p, type, x in arrays:
        for d, expr in enumerate(type.shape):
            needed, got = expr.substitute(bound), x.type.shape[d]
            may_differ = has_parts and not expr.is_constant and not (needed - got).is_constant
            if needed != got and not may_differ:
                agree = "sizes of a call must agree as expressions; give both arrays the same symbol"
                wanted = spell(expr) if expr == needed else f"{spell(expr)} = {spell(needed)}"
                raise problem(
                    ProgramError,
                    f"dimension {d} of argument {p.name} of {symbol} must be {wanted}, "
                    f"but {x.name} has {spell(got)} there",
                    "take a part of that length" if x.is_part else agree,
                )


def _check_overlap(symbol: str, program: Program, given: Sequence[object]) -> None:
    arrays = [(n, x) for n, x in enumerate(given) if isinstance(x, Array)]
    for k, (n, x) in enumerate(arrays):
        for m, y in arrays[:k]:
            if x.value is y.value and (n in program.written or m in program.written):
                names = program.parameters[m].name, program.parameters[n].name
                raise problem(
                    ProgramError,
                    f"{symbol} is given the array {x.name} twice, as {names[0]} and as {names[1]}, and writes to it",
                    "arguments of a kernel may not overlap where one is written; copy it first with affdsl.copy",
                )


def _require_assumed(symbol: str, program: Program, bound: Mapping[Value, Term]) -> None:
    """What the callee assumes must hold: by numbers, as an assumption of the caller too, or where the call stands.

    The last is proved when the caller is whole, with the loops and conditions around the call, like its accesses.
    """
    builder = current()
    arguments = dict(zip(program.func.args, (*program.sizes, *(p.symbol for p in program.parameters)), strict=True))
    names: dict[Value, Term] = {v: bound[s] for v, s in arguments.items() if s is not None and s in bound}
    for constraint in program.func.assumes:
        here_ = constraint.substitute(names)
        assumed = f"{symbol} assumes {spell_constraint(constraint)}"
        given = ", ".join(f"{v.hint} = {spell(Affine.of(names[v]))}" for v in constraint.values() if v in names)
        if here_.expr.is_constant:
            if not here_.holds({}):
                raise problem(ProgramError, f"{assumed}, and is given {given}, with which it is not true",
                              "call it with arguments for which that holds")  # fmt: skip
        elif all(v in builder.blocks[0].inputs for v in here_.expr.values()):
            builder.assumes.append(here_)


def _mark_written(symbol: str, p: Parameter, x: Array) -> None:
    if x.type.const:
        raise problem(
            ProgramTypeError, f"{x.whole.name} is declared const, but {symbol} writes to its argument {p.name}",
            f"annotate it as {x.whole.name}: affdsl.{replace(x.whole.type, const=False)!r}")  # fmt: skip
    current().written.add(x.whole.value)


def _as_type(x: Array, like: Value) -> Value:
    """The array under the callee's type, which may know less of its sizes."""
    if x.value.type == like.type:
        return x.value
    result = Value(like.type, x.value.hint, here())
    current().emit(memref.Cast(result, x.value))
    return result


def _emit(
    symbol: str, program: Program, operands: Sequence[Value], bound: Mapping[Value, Term]
) -> Array | Scalar | tuple[Array | Scalar, ...] | None:
    names = assigned_names(user_frame())
    hints = names if len(names) == len(program.results) else ("",) * len(program.results)
    results = tuple(Value(t, h, here()) for t, h in zip(program.func.result_types, hints, strict=True))
    current().emit(func.Call(results, symbol, tuple(operands)))
    seen: list[Array | Scalar] = []
    for value, type in zip(results, program.results, strict=True):
        if isinstance(type, ArrayType):
            shape = tuple(e.substitute(bound) for e in type.shape)
            seen.append(Array(value, ArrayType(type.dtype, shape)))
            current().block.owned.append(value)
        else:
            seen.append(Scalar(value, type))
    return None if not seen else seen[0] if len(seen) == 1 else tuple(seen)
