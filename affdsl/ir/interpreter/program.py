"""Runs a function: compiles its operations to steps, and calls them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from random import Random
from typing import Any, Literal, TypeAlias

from affdsl.ir import semantics
from affdsl.ir.core import Block
from affdsl.ir.debugging import reports
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.bounds import affine_range, box, conjunction, scf_box, scf_range
from affdsl.ir.interpreter.buffers import BufferView, Index
from affdsl.ir.interpreter.contract import Argument, Result, argument, check_contract, given_back, result_of
from affdsl.ir.interpreter.debugging import assertion
from affdsl.ir.interpreter.environment import Env, InterpreterError, Step, Steps, Take, error, scalar_type, taker
from affdsl.ir.interpreter.externals import STANDARD, External
from affdsl.ir.interpreter.globals import global_buffer
from affdsl.ir.interpreter.memory import alloc, end_of_life
from affdsl.ir.interpreter.steps import step_of
from affdsl.ir.messages import shown
from affdsl.ir.numeric import Number, quiet

Order: TypeAlias = Literal["forward", "reverse", "shuffled"]
Uninitialised: TypeAlias = Literal["error", "poison"]


def run(
    function: func.Func,
    *args: Argument,
    module: func.Module | None = None,
    order: Order = "forward",
    seed: int = 0,
    uninitialised: Uninitialised = "error",
    externals: Mapping[str, External] | None = None,
) -> tuple[Result, ...]:
    """Run a function that the verifier accepts; arrays are changed in place, results come back as a tuple.

    A memref is an array of the dtype of its elements: int64 for index, bool for i1, float16/32/64, the bits as uint16
    for bf16, and for integers the signed dtype, or the unsigned one where the function's `unsigned` says so. Scalars
    are Python or NumPy numbers. Results are ints (bool for i1), NumPy scalars (float32 for bf16), and arrays.

    module
        Where the functions are that it calls, and the global buffers that it uses.
    order, seed
        In which order the iterations of affine.parallel and scf.parallel run.
    uninitialised
        Reading an element of a new buffer before it is written is an error, or gives poison: NaN, or the bits 0xA5A5...

    externals
        Functions by name that stand for those without a body, beside the printing ones of MLIR's runner. They get what
        `run` gives as results, and give None, one result or a tuple.

    Raises
    ------
    InterpreterError
        An argument breaks the function's contract, an access is out of bounds, or the rule of an operation is broken.
    """
    if externals:  # these may be others under the same names
        prepared = Prepared(function, module=module, uninitialised=uninitialised, externals=externals)
        return prepared.run(*args, order=order, seed=seed)
    key, recent = (function, module, uninitialised), _recent.programs
    prepared = recent.pop(key) if key in recent else Prepared(function, module=module, uninitialised=uninitialised)
    try:
        return prepared.run(*args, order=order, seed=seed)
    finally:
        recent[key] = prepared
        if len(recent) > MOST_RECENT:
            recent.popitem(last=False)


class _Recent(threading.local):
    """What this thread ran last, as steps, with other arguments it will often run again. One that runs is not there."""

    def __init__(self) -> None:
        self.programs: OrderedDict[tuple[func.Func, func.Module | None, Uninitialised], Prepared] = OrderedDict()


_recent = _Recent()
MOST_RECENT = 8
"""How many programs each thread keeps as steps."""


def forget() -> None:
    """Keep no program of this thread as steps: for those who change what steps are made of."""
    _recent.programs.clear()


class Prepared:
    """A function that is compiled once and run again and again, one run at a time; the parameters are those of `run`.

    >>> from affdsl.mlir.readers import parse
    >>> text = "func.func @f(%n: index) -> index { %m = arith.addi %n, %n : index return %m : index }"
    >>> twice = Prepared(parse(text).functions[0])
    >>> twice.run(3), twice.run(4)
    ((6,), (8,))
    """

    def __init__(
        self,
        function: func.Func,
        *,
        module: func.Module | None = None,
        uninitialised: Uninitialised = "error",
        externals: Mapping[str, External] | None = None,
    ) -> None:
        functions = {f.symbol: f for f in module.functions} if module is not None else {}
        buffers = {op.symbol: op for op in module.body if isinstance(op, memref.Global)} if module is not None else {}
        known = {**STANDARD, **(externals or {})}
        self.function = function
        self._program = _Program({function.symbol: function, **functions}, buffers, known, uninitialised)

    def run(self, *args: Argument, order: Order = "forward", seed: int = 0) -> tuple[Result, ...]:
        """Run it; what global buffers hold is as at first. Raises as `run` does."""
        function = self.function
        if len(args) != len(function.args):
            raise InterpreterError(f"@{function.symbol} takes {len(function.args)} arguments, got {len(args)}")
        self._program.begin(order, seed)
        with quiet():
            given = [argument(function, position, arg) for position, arg in enumerate(args)]
            try:
                results = self._program.compiled(function).call(given)
            except KeyError as problem:
                if not (problem.args and isinstance(problem.args[0], Value)):
                    raise
                name = shown(problem.args[0])
                text = f"@{function.symbol} reads {name} before it is defined; the verifier refuses this"
                raise InterpreterError(text) from problem
            finally:
                self._program.begin(order, seed)  # global buffers need not be kept
        return tuple(
            result_of(type, result, f"@{function.symbol}: result {k}", unsigned=k in function.unsigned_results)
            for k, (type, result) in enumerate(zip(function.result_types, results, strict=True))
        )


@dataclass(frozen=True, eq=False)
class _Function:
    """A function as steps."""

    function: func.Func
    steps: Steps
    take: Take

    def call(self, args: Sequence[Any]) -> tuple[Any, ...]:
        env: Env = dict(zip(self.function.args, args, strict=True))
        check_contract(self.function, env)
        for step in self.steps:
            step(env)
        return self.take(env)


class _Program:
    """Compiles operations to steps: Python functions that read and change the environment."""

    def __init__(
        self,
        functions: Mapping[str, func.Func],
        buffers: Mapping[str, memref.Global],
        externals: Mapping[str, External],
        uninitialised: Uninitialised,
    ) -> None:
        self.functions = functions
        self.buffers = buffers
        self.externals = externals
        self.tracked = uninitialised == "error"
        self._compiled: dict[func.Func, _Function] = {}
        self.begin("forward", 0)

    def begin(self, order: Order, seed: int) -> None:
        """Start a run: nothing of the one before is left."""
        self.order = order
        self._seed = seed
        self._random: Random | None = None
        """Made where it is needed: a short run takes no longer than to seed it."""
        self._made: dict[str, BufferView] = {}

    def compiled(self, function: func.Func) -> _Function:
        """A function as steps: compiled when it is first called."""
        found = self._compiled.get(function)
        if found is None:
            found = self._compiled[function] = _Function(function, *self.block(function.body))
        return found

    def block(self, block: Block) -> tuple[Steps, Take]:
        """The steps of a block, and what gives the values that its terminator yields."""
        steps: list[Step] = []
        before = reports(block)
        told = {each for prints in before.values() for each in prints}
        for op in block:
            match op:
                case Opaque() if op in told:
                    pass  # the assertion says it
                case Opaque() if op in before:
                    steps.append(assertion(op, before[op]))
                case affine.For() | scf.For():
                    steps.append(self.loop(op))
                case affine.If() | scf.If():
                    steps.append(self.condition(op))
                case affine.Parallel():
                    steps.append(self.parallel(op))
                case scf.Parallel():
                    steps.append(self.scf_parallel(op))
                case scf.While():
                    steps.append(self.while_loop(op))
                case scf.IndexSwitch():
                    steps.append(self.switch(op))
                case scf.ExecuteRegion():
                    steps.append(self.once(op))
                case func.Call():
                    steps.append(self.call(op))
                case memref.GetGlobal():
                    steps.append(self.get_global(op))
                case memref.Allocation():
                    steps.append(alloc(op, tracked=self.tracked))
                case _ if op.is_terminator:
                    pass  # the last one: see below
                case _:
                    steps.append(step_of(op))
        local = [op.result for op in block if isinstance(op, memref.Alloca)]
        if local:
            steps.append(end_of_life(local))
        return tuple(steps), taker(_handed_on(block))

    def loop(self, op: affine.For | scf.For) -> Step:
        iterations = affine_range(op) if isinstance(op, affine.For) else scf_range(op)
        steps, take = self.block(op.body)
        iv, carried, results, first = op.iv, op.carried, op.results, taker(op.inits)
        asked = _asked_for(op)

        def plain(env: Env) -> None:
            for i in iterations(env):
                env[iv] = i
                for step in steps:
                    step(env)

        def carrying(env: Env) -> None:
            state = first(env)
            for i in iterations(env):
                if asked is not None and not state[asked]:
                    break  # nothing happens any more
                env[iv] = i
                env.update(zip(carried, state, strict=True))
                for step in steps:
                    step(env)
                state = take(env)
            env.update(zip(results, state, strict=True))

        return carrying if carried else plain

    def condition(self, op: affine.If | scf.If) -> Step:
        holds = conjunction(op) if isinstance(op, affine.If) else itemgetter(op.condition)
        then, orelse, results = self.block(op.then), self.block(op.orelse), op.results

        def step(env: Env) -> None:
            steps, take = then if holds(env) else orelse
            for inner in steps:
                inner(env)
            if results:
                env.update(zip(results, take(env), strict=True))

        return step

    def parallel(self, op: affine.Parallel) -> Step:
        ranges = box(op)
        steps, take = self.block(op.body)
        ivs, results, kinds = op.ivs, op.results, op.reductions
        combine = [semantics.combine(kind, scalar_type(r.type, op)) for kind, r in zip(kinds, results, strict=True)]
        neutral = [semantics.neutral(kind, scalar_type(r.type, op)) for kind, r in zip(kinds, results, strict=True)]

        def step(env: Env) -> None:
            totals: list[Number] = list(neutral)
            last: Index = ()
            for point in self.ordered(product(*ranges(env))):
                env.update(zip(ivs, point, strict=True))
                for inner in steps:
                    inner(env)
                last = max(last, point)
                for k, number in enumerate(take(env)):
                    if kinds[k] != "assign" or point == last:
                        totals[k] = combine[k](totals[k], number)
            env.update(zip(results, totals, strict=True))

        return step

    def scf_parallel(self, op: scf.Parallel) -> Step:
        ranges, first = scf_box(op), taker(op.inits)
        steps, take = self.block(op.body)
        ivs, results = op.ivs, op.results
        last = op.body[-1] if op.body else None
        combiners = [c for c in last.combiners if isinstance(c, scf.Combiner)] if isinstance(last, scf.Reduce) else []
        blocks = [(c.left, c.right, *self.block(c.body)) for c in combiners]

        def step(env: Env) -> None:
            totals = first(env)
            for point in self.ordered(product(*ranges(env))):
                env.update(zip(ivs, point, strict=True))
                for inner in steps:
                    inner(env)
                combined: list[Any] = []
                for total, number, (left, right, combine, result) in zip(totals, take(env), blocks, strict=True):
                    env[left], env[right] = total, number
                    for inner in combine:
                        inner(env)
                    combined += result(env)
                totals = tuple(combined)
            env.update(zip(results, totals, strict=True))

        return step

    def while_loop(self, op: scf.While) -> Step:
        first, (before, condition), (after, take) = taker(op.inits), self.block(op.before), self.block(op.after)
        before_args, after_args, results = op.before_args, op.after_args, op.results

        def step(env: Env) -> None:
            state = first(env)
            while True:
                env.update(zip(before_args, state, strict=True))
                for inner in before:
                    inner(env)
                holds, *values = condition(env)
                if not holds:
                    break
                env.update(zip(after_args, values, strict=True))
                for inner in after:
                    inner(env)
                state = take(env)
            env.update(zip(results, values, strict=True))

        return step

    def switch(self, op: scf.IndexSwitch) -> Step:
        cases = {case.number: self.block(case.body) for case in op.cases if isinstance(case, scf.Case)}
        default, results = self.block(op.default), op.results

        def step(env: Env) -> None:
            steps, take = cases.get(env[op.argument], default)
            for inner in steps:
                inner(env)
            env.update(zip(results, take(env), strict=True))

        return step

    def once(self, op: scf.ExecuteRegion) -> Step:
        steps, take = self.block(op.body)

        def step(env: Env) -> None:
            for inner in steps:
                inner(env)
            env.update(zip(op.results, take(env), strict=True))

        return step

    def get_global(self, op: memref.GetGlobal) -> Step:
        found = self.buffers.get(op.symbol)
        if found is None:
            raise error(op, f"there is no global buffer @{op.symbol}; pass the module that holds it")

        def step(env: Env) -> None:
            if op.symbol not in self._made:
                self._made[op.symbol] = global_buffer(found, op, tracked=self.tracked)
            env[op.result] = self._made[op.symbol]

        return step

    def ordered(self, points: Iterable[Index]) -> Iterable[Index]:
        """The points in the order that was asked for."""
        if self.order == "forward":
            return points
        listed = list(points)
        if self.order == "reverse":
            listed.reverse()
        else:
            self._random = self._random or Random(self._seed)
            self._random.shuffle(listed)
        return listed

    def call(self, op: func.Call) -> Step:
        callee = self.functions.get(op.callee)
        if callee is None:
            known = ", ".join(f"@{name}" for name in self.functions)
            raise error(op, f"there is no function @{op.callee} (only {known}); pass the module that holds it")
        args, results = taker(op.args), op.results
        if callee.external:
            return self.external_call(op, callee)

        def step(env: Env) -> None:
            env.update(zip(results, self.compiled(callee).call(args(env)), strict=True))

        return step

    def external_call(self, op: func.Call, callee: func.Func) -> Step:
        function = self.externals.get(callee.symbol)
        if function is None:
            text = f"@{callee.symbol} is defined elsewhere, and nothing is given that stands for it"
            raise error(op, f"{text}; pass it as externals={{{callee.symbol!r}: ...}}")
        args, results = taker(op.args), op.results

        def step(env: Env) -> None:
            seen = [result_of(a.type, value, f"@{callee.symbol}: argument {k}")
                    for k, (a, value) in enumerate(zip(op.args, args(env), strict=True))]  # fmt: skip
            given = function(*seen)
            values = () if given is None else given if isinstance(given, tuple) else (given,)
            if len(values) != len(results):
                raise error(op, f"@{callee.symbol} gave {len(values)} results, but has {len(results)}")
            env.update((r, given_back(r, v, callee)) for r, v in zip(results, values, strict=True))

        return step


def _asked_for(op: affine.For | scf.For) -> int | None:
    """Which of the values that a loop carries a branch asks for that is all of it, and without it hands on all of them.

    So it is where the loop may end early: its last iterations need not be counted one by one.
    """
    match op.body:
        case (scf.If(condition=condition, orelse=(scf.Yield(values=kept),), results=results), last):
            if condition in op.carried and kept == op.carried and _handed_on((last,)) == results:
                return op.carried.index(condition)
    return None


def _handed_on(block: Block) -> tuple[Value, ...]:
    """What the terminator of a block yields: that of scf.condition, its condition before the values."""
    match block[-1] if block else None:
        case scf.Condition(condition=condition, values=values):
            return (condition, *values)
        case (
            affine.Yield(values=values)
            | scf.Yield(values=values)
            | scf.Reduce(values=values)
            | scf.ReduceReturn(values=values)
            | func.Return(values=values)
        ):
            return values
    return ()
