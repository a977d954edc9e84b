"""A kernel, compiled for this machine, as a callable on NumPy arrays."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from weakref import WeakKeyDictionary

import numpy as np

from affdsl.codegen.arguments import (
    ArrayArgument,
    ArrayResult,
    ScalarArgument,
    ScalarResult,
    Scalars,
    Shapes,
    Signature,
    check,
)
from affdsl.codegen.bfloat import as_interpreted, as_numpy, bfloat16
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.c.instruments import FLAGS as OF_INSTRUMENTS
from affdsl.codegen.c.instruments import Instruments
from affdsl.codegen.c.origins import Origins
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.cache import LoadedLibrary, default_cache
from affdsl.codegen.caller import Caller, TakeOver, Turned, load, prepare
from affdsl.codegen.errors import SizeError
from affdsl.codegen.native import native_target
from affdsl.codegen.targets.target import Target
from affdsl.codegen.toolchain import Compiler, jit_flags
from affdsl.errors import InternalError
from affdsl.frames import plain_traceback
from affdsl.ir.call_range import call_range, fits
from affdsl.ir.debugging import printed
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.interpreter import run
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, VectorType
from affdsl.ir.verifier import verify
from affdsl.lang.annotations import ArrayType, Parameter, solves
from affdsl.lang.dtypes import DType, bf16, index
from affdsl.lang.trace import Program
from affdsl.passes.analysis.bounds import Bounds
from affdsl.progress import progress


def compile_program(
    program: Program,
    bounds: Bounds,
    take_over: TakeOver | None = None,
    *,
    needed: Program | None = None,
    other: TakeOver | None = None,
    turned: Turned | None = None,
) -> Caller:
    """program as a callable, from the cache or freshly compiled; `take_over` as in `affdsl.codegen.caller.load`.

    Where only a part of it is `needed`, that is compiled, and `other` asked about calls with sizes that it excludes.
    `turned` takes calls of which all strided arrays lie in Fortran order.

    A call with sizes with which an access would leave its array, as `bounds` knows them, is refused, and one with index
    arguments so large that what loops and subscripts compute with them does not fit into 64 bits. Where only the
    numbers of a call decide, `bounds` is asked once for each of them. Where the program asks for it, or
    AFFDSL_BOUNDSCHECK says so, each access is checked before it is made.

    Raises ToolchainError where there is no compiler or it fails, UnsupportedError for element types without a NumPy
    type.
    """
    verify(program.module)
    prepare()
    cache, sites = default_cache(), Sites()
    compiler = cache.compiler()
    if is_checked(program):  # which says what is wrong in the order of the kernel as written
        turned = None
    with progress(f"compiling {program.func.symbol}"):
        source, flags = jit_source(
            program if needed is None else needed, bounds, compiler, sites=sites, whole=program,
            has_turned=turned is not None,
        )  # fmt: skip
        library = cache.library(compiler, source, flags)
    return loaded(program, bounds, library, sites, take_over, other, turned)


def jit_source(
    program: Program,
    bounds: Bounds,
    compiler: Compiler,
    *,
    sites: Sites | None = None,
    origins: Origins | None = None,
    target: Target | None = None,
    module: Module | None = None,
    instruments: Instruments | None = None,
    whole: Program | None = None,
    has_turned: bool = False,
) -> tuple[str, tuple[str, ...]]:
    """The C file of a program that is compiled here, and with which flags: for this machine, or for a target.

    `sites` and `origins` are filled, see `affdsl.codegen.c.emit.emit_jit`. With `instruments` it is a copy that notes
    how it runs, of a `module` that does the same as that of the program, and has its vectors split already. Where it is
    a part of a `whole`, it refuses the index arguments that all of that would; where it `has_turned` form, arrays that
    all lie in Fortran order.
    """
    width = None
    if module is None:
        module = program.module
        width = (native_target() if target is None else target).width if has_vectors(module) else None
    checked = is_checked(program)
    source = emit_jit(
        module,
        program.func.symbol,
        sizes=len(program.sizes),
        against=(*bounds.against(), *_too_large(program if whole is None else whole)),
        sites=Sites() if sites is None else sites,
        checked=checked,
        asks=bounds.needs_numbers,
        has_turned=has_turned,
        register_bits=width,
        origins=origins,
        instruments=instruments,
    )
    flags = (*(OF_INSTRUMENTS if instruments is not None else ()),)
    flags += jit_flags(compiler) if target is None else jit_flags(compiler, target.flags)
    # What is computed for a check must not be undefined either: it may be any number that data gives.
    return source, (*flags, *(("-fwrapv",) if checked else ()))


def loaded(
    program: Program,
    bounds: Bounds,
    library: LoadedLibrary,
    sites: Sites,
    take_over: TakeOver | None = None,
    other: TakeOver | None = None,
    turned: Turned | None = None,
) -> Caller:
    """A compiled program as a callable, with the errors of `compile_program`."""

    def explain(shapes: Shapes, scalars: Scalars) -> None:
        check_sizes(program, shapes, scalars, bounds)
        if other is None:
            raise InternalError(f"{program.func.symbol}: the compiled kernel refused sizes that are right: {shapes}")

    def decide(shapes: Shapes, scalars: Scalars) -> list[int]:
        known = check_sizes(program, shapes, scalars, bounds)
        return [number for number in known_arguments(program, known, scalars) if number is not None]

    called = load(library, signature_of(program), explain, take_over, sites, decide, other, turned)
    return _after_output(called) if any(printed(op) is not None for op in walk(program.module)) else called


def _after_output(called: Caller) -> Caller:
    """The callable, which prints by way of C, after what Python has printed before."""

    @plain_traceback
    def run(*arguments: object, **keywords: object) -> object:
        sys.stdout.flush()
        return called(*arguments, **keywords)

    return run


def has_vectors(module: Module) -> bool:
    """Whether there is a vector, for which the compiler is asked how wide its registers are."""
    return any(isinstance(v.type, VectorType) for op in walk(module) for v in (*op.defines(), *op.binds()))


def is_checked(program: Program) -> bool:
    """Whether each access of a program is checked when it runs compiled: AFFDSL_BOUNDSCHECK decides, or the program.

    Raises ValueError if the variable is set to something else than 0 and 1.
    """
    wish = os.environ.get("AFFDSL_BOUNDSCHECK", "")
    if wish not in ("", "0", "1"):
        raise ValueError(f"AFFDSL_BOUNDSCHECK is {wish!r}; set it to 0 or 1, or unset it")
    return program.checked if wish == "" else wish == "1"


def interpret_program(
    program: Program, bounds: Bounds, arguments: tuple[object, ...], keywords: Mapping[str, object]
) -> object:
    """Run program by the interpreter, with the checks and the results of a compiled call."""
    values = check(signature_of(program), arguments, keywords)
    shapes = tuple(x.shape for x in values if isinstance(x, np.ndarray))
    scalars = tuple(x for x in values if not isinstance(x, np.ndarray))
    sizes = check_sizes(program, shapes, scalars, bounds)
    module = program.module
    function = module.functions[-1]
    given = [as_interpreted(x) for x in values]
    results = run(function, *(sizes[s] for s in program.sizes), *given, module=module)
    taken = [_result(x, t) for x, t in zip(results, program.results, strict=True)]
    return None if not taken else taken[0] if len(taken) == 1 else tuple(taken)


def _result(x: object, type: ArrayType | DType) -> object:
    """A result as a compiled call gives it: the interpreter has integers as Python's, with their sign."""
    if (type.dtype if isinstance(type, ArrayType) else type) == bf16:
        return as_numpy(x)
    if isinstance(type, ArrayType) or not isinstance(x, int):
        return x
    return np.asarray(x % 2**64, np.uint64).astype(_numpy(type))[()]


def signature_of(program: Program) -> Signature:
    """What a call from Python must look like."""
    arguments = tuple(_argument(p, n in program.written) for n, p in enumerate(program.parameters))
    results = tuple(
        ArrayResult(_numpy(t.dtype), len(t.shape)) if isinstance(t, ArrayType) else ScalarResult(_numpy(t))
        for t in program.results
    )
    return Signature(program.func.symbol, arguments, results)


def check_sizes(
    program: Program, shapes: Shapes, scalars: Sequence[object], bounds: Bounds | None = None
) -> dict[Value, int]:
    """The sizes that arrays of these shapes, and these scalar arguments, have.

    Raises SizeError where two of them disagree, where a size is not possible, where an assumption fails, where an
    access would leave its array, as `bounds` knows, or where a number is too large to compute with; it names the
    symbol, the arguments and both values.
    """
    name = program.func.symbol
    arrays = [(p, p.type) for p in program.parameters if isinstance(p.type, ArrayType)]
    others = [p for p in program.parameters if not isinstance(p.type, ArrayType)]
    known: dict[Value, int] = {}
    origin: dict[Value, str] = {}
    for p, number in zip(others, scalars, strict=True):
        if p.symbol is not None:
            known[p.symbol], origin[p.symbol] = int(number), f"argument {p.name}"  # type: ignore[call-overload]
    for size in program.sizes:
        p, d, expr, got = next(
            (p, d, e, shape[d])
            for (p, type), shape in zip(arrays, shapes, strict=True)
            for d, e in enumerate(type.shape)
            if solves(e, size)
        )
        number, rest = divmod(got - expr.constant, expr.terms[0][1])
        if rest or number < 0:
            raise SizeError(
                f"{name}: dimension {d} of argument '{p.name}' is {got}, which {spell(expr)} is for no size {size.hint}"
            )
        known[size], origin[size] = number, f"dimension {d} of '{p.name}'"
    for (p, type), shape in zip(arrays, shapes, strict=True):
        for d, expr in enumerate(type.shape):
            needed = _evaluated(name, expr, known)
            if shape[d] != needed:
                why = ", ".join(f"{v.hint} = {known[v]} from {origin[v]}" for v in dict.fromkeys(expr.values()))
                raise SizeError(
                    f"{name}: dimension {d} of argument '{p.name}' must be {spell(expr)}"
                    + (f" = {needed} ({why})" if why else "")
                    + f", got {shape[d]}"
                )
    own = dict(zip(program.func.args, known_arguments(program, known, scalars), strict=True))
    numbers = {v: number for v, number in own.items() if number is not None}
    _check_assumptions(program, numbers)
    _check_results(program, known | numbers)
    if bounds is not None:
        _check_bounds(program, bounds, numbers)
        _check_computed(program, [c for constraints in bounds.against() for c in constraints], numbers)
    _check_range(program, numbers)
    _check_computed(program, program.func.assumes, numbers)
    if bounds is not None:
        _check_by_numbers(program, bounds, numbers)
    return known


def _evaluated(name: str, expr: Affine, known: dict[Value, int]) -> int:
    """The number that expr is. Raises SizeError where it divides by what is not positive."""
    try:
        return expr.evaluate(known)
    except ZeroDivisionError:
        shown = ", ".join(f"{v.hint} = {known[v]}" for v in dict.fromkeys(expr.values()))
        raise SizeError(f"{name}: {spell(expr)} needs a positive divisor, but {shown}") from None


def _check_assumptions(program: Program, values: dict[Value, int]) -> None:
    """The contract is written with the function's own arguments; messages name them with their values."""
    for constraint in program.func.assumes:
        number = _evaluated(program.func.symbol, constraint.expr, values)
        if number < 0 or (constraint.equality and number != 0):
            shown = ", ".join(f"{v.hint} = {values[v]}" for v in dict.fromkeys(constraint.values()))
            raise SizeError(f"{program.func.symbol}: it assumes {spell_constraint(constraint)}, but {shown}")


def _check_results(program: Program, values: dict[Value, int]) -> None:
    """The arrays that the caller allocates for the kernel must have sizes that an array can have."""
    name = program.func.symbol
    for type in program.results:
        for d, expr in enumerate(type.shape if isinstance(type, ArrayType) else ()):
            number = _evaluated(name, expr, values)
            if not 0 <= number < 2**63:
                shown = ", ".join(f"{v.hint} = {values[v]}" for v in dict.fromkeys(expr.values()))
                raise SizeError(
                    f"{name}: dimension {d} of the array {type!r} that it returns would be {spell(expr)} = {number}, "
                    f"where {shown}"
                )


def _check_bounds(program: Program, bounds: Bounds, values: dict[Value, int]) -> None:
    """No access leaves its array with these sizes."""
    for reason in bounds.refusals_by_conditions(values):
        raise SizeError(f"{program.func.symbol}: {reason}")


def _check_computed(program: Program, constraints: Sequence[Constraint], values: dict[Value, int]) -> None:
    """The compiled checks compute with 64 bits, and refuse where they are too few."""
    for constraint in constraints:
        try:
            _computed(constraint.expr, values)
        except OverflowError:
            shown = ", ".join(f"{v.hint} = {values[v]}" for v in dict.fromkeys(constraint.values()))
            about = f"{program.func.symbol}: {spell_constraint(constraint)} cannot be checked for {shown}"
            raise SizeError(about) from None


def _check_by_numbers(program: Program, bounds: Bounds, values: dict[Value, int]) -> None:
    """What is not affine in the sizes keeps to its arrays with these, and fits into 64 bits with large ones, too."""
    if not bounds.needs_numbers:
        return
    functions = {f.symbol: f for f in program.module.functions}
    sizes = [values.get(argument, 0) for argument in program.func.args]
    if not fits(program.func, functions, sizes) and fits(program.func, functions, [0] * len(sizes)):
        shown = ", ".join(f"{v.hint} = {n}" for v, n in values.items())
        raise SizeError(f"{program.func.symbol}: what it computes with {shown} does not fit into 64 bits")
    reason = bounds.refusal_by_numbers(values)
    if reason:
        raise SizeError(f"{program.func.symbol}: {reason}")


_limits: WeakKeyDictionary[Program, tuple[int, list[Value]]] = WeakKeyDictionary()


def limited(program: Program) -> tuple[int, list[Value]]:
    """How large index arguments may be, without their signs, and those for which that counts."""
    limits = _limits.get(program)
    if limits is None:
        limits = _limits[program] = _found_limits(program)
    return limits


def _found_limits(program: Program) -> tuple[int, list[Value]]:
    found = call_range(program.func, {f.symbol: f for f in program.module.functions})
    given = [program.func.args[k] for k in sorted(found.counted) if k >= len(program.sizes)]
    return found.limit, [argument for argument in given if isinstance(argument.type, IndexType)]


def _too_large(program: Program) -> Iterator[tuple[Constraint]]:
    """What must not hold for the index arguments of a call."""
    limit, arguments = limited(program)
    for argument in arguments:
        yield (Constraint(argument - limit - 1),)
        yield (Constraint(-argument - limit - 1),)


def _check_range(program: Program, values: dict[Value, int]) -> None:
    """What loops and subscripts compute with these numbers fits into 64 bits."""
    limit, arguments = limited(program)
    for argument in arguments:
        if abs(values[argument]) > limit:
            raise SizeError(
                f"{program.func.symbol}: argument {argument.hint} is {values[argument]}, and must lie between {-limit} "
                f"and {limit}: what loops and subscripts compute with it fits into 64 bits then"
            )


def _computed(expr: Affine, values: dict[Value, int]) -> int:
    """What `affdsl.codegen.c.entry` computes: the same steps in the same order, each of which fits into 64 bits."""
    parts = [_fit(_computed_atom(atom, values) * factor) for atom, factor in expr.terms]
    if expr.constant or not parts:
        parts.append(_fit(expr.constant))
    return reduce(lambda left, right: _fit(left + right), parts)


def _computed_atom(atom: Atom, values: dict[Value, int]) -> int:
    match atom:
        case Value():
            return values[atom]
        case FloorDiv(dividend, divisor):
            return _computed(dividend, values) // _computed(Affine.of(divisor), values)
        case Product(factors):
            return reduce(lambda left, right: _fit(left * right), [_computed_atom(f, values) for f in factors])


def _fit(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


def known_arguments(program: Program, known: dict[Value, int], scalars: Sequence[object]) -> list[int | None]:
    """The index arguments of the IR function, None for all others."""
    rest = iter(scalars)
    found: list[int | None] = [known[s] for s in program.sizes]
    for p in program.parameters:
        number = None if isinstance(p.type, ArrayType) else next(rest)
        is_index = not isinstance(p.type, ArrayType | DType) or p.type == index
        found.append(int(number) if is_index and number is not None else None)  # type: ignore[call-overload]
    return found


def _argument(p: Parameter, written: bool) -> ArrayArgument | ScalarArgument:
    match p.type:
        case ArrayType(dtype, shape):
            return ArrayArgument(p.name, _numpy(dtype), len(shape), written, p.type.strided)
        case DType():
            return ScalarArgument(p.name, _numpy(p.type), p.default is not None)
        case _:
            return ScalarArgument(p.name, np.dtype(np.int64), p.default is not None)


def _numpy(dtype: DType) -> np.dtype[np.generic]:
    return bfloat16() if dtype.numpy is None else dtype.numpy
