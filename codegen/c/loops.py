"""The loops of affine and scf as C statements, and what their blocks yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush

from affdsl.codegen.c import tables
from affdsl.codegen.c.affine_values import extreme
from affdsl.codegen.c.checks import check_divisors
from affdsl.codegen.c.context import Context, Target
from affdsl.codegen.c.early import leave, yields_of_branch
from affdsl.codegen.c.expressions import ADD, Code, choose, infix, invert, number
from affdsl.codegen.c.lanes import assign_lanes, new_vector
from affdsl.codegen.c.memory import assign
from affdsl.codegen.c.overlaps import overwrites
from affdsl.codegen.c.plan import effects
from affdsl.codegen.c.quirks import is_written
from affdsl.codegen.c.recurrences import (
    hands_on_integers,
    is_short_sum,
    loses_zeros,
    runs_once_at_most,
    sums_floats_up,
)
from affdsl.codegen.c.types import number_type, scalar, value_type
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.types import IndexType, NumberType, VectorType
from affdsl.passes.analysis.early_exits import exit_of, goes_on
from affdsl.passes.analysis.lookups import lookups

_IN_ORDER: Mapping[str, Callable[[affine.For | scf.For], bool]] = {
    "integers_handed_on": hands_on_integers,
    "sums_in_order": sums_floats_up,
    "lookups_in_lanes": lambda loop: lookups(loop) > 1,
    "stores_that_meet": overwrites,
    "calls_for_one": runs_once_at_most,
}
"""The quirks for which a loop is one of no vectors, and whether they concern it."""


def for_loop(c: Context, op: affine.For | scf.For) -> None:
    """`for (int64_t i = lower; i < upper; i += step) { ... }`"""
    written = effects(op, c.plan, c.plans)
    if isinstance(op, scf.For) and op.is_unsigned:
        raise UnsupportedError("C output does not know scf.for with unsigned bounds yet")
    if isinstance(op, affine.For):
        check_divisors(c, op, (*op.lower, *op.upper))
        lower = extreme(c, op.lower, "max")
        upper = extreme(c, op.upper, "min")
        step = number(op.step)
        bounds = [c.values.resolve(e) for e in op.lower], [c.values.resolve(e) for e in op.upper]
    else:
        lower, upper = c.values.expression(op.lower), c.values.expression(op.upper)
        step = c.values.expression(op.step)
        upper, step = only_forward(c, lower, upper, step, op.step, op.iv)
        bounds = [c.values.resolve(op.lower)], [c.values.resolve(op.upper)]
    early = exit_of(op, c.plan.func, c.definitions)
    names = carry(c, op.inits, op.carried, op.results, None if early is None or early.is_read else early.position)
    c.values.name_readers(written)
    hint = op.iv.hint or c.values.counter
    upper, step = c.values.lasting(upper, written, f"{hint}_end"), c.values.lasting(step, written, f"{hint}_step")
    iv = c.lines.counter(op.iv.hint, c.values.counter)
    also = goes_on(op, c.definitions) if early is None else early.position if early.may_not_begin else None
    c.lines.loop(iv, lower, upper.at(ADD), step.text, "" if also is None else c.lines.read(names[also]))
    c.values.codes[op.iv] = Code(iv)
    c.ranges.know_loop(op.iv, *bounds)
    quirks = [name for name, is_concerned in _IN_ORDER.items() if is_written(name) and is_concerned(op)]
    is_short = quirks == ["sums_in_order"] and is_short_sum(op, c.lines.origin[:-1])
    loses = is_written("sums_under_conditions") and loses_zeros(op, c.plan.func, c.definitions)
    if loses or (quirks and not is_short):
        c.lines.add(f"{c.unit.helper('affdsl_in_order')}();")
    if early is None:
        c.block_to(op.body, Target(names))
    else:
        holding = frozenset({op.carried[early.position]})
        c.block_to(early.body, Target(
            names, left=early.position, holding=holding, tails=early.tails, depth=c.heap.depth
        ))  # fmt: skip
    c.lines.close()
    for result, name in zip(op.results, names, strict=True):
        if name:
            c.values.variable(result, name)


def only_forward(c: Context, lower: Code, upper: Code, step: Code, by: Value, iv: Value) -> tuple[Code, Code]:
    """The end and the step of a loop that does not run if its step is not positive, as the interpreter reports."""
    if c.ranges.is_positive(c.values.resolve(by)):
        return upper, step
    hint, runs = iv.hint or c.values.counter, infix(">", step, number(0))
    end = c.lines.keep(f"{hint}_end", "end", "int64_t", choose(runs, upper, lower))
    forward = c.lines.keep(f"{hint}_step", "step", "int64_t", choose(runs, step, number(1)))
    return end, forward


def carry(
    c: Context, inits: Sequence[Value], arguments: Sequence[Value], results: Sequence[Value], but: int | None = None
) -> tuple[str, ...]:
    """Declare the variables of what a loop carries, or go on with those around where nobody else reads them.

    One of them may need none: its name is empty.
    """
    names: list[str] = []
    for position, (init, carried, result) in enumerate(zip(inits, arguments, results, strict=True)):
        if position == but:
            names.append("")
            continue
        if isinstance(carried.type, VectorType):
            name = new_vector(c, carried, result.hint or "acc", init)
            c.values.variable(carried, name)
            names.append(name)
            continue
        shared = c.values.takes_over(init) and c.values.codes.get(init)
        start = c.values.of(init)
        if shared and shared.text in shared.variables:
            name = shared.text
            c.lines.unread(name)
        else:
            hint = carried.hint or result.hint or "acc"
            name = c.lines.declare(hint, "acc", value_type(carried.type), start, const=False)
        c.values.variable(carried, name)
        names.append(name)
    return tuple(names)


def while_loop(c: Context, op: scf.While) -> None:
    """`while (condition) { ... }` where the state is what both blocks get and the loop gives, and otherwise
    `for (;;) { ... if (!condition) { ...; break; } ... }`"""
    written = effects(op, c.plan, c.plans)
    early = exit_of(op, c.plan.func, c.definitions)
    if _keeps_its_state(op):
        names = carry(
            c, op.inits, op.before_args, op.results, None if early is None or early.is_read else early.position
        )
        for argument, name in zip(op.after_args, names, strict=True):
            if name:
                c.values.variable(argument, name)
        results: tuple[str, ...] = ()
    else:
        results = without_values(c, op.results)
        names = ()
        for init, argument in zip(op.inits, op.before_args, strict=True):
            start, hint = c.values.of(init), argument.hint or "state"
            names += (c.lines.declare(hint, "state", value_type(argument.type), start, const=False),)
            c.values.variable(argument, names[-1])
    c.values.name_readers(written)
    with c.lines.block("for (;;)"):
        if early is None:
            c.block_to((*op.before, *op.after), Target(names, loop=op, results=results, begins=c.lines.count))
        else:
            c.block_to((*early.before, *early.body), Target(
                names, loop=op, begins=c.lines.count, left=early.position,
                holding=frozenset({op.after_args[early.position]}), tails=early.tails, depth=c.heap.depth,
            ))  # fmt: skip
    if _keeps_its_state(op):
        for result, name in zip(op.results, names, strict=True):
            if name:
                c.values.variable(result, name)


def _keeps_its_state(op: scf.While) -> bool:
    """Whether the condition hands on what it is given, as it is."""
    last = op.before[-1] if op.before else None
    return isinstance(last, scf.Condition) and last.values == op.before_args


def while_condition(c: Context, op: scf.Condition) -> None:
    """Leave a loop with its results, or go on with the second block of it."""
    target = c.targets[-1]
    loop, results = target.loop, target.results
    assert loop is not None, "the verifier has it that scf.condition ends the first block of scf.while"
    if _keeps_its_state(loop):
        condition = c.values.of(op.condition)
        if c.lines.count == target.begins:
            c.lines.reopened_as(f"while ({condition})")
            return
        with c.lines.block(f"if ({invert(condition)})"):
            c.heap.free()
            c.lines.add("break;")
        return
    shown = [c.values.stable(v) for v in op.values]
    condition = c.values.of(op.condition)
    with c.lines.block(f"if ({invert(condition)})"):
        for name, code in zip(results, shown, strict=True):
            c.lines.add(f"{name} = {code};")
        c.heap.free()
        c.lines.add("break;")
    for argument, code in zip(loop.after_args, shown, strict=True):
        if isinstance(argument.type, IndexType) and code.text.isidentifier() and not code.variables:
            c.values.codes[argument] = code
        else:
            c.values.codes[argument] = Code(
                c.lines.declare(argument.hint or "next", "next", value_type(argument.type), code)
            )


def yield_values(c: Context, op: affine.Yield | scf.Yield) -> None:
    """Assign what a block yields to the variables of the operation that it belongs to."""
    targets, kinds = c.targets[-1].names, c.targets[-1].combiners
    if kinds is not None:
        for target, kind, value in zip(targets, kinds, op.values, strict=True):
            type = scalar(value.type)
            shown = c.values.of(value)
            if kind != "assign":
                shown = tables.binary(tables.REDUCTION_KIND[kind], type, Code(target), shown, c.unit)
            assign(c, target, shown, type)
        return
    into = c.targets[-1]
    if into.left is not None and yields_of_branch(c, op):
        return
    pairs = [(t, v) for n, (t, v) in enumerate(zip(targets, op.values, strict=True)) if n != into.left]
    vectors = [(t, v) for t, v in pairs if isinstance(v.type, VectorType)]
    left = [(t, c.values.of(v), number_type(v.type)) for t, v in pairs if not isinstance(v.type, VectorType)]
    for target, shown, _ in left:
        if shown.text == target:
            c.lines.unread(target)
    left = [(t, shown, type) for t, shown, type in left if shown.text != t]
    _assign_at_once(c, left)
    yield_vectors(c, vectors)
    if into.left is not None:
        leave(c, op.values[into.left], into)


def _assign_at_once(c: Context, parts: Sequence[tuple[str, Code, NumberType]]) -> None:
    """Assign values to variables that other values may read: those have to be written first, or their value is kept.

    The first one that nobody waits for is next, as it was given.
    """
    left = dict(enumerate(parts))
    at = {target: k for k, (target, _, _) in left.items()}
    waiting = Counter(v for target, shown, _ in parts for v in shown.variables if v != target)
    ready = [k for k, (target, _, _) in left.items() if not waiting[target]]

    def done_with(target: str, shown: Code) -> None:
        for v in shown.variables - {target}:
            waiting[v] -= 1
            if not waiting[v] and at.get(v) in left:
                heappush(ready, at[v])

    while left:
        if ready:
            target, shown, of = left.pop(heappop(ready))
            if assign(c, target, shown, of):
                c.lines.unread(target)
            done_with(target, shown)
        else:
            k = next(k for k, (_, shown, _) in left.items() if shown.variables)  # it keeps others waiting
            target, shown, of = left[k]
            left[k] = target, c.lines.keep(f"next_{target}", "next", value_type(of), shown), of
            done_with(target, shown)


def yield_vectors(c: Context, pairs: Sequence[tuple[str, Value]]) -> None:
    """Assign vectors at once: those that are the target of another assignment are copied first."""
    targets = {t for t, _ in pairs}
    copied = {}
    for target, value in pairs:
        name = "" if value in c.values.splats else c.values.codes[value].text
        if name in targets and name != target:
            copied[value] = Value(value.type)
            new_vector(c, copied[value], f"next_{target}", value)
    for target, value in pairs:
        if value in c.values.splats or value in copied or c.values.codes[value].text != target:
            assign_lanes(c, target, copied.get(value, value))


def without_values(c: Context, values: tuple[Value, ...]) -> tuple[str, ...]:
    """Variables for results that get their values later."""
    names = []
    for value in values:
        name = c.lines.without_value(value.hint, c.values.temporary, value_type(value.type))
        c.values.codes[value] = Code(name)
        names.append(name)
    return tuple(names)
