"""Loops that end early, and iterations that do: `break_()` and `continue_()`."""

from __future__ import annotations

from affdsl.errors import ProgramError
from affdsl.lang.builder import OpenBlock, current
from affdsl.lang.source import here, problem
from affdsl.lang.structured import Break, Continue


def break_() -> None:
    """Leave the innermost loop around, as Python's `break` does: `with if_(x[i] > t): break_()`.

    It ends a `for_` or `while_`, from its block or from branches in it, and stands last in its block. What variables
    and arrays have got before it, they keep. What the loop carries by `iter_args` stays what it was when the iteration
    began. `i` is not known after the loop: a variable takes it along.

    Iterations of a loop that ends early run in their order. Subscripts have to be inside for all iterations that there
    would be without it.

    Raises
    ------
    ProgramError
        Outside of a loop of this kernel, in `parallel`, whose iterations have no order, in `elements`, which is
        several loops, behind `yield_`, and where something stands behind it.

    Examples
    --------
    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def first_above(x: af.f64[N], t: af.f64):
    ...     found = af.var(af.i64(-1))
    ...     with af.for_(N) as i:
    ...         with af.if_(x[i] > t):
    ...             found.set(af.i64(i))
    ...             af.break_()
    ...     return found
    >>> print(first_above(np.array([1.0, 5.0, 7.0]), 4.0))
    1
    """
    loop = _left_by("break_")
    if loop.is_parallel:
        raise problem(
            ProgramError,
            f"break_() cannot end {loop.what}",
            "its iterations may run in any order and at once, so there are none after this one",
            "take affdsl.for_, whose iterations have an order; continue_() ends an iteration of either",
        )
    if loop.is_elements:
        raise problem(
            ProgramError,
            "break_() cannot end affdsl.elements",
            "that is a loop for each dimension, one inside the other, and it would end the innermost one: a row alone",
            "write an affdsl.for_ for each dimension; continue_() goes on with the next element",
        )
    current().emit(Break(location=here()))
    _end("break_", loop)


def continue_() -> None:
    """Go on with the next iteration of the innermost loop around, as Python's `continue` does.

    It ends an iteration of a `for_`, `while_` or `parallel`, from its block or from branches in it, and stands last in
    its block. What the loop carries by `iter_args` stays what it was when the iteration began; to what `parallel`
    reduces, the iteration adds nothing.

    Raises
    ------
    ProgramError
        Outside of a loop of this kernel, behind `yield_`, and where something stands behind it.

    Examples
    --------
    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def roots(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         with af.if_(x[i] < 0):
    ...             af.continue_()
    ...         y[i] = af.sqrt(x[i])
    >>> y = np.zeros(3)
    >>> roots(np.array([4.0, -1.0, 9.0]), y)
    >>> y.tolist()
    [2.0, 0.0, 3.0]
    """
    loop = _left_by("continue_")
    current().emit(Continue(location=here()))
    _end("continue_", loop)


def _left_by(word: str) -> OpenBlock:
    """The body of the loop that a word ends, or an iteration of it. Raises ProgramError where there is none."""
    builder = current()
    builder.require_reached()
    around = next(block for block in reversed(builder.blocks) if not block.is_branch)
    if not around.is_loop:
        in_it = f", in {around.what}" if around is not builder.blocks[0] else f" of kernel {builder.name}"
        called = "; a kernel that is called cannot end a loop of its caller: return a number, and ask for that there"
        raise problem(
            ProgramError,
            f"{word}() stands outside of all loops{in_it}",
            f"it ends the innermost affdsl.for_ or affdsl.while_ around, as Python's {word.rstrip('_')} does{called}",
        )
    if builder.block.yielded is not None:
        raise problem(
            ProgramError,
            f"{word}() stands behind yield_ in {builder.block.what}",
            "yield_ is the last thing in a block, and so is this",
            f"a block that ends with {word}() yields nothing: what is carried stays what it was",
        )
    return around


def _end(word: str, loop: OpenBlock) -> None:
    """Note that a word ends the innermost block, and its loop early."""
    builder = current()
    builder.block.ended = word, here()
    loop.exits.add(word)
