"""A Python function, run once with placeholders for its arguments, as IR."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count
from types import FunctionType

from affdsl.errors import ProgramError, ProgramNameError, ProgramTypeError
from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Call, Func, Module, Return
from affdsl.ir.dialects.memref import GetGlobal, Global
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import clone, like, rewrite, substitute, with_fields
from affdsl.ir.types import INDEX
from affdsl.lang import result_names as result_names_of
from affdsl.lang.annotated import meant
from affdsl.lang.annotations import ArrayType, Form, OpenParameter, Parameter, natural, sizes_of
from affdsl.lang.arrays import Array
from affdsl.lang.builder import Builder, SymbolValue, building
from affdsl.lang.draws import warn_of_draws
from affdsl.lang.dtypes import NUMBERS, DType, index, literal
from affdsl.lang.exits import refuse_early_exits
from affdsl.lang.indices import Index
from affdsl.lang.miscalls import arguments_explained
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import definition, located, means_itself, problem, returned_at, unhidden
from affdsl.lang.traced import Traced
from affdsl.lang.type_variables import DTypes, Types
from affdsl.lang.written import source_of


class Program(Frozen):
    """A kernel as IR, with what the IR does not say: its Python arguments and results, and the kernels it calls.

    The function's arguments are `sizes` followed by one for each parameter; the parameters' shapes and the results'
    are written with `symbols`, which stand for the first arguments and for those that are the value of a symbol.
    """

    func: Func
    parameters: tuple[Parameter, ...]
    sizes: tuple[Value, ...]
    results: tuple[ArrayType | DType, ...]
    written: frozenset[int]
    callees: Mapping[str, Program] = field(default_factory=dict)
    constants: tuple[Global, ...] = ()
    checked: bool = False
    """Whether it wants each access to be checked when it runs, or a kernel that it calls does."""
    downward: Mapping[Value, Affine] = field(default_factory=dict)
    """Where loops start that run down, by their counters, which say how far they have come: outer loops first."""
    result_names: tuple[str, ...] = ()
    """What its author calls the results, each of them; nothing where nobody says."""

    @property
    def module(self) -> Module:
        """The function and all that it calls, callees first, after their constants; symbols that clash are renamed."""
        return joined([self])


def spellings(symbol: str) -> Iterator[str]:
    """The symbol, then the symbol with numbers: kernels of one name may come from different places."""
    yield symbol
    yield from (f"{symbol}_{n}" for n in count(1))


def joined(programs: Sequence[Program]) -> Module:
    """One module of several programs and all that they call, each function once; they keep their symbols."""
    names = {program: program.func.symbol for program in reversed(programs)}
    for program in reversed(programs):
        _name(program, names)
    buffers = _constants(reversed(names), set(names.values()))
    functions = _apart(_linked(program, names, buffers) for program in names)
    return Module((*buffers.values(), *reversed(functions)))


def trace(
    function: FunctionType,
    parameters: tuple[Parameter, ...],
    before: tuple[object, ...] = (),
    *,
    checked: bool = False,
    types: Types = Types(),  # noqa: B008 - it is frozen
    result_names: tuple[str, ...] = (),
) -> Program:
    """Run function on placeholders, after the arguments `before`, and give what it built, with types for variables.

    Raises ProgramError and its kinds; what the body itself raises comes out as it is.
    """
    name = function.__name__
    location = definition(function.__code__)
    _require_plain(function, location)
    source = source_of(function)
    if source is not None:
        refuse_early_exits(source)
        warn_of_draws(source, function)
    sizes = sizes_of(name, parameters, location)
    inputs = [*sizes, *(_input(p, location) for p in parameters)]
    own: dict[Value, Term] = {v: like(v) for v in inputs if isinstance(v, SymbolValue)}
    builder = Builder(name, location, inputs, types)
    builder.means_itself = means_itself(function.__code__, name, function.__qualname__)
    with building(builder):
        given = [_placeholder(p, v) for p, v in zip(parameters, inputs[len(sizes) :], strict=True)]
        try:
            with arguments_explained(), unhidden():
                returned = function(*before, *given)
        except NameError as error:
            own_name = function.__code__.co_name  # which is another one in a family
            if {name, own_name}.isdisjoint((error.name, _free_variable(error))):
                raise
            raise recursion(own_name, _raised_at(error)) from None
        if builder.block is not builder.blocks[0]:
            raise problem(
                ProgramError,
                f"kernel {name} ends inside of {builder.block.what}",
                "enter each block with its own `with`, so that it ends too",
                location=builder.block.location,
            )
        line = returned_at(function.__code__)
        results = _results(builder, returned, location if line is None else Location(location.file, line))
        taken = [v.hint for v in inputs]
        result_names_of.require(name, result_names, len(results), taken, location)
        body = builder.close()
    values = tuple(x.value for x in results)
    if values:
        body = (*body, Return(values, location=location))
    written = frozenset(n for n, v in enumerate(inputs[len(sizes) :]) if v in builder.written)
    built = _function(name, inputs, len(sizes), parameters, body, results, builder, own)
    result_types = tuple(x.type if isinstance(x, Array) else x.dtype for x in results)
    checked = checked or any(callee.checked for callee in builder.callees.values())
    downward = {counter: start.substitute(own) for counter, start in builder.downward.items()}
    constants = tuple(builder.constants)
    return Program(
        built, parameters, sizes, result_types, written, builder.callees, constants, checked, downward, result_names
    )


def _require_plain(function: FunctionType, location: Location) -> None:
    """Raise a ProgramError for what runs later than when it is called, and for what has no name."""
    name, plain = function.__name__, "a kernel is a plain function, defined with def"
    if not name or any("\ud800" <= c <= "\udfff" for c in name):
        raise problem(ProgramNameError, f"a kernel is called {name!r}, which no output can spell",
                      "set the function's __name__ to some text", location=location)  # fmt: skip
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise problem(ProgramTypeError, f"kernel {name} is a generator: it has a yield", plain,
                      "to hand on a value in a loop or branch write affdsl.yield_(...)", location=location)  # fmt: skip
    if inspect.iscoroutinefunction(function):
        raise problem(ProgramTypeError, f"kernel {name} is defined with async def", plain, location=location)
    if function.__code__.co_name == "<lambda>":
        raise problem(ProgramTypeError, "a kernel is made of a lambda, which has no name and no annotations", plain,
                      location=location)  # fmt: skip


def _raised_at(error: NameError) -> Location:
    """Where an error was raised."""
    trace = error.__traceback__
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    return Location(trace.tb_frame.f_code.co_filename, trace.tb_lineno)


def _free_variable(error: NameError) -> str:
    """The variable of an enclosing function that is not assigned yet: the error itself only says so in words."""
    found = re.match(r"cannot access free variable '(.*?)'", str(error))
    return found[1] if found else ""


def parameters_of(
    function: FunctionType, namespace: Mapping[str, object], skip: int = 0
) -> tuple[Parameter | OpenParameter, ...]:
    """The arguments of a kernel, from its annotations; names in them are looked up in namespace.

    Raises ProgramTypeError and ProgramNameError, with the line of the function.
    """
    location = definition(function.__code__)
    try:
        with located(location):
            annotations = inspect.get_annotations(function, locals=dict(namespace), eval_str=True)
    except NameError as error:
        raise problem(
            ProgramNameError,
            f"an annotation of {function.__name__} uses {error.name}, which is not defined",
            f'a symbolic size is defined before the kernel: {error.name} = affdsl.symbols("{error.name}")',
            location=location,
        ) from None
    found = list(inspect.signature(function).parameters.values())[skip:]
    return tuple(_parameter(function.__name__, p, annotations, location) for p in found)


def recursion(name: str, location: Location | None = None) -> ProgramError:
    """The error for a kernel that calls itself."""
    return problem(
        ProgramError,
        f"kernel {name} calls itself",
        "a kernel's loops are known when it is built, so it cannot be recursive; write a loop with affdsl.for_",
        location=location,
    )


def made_parameters(
    function: FunctionType, parameters: Sequence[Parameter | OpenParameter], types: Types
) -> tuple[Parameter, ...]:
    """The arguments of a kernel for some types. Raises ProgramTypeError for a default that one of them cannot hold."""
    location = definition(function.__code__)

    def made(p: Parameter | OpenParameter) -> Parameter:
        if isinstance(p, Parameter):
            return p
        type = p.type.made(types) if isinstance(p.type, Form) else types.of(p.type)
        assert type is not None, "a kernel is made for all of its variables"
        default = None if p.default is None else _default(p.default, type, location)
        return Parameter(p.name, type, default)

    return tuple(map(made, parameters))


def _parameter(
    kernel: str, p: inspect.Parameter, annotations: Mapping[str, object], location: Location
) -> Parameter | OpenParameter:
    wanted = "affdsl.f32[M, N] for an array, affdsl.f32 for a number, affdsl.index or a symbol for a size"
    if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
        raise problem(ProgramTypeError, f"kernel {kernel} has the argument *{p.name}; name each argument",
                      f"annotate each one: {wanted}", location=location)  # fmt: skip
    if p.kind is p.KEYWORD_ONLY:
        raise problem(ProgramTypeError, f"argument {p.name} of kernel {kernel} can be given by its name only",
                      "arguments of a kernel have an order: remove the * before it", location=location)  # fmt: skip
    if p.name not in annotations:
        raise problem(ProgramTypeError, f"argument {p.name} of kernel {kernel} has no annotation",
                      f"write {wanted}", location=location)  # fmt: skip
    type = meant(annotations[p.name], f"argument {p.name} of kernel {kernel}", location)
    if isinstance(type, Index) and not isinstance(type.expr.value, SymbolValue):
        raise problem(ProgramTypeError, f"argument {p.name} of kernel {kernel} is annotated {type!r}, which is not "
                      "a symbol alone", f"write {wanted}", location=location)  # fmt: skip
    if not isinstance(type, ArrayType | DType | Index | Form | DTypes):
        raise problem(ProgramTypeError, f"argument {p.name} of kernel {kernel} is annotated {type!r}",
                      f"write {wanted}", location=location)  # fmt: skip
    if p.default is p.empty:
        return OpenParameter(p.name, type) if isinstance(type, Form | DTypes) else Parameter(p.name, type)
    _require_number(kernel, p.name, p.default, location, is_array=isinstance(type, ArrayType | Form))
    if isinstance(type, Form | DTypes):
        return OpenParameter(p.name, type, p.default)
    return Parameter(p.name, type, _default(p.default, type, location))


def _require_number(kernel: str, name: str, default: object, location: Location, *, is_array: bool) -> None:
    """Raise ProgramTypeError unless a default is a number, and that of one."""
    what = f"argument {name} of kernel {kernel} has the default {default!r}"
    if is_array:
        advice = "pass an array at each call: a kernel may change it"
        raise problem(ProgramTypeError, f"{what}, and is an array", advice, location=location)
    if not isinstance(default, NUMBERS):
        raise problem(ProgramTypeError, f"{what}, which is no number", "write a number", location=location)


def _default(default: object, type: ArrayType | DType | Index, location: Location) -> int | float | complex:
    """The number that an argument is where a call does not give it."""
    assert isinstance(default, NUMBERS), "it was looked at"
    assert not isinstance(type, ArrayType), "and is that of a number"
    with located(location):
        return literal(default, index if isinstance(type, Index) else type)


def _input(p: Parameter, location: Location) -> Value:
    match p.type:
        case ArrayType():
            return Value(p.type.memref, p.name, location)
        case DType():
            return Value(p.type.type, p.name, location)
        case Index():
            assert p.symbol is not None
            return p.symbol


def _placeholder(p: Parameter, value: Value) -> Array | Scalar | Index:
    match p.type:
        case ArrayType():
            return Array(value, p.type)
        case DType() if p.type.type != INDEX:
            return Scalar(value, p.type)
        case _:
            return Index(value + 0)


def _results(builder: Builder, returned: object, at: Location) -> list[Array | Scalar]:
    """What the kernel returns, checked; returned arrays are no longer given back at its end."""
    items = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    results: list[Array | Scalar] = []
    for item in items:
        match item:
            case Array():
                _release(builder, item, at)
                results.append(item)
            case Traced():
                with located(at):
                    scalar = item.scalar()
                    builder.require(scalar.value)
                results.append(scalar)
            case _:
                raise problem(
                    ProgramTypeError,
                    f"kernel {builder.name} returns {item!r}",
                    "a kernel returns arrays that it allocates and numbers that it computes; "
                    "give a Python number a type: affdsl.f64(x)",
                    location=at,
                )
    return results


def _release(builder: Builder, array: Array, at: Location) -> None:
    top = builder.blocks[0]
    if array.value in top.inputs:
        raise problem(ProgramError, f"kernel {builder.name} returns its argument {array.name}",
                      f"{array.name} is changed in place: the caller has it already", location=at)  # fmt: skip
    with located(at):
        builder.require(array.value)
    if array.value not in top.owned:
        raise problem(ProgramError, f"kernel {builder.name} returns {array.name}, which it cannot give away",
                      "return each array once, and allocate it with affdsl.alloc outside of all loops and branches",
                      location=at)  # fmt: skip
    inputs = set(top.inputs)
    if any(v not in inputs for e in array.type.shape for v in e.values()):
        raise problem(ProgramError, f"kernel {builder.name} returns {array!r}, whose size is computed from data",
                      "the caller must know the size from the arguments; take it as one", location=at)  # fmt: skip
    top.owned.remove(array.value)


def _function(
    name: str, inputs: list[Value], sizes: int, parameters: tuple[Parameter, ...], body: tuple[Op, ...],
    results: Iterable[Array | Scalar], builder: Builder, own: Mapping[Value, Term],
) -> Func:  # fmt: skip
    """The IR function; symbols, which kernels share, are replaced by the arguments of its own.

    Those are older than the loops of the body, so that expressions name them first, as they do in parsed text.
    """
    dtypes = [None] * sizes + [p.type.dtype if isinstance(p.type, ArrayType) else p.type for p in parameters]
    result_dtypes = [x.type.dtype if isinstance(x, Array) else x.dtype for x in results]
    shapes = [None] * sizes + [p.type.shape if isinstance(p.type, ArrayType) else None for p in parameters]
    shared = Func(
        name, tuple(inputs), body, tuple(x.value.type for x in results), tuple(shapes),
        natural(inputs, shapes, builder.assumes), _unsigned(dtypes), _unsigned(result_dtypes),
        location=builder.location,
    )  # fmt: skip
    return with_fields(substitute(shared, own), args=tuple(own.get(v, v) for v in inputs))


def _unsigned(dtypes: Iterable[object]) -> frozenset[int]:
    return frozenset(n for n, d in enumerate(dtypes) if isinstance(d, DType) and d.kind == "unsigned")


def _name(program: Program, names: dict[Program, str]) -> None:
    """Give program and all that it calls their symbols, callers before callees."""
    names.pop(program, None)  # seen from a later caller: it must come before that one too
    taken = set(names.values())
    base = program.func.symbol
    names[program] = next(n for n in (base, *(f"{base}_{k}" for k in range(len(taken) + 1))) if n not in taken)
    for callee in program.callees.values():
        _name(callee, names)


def _constants(programs: Iterable[Program], taken: set[str]) -> dict[Global, Global]:
    """The constants of all programs, under symbols that nothing else has."""
    found: dict[Global, Global] = {}
    for made in (g for program in programs for g in program.constants):
        symbol = next(
            s for s in (made.symbol, *(f"{made.symbol}_{k}" for k in range(len(taken) + 1))) if s not in taken
        )
        taken.add(symbol)
        found[made] = made if symbol == made.symbol else with_fields(made, symbol=symbol)
    return found


def _linked(program: Program, names: Mapping[Program, str], buffers: Mapping[Global, Global]) -> Func:
    symbols = {made.symbol: buffers[made].symbol for made in program.constants}

    def rule(op: Op) -> Op | None:
        if isinstance(op, Call) and names[program.callees[op.callee]] != op.callee:
            return with_fields(op, callee=names[program.callees[op.callee]])
        if isinstance(op, GetGlobal) and symbols[op.symbol] != op.symbol:
            return with_fields(op, symbol=symbols[op.symbol])
        return None

    linked = rewrite(program.func, rule)
    return linked if linked.symbol == names[program] else with_fields(linked, symbol=names[program])


def _apart(functions: Iterable[Func]) -> list[Func]:
    """Functions without common values: one kernel may have been made of another by passes. The first stays as it is."""
    seen: set[Value] = set()
    found: list[Func] = []
    for function in functions:
        own = {*function.args, *(v for op in function.body for v in (*op.defines(), *op.binds()))}
        found.append(function if seen.isdisjoint(own) else clone(function, {}))
        seen |= own
    return found
