"""What a call of a function leaves and gives, and how that of another program differs from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affdsl.errors import AffdslError
from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import Argument, InterpreterError, Order, Prepared, Result
from affdsl.ir.interpreter.externals import STANDARD
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import BF16, ComplexType, FloatType, IntegerType, MemRefType, NumberType, Type
from affdsl.passes.validation.inputs import Array, names_of

Named: TypeAlias = tuple[tuple[str, Type, Array], ...]

Fresh: TypeAlias = Literal["error", "poison", "low", "high"]

TICK, FILL = "affdsl.tick", "affdsl.fill"
TOLERANCE = {"f64": 1e-9, "f32": 1e-3, "f16": 5e-2, "bf16": 2e-1}
"""How far floats may lie from each other, of the largest one of their array, where sums may be made in any order."""
HUGE = {"f64": 2.0**512, "f32": 2.0**64, "f16": 2.0**8, "bf16": 2.0**64}
"""Where a product overflows by itself, and a fused sum with it does not, the sum is at least so large, mostly."""


class Outcome(Frozen):
    """What a call left.

    Attributes
    ----------
    values
        The arrays of the caller, the results, and global buffers, with their names and types.
    calls
        What it told functions without a body, in order.
    error
        What went wrong, if something did.
    open
        For some of the values, by position, which elements may be anything.
    shared
        For each value the first one that is the same memory: the caller sees which buffer it is given.
    """

    values: Named = ()
    calls: tuple[tuple[object, ...], ...] = ()
    error: str = ""
    open: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)
    shared: tuple[int, ...] = ()


class TooLongError(AffdslError):
    """A run was stopped after as many iterations of loops as it was allowed."""


def too_long(symbol: str, limit: int) -> str:
    """What is said of a function whose run was stopped, or not begun."""
    return f"@{symbol} runs for more than {limit} iterations"


def iterations_at_least(function: Func, given: Sequence[Argument]) -> int:
    """How many iterations a call certainly runs for, by the loops whose bounds its arguments alone give."""
    numbers = {arg: int(n) for arg, n in zip(function.args, given, strict=True) if isinstance(n, int | np.integer)}

    def least(block: Block) -> int:
        found = 0
        for op in block:
            if isinstance(op, affine.For) and all(a in numbers for e in (*op.lower, *op.upper) for a, _ in e.terms):
                start, stop = (f(e.evaluate(numbers) for e in some) for f, some in ((max, op.lower), (min, op.upper)))
                found += max(0, -((start - stop) // op.step)) * (1 + least(op.body))
        return found

    return least(function.body)


@dataclass
class _Run:
    """One call: how many iterations it has left, and what it told functions without a body."""

    symbol: str = ""
    limit: int = 0
    fresh: Fresh = "poison"
    calls: list[tuple[object, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = self.limit

    def tick(self) -> None:
        """Count an iteration. Raises TooLongError after the last one that is allowed."""
        self.left -= 1
        if self.left < 0:
            raise TooLongError(too_long(self.symbol, self.limit))


class Subject:
    """A module that is run again and again, each time for a limited number of iterations.

    `buffers` are global ones, which each run shows as well.

    Attributes
    ----------
    iterations
        How many iterations of loops have run by now, in all runs.
    """

    def __init__(self, module: Module, buffers: Sequence[memref.Global] = ()) -> None:
        self.module = module
        self.has_bands = any(isinstance(op, affine.Parallel | scf.Parallel) for op in walk(module))
        self.rounds_bands = any(_rounds(op) for op in walk(module))
        self.externals = tuple(f for f in module.functions if f.external)
        self.iterations = 0
        self._functions = {f.symbol: f for f in module.functions}
        self._metered = _metered(module)
        self._buffers = tuple(f"@{buffer.symbol}" for buffer in buffers)
        self._entries = {f.symbol: _entry(f, buffers) for f in self._metered.functions}
        self._prepared: dict[tuple[str, bool], Prepared] = {}
        self._run = _Run()

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders of parallel bands that are worth a try."""
        return ("forward", "reverse", "shuffled") if self.has_bands else ("forward",)

    def call(
        self, symbol: str, given: Sequence[Argument], order: Order, limit: int, fresh: Fresh = "poison"
    ) -> Outcome:
        """The outcome of a call; the arguments stay as they are. Raises TooLongError.

        fresh
            What is in new buffers: to read it is an error, or it is some number.
        """
        passed = [_copied(a) for a in given]
        self._run = current = _Run(symbol, limit, fresh)
        error = ""
        results: tuple[Result, ...] = ()
        try:
            with redirect_stdout(StringIO()):  # what it prints says nothing to whoever asks for a validation
                results = self._entry(symbol, is_tracked=fresh == "error").run(*passed, order=order)
        except InterpreterError as problem:
            error = str(problem)
        finally:
            self.iterations += limit - max(current.left, 0)
        values = self._named(symbol, passed, results)
        handed = [*(a for a in passed if isinstance(a, np.ndarray)), *results]
        return Outcome(values, tuple(current.calls), error, shared=_shared(handed))

    def _entry(self, symbol: str, *, is_tracked: bool) -> Prepared:
        """A function as it is run, compiled when it is first called."""
        found = self._prepared.get((symbol, is_tracked))
        if found is None:
            found = self._prepared[symbol, is_tracked] = Prepared(
                self._entries[symbol], module=self._metered,
                uninitialised="error" if is_tracked else "poison",
                externals={
                    **{f.symbol: _stand_in(f, lambda: self._run.calls) for f in self.externals},
                    TICK: lambda: self._run.tick(), FILL: lambda array: _fill(self._run.fresh, array),
                },
            )  # fmt: skip
        return found

    def _named(self, symbol: str, passed: Sequence[Argument], results: Sequence[Any]) -> Named:
        function, entry = self._functions[symbol], self._entries[symbol]
        arrays = tuple(
            (name, value.type, given)
            for name, value, given in zip(names_of(function), function.args, passed, strict=True)
            if isinstance(given, np.ndarray)
        )
        names = (*(f"result {k}" for k in range(len(function.result_types))), *self._buffers)
        # After an error there are no results.
        return (*arrays, *zip(names, entry.result_types, map(np.array, results), strict=False))


def difference(expected: Outcome, found: Outcome, *, exact: bool) -> str | None:
    """What differs first between two outcomes, in words; None if nothing does.

    Numbers are the same to the last bit, and so are NaN of any bits; unless `exact`, floats may differ by rounding.

    How much memory is in use is no outcome: a program that never gives a buffer back leaves and gives the same, and
    MLIR itself sees nothing wrong with a lost memref.dealloc. One that comes before a last use, or twice, is an error
    of the run, and so is found.
    """
    if found.error:
        return f"it fails: {found.error}"
    if expected.calls != found.calls:
        place = next(
            (k for k, pair in enumerate(zip(expected.calls, found.calls, strict=False)) if pair[0] != pair[1]),
            min(len(expected.calls), len(found.calls)),
        )
        return f"call {place} of a function without a body is another one, or has other arguments"
    for k, (old, new) in enumerate(zip(expected.shared, found.shared, strict=True)):
        if old != new:
            names = [name for name, *_ in expected.values]
            was, now = ("a buffer of its own" if n == k else f"that of {names[n]}" for n in (old, new))
            return f"the buffer of {names[k]} is {now} instead of {was}"
    for (name, _, before), (_, _, after) in _pairs(expected, found):
        if before.shape != after.shape:
            return f"{name} has sizes {after.shape} instead of {before.shape}"
    for k, wrong in enumerate(differing(expected, found, exact=exact)):
        (name, _, before), (_, _, after) = expected.values[k], found.values[k]
        if k in expected.open:
            wrong &= ~expected.open[k]
        if wrong.any():
            index = tuple(int(k) for k in np.argwhere(wrong)[0])
            shown = f"{name}[{', '.join(map(str, index))}]" if index else name
            count = int(wrong.sum())
            more = f", and {count - 1} more of its elements differ" if count > 1 else ""
            return f"{shown} is {after[index]} instead of {before[index]}{more}"
    return None


def differing(expected: Outcome, found: Outcome, *, exact: bool) -> Iterator[NDArray[np.bool_]]:
    """For each of the values, which are of the same sizes, where it is another one, as `difference` has it."""
    for (_, type, before), (_, _, after) in _pairs(expected, found):
        element = type.element if isinstance(type, MemRefType) else type
        yield _unequal(before, after, element, exact=exact)


def combined(first: Outcome, second: Outcome) -> Outcome:
    """The first outcome of two, where what differs between them may be anything.

    Where already the calls differ, a function without a body is given what nobody wrote: then the first one counts.
    """
    if first.error or second.error:
        return first if first.error else second
    if first.calls != second.calls or any(a.shape != b.shape for (*_, a), (*_, b) in _pairs(first, second)):
        return first
    differ = {k: np.asarray(a != b) for k, ((*_, a), (*_, b)) in enumerate(_pairs(first, second))}
    return replace(first, open={k: wrong for k, wrong in differ.items() if wrong.any()})


def _pairs(first: Outcome, second: Outcome) -> Iterator[tuple[Any, Any]]:
    return zip(first.values, second.values, strict=True)


def _unequal(before: Array, after: Array, type: object, *, exact: bool) -> NDArray[np.bool_]:
    if isinstance(type, ComplexType):
        parts = [_unequal(_parts(before, type)[k], _parts(after, type)[k], type.part, exact=exact) for k in (0, 1)]
        return np.asarray(parts[0] | parts[1])
    if not isinstance(type, FloatType):
        return np.asarray(before != after)
    same_bits = _bits(before) == _bits(after)
    a, b = _floats(before, type), _floats(after, type)
    same = same_bits | (np.isnan(a) & np.isnan(b))
    if not exact:
        largest = float(np.max(np.abs(a), initial=1.0, where=np.isfinite(a)))
        with np.errstate(all="ignore"):
            same |= (a == b) | (np.abs(a - b) <= TOLERANCE[type.name] * largest)
        same |= ~np.isfinite(a) & (~np.isfinite(b) | (np.abs(b) >= HUGE[type.name]))
    return np.asarray(~same)


def _parts(array: Array, type: ComplexType) -> tuple[Array, Array]:
    """The real and the imaginary parts of an array."""
    numbers = np.asarray(array, f"c{type.width // 8}")
    return numbers.real, numbers.imag


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}").reshape(array.shape)


def _floats(array: Array, type: FloatType) -> NDArray[np.float64]:
    if type == BF16 and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def _shared(values: Sequence[Argument | Result]) -> tuple[int, ...]:
    """For each value the first one in whose memory it lies; itself if there is no other."""

    def first(k: int, value: Argument | Result) -> int:
        if not isinstance(value, np.ndarray):
            return k
        before = (n for n, other in enumerate(values[:k]) if isinstance(other, np.ndarray))
        return next((n for n in before if np.may_share_memory(values[n], value)), k)

    return tuple(first(k, value) for k, value in enumerate(values))


def _copied(given: Argument) -> Argument:
    """A copy of an argument, in memory that is laid out in the same way."""
    if not isinstance(given, np.ndarray) or given.flags.c_contiguous:
        return np.copy(given) if isinstance(given, np.ndarray) else given
    if given.size == 0:
        return given.copy()
    ends = [(n - 1) * s for n, s in zip(given.shape, given.strides, strict=True)]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    cells = np.zeros((high - low) // given.itemsize + 1, given.dtype)
    copy = np.lib.stride_tricks.as_strided(cells[-low // given.itemsize :], given.shape, given.strides)
    copy[...] = given
    return copy


def _rounds(op: Op) -> bool:
    """Whether a band sums or multiplies floats, in an order that is open."""
    match op:
        case affine.Parallel():
            return any(kind in ("addf", "mulf") for kind in op.reductions)
        case scf.Parallel():
            return any(isinstance(result.type, FloatType | ComplexType) for result in op.results)
    return False


def _stand_in(function: Func, calls_of: Callable[[], list[tuple[object, ...]]]) -> Callable[..., object]:
    """What stands for a function without a body: it takes down what it is given, and changes arrays of numbers."""
    prints = function.symbol in STANDARD
    types = [a.type for a in function.args]

    def called(*given: object) -> object:
        seen = [(a.shape, a.tobytes()) if isinstance(a, np.ndarray) else repr(a) for a in given]
        calls = calls_of()
        calls.append((function.symbol, *seen))
        if not prints:
            for a, type in zip(given, types, strict=True):
                element = getattr(type, "element", None)
                is_float = isinstance(element, FloatType | ComplexType)
                is_number = is_float or (isinstance(element, IntegerType) and element.width > 1)
                if isinstance(a, np.ndarray) and is_number and element != BF16:
                    a += a.dtype.type(1)
        results = tuple(len(calls) % 4 for _ in function.result_types)
        return results or None

    return called


def _metered(module: Module) -> Module:
    """The module with a call at the start of each iteration of a loop, and after each allocation."""

    def rule(op: Op) -> Op | tuple[Op, ...] | None:
        match op:
            case memref.Allocation():
                return _filled(op)
            case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                return with_fields(op, body=_ticking(op.body))
            case scf.While():
                return with_fields(op, before=_ticking(op.before))
        return None

    # They take whatever they are given: nothing here is verified again.
    added = [Func(symbol, (), (), private=True, external=True) for symbol in (TICK, FILL)]
    return with_fields(module, body=(*added, *(rewrite(op, rule) for op in module.body)))


def _filled(op: memref.Allocation) -> tuple[Op, ...] | None:
    type = op.result.type
    is_plain = isinstance(type, MemRefType) and isinstance(type.element, NumberType)
    return (op, func.Call((), FILL, (op.result,))) if is_plain else None


def _fill(fresh: Fresh, array: Array) -> None:
    if fresh in ("low", "high") and array.size:
        is_float = array.dtype.kind in "fc"
        array[...] = (1.25 if is_float else 0) if fresh == "low" else (-3.5 if is_float else 1)


def _ticking(body: Block) -> Block:
    return (func.Call((), TICK, ()), *body)


def _entry(function: Func, buffers: Sequence[memref.Global]) -> Func:
    """What calls a function and gives, after its results, the global buffers: the function itself if there are none."""
    if not buffers:
        return function
    args = tuple(Value(a.type, a.hint) for a in function.args)
    results = tuple(Value(type) for type in function.result_types)
    handles = tuple(Value(buffer.type) for buffer in buffers)
    body: list[Op] = [func.Call(results, function.symbol, args)]
    body += [memref.GetGlobal(handle, b.symbol) for handle, b in zip(handles, buffers, strict=True)]
    body.append(func.Return((*results, *handles)))
    types = (*function.result_types, *(buffer.type for buffer in buffers))
    return Func(
        f"{function.symbol}.entry", args, tuple(body), types,
        unsigned=function.unsigned, unsigned_results=function.unsigned_results,
    )  # fmt: skip
