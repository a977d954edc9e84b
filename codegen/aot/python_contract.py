"""The contract of a kernel as Python: what `affdsl.codegen.aot.calling` asks of the numbers of a call."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Sequence

from affdsl.codegen.aot.conditions import conditions, require_decided
from affdsl.codegen.aot.shipped import ShippedKernel
from affdsl.errors import UnsupportedError
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.spelling import spell
from affdsl.ir.types import IndexType
from affdsl.lang.annotations import ArrayType, Parameter, solves
from affdsl.lang.dtypes import DType

_OWN = ("quotient",)
"""What the text of an expression calls."""


class NumberNames:
    """Names in Python for the numbers of a call: sizes that arrays tell, then arguments that are sizes."""

    def __init__(self, kernel: ShippedKernel) -> None:
        program = kernel.program
        self.given = [k for k, p in enumerate(program.parameters) if _is_index(p)]
        """The positions of the parameters among them."""
        count = len(program.sizes)
        own = [*program.func.args[:count], *(program.func.args[count + k] for k in self.given)]
        written = kernel.bounds.function.args
        symbols = [*program.sizes, *(program.parameters[k].symbol for k in self.given)]
        self.values: list[Value] = own
        self._names: dict[Value, str] = {}
        for value, symbol in zip(own, symbols, strict=True):
            name = self._new(value.hint)
            same = written[program.func.args.index(value)]
            self._names |= {v: name for v in (value, same, symbol) if v is not None}

    def _new(self, hint: str) -> str:
        name = hint if hint.isidentifier() and not keyword.iskeyword(hint) else "size"
        taken = {*self._names.values(), *_OWN}
        return name if name not in taken else next(n for k in range(2, 999) if (n := f"{name}_{k}") not in taken)

    @property
    def all(self) -> list[str]:
        """All names, in the order in which they are passed."""
        return [self._names[value] for value in self.values]

    def of(self, value: Value) -> str:
        """The name of a value. Raises UnsupportedError for one that no call tells."""
        if value not in self._names:
            raise UnsupportedError(f"Python cannot find out what {value.hint or 'a value'} is, on which a size depends")
        return self._names[value]

    def in_(self, values: Sequence[Value]) -> tuple[str, ...]:
        """The names of values, each once."""
        return tuple(dict.fromkeys(map(self.of, values)))


def _is_index(p: Parameter) -> bool:
    return not isinstance(p.type, ArrayType) and (not isinstance(p.type, DType) or isinstance(p.type.type, IndexType))


def contract(kernel: ShippedKernel) -> Iterator[str]:
    """The lines of the `Contract` of a kernel.

    Raises
    ------
    UnsupportedError
        Where only affdsl can decide with the numbers of a call whether it may run.
    """
    program = kernel.program
    names = NumberNames(kernel)
    require_decided(kernel, "wheel")
    shapes = [p.type.shape if isinstance(p.type, ArrayType) else () for p in program.parameters]
    results = [t.shape if isinstance(t, ArrayType) else () for t in program.results]
    yield "Contract("
    yield f"    sizes={_tuple([_size(kernel, names, size) for size in program.sizes])},"
    called = [(k, names.all[len(program.sizes) + n]) for n, k in enumerate(names.given)]
    yield f"    given={_tuple([repr(each) for each in called])},"
    for what, listed in (("", shapes), ("result_", results)):
        yield f"    {what}dimensions={_tuple([_tuple([_dimension(e, names) for e in shape]) for shape in listed])},"
        texts = _tuple([_tuple([python(e, names) for e in shape]) for shape in listed])
        yield f"    {what}shapes=lambda {', '.join(names.all)}: {texts},"
    yield "    conditions=("
    yield from (f"        {line}," for line in _conditions(kernel, names))
    yield "    ),"
    yield ")"


def _size(kernel: ShippedKernel, names: NumberNames, size: Value) -> str:
    """Where a size is found, as a call does."""
    for position, p in enumerate(kernel.program.parameters):
        for dimension, expr in enumerate(p.type.shape if isinstance(p.type, ArrayType) else ()):
            if solves(expr, size):
                return f"Size({names.of(size)!r}, {position}, {dimension}, {expr.terms[0][1]}, {expr.constant})"
    raise AssertionError("each size is told by an array")


def _dimension(expr: Affine, names: NumberNames) -> str:
    return f"Dimension({spell(expr)!r}, {names.in_([*expr.values()])!r})"


def _conditions(kernel: ShippedKernel, names: NumberNames) -> Iterator[str]:
    for condition in conditions(kernel):
        parts = [" and ".join(_test(c, names) for c in constraints) or "True" for constraints in condition.against]
        against = parts[0] if len(parts) == 1 else " or ".join(f"({part})" for part in parts)
        text = f"lambda {', '.join(names.all)}: not ({against})"
        yield f"Condition({condition.shown!r}, {names.in_(condition.values)!r}, {text})"


def _test(constraint: Constraint, names: NumberNames) -> str:
    return f"{python(constraint.expr, names)} {'==' if constraint.equality else '>='} 0"


def python(expr: Affine, names: NumberNames) -> str:
    """An expression as Python that computes it."""
    return computed(expr, names.of).replace("+ -", "- ")


def computed(expr: Affine, of: Callable[[Value], str], suffix: str = "") -> str:
    """What computes an expression, with `quotient` for what is rounded down, and a suffix at each number."""

    def term(atom: Atom, factor: int) -> str:
        match atom:
            case Value():
                text = of(atom)
            case Product(factors):
                text = " * ".join(term(f, 1) for f in factors)
            case FloorDiv(dividend, divisor):
                text = f"quotient({computed(dividend, of, suffix)}, {computed(Affine.of(divisor), of, suffix)})"
        return text if factor == 1 else f"{factor}{suffix} * {text}"

    parts = [term(atom, factor) for atom, factor in expr.terms]
    parts += [f"{expr.constant}{suffix}"] if expr.constant or not parts else []
    return " + ".join(parts)


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
