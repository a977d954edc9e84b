"""How long calls take, with arrays made for some sizes: never those of whoever calls a kernel."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import SupportsIndex, TypeVar

import numpy as np

from affdsl.codegen.arguments import Array, ArrayArgument
from affdsl.codegen.jit import compile_program, signature_of
from affdsl.errors import AffdslError, ProgramError, ProgramTypeError
from affdsl.frozen import Frozen
from affdsl.ir.debugging import asserted, printed
from affdsl.ir.dialects import memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import nearest
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType
from affdsl.kernel import Kernel
from affdsl.lang.annotations import ArrayType
from affdsl.lang.source import problem
from affdsl.lang.trace import Program
from affdsl.passes.analysis.iterations import Iterations
from affdsl.seeing.loop_names import counters

LEAST, FACTOR = 40, 2
"""The first size that is tried where nobody says any, and by which factor it grows: no power of two, of which the rows
of an array would fall onto the same lines of a cache."""
LONG_ENOUGH = 0.002
"""So many seconds calls take together that are timed at once."""
MOST_CALLS = 32
"""So many calls are made at most of the same arrays, which change: what is halved too often is slow to compute with."""
STEPS = 16
"""What an index argument is that is the size of no array, such as a number of time steps."""
Key = TypeVar("Key")


class Trial(Frozen):
    """The arguments of a kernel for some sizes.

    Attributes
    ----------
    sizes
        The sizes and the index arguments, by name.
    """

    sizes: Mapping[str, int]
    _start: tuple[Array, ...]
    _given: tuple[object, ...]

    @property
    def bytes(self) -> int:
        """How many bytes the arrays have."""
        return sum(x.nbytes for x in self._start)

    def arguments(self) -> tuple[object, ...]:
        """The arguments, with in the arrays what was there in the beginning."""
        arrays = (x for x in self._given if isinstance(x, np.ndarray) and x.ndim)
        for array, start in zip(arrays, self._start, strict=True):
            np.copyto(array, start)
        return self._given

    def __str__(self) -> str:
        return ", ".join(f"{name} = {n}" for name, n in self.sizes.items())


def trial(kernel: Kernel, sizes: Mapping[str, object]) -> Trial:
    """The arguments of a kernel for sizes: numbers near 1, and zeros where they are whole.

    Raises ProgramError for a size that is missing, or that there is not.
    """
    known = numbers_of(kernel.program, sizes, "time")
    random = np.random.default_rng(0)
    given = arguments_of(kernel, known, "time", lambda shape, dtype: _array(shape, dtype, random))
    arrays = tuple(x.copy() for x in given if isinstance(x, np.ndarray) and x.ndim)
    return Trial(known, arrays, given)


def arguments_of(
    kernel: Kernel, known: Mapping[str, int], verb: str, made: Callable[[list[int], np.dtype[np.generic]], Array]
) -> tuple[object, ...]:
    """The arguments of a call with some sizes, with arrays as they are `made`, defaults, and 1 for other numbers.

    Raises ProgramError for a shape below 0: one cannot `verb` the kernel.
    """
    program, given = kernel.program, list[object]()
    symbols = symbols_of(program, known)
    args = program.func.args[len(program.sizes) :]
    for v, p, part in zip(args, program.parameters, signature_of(program).arguments, strict=True):
        if isinstance(part, ArrayArgument):
            assert isinstance(p.type, ArrayType)
            shape = [each.evaluate(symbols) for each in p.type.shape]
            if any(size < 0 for size in shape):
                what = f"cannot {verb} {kernel.name} for {dict(known)}: {p.name} would have shape {shape}"
                raise problem(ProgramError, what)
            given.append(made(shape, part.dtype))
        elif v.hint in known:  # an argument that is the size M of arrays is called M
            given.append(known[v.hint])
        else:
            given.append(part.dtype.type(1) if p.default is None else p.default)
    return tuple(given)


def growing(kernel: Kernel) -> Iterator[Trial]:
    """The arguments of a kernel for all sizes alike, larger and larger; one where it is for one size."""
    n, before = LEAST, None
    while (numbers := usual_numbers(kernel.program, n)) != before:
        yield trial(kernel, numbers)
        n, before = n * FACTOR, numbers


def usual_numbers(program: Program, size: int) -> dict[str, int]:
    """The index arguments by name: all sizes of arrays alike, others `STEPS`, but those that have a default, or one
    number."""
    shapes = [p.type.shape for p in program.parameters if isinstance(p.type, ArrayType)]
    in_shapes = {v for shape in shapes for e in shape for v in e.values()}
    args = zip(program.func.args, [*program.sizes, *(p.symbol for p in program.parameters)], strict=True)
    indices = ((v.hint, symbol) for v, symbol in args if isinstance(v.type, IndexType))
    return {name: size if symbol in in_shapes else STEPS for name, symbol in indices} | fixed_numbers(program)


def require_tunable(kernel: Kernel) -> None:
    """Raise ProgramError where nobody can say how often a loop runs, or where running it many times is seen."""
    of = Iterations(kernel.module)
    counted = {v for f in kernel.module.functions for v in f.args if isinstance(v.type, IndexType)}
    for op in (op for function in kernel.module.functions for op in walk(function)):
        if printed(op) is not None:
            why = "it prints, and would do so in each of many calls"
        elif isinstance(op, scf.While):
            why = "a loop runs as long as its data say"
        elif isinstance(op, scf.For) and not all(
            v in counted or isinstance(of.maker(v), memref.Dim) for v in of.roots((op.lower, op.upper, op.step))
        ):
            why = f"loop {op.iv.hint} runs as often as its data say"
        else:
            counted |= {*counters(op)}
            continue
        advice = "time it on data of your own, with some of the choices that a schedule has"
        raise problem(ProgramError, f"cannot time {kernel.name}: {why}", advice, location=op.location)


def require_runs(kernel: Kernel, made: Trial) -> None:
    """Run a kernel as it was written once, if its data could lead it astray, with all accesses checked.

    Raises ProgramError where an index that comes from data leaves its array, or what it asserts does not hold.
    """
    risky = bool(kernel.check().unknown) or any(asserted(op) is not None for op in walk(kernel.module))
    program = replace(kernel.program, checked=True) if risky else kernel.program
    try:
        if risky:
            compile_program(program, kernel.check())(*made.arguments())
    except AffdslError as error:
        first = str(error).splitlines()[0]
        raise problem(
            ProgramError,
            f"cannot time {kernel.name}: on arrays made for it, of numbers near 1 and whole ones that are 0: {first}",
            "time it on data of your own, with some of the choices that a schedule has",
        ) from None


def numbers_of(program: Program, sizes: Mapping[str, object], verb: str) -> dict[str, int]:
    """The sizes by name, in the order of the function's arguments, with the defaults of those that are not given.

    Raises ProgramError for a size that is missing, or that there is not: one cannot `verb` the kernel.
    """
    name, needed = program.func.symbol, [v.hint for v in program.func.args if isinstance(v.type, IndexType)]
    known = fixed_numbers(program)
    for each, number in sizes.items():
        if each not in needed:
            listed = f"its sizes are {', '.join(needed) or 'numbers already'}"
            raise problem(
                ProgramError, f"cannot {verb} {name}: it has no size {each}{nearest(str(each), needed)}", listed
            )
        if not isinstance(number, SupportsIndex) or isinstance(number, bool) or int(number) < 0:
            what = f"cannot {verb} {name}: {each} is {number!r}"
            raise problem(ProgramTypeError, what, "it is a whole number from 0 on")
        known[each] = int(number)
    missing = [each for each in needed if each not in known]
    if missing:
        shown = ", ".join(f'"{each}": ...' for each in needed)
        raise problem(
            ProgramError, f"cannot {verb} {name}: the size {missing[0]} is missing", f"the sizes are {{{shown}}}"
        )
    return {each: known[each] for each in needed}


def fixed_numbers(program: Program) -> dict[str, int]:
    """The numbers of index arguments that have a default, or must have one number."""
    args = dict(zip(program.func.args[len(program.sizes) :], program.parameters, strict=True))
    found = {v.hint: p.default for v, p in args.items() if isinstance(v.type, IndexType) and isinstance(p.default, int)}
    for fact in program.func.assumes:
        if fact.equality and len(fact.expr.terms) == 1:
            (atom, factor), number = fact.expr.terms[0], -fact.expr.constant
            if isinstance(atom, Value) and number % factor == 0:
                found[atom.hint] = number // factor
    return found


def symbols_of(program: Program, known: Mapping[str, int]) -> dict[Value, int]:
    """The numbers of the symbols that shapes are written with."""
    args = dict(zip(program.func.args, [*program.sizes, *(p.symbol for p in program.parameters)], strict=True))
    return {symbol: known[v.hint] for v, symbol in args.items() if symbol is not None}


def _array(shape: list[int], dtype: np.dtype[np.generic], random: np.random.Generator) -> Array:
    """An array of numbers near 1; of zeros where they are whole, since 0 is an index of whatever has elements."""
    if dtype.kind in "biu":
        return np.zeros(shape, dtype)
    made: Array = np.asarray(random.uniform(0.5, 1.5, shape)).astype(dtype)
    return made


def seconds(kernel: Kernel, trial: Trial, calls: int = 1) -> float:
    """How long a call takes, on the mean of some calls one after the other."""
    arguments = trial.arguments()
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(calls):
            kernel(*arguments)
        return (perf_counter() - start) / calls
    finally:
        if was_collecting:
            gc.enable()


def calls_for(expected: float) -> int:
    """How many calls are long enough to be timed, if one takes so many seconds.

    >>> calls_for(0.5), calls_for(0.0004), calls_for(1e-7)
    (1, 5, 32)
    """
    return max(1, min(MOST_CALLS, round(LONG_ENOUGH / max(expected, 1e-9))))


def in_turn(
    running: Mapping[Key, tuple[Kernel, Trial]], calls: int, is_over: Callable[[int], bool]
) -> dict[Key, list[float]]:
    """How long a call of each kernel takes, of so many, where they take turns.

    After each turn it is asked whether so many are enough.
    """
    found: dict[Key, list[float]] = {key: [] for key in running}
    for turn in count(1):
        for key, (kernel, trial) in running.items():
            found[key].append(seconds(kernel, trial, calls))
        if is_over(turn):
            break
    return found


def spelled(time: float) -> str:
    """A time with its unit, in three digits.

    >>> spelled(0.00123), spelled(2.5), spelled(4.56789e-7)
    ('1.23 ms', '2.5 s', '0.457 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if time * scale >= 1:
            return f"{time * scale:.3g} {unit}"
    return f"{time * 1e6:.3g} us"
