"""What a call needs of a kernel that has versions for sizes: those that its own sizes choose, which compile sooner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from affdsl.codegen.arguments import check
from affdsl.codegen.jit import check_sizes, known_arguments, signature_of
from affdsl.errors import AffdslError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.lang.trace import Program

LEAST = 150
"""How many operations the other versions have at least for which a kernel is compiled without them: about 0.1 s."""


def needed_by(program: Program, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> Program | None:
    """The program without versions that a call with other sizes chooses, and with a contract that says so.

        if N >= 48: S else: T   ->   S, for N >= 48

    None where that leaves out little, or where the call is wrong. A comparison of several that does not hold is enough
    to leave a version out, so the contract may exclude sizes for which it would not run either.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def double(x: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         x[i] *= 2
    >>> needed_by(double.program, (np.ones(3),), {}) is None
    True
    """
    if sum(1 for _ in walk(program.func)) < LEAST:
        return None
    try:
        numbers = _numbers(program, arguments, keywords)
        facts: list[Constraint] = []
        body = tuple(_kept(program.func.body, numbers, facts))
    except (AffdslError, ArithmeticError):  # whoever calls it is told
        return None
    func = with_fields(program.func, body=body, assumes=(*program.func.assumes, *facts))
    left_out = sum(1 for _ in walk(program.func)) - sum(1 for _ in walk(func))
    return replace(program, func=func) if left_out >= LEAST else None


def _numbers(program: Program, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> Mapping[Value, int]:
    """The index arguments of the function in a call. Raises where they are wrong, as `check_sizes` does."""
    values = check(signature_of(program), arguments, keywords)
    scalars = tuple(value for value in values if not isinstance(value, np.ndarray))
    known = check_sizes(program, tuple(value.shape for value in values if isinstance(value, np.ndarray)), scalars)
    found = zip(program.func.args, known_arguments(program, known, scalars), strict=True)
    return {value: number for value, number in found if number is not None}


def _kept(block: Block, numbers: Mapping[Value, int], facts: list[Constraint]) -> Iterator[Op]:
    """What runs of a block outside of loops; of which conditions is added to the facts."""
    for op in block:
        if not isinstance(op, affine.If) or op.results or not _is_decided(op, numbers):
            yield op
            continue
        wrong = next((c for c in op.condition if not c.holds(numbers)), None)
        facts += op.condition if wrong is None else (_negated(wrong, numbers),)
        chosen = op.then if wrong is None else op.orelse
        yield from _kept(tuple(each for each in chosen if not each.is_terminator), numbers, facts)


def _is_decided(op: affine.If, numbers: Mapping[Value, int]) -> bool:
    return all(v in numbers for c in op.condition for v in c.values())


def _negated(constraint: Constraint, numbers: Mapping[Value, int]) -> Constraint:
    """A comparison that holds with some numbers where this one does not."""
    below = constraint.expr.evaluate(numbers) < 0
    return Constraint(-constraint.expr - 1 if below else constraint.expr - 1)
