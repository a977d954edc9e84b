"""Looking into a kernel that runs: what it prints, and what must hold."""

from __future__ import annotations

from affdsl.errors import ProgramTypeError
from affdsl.ir.attributes import Attribute, OpaqueAttr, StringAttr
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Value
from affdsl.ir.spelling import as_counted, spell
from affdsl.ir.types import I1
from affdsl.lang.arrays import Array
from affdsl.lang.branches import decided
from affdsl.lang.builder import current
from affdsl.lang.dtypes import bool_, f32, i32, i64
from affdsl.lang.indices import Condition, Index
from affdsl.lang.scalars import Scalar, cast
from affdsl.lang.source import here, problem
from affdsl.lang.traced import Operand, Traced
from affdsl.lang.vectors import Vector


def print_(*values: str | Operand) -> None:
    """Print a line when the kernel runs: `print_("x", i, x[i])`, texts and numbers with a space between them.

    Floats are printed with as few digits as tell them from all others, and truth values as 1 and 0. Lines of iterations
    that run at once may mix. Nothing moves past it: steps of a schedule that would change the order are refused.

    Parameters
    ----------
    values
        Texts, numbers of the kernel and Python numbers.

    Raises
    ------
    ProgramTypeError
        For what cannot be printed, as arrays and vectors.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def total(x: af.f64[N]):
    ...     s = af.var(af.f64(0))
    ...     with af.for_(N) as i:
    ...         s += x[i]
    ...         af.print_("after", i, "it is", s)
    >>> total.interpret(np.array([1.5, 2.0]))
    after 0 it is 1.5
    after 1 it is 3.5
    """
    pieces: list[str | Scalar] = []
    for position, value in enumerate(values):
        pieces += [*([" "] if position else []), *_printable("print_", value)]
    _print(pieces)


def assert_(
    condition: object, text: str = "the assertion does not hold", /, *values: Operand, **named: Operand
) -> None:
    """What must hold when the kernel runs: `assert_(x[i] > 0, "x must be positive", i, x=x[i])`.

    Where it does not, the call ends, and raises FailedAssertionError with the file and line, the text, and the values.
    What the kernel wrote before stays written. In C that is shipped the function says so by its status, and the header
    how. Nothing moves past it: steps of a schedule that would change the order are refused.

    Parameters
    ----------
    condition
        A comparison, or another bool_.
    text
        What the error says.
    values, named
        Numbers that the error shows: by what they are called in the kernel, or by the names given here.

    Raises
    ------
    ProgramTypeError
        For what is no condition, and for values that are no numbers.
    FailedAssertionError
        By the call.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def roots(x: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         af.assert_(x[i] >= 0, "no root of a negative number", x[i], i)
    ...         x[i] = af.sqrt(x[i])
    >>> try:
    ...     roots.interpret(np.array([4.0, -2.5]))
    ... except AssertionError as error:
    ...     print(str(error).partition(": ")[2])
    no root of a negative number (x[i] = -2.5, i = 1)
    """
    if not isinstance(text, str):
        raise problem(ProgramTypeError, f"the text of assert_ is {text!r}", "values come after the text, or by name")
    shown = [(_called(x), _printable("assert_", x)) for x in values]
    shown += [(name, _printable("assert_", x)) for name, x in named.items()]
    found = decided("assert_", condition)
    holds = found.scalar() if isinstance(found, Condition) else found
    message = (("msg", StringAttr(text)),)
    if not shown:
        current().emit(Opaque("cf.assert", (holds.value,), (), message))
        return
    fails = ~holds
    builder, location = current(), here()
    builder.open("the assertion")
    never = Value(I1, "", location)
    builder.emit(arith.Constant(never, False))
    pieces: list[str | Scalar] = []
    for position, (name, x) in enumerate(shown):
        pieces += [f"{', ' * (position > 0)}{name} = ", *x]
    _print(pieces)
    builder.emit(Opaque("cf.assert", (never,), (), message))
    builder.emit(scf.If(fails.value, builder.close(), location=location))


def _print(pieces: list[str | Scalar]) -> None:
    """Print a line of texts and numbers, with one operation for each number and for the texts between two."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        _print_text(text)
        text = ""
        current().emit(Opaque("vector.print", (piece.value,), (), (_mark("no_punctuation"),)))
    _print_text(text)
    current().emit(Opaque("vector.print", (), (), (_mark("newline"),)))


def _print_text(text: str) -> None:
    if text:
        current().emit(Opaque("vector.print", (), (), (_mark("newline"), ("stringLiteral", StringAttr(text)))))


def _mark(name: str) -> tuple[str, Attribute]:
    return "punctuation", OpaqueAttr(f"#vector.punctuation<{name}>")


def _printable(what: str, x: object) -> list[str | Scalar]:
    """A text, or a number of a type that prints as what it is; a complex one as its parts."""
    if isinstance(x, Array | Vector):
        advice = f"take elements of it: {x.name}[i]" if isinstance(x, Array) else "store it to an array first"
        raise problem(ProgramTypeError, f"{what} takes texts and numbers, got {x!r}", advice)
    if not isinstance(x, Traced):
        return [str(x)]
    number = x.scalar()
    match number.dtype.kind, number.dtype.name:
        case _, "u64":
            advice = "convert it: affdsl.f64(x), or affdsl.i64(x) where it is small enough"
            raise problem(ProgramTypeError, f"{what} cannot print {number.describe()}", advice)
        case "index", _:
            return [number]
        case "float", name:
            return [cast(number, f32, "") if name in ("f16", "bf16") else number]
        case "complex", _:
            return ["(", number.real, ", ", number.imag, ")"]
    return [cast(number, i32 if number.dtype == bool_ else i64, "")]


def _called(x: object) -> str:
    """What a value is called in a message."""
    if isinstance(x, Index):
        return _as_written(x.expr)
    if not isinstance(x, Scalar):
        return "value"
    made = next((op for op in reversed(current().block.ops) if x.value in op.defines()), None)
    if isinstance(made, affine.Load):
        index = ", ".join(map(_as_written, made.index))
        return f"{made.memref.hint}[{index}]" if made.index else made.memref.hint or "value"
    return x.value.hint or "value"


def _as_written(expr: Affine) -> str:
    """An index with the variables of loops that run down, for which the IR has how far these have come."""
    return spell(expr.substitute(dict(as_counted(current().downward))))
