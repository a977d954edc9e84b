"""Numbers that Python draws while a kernel is built, where each iteration of a loop seems to draw its own."""

from __future__ import annotations

import ast
import random
import time
import warnings
from types import FunctionType
from typing import TypeAlias

import numpy as np

from affdsl.errors import public
from affdsl.lang.control import for_, parallel
from affdsl.lang.elements import elements
from affdsl.lang.whiles import while_
from affdsl.lang.written import Written

_LOOPS = (elements, for_, parallel, while_)
_DRAWING = (random.Random, np.random.RandomState, np.random.Generator)
Registry: TypeAlias = dict[str | tuple[str, type[Warning], int], int]
"""Which warnings a module has shown."""
_CLOCKS = (time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic, time.process_time)


@public
class BuildTimeWarning(UserWarning):
    """A loop of a kernel asks Python for a random number or the time, which happens once, while the kernel is built.

    >>> import random, warnings, affdsl as af
    >>> N = af.symbols("N")
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     @af.kernel
    ...     def noise(x: af.f64[N]):
    ...         with af.for_(N) as i:
    ...             x[i] = random.random()
    >>> print(str(found[0].message).splitlines()[0])
    random.random(...) is called once, while the kernel is built, and not in each iteration of for_
    """


def warn_of_draws(source: Written, function: FunctionType) -> None:
    """Warn of each call in a loop that gives another number each time, by the line, once for each line.

    Known are the methods of generators of Python and NumPy, and clocks, where the kernel names them as they are. A call
    outside of loops, or in a function that the kernel calls, is let through: a constant may be drawn on purpose.
    """
    for statement in source.statements:
        _look(statement, "", source, function.__globals__.setdefault("__warningregistry__", {}))


def _look(node: ast.AST, loop: str, source: Written, registry: Registry) -> None:
    """Look for such calls below a node; `loop` is the innermost loop around, if there is one."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return
        case ast.With(items=items, body=body):
            for item in items:
                _look(item, loop, source, registry)
                called = source.meaning(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else None
                loop = next((each.what for each in _LOOPS if each is called), loop)
            for statement in body:
                _look(statement, loop, source, registry)
            return
        case ast.Call(func=func) if loop and _draws(source.meaning(func)):
            place = source.place(node)
            what = f"{ast.unparse(func)}(...) is called once, while the kernel is built, and not in each iteration of "
            advice = "pass an array of such numbers; for one number on purpose call it before the loop"
            warnings.warn_explicit(
                f"{what}{loop}\n    {advice}", BuildTimeWarning, place.file, place.line, registry=registry
            )
    for child in ast.iter_child_nodes(node):
        _look(child, loop, source, registry)


def _draws(called: object) -> bool:
    """Whether what is called gives another number each time."""
    return any(called is clock for clock in _CLOCKS) or isinstance(getattr(called, "__self__", None), _DRAWING)
