"""Loop variables, symbols and sizes: affine expressions that the user writes, and conditions on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, overload
from typing import cast as taken_for

import numpy as np

from affdsl.errors import ProgramError, ProgramIndexError, ProgramNameError, ProgramTypeError
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import INDEX, IndexType
from affdsl.lang.builder import SymbolValue, active, current
from affdsl.lang.counters import Counters
from affdsl.lang.dtypes import bool_, index, require_index
from affdsl.lang.scalars import Scalar, cast, compare, constant, index_scalar
from affdsl.lang.source import here, problem
from affdsl.lang.traced import Comparable, Operand, Traced


def symbols(names: str) -> Symbols:
    """Symbolic sizes, to be used in the shapes of arguments and in kernels.

    Parameters
    ----------
    names
        What they are called, with spaces or commas between them. One name gives one symbol, several give a tuple.

    Raises
    ------
    ProgramTypeError, ProgramNameError
        For what is no text, and for what is no name of Python or is there twice.

    >>> M, N = symbols("M N")
    >>> M + 2 * N
    M + N * 2
    """
    if not isinstance(names, str):
        raise problem(ProgramTypeError, f'symbols takes names in one text, like "M N", got {names!r}')
    wanted = names.replace(",", " ").split()
    bad = [name for name in wanted if not name.isidentifier()]
    if bad or not wanted:
        raise problem(ProgramNameError, f"a symbol needs a name like N, got {bad[0] if bad else names!r}")
    if len(set(wanted)) != len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise problem(ProgramNameError, f"the symbol {twice} is named twice; give each its own name")
    made = tuple(Index(Affine.of(SymbolValue(INDEX, name, here()))) for name in wanted)
    return taken_for("Symbols", made if len(made) > 1 else made[0])


class Index(Comparable["Condition | Scalar"]):
    """A whole number that is affine in the loop variables and symbols around: what `for_` gives, and `symbols`.

    Operators: `+ -` with another, `* // %` with a number or with a symbolic expression, `ceildiv`, comparisons.
    Where a symbolic divisor is not positive, the interpreter says so, and compiled code takes 0 for `//` and `%`.

    For type checkers it is also what a call passes for a size: `n: Annotated[affdsl.Index, N]`.

    Attributes
    ----------
    expr
        The expression of the IR.

    >>> import affdsl as af
    >>> M, N = af.symbols("M N")
    >>> (M + 2 * N + 3) // 4, N.ceildiv(8)
    ((M + N * 2) ceildiv 4, N ceildiv 8)
    """

    __slots__ = ("expr",)
    _of_indices = True

    def __init__(self, expr: Affine) -> None:
        self.expr = expr

    def __repr__(self) -> str:
        return spell(self.expr)

    def describe(self) -> str:
        """What messages call it."""
        return f"the index {spell(self.expr)}"

    def scalar(self) -> Scalar:
        """self as a scalar of type index."""
        return index_scalar(self.expr)

    @overload
    def __add__(self, other: Index | int) -> Index: ...
    @overload
    def __add__(self, other: Operand) -> Index | Scalar: ...
    def __add__(self, other: Operand) -> Index | Scalar:
        term = _term("+", other)
        return self.scalar() + other if term is None else Index(self.expr + term)

    @overload
    def __radd__(self, other: Index | int) -> Index: ...
    @overload
    def __radd__(self, other: Operand) -> Index | Scalar: ...
    def __radd__(self, other: Operand) -> Index | Scalar:
        return self + other

    @overload
    def __sub__(self, other: Index | int) -> Index: ...
    @overload
    def __sub__(self, other: Operand) -> Index | Scalar: ...
    def __sub__(self, other: Operand) -> Index | Scalar:
        term = _term("-", other)
        return self.scalar() - other if term is None else Index(self.expr - term)

    @overload
    def __rsub__(self, other: Index | int) -> Index: ...
    @overload
    def __rsub__(self, other: Operand) -> Index | Scalar: ...
    def __rsub__(self, other: Operand) -> Index | Scalar:
        term = _term("-", other)
        return other - self.scalar() if term is None else Index(term - self.expr)

    @overload
    def __mul__(self, other: Index | int) -> Index: ...
    @overload
    def __mul__(self, other: Operand) -> Index | Scalar: ...
    def __mul__(self, other: Operand) -> Index | Scalar:
        term = _term("*", other)
        if term is None:
            return self.scalar() * other
        if not (_is_symbolic(self.expr) or _is_symbolic(term)):
            raise _not_affine("*", self.expr, term)
        return Index(self.expr * term)

    @overload
    def __rmul__(self, other: Index | int) -> Index: ...
    @overload
    def __rmul__(self, other: Operand) -> Index | Scalar: ...
    def __rmul__(self, other: Operand) -> Index | Scalar:
        return self * other

    @overload
    def __floordiv__(self, other: Index | int) -> Index: ...
    @overload
    def __floordiv__(self, other: Operand) -> Index | Scalar: ...
    def __floordiv__(self, other: Operand) -> Index | Scalar:
        return _divide("//", self, other)

    @overload
    def __rfloordiv__(self, other: Index | int) -> Index: ...
    @overload
    def __rfloordiv__(self, other: Operand) -> Index | Scalar: ...
    def __rfloordiv__(self, other: Operand) -> Index | Scalar:
        return _divide("//", other, self)

    @overload
    def __mod__(self, other: Index | int) -> Index: ...
    @overload
    def __mod__(self, other: Operand) -> Index | Scalar: ...
    def __mod__(self, other: Operand) -> Index | Scalar:
        return _divide("%", self, other)

    @overload
    def __rmod__(self, other: Index | int) -> Index: ...
    @overload
    def __rmod__(self, other: Operand) -> Index | Scalar: ...
    def __rmod__(self, other: Operand) -> Index | Scalar:
        return _divide("%", other, self)

    @overload
    def ceildiv(self, other: Index | int) -> Index: ...
    @overload
    def ceildiv(self, other: Operand) -> Index | Scalar: ...
    def ceildiv(self, other: Operand) -> Index | Scalar:
        """The quotient rounded up."""
        return _divide("ceildiv", self, other)

    def __truediv__(self, other: Operand) -> Index:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is a whole number and has no operator /",
            "use // for the rounded-down quotient, or affdsl.f64(i) / affdsl.f64(n) for a fraction",
        )

    __rtruediv__ = __truediv__

    def __neg__(self) -> Index:
        return Index(-self.expr)

    def __pos__(self) -> Index:
        return self

    def compared(self, symbol: str, left: Operand, right: Operand) -> Condition | Scalar:
        """left <symbol> right: a condition where both are affine"""
        assert isinstance(left, Index), "Python asks the left one"
        return _compare(symbol, left, right)

    def __hash__(self) -> int:
        if active() is None:
            text = spell(self.expr)
            raise problem(ProgramTypeError, f"{text} is no key of a dict or a set", f'write its name: "{text}"')
        return super().__hash__()


if TYPE_CHECKING:

    class Symbols(Index):
        """One symbol, or several to be unpacked: which of the two, no type says, only the text of the names."""

        def __iter__(self) -> Iterator[Index]: ...


class Extremum(Comparable[Scalar]):
    """The smallest or largest of some indices, not computed yet: a bound of a loop can be one as it is."""

    __slots__ = ("exprs", "kind")

    def __init__(self, kind: type[affine.Min] | type[affine.Max], exprs: tuple[Affine, ...]) -> None:
        self.kind = kind
        self.exprs = exprs

    def describe(self) -> str:
        """What messages call it."""
        return f"the {'smallest' if self.kind is affine.Min else 'largest'} of {', '.join(map(spell, self.exprs))}"

    def scalar(self) -> Scalar:
        """self as a scalar of type index."""
        result = Value(INDEX, location=here())
        current().emit(self.kind(result, self.exprs))
        return Scalar(result, index)

    def __add__(self, other: Operand) -> Extremum | Scalar:
        term = _term("+", other)
        return self.scalar() + other if term is None else Extremum(self.kind, tuple(e + term for e in self.exprs))

    def __sub__(self, other: Operand) -> Extremum | Scalar:
        term = _term("-", other)
        return self.scalar() - other if term is None else Extremum(self.kind, tuple(e - term for e in self.exprs))

    def __rsub__(self, other: Operand) -> Scalar:
        return other - self.scalar()

    def __mul__(self, other: Operand) -> Scalar:
        return self.scalar() * other

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: Operand) -> Scalar:
        return self.scalar() // other

    def ceildiv(self, other: Operand) -> Scalar:
        """The quotient rounded up."""
        return self.scalar().ceildiv(other)

    def __mod__(self, other: Operand) -> Scalar:
        return self.scalar() % other

    def compared(self, symbol: str, left: Operand, right: Operand) -> Scalar:
        """left <symbol> right as a bool_"""
        return compare(symbol, self.scalar(), right)


class Condition(Traced):
    """A conjunction of affine constraints, or its negation: what `affine.if` can test. Combine with & | ~."""

    __slots__ = ("constraints", "negated")
    _of_indices = True
    instead = (
        "conditions are combined with & | ^ ~; affdsl.bool_(condition) can be compared, and "
        "affdsl.select(condition, 1, x) makes a number of one"
    )

    @property
    def _comparison(self) -> str:
        return ""

    def __init__(self, constraints: tuple[Constraint, ...], negated: bool = False) -> None:
        self.constraints = constraints
        self.negated = negated

    def describe(self) -> str:
        """What messages call it."""
        shown = " & ".join(spell_constraint(c) for c in self.constraints) or "true"
        return f"the condition {'not ' * self.negated}({shown})"

    def scalar(self) -> Scalar:
        """self as a bool_, computed here."""
        result: Scalar | None = None
        for c in self.constraints:
            held = compare("==" if c.equality else ">=", index_scalar(c.expr), 0)
            result = held if result is None else result & held
        if result is None:
            result = constant(True, bool_)
        return ~result if self.negated else result

    def __and__(self, other: Operand) -> Condition | Scalar:
        if isinstance(other, Condition) and not (self.negated or other.negated):
            return Condition(self.constraints + other.constraints)
        return self.scalar() & other

    __rand__ = __and__

    def __or__(self, other: Operand) -> Condition | Scalar:
        if isinstance(other, Condition):
            a, b = ~self, ~other
            if not (a.negated or b.negated):
                return ~Condition(a.constraints + b.constraints)
        return self.scalar() | other

    __ror__ = __or__

    def __xor__(self, other: Operand) -> Scalar:
        return self.scalar() ^ other

    __rxor__ = __xor__

    def __invert__(self) -> Condition:
        match self.constraints:
            case (Constraint(expr, False),) if not self.negated:
                return Condition((Constraint(-expr - 1),))
        return Condition(self.constraints, not self.negated)


def _term(symbol: str, other: Operand) -> Affine | None:
    """other as an affine term, or None where it is known only as data."""
    if isinstance(other, Index):
        return other.expr
    if isinstance(other, Scalar | Extremum | Condition):
        if isinstance(other, Scalar) and other.dtype.kind == "float":
            raise problem(
                ProgramTypeError,
                f"{symbol} of an index and {other.describe()}: the types differ",
                f"convert the index: affdsl.{other.dtype}(i)",
            )
        return None
    if isinstance(other, bool) or not isinstance(other, int | np.integer):
        raise problem(
            ProgramTypeError,
            f"{symbol} of an index and {other!r}: an index is a whole number",
            f"convert the index with affdsl.f64(i) to work with {other!r}"
            if isinstance(other, float | np.floating)
            else "write a whole number, an index or a scalar",
            other.several() if isinstance(other, Counters) else "",
        )
    return Affine((), require_index(int(other)))


def _is_symbolic(expr: Affine) -> bool:
    builder = active()
    return all(isinstance(v, SymbolValue) or (builder is not None and v in builder.symbols) for v in expr.values())


def _divide(symbol: str, left: Operand, right: Operand) -> Index | Scalar:
    a, b = _term(symbol, left), _term(symbol, right)
    if a is None or b is None:
        x, y = index_of(left), index_of(right)
        if symbol == "ceildiv":
            return x.scalar().ceildiv(y.scalar())
        return x.scalar() // y.scalar() if symbol == "//" else x.scalar() % y.scalar()
    if not _is_symbolic(b):
        raise _not_affine(symbol, a, b)
    if b.is_constant and b.constant <= 0:
        raise problem(
            ProgramIndexError,
            f"{_factor(a)} {symbol} {b.constant}: an index is divided by positive numbers only",
            f"write {_factor(-a)} // {-b.constant}" if b.constant < 0 and symbol == "//" else "",
        )
    return _no_heavier(a.ceildiv(b) if symbol == "ceildiv" else a // b if symbol == "//" else a % b)


DEEPEST = 100
"""Quotients inside each other that an index may have."""
HEAVIEST = 20_000
"""How many atoms it may take to write an index down: as many as C text may have."""


def _no_heavier(expr: Affine) -> Index:
    """An index that is not too long to write down: what is divided stands there again wherever a quotient is used."""
    deepest = max((atom.depth for atom, _ in expr.terms if isinstance(atom, FloorDiv)), default=0)
    if deepest <= DEEPEST and expr.weight <= HEAVIEST:
        return Index(expr)
    has = f"{deepest} quotients inside each other" if deepest > DEEPEST else f"more than {HEAVIEST} parts"
    raise problem(
        ProgramError,
        f"an index of {', '.join(dict.fromkeys(v.hint for v in expr.values()))} has {has}",
        "compute it as a number, which has a name after each step: begin with affdsl.i64(i) instead of i",
    )


def _not_affine(symbol: str, a: Affine, b: Affine) -> ProgramError:
    varying = ", ".join(dict.fromkeys(v.hint for e in (a, b) for v in e.values() if not _is_symbolic(Affine.of(v))))
    both = "both factors change" if symbol == "*" else "the divisor changes"
    return problem(
        ProgramIndexError,
        f"{_factor(a)} {symbol} {_factor(b)} is not affine: {both} inside the loops ({varying})",
        "one factor must be a number or a symbol; give the array one dimension more and write A[i, j], "
        "make the loop's step the number, use affdsl.index(i) * j as a data-dependent index, or affdsl.f64(i) in data"
        if symbol == "*"
        else "divide by a number or a symbol, or use affdsl.index(i) // j as a data-dependent index",
    )


def _factor(expr: Affine) -> str:
    text = spell(expr)
    return f"({text})" if " " in text or (text.startswith("-") and expr.terms) else text


def _compare(symbol: str, left: Index, right: Operand) -> Condition | Scalar:
    term = _term(symbol, right)
    if term is None:
        return compare(symbol, left.scalar(), right)
    difference = left.expr - term
    match symbol:
        case ">=":
            return Condition((Constraint(difference),))
        case ">":
            return Condition((Constraint(difference - 1),))
        case "<=":
            return Condition((Constraint(-difference),))
        case "<":
            return Condition((Constraint(-difference - 1),))
        case "==":
            return Condition((Constraint(difference, equality=True),))
        case _:
            return Condition((Constraint(difference, equality=True),), negated=True)


def index_of(x: object, what: str = "an index") -> Index | Scalar:
    """x as an index: affine where it can be, otherwise data of type index.

    Raises ProgramTypeError for floats and for what is no number.
    """
    if isinstance(x, Index):
        return x
    if isinstance(x, Extremum):
        x = x.scalar()
    if isinstance(x, Scalar):
        if x.dtype.kind not in ("signed", "unsigned", "index"):
            raise problem(
                ProgramTypeError,
                f"{what} must be a whole number, got {x.describe()}",
                "convert it with affdsl.index(affdsl.i64(x)), which drops the fraction"
                if x.dtype.kind == "float"
                else "convert it with affdsl.index(x)",
            )
        data = cast(x, index, "")
        return Index(Affine.of(data.value)) if data.value in current().symbols else data
    if isinstance(x, int | np.integer) and not isinstance(x, bool):
        return Index(Affine((), require_index(int(x))))
    raise problem(
        ProgramTypeError,
        f"{what} must be a whole number, got {x.describe() if isinstance(x, Traced) else repr(x)}",
        _whole_number_for(x),
    )


def _whole_number_for(x: object) -> str:
    if isinstance(x, float | np.floating) and float(x).is_integer():
        return f"write {int(x)}"
    if getattr(x, "shape", ()):
        return "one element of an array is A[i], its sizes are A.shape[0], A.shape[1], ..."
    return "write a whole number, an index, or an integer of the kernel"


def as_value(x: Index | Scalar) -> Value:
    """An index as one value of type index, computed here if need be."""
    return current().operand(x.expr) if isinstance(x, Index) else x.value


def bounds_of(x: object, kind: type[affine.Min] | type[affine.Max], what: str) -> tuple[Affine, ...] | Value:
    """A bound as affine expressions (several for an extremum of the right kind), or as a data-dependent value."""
    builder = current()
    if isinstance(x, Index | Extremum):
        require_known(x.exprs if isinstance(x, Extremum) else (x.expr,))
    if isinstance(x, Extremum) and x.kind is kind and all(builder.is_affine(e) for e in x.exprs):
        return x.exprs
    bound = index_of(x, what)
    if isinstance(bound, Index) and builder.is_affine(bound.expr):
        return (bound.expr,)
    return as_value(bound)


def is_index(x: object) -> bool:
    """Whether x is an index, a whole number, or an extremum of such."""
    if isinstance(x, Scalar):
        return isinstance(x.dtype.type, IndexType)
    return isinstance(x, Index | Extremum) or (isinstance(x, int | np.integer) and not isinstance(x, bool))


def affine_extremum(kind: type[affine.Min] | type[affine.Max], xs: tuple[object, ...]) -> Extremum | None:
    """The smallest or largest of xs if all are affine indices, flattened; None where one is data."""
    exprs: list[Affine] = []
    for x in xs:
        if isinstance(x, Extremum) and x.kind is kind:
            exprs += x.exprs
        elif isinstance(x, Index):
            exprs.append(x.expr)
        elif isinstance(x, int | np.integer) and not isinstance(x, bool):
            exprs.append(Affine((), int(x)))
        else:
            return None
    return Extremum(kind, tuple(dict.fromkeys(exprs)))


def require_known(exprs: tuple[Affine, ...]) -> None:
    """Raise ProgramNameError unless every value in exprs may be used here."""
    for expr in exprs:
        for value in expr.values():
            current().require(value)
