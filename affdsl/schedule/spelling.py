"""Arguments of a schedule's steps as Python, and bounds of loops as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.expr import Affine, Value
from affdsl.ir.python_expressions import Name, python
from affdsl.ir.spelling import spell
from affdsl.passes.legality.assumptions import promised


def literal(argument: object) -> str:
    """An argument of a step as Python: text, numbers, truths, tuples, mappings, and expressions over symbols.

    >>> from affdsl.lang.indices import symbols
    >>> N = symbols("N")
    >>> print(literal("i"), literal((4, "T")), literal((N + 1) // 2), literal(N % 8))
    "i" (4, "T") (N + 1) // 2 N - 8 * (N // 8)
    >>> print(literal((N >= 64) & (N % 2 == 0)))
    (N >= 64) & (N - 2 * (N // 2) == 0)
    >>> print(literal(N < 64))
    N <= 63
    """
    constraints = getattr(argument, "constraints", None)
    if constraints:
        said = [*map(promised, constraints)]
        return said[0] if len(said) == 1 else " & ".join(f"({each})" for each in said)
    expr = getattr(argument, "expr", None)
    if isinstance(expr, Affine):
        return python(expr)
    match argument:
        case str():
            quoted = argument.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{quoted}"' if argument.isprintable() else repr(argument)
        case tuple() | list():
            return f"({', '.join(map(literal, argument))}{',' if len(argument) == 1 else ''})"
        case Mapping():
            return f"{{{', '.join(f'{literal(key)}: {literal(value)}' for key, value in argument.items())}}}"
    return repr(argument)


def symbols_in(argument: object) -> tuple[Value, ...]:
    """The values in the expressions of an argument, in order."""
    if isinstance(argument, tuple):
        return tuple(value for each in argument for value in symbols_in(each))
    expr = getattr(argument, "expr", None)
    exprs = [expr] if isinstance(expr, Affine) else [c.expr for c in getattr(argument, "constraints", ())]
    return tuple(value for each in exprs for value in each.values())


def bound(exprs: Sequence[Affine], name: Name, extremum: str) -> str:
    """Bounds of one side of a loop, with `//` and `%` for MLIR's words.

    >>> from affdsl.ir.expr import Value
    >>> from affdsl.ir.types import INDEX
    >>> n, i = Value(INDEX, "n"), Value(INDEX, "i")
    >>> bound((Affine.of(n), i + 32), lambda value: value.hint, "min")
    'min(n, i + 32)'
    """
    words = [spell(expr, name).replace(" floordiv ", " // ").replace(" mod ", " % ") for expr in exprs]
    return words[0] if len(words) == 1 else f"{extremum}({', '.join(words)})"
