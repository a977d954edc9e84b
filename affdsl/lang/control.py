"""Loops and parallel bands as with-blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import numpy as np

from affdsl.errors import ProgramError, ProgramIndexError, ProgramTypeError
from affdsl.ir.core import Op
from affdsl.ir.counters import too_large
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.location import Location
from affdsl.ir.nesting import INSTEAD, TOO_DEEP, is_too_deep
from affdsl.ir.parts import fits, in_parts, neutral
from affdsl.ir.traverse import fresh
from affdsl.ir.types import INDEX
from affdsl.lang.blocks import Bound, WithBlock, closed, yielded_values
from affdsl.lang.builder import current
from affdsl.lang.counters import Counters
from affdsl.lang.dtypes import DType, index, parts_of, require_index
from affdsl.lang.indices import Index, bounds_of
from affdsl.lang.scalars import Scalar, constant
from affdsl.lang.source import here, problem, user_frame
from affdsl.lang.structured import Early, guarded, without_marks
from affdsl.lang.traced import Operand, Traced
from affdsl.lang.type_variables import DTypes, being_made
from affdsl.lang.vectors import Vector

if TYPE_CHECKING:
    from affdsl.lang import annotated

Carried: TypeAlias = Scalar | Vector
C = TypeVar("C", bound=Carried)
D = TypeVar("D", bound=Carried)
Several: TypeAlias = tuple[Any, ...]
"""What is bound to several names where a list says how many they are, and of which types: no type checker reads it."""
Range: TypeAlias = Operand | tuple[Operand, Operand] | tuple[Operand, Operand, int]
"""A stop, a (start, stop), or a (start, stop, step)."""
_Extreme: TypeAlias = type[affine.Min] | type[affine.Max]


class for_(WithBlock[Bound]):  # noqa: N801 - reads as the keyword that it stands for
    """A loop: `with for_(n) as i:`, `with for_(start, stop, step) as i:`.

    The loop runs for i = start, start + step, ... below stop, or above it where the step is negative: `for_(N - 1, -1,
    -1)` counts down to 0. A loop whose bounds are data is an `scf.for`. Loops of the IR count up: one that runs down is
    a loop over how far it has come, which has its name, and its i is the start less that.

    The block runs once, to build the loop, so Python's statements in it happen once: exchanging two names in it does
    not make iterations take turns. Write both halves, or give an array one dimension more, `u[t % 2, i]`.

    What is carried from one iteration to the next stands in `iter_args`, follows i in `as (i, s)`, and is handed on by
    `yield_(...)` as the last thing in the block. After the block, s is what the last iteration yielded.

    Parameters
    ----------
    bounds
        The stop, or start and stop, or start, stop and step. A bound is an affine index, or min or max of several
        (`for_(max(0, i - 1), min(n, i + 2))`), or data.
    step
        A number, not 0, by its name.
    iter_args
        A number or a vector that is carried, or several.

    Raises
    ------
    ProgramError
        And its kinds, with the user's line: for what is no bound, no step, or nothing that can be carried.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def last_sums(x: af.f64[N], sums: af.f64[N]):
    ...     with af.for_(N, iter_args=af.f64(0)) as (i, s):
    ...         sums[i] = s + x[i]
    ...         af.yield_(s + x[i])
    >>> sums = np.zeros(3)
    >>> last_sums.interpret(np.array([1.0, 2.0, 3.0]), sums)
    >>> sums
    array([1., 3., 6.])
    """

    what = "for_"
    advice = "the loop variable comes first, then one name for each of iter_args: `as (i, s)`"

    @overload
    def __init__(self: for_[Index], *bounds: Operand, step: int | None = None) -> None: ...
    @overload
    def __init__(
        self: for_[tuple[Index, Vector]], *bounds: Operand, step: int | None = None, iter_args: Vector
    ) -> None: ...
    @overload
    def __init__(
        self: for_[tuple[Index, Scalar]], *bounds: Operand, step: int | None = None, iter_args: annotated.Scalar
    ) -> None: ...
    @overload
    def __init__(
        self: for_[tuple[Index, C]], *bounds: Operand, step: int | None = None, iter_args: tuple[C]
    ) -> None: ...
    @overload
    def __init__(
        self: for_[tuple[Index, C, D]], *bounds: Operand, step: int | None = None, iter_args: tuple[C, D]
    ) -> None: ...
    @overload
    def __init__(
        self: for_[Several], *bounds: Operand, step: int | None = None, iter_args: Sequence[Carried]
    ) -> None: ...
    def __init__(self, *bounds: Operand, step: int | None = None, iter_args: object = ()) -> None:
        if not 1 <= len(bounds) <= 3:
            raise problem(
                ProgramTypeError, f"for_ takes (stop), (start, stop) or (start, stop, step), got {len(bounds)}"
            )
        if len(bounds) == 3 and step is not None:
            raise problem(ProgramTypeError, "for_ is given its step twice")
        start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        by = bounds[2] if len(bounds) == 3 else 1 if step is None else step
        step_ = _step(by)
        kinds: tuple[_Extreme, _Extreme] = (affine.Max, affine.Min) if step_ > 0 else (affine.Min, affine.Max)
        self.lower = bounds_of(start, kinds[0], "the start of a loop")
        self.upper = bounds_of(stop, kinds[1], "the end of a loop")
        self.step = abs(step_)
        self.inits = initial(iter_args)
        self.is_affine = isinstance(self.lower, tuple) and isinstance(self.upper, tuple)
        self.top: Affine | Scalar | None = None
        """Where a loop that runs down begins."""
        if not self.is_affine:
            first, last = (_value(bound, kind) for bound, kind in zip((self.lower, self.upper), kinds, strict=True))
            if step_ < 0:
                self.top = Scalar(first, index)
                first, last = constant(0, index).value, (self.top - Scalar(last, index)).value
            self.range = first, last, constant(self.step, index).value
        elif step_ < 0:
            self._turn()
        if isinstance(self.lower, tuple) and isinstance(self.upper, tuple):
            require_room(self.lower, self.upper, self.step, down=step_ < 0)
        super().__init__()

    def _turn(self) -> None:
        """Count how far below its start a loop is that runs down: from the first of its starts on."""
        assert isinstance(self.lower, tuple)
        assert isinstance(self.upper, tuple)
        top = self.lower[0]
        self.top = top
        self.lower = tuple(top - start for start in self.lower)
        self.upper = tuple(top - stop for stop in self.upper)

    def gives(self) -> int:
        """The loop variable and what is carried."""
        return 1 + len(self.inits)

    def begin(self, names: tuple[str, ...]) -> Index | Scalar | tuple[Index | Carried, ...]:
        """The loop variable, followed by the carried values."""
        builder = current()
        self.names = names
        name = names[0] if names else "i"
        self.iv = Value(INDEX, name, self.location)
        self.carried = carried_by(self.inits, names[1:], self.location)
        block = builder.open(f"the loop {name}", [self.iv, *(c.value for c in self.carried)])
        block.yields = tuple(c if isinstance(c, Vector) else c.dtype for c in self.carried)
        block.is_loop = True
        if self.is_affine:
            builder.varying.add(self.iv)
        if isinstance(self.top, Affine):
            builder.downward[self.iv] = self.top
        iv = self._variable()
        return (iv, *self.carried) if self.carried else iv

    def _variable(self) -> Index | Scalar:
        """The loop variable as the user has it."""
        if isinstance(self.top, Scalar):
            return self.top - Scalar(self.iv, index)
        if self.is_affine:
            return Index(self.iv + 0 if self.top is None else self.top - self.iv)
        return Scalar(self.iv, index)

    def end(self) -> None:
        """Emit the loop; the carried values become its results."""
        require_own_names(self.carried, self.names, f"the loop {self.iv.hint}")
        block = current().block
        yields = affine.Yield if self.is_affine else scf.Yield
        body = closed(yields, yielded_values(block), self.location)
        own = tuple(c.value for c in self.carried)
        early = without_marks(body, own, block.exits, yields, self.location)
        body = guarded(early, own, yields, self.location)
        inits = (*early.inits, *(x.value for x in self.inits))
        arguments = (*early.carried, *own)
        results = tuple(Value(v.type, v.hint, self.location) for v in arguments)
        if isinstance(self.lower, tuple) and isinstance(self.upper, tuple):
            op: Op = affine.For(
                self.iv, self.lower, self.upper, body, self.step, inits, arguments, results, location=self.location
            )
        else:
            op = scf.For(self.iv, *self.range, body, inits, arguments, results, location=self.location)
        emit_loop(early, op)
        for carried, result in zip(self.carried, results[len(early.carried) :], strict=True):
            carried.bind(result)


def emit_loop(early: Early, op: Op) -> None:
    """Emit a loop behind what its early exits need."""
    require_not_too_deep(early, op)
    for each in (*early.before, op):
        current().emit(each)


def require_not_too_deep(early: Early, op: Op) -> None:
    """Raise ProgramError where early exits make a loop too deep."""
    if early.before and is_too_deep(op, current().block.around):
        behind = "what stands behind an if_ with break_ or continue_ in it is one level deeper"
        raise problem(ProgramError, TOO_DEEP, INSTEAD, behind, location=op.location)


def require_own_names(carried: Sequence[Carried], names: Sequence[str], what: str) -> None:
    """Raise ProgramError where a second name for a carried value would change with it after the loop."""
    bound = user_frame().f_locals
    for each in carried:
        known = sorted((name for name, x in bound.items() if x is each), key=lambda name: name not in names)
        if len(known) > 1:
            raise problem(
                ProgramError,
                f"{known[1]} is one more name for {known[0]}, which {what} carries",
                f"after the loop it would be what the last iteration yielded, as {known[0]} is; "
                f"to keep the value of this iteration write {known[1]} = +{known[0]}",
            )


class parallel(WithBlock[Bound]):  # noqa: N801
    """Loops whose iterations may run in any order and at once: `with parallel(M, N) as (i, j):`.

    With `reduce`, the block hands values on by `yield_(...)`, and after it their names stand for what these come to,
    combined in any order: `with parallel(N, reduce=[("addf", f64)]) as (i, s):`.

    Parameters
    ----------
    bounds
        For each loop a stop, a (start, stop) or a (start, stop, step), all of them affine.
    reduce
        Pairs of a kind and a type. Kinds: addf mulf maximumf minimumf (floats), addi muli andi ori (integers), maxs
        mins (integers with a sign), maxu minu (those without). For the last four, which affine.parallel has not, up to
        64 threads share the iterations of the first loop.

    Raises
    ------
    ProgramError
        And its kinds, with the user's line: for bounds that are data, for a step that is not positive, and for what is
        no reduction.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def total(x: af.f64[N]):
    ...     with af.parallel(N, reduce=[("addf", af.f64)]) as (i, s):
    ...         af.yield_(x[i])
    ...     return s
    >>> print(total.interpret(np.array([1.0, 2.5])))
    3.5
    """

    what = "parallel"
    advice = "the loop variables come first, then one name for each of reduce: `as (i, j, s)`"

    @overload
    def __init__(self: parallel[Index], bound: Range, /) -> None: ...
    @overload
    def __init__(self: parallel[tuple[Index, Index]], first: Range, second: Range, /) -> None: ...
    @overload
    def __init__(self: parallel[tuple[Index, Index, Index]], first: Range, second: Range, third: Range, /) -> None: ...
    @overload
    def __init__(self: parallel[tuple[Index, ...]], *bounds: Range) -> None: ...
    @overload
    def __init__(
        self: parallel[tuple[Index | Scalar, ...]], *bounds: Range, reduce: Sequence[tuple[str, DType | DTypes]]
    ) -> None: ...
    def __init__(self, *bounds: object, reduce: Sequence[tuple[str, DType | DTypes]] = ()) -> None:
        if not bounds:
            raise problem(ProgramTypeError, "parallel needs at least one bound, like affdsl.parallel(M, N)")
        ranges = [_range(bound) for bound in bounds]
        self.bounds = bounds
        self.lower = tuple(r[0] for r in ranges)
        self.upper = tuple(r[1] for r in ranges)
        self.steps = tuple(r[2] for r in ranges)
        self.reduce = tuple(_reduction(pair) for pair in reduce)
        for loop in ranges:
            require_room(*loop)
        super().__init__()

    def gives(self) -> int:
        """The loop variables and what is reduced."""
        return len(self.steps) + len(self.reduce)

    def begin(self, names: tuple[str, ...]) -> Index | Counters:
        """The loop variables, followed by what will be the results."""
        builder = current()
        count = len(self.steps)
        hints = names if len(names) in (count, count + len(self.reduce)) else ()
        letters = [hints[n] if hints else f"i{n}" for n in range(count)]
        self.ivs = tuple(Value(INDEX, name, self.location) for name in letters)
        self.outcomes = [Scalar(None, dtype) for _, dtype in self.reduce]
        self.hints = hints[count:] if len(hints) > count else ("",) * len(self.reduce)
        block = builder.open(f"the parallel loop {', '.join(letters)}", self.ivs, count - 1)
        block.yields = tuple(dtype for _, dtype in self.reduce)
        block.is_parallel = block.is_loop = True
        builder.varying.update(self.ivs)
        given: tuple[Index | Scalar, ...] = (*(Index(Affine.of(iv)) for iv in self.ivs), *self.outcomes)
        if len(given) == 1:
            return Index(Affine.of(self.ivs[0]))
        counters = Counters(given)
        counters.bounds = self.bounds
        return counters

    def end(self) -> None:
        """Emit the band; the outcomes become its results."""
        block = current().block
        body = closed(affine.Yield, yielded_values(block), self.location)
        results = tuple(Value(d.type, h, self.location) for (_, d), h in zip(self.reduce, self.hints, strict=True))
        kinds = tuple(kind for kind, _ in self.reduce)
        pairs = zip(kinds, results, strict=True)
        nothing = [neutral(kind, fresh(result)) for kind, result in pairs] if block.exits else []
        early = without_marks(body, tuple(x.result for x in nothing), block.exits, affine.Yield, self.location)
        band = affine.Parallel(
            self.ivs, self.lower, self.upper, self.steps, early.body, kinds, results, location=self.location
        )
        require_not_too_deep(early, band)
        for op in (*nothing, *early.before):
            current().emit(op)
        for op in (band,) if all(map(fits, kinds, results)) else in_parts(band):
            current().allocate_once(op) if isinstance(op, memref.Alloca) else current().emit(op)
        for outcome, result in zip(self.outcomes, results, strict=True):
            outcome.bind(result)


def require_room(lower: Sequence[Affine], upper: Sequence[Affine], step: int, *, down: bool = False) -> None:
    """Raise ProgramIndexError where the counter of a loop does not fit into 64 bits, or how often it runs."""
    wrong = too_large(lower, upper, step)
    if wrong:
        advice = "end the loop earlier, or take smaller steps: bounds and steps below 2**61 always fit"
        why = f"compiled loops count in 64 bits{', and from 0 up where a loop runs down' * down}"
        raise problem(ProgramIndexError, wrong, why, advice)


def _step(step: object) -> int:
    if isinstance(step, int | np.integer) and not isinstance(step, bool):
        if step != 0:
            return require_index(int(step))
        raise problem(ProgramIndexError, "the step of a loop is 0", "a loop with step 0 would never end")
    raise problem(
        ProgramTypeError,
        "the step of a loop must be a whole number known now, got "
        f"{step.describe() if isinstance(step, Traced) else repr(step)}",
        "for a symbolic step s write `with for_((n + s - 1) // s) as t:` and use t * s",
    )


def carried_by(inits: Sequence[Carried], names: Sequence[str], location: Location) -> list[Carried]:
    """What a block is given of what a loop carries, called like that if it has so many names."""
    hints = names if len(names) == len(inits) else ("",) * len(inits)
    return [x.like(Value(x.value.type, hint, location)) for x, hint in zip(inits, hints, strict=True)]


def initial(iter_args: object) -> tuple[Carried, ...]:
    """What a loop carries at first."""
    items = (iter_args,) if isinstance(iter_args, Traced) or not isinstance(iter_args, Sequence) else iter_args
    found: list[Carried] = []
    for x in items:
        if not isinstance(x, Traced):
            raise problem(
                ProgramTypeError,
                f"iter_args needs typed values, got {x!r}",
                f"give it a type: affdsl.f32({x!r})"
                if isinstance(x, int | float | complex)
                else "carry numbers; an array is changed in place by what the loop stores",
            )
        carried = x if isinstance(x, Vector) else x.scalar()
        current().require(carried.value)
        found.append(carried)
    return tuple(found)


def _range(bound: object) -> tuple[tuple[Affine, ...], tuple[Affine, ...], int]:
    parts = bound if isinstance(bound, tuple) else (0, bound)
    if not 2 <= len(parts) <= 3:
        raise problem(ProgramTypeError, "a bound of parallel is a stop, (start, stop) or (start, stop, step)")
    lower = bounds_of(parts[0], affine.Max, "the start of a parallel loop")
    upper = bounds_of(parts[1], affine.Min, "the end of a parallel loop")
    if not (isinstance(lower, tuple) and isinstance(upper, tuple)):
        raise problem(
            ProgramIndexError,
            "the bounds of parallel must be affine, but one is known only as data",
            "use affdsl.for_, or compute the bound before all loops",
        )
    step = _step(parts[2] if len(parts) == 3 else 1)
    if step < 0:
        raise problem(
            ProgramIndexError,
            f"the step of a parallel loop must be positive, got {step}",
            "its iterations have no order: count up, over the same numbers",
        )
    return lower, upper, step


def _reduction(pair: object) -> tuple[str, DType]:
    kinds = {
        "float": ("addf", "mulf", "maximumf", "minimumf"),
        "signed": ("addi", "muli", "andi", "ori", "maxs", "mins"),
        "unsigned": ("addi", "muli", "andi", "ori", "maxu", "minu"),
    }
    if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], DType | DTypes)):
        raise problem(ProgramTypeError, f'reduce takes pairs like ("addf", affdsl.f32), got {pair!r}')
    kind, dtype = pair[0], being_made(pair[1])
    if dtype.kind == "complex":
        part = parts_of(dtype)
        raise problem(
            ProgramTypeError,
            f"a parallel reduction of {dtype} cannot be {kind!r}: reductions combine real numbers and integers",
            f'for a sum reduce both parts, ("addf", affdsl.{part}) twice; for others use affdsl.for_ with iter_args',
        )
    allowed = kinds.get(dtype.kind, ())
    if kind not in allowed:
        raise problem(
            ProgramTypeError,
            f"a parallel reduction of {dtype} cannot be {kind!r}",
            f"possible: {', '.join(allowed)}" if allowed else "reduce floats or integers",
        )
    return kind, dtype


def _value(bound: tuple[Affine, ...] | Value, kind: _Extreme) -> Value:
    if isinstance(bound, Value):
        return bound
    if len(bound) == 1:
        return current().operand(bound[0])
    result = Value(INDEX, location=here())
    current().emit(kind(result, bound))
    return result
