"""Loops that end early: which of the truth values that a loop carries says whether it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Nested, Op
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import definitions, users, walk
from affdsl.ir.types import I1

For = affine.For | scf.For


LEFT = "the loop may have ended before, by break_"
"""Why it is not known whether an iteration of a loop that ends early does anything."""


class Exit(FrozenValue):
    """How a loop ends early, as the language makes it and nothing has changed since.

    In the loop the truth value is read by what asks for it in each iteration, and where blocks of branches end.
    """

    position: int
    """Which of the values that the loop carries it is."""
    before: Block
    """What is done before each iteration, and ends with the condition of a `while`; empty for a `for`."""
    body: Block
    """What is done in an iteration that comes so far; what it yields is what the loop carries."""
    tails: frozenset[Op]
    """The branches in the body behind which an iteration has nothing left to do, but to yield what they give."""
    is_read: bool = False
    """Whether somebody asks after the loop how it ended, or before it whether it begins."""
    may_not_begin: bool = False
    """Whether it is not known that it begins."""


def goes_on(loop: For, known: Mapping[Value, Op]) -> int | None:
    """Which of the values that a loop carries says whether it goes on, if one does; `known` defines constants.

    Where it does not hold, an iteration changes nothing, and hands on everything as it is. So the loop may end there.
    """
    return next((k for k, value in enumerate(loop.carried) if value.type == I1 and _stays(loop, k, known)), None)


def exit_of(loop: For | scf.While, root: Op, known: Mapping[Value, Op]) -> Exit | None:
    """How a loop in root ends early, if it does so in the form that the language makes.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.ir.traverse import definitions
    >>> f = parse('''func.func @f(%n: index, %x: memref<?xi1>) -> index {
    ...     %t = arith.constant true
    ...     %zero = arith.constant 0 : index
    ...     %r, %at = affine.for %i = 0 to %n iter_args(%on = %t, %k = %zero) -> (i1, index) {
    ...         %s, %m = scf.if %on -> (i1, index) {
    ...             %l = affine.load %x[%i] : memref<?xi1>
    ...             scf.yield %l, %i : i1, index
    ...         } else {
    ...             scf.yield %on, %k : i1, index
    ...         }
    ...         affine.yield %s, %m : i1, index
    ...     }
    ...     return %at : index
    ... }''').functions[0]
    >>> exit_of(f.body[2], f, definitions(f)).position
    0
    """
    if isinstance(loop, scf.While):
        return _exit_of_while(loop, root, known)
    at = goes_on(loop, known)
    if at is None or len(loop.body) < 2:
        return None
    *always, guard, last = loop.body
    if not isinstance(guard, scf.If) or guard.condition is not loop.carried[at] or not _hands_on(last, guard.results):
        return None
    return _exit(loop, at, (), (*always, *guard.then), [guard, *guard.orelse], root, known)


def _exit_of_while(loop: scf.While, root: Op, known: Mapping[Value, Op]) -> Exit | None:
    if len(loop.before) != 2:
        return None
    asks, last = loop.before
    if not (isinstance(asks, scf.If) and isinstance(last, scf.Condition) and asks.results == (last.condition,)):
        return None
    if asks.condition not in loop.before_args or last.values != loop.before_args or len(asks.orelse) != 1:
        return None
    (left,) = asks.orelse
    *ops, given = asks.then
    if (
        not isinstance(given, scf.Yield)
        or not isinstance(left, scf.Yield)
        or not _is(left.values[0], False, asks, known)
    ):
        return None
    at = loop.before_args.index(asks.condition)
    before = (*ops, scf.Condition(given.values[0], last.values, location=last.location))
    return _exit(loop, at, before, loop.after, [asks, left, last], root, known)


def _exit(
    loop: For | scf.While, at: int, before: Block, body: Block, askers: list[Op], root: Op, known: Mapping[Value, Op]
) -> Exit | None:
    """The exit of a loop by a truth value, unless somebody else in the loop reads it."""
    arguments = [(loop.before_args[at], loop.after_args[at])] if isinstance(loop, scf.While) else [(loop.carried[at],)]
    readers = users(loop)
    asked = [op for value in arguments[0] for op in readers[value]]
    tails, ends = _tails(body)
    may_not_begin = not _is(loop.inits[at], True, None, known)
    if any(op not in askers and op not in ends for op in asked) or (may_not_begin and isinstance(loop, scf.While)):
        return None
    is_read = may_not_begin or any(loop.results[at] in op.reads() for op in walk(root))
    return Exit(at, before, body, frozenset(tails), is_read, may_not_begin)


def _tails(body: Block) -> tuple[list[Op], list[Op]]:
    """The branches that a block ends with, if it yields what they give, and so on inside; and what ends them."""
    if not body:
        return [], []
    *ops, last = body
    branch = ops[-1] if ops else None
    if isinstance(branch, affine.If | scf.If) and _hands_on(last, branch.results):
        (some, ends), (more, others) = _tails(branch.then), _tails(branch.orelse)
        return [branch, *some, *more], [*ends, *others]
    return [], [last]


def _hands_on(op: Op, values: tuple[Value, ...]) -> bool:
    return isinstance(op, affine.Yield | scf.Yield) and op.values == values


def _is(value: Value, truth: bool, guard: scf.If | None, known: Mapping[Value, Op]) -> bool:
    """Whether a value is true, or false: as a constant, or in the other block of a branch that asks for it."""
    if guard is not None and value is guard.condition:
        return not truth
    return is_constant(value, truth, known)


def is_constant(value: Value, truth: bool, known: Mapping[Value, Op]) -> bool:
    """Whether a value is a truth that is known."""
    made = known.get(value)
    return isinstance(made, arith.Constant) and made.value is truth


def _stays(loop: For, at: int, known: Mapping[Value, Op]) -> bool:
    """Whether an iteration in which a truth value does not hold changes nothing, and hands on all as it is."""
    same: dict[Value, Value] = {}
    no = loop.carried[at]

    def meant(value: Value) -> Value:
        found = same.get(value, value)
        return no if found is not no and _is(found, False, None, known) else found

    for op in loop.body:
        match op:
            case affine.Yield() | scf.Yield():
                return tuple(map(meant, op.values)) == loop.carried
            case scf.If() if meant(op.condition) is no:
                *nothing, last = op.orelse or (None,)
                if not all(isinstance(x, arith.Constant) for x in nothing):
                    return False
                if op.results:
                    assert isinstance(last, scf.Yield)
                    same.update(zip(op.results, map(meant, last.values), strict=True))
            case affine.For() | scf.For():
                inner = goes_on(op, known)
                if inner is None or meant(op.inits[inner]) is not no:
                    return False
                same.update(zip(op.results, map(meant, op.inits), strict=True))
            case _ if not only_reads(op):
                return False
    return False


def only_reads(op: Op) -> bool:
    """Whether nobody notices where an operation is not done: it computes, and may read."""
    does = op.memory
    return does is not None and not (does.writes or does.allocates or does.frees) and not isinstance(op, Nested)


def early_loops(op: Op, root: Op) -> dict[For, int]:
    """The `for` loops in an operation that may end early, itself included, and which value says whether they go on."""
    loops = [inner for inner in walk(op) if isinstance(inner, For) and any(v.type == I1 for v in inner.carried)]
    known = definitions(root) if loops else {}
    found = ((loop, goes_on(loop, known)) for loop in loops)
    return {loop: at for loop, at in found if at is not None}


def by_break(loop: For, root: Op) -> str:
    """What ends a loop early, in the words of the user: `break_ (line 7)`."""
    known = definitions(root)
    at = goes_on(loop, known)
    places = _left_at(loop.body, at, known) if at is not None else []
    lines = sorted({place.line for place in places})
    return f"break_ (line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))})" if lines else "break_"


def _left_at(block: Block, at: int, known: Mapping[Value, Op]) -> list[Location]:
    """Where it is decided that a block yields false, in a place."""
    last = block[-1] if block else None
    if not isinstance(last, affine.Yield | scf.Yield):
        return []
    value = last.values[at]
    made = known.get(value)
    if isinstance(made, affine.If | scf.If):
        position = made.results.index(value)
        return [place for inner in (made.then, made.orelse) for place in _left_at(inner, position, known)]
    return [last.location] if is_constant(value, False, known) and last.location is not None else []


def may_have_left(op: scf.If, around: Sequence[Op]) -> bool:
    """Whether a branch asks whether the innermost loop around, the last one given, goes on."""
    loop = around[-1] if around else None
    if not isinstance(loop, For) or op.condition not in loop.carried:
        return False
    return _stays(loop, loop.carried.index(op.condition), {})
