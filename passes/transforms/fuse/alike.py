"""Functions that are the same but for the names of their values: what is found of one holds for the others."""

from __future__ import annotations

from typing import Generic, TypeVar

from affdsl.frozen import Frozen, fields
from affdsl.ir.core import Op
from affdsl.ir.dialects.arith import Constant
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.traverse import walk

T = TypeVar("T")
_SPELLING = frozenset(("location", "written", "ends"))
"""The fields of operations that say nothing of what is computed."""
_TELLING = (0.0, 1.0)
"""The floats of which a proof knows something, as that adding them changes nothing."""


class Form(Frozen):
    """What a function is, whatever its values are called.

    Attributes
    ----------
    key
        Equal for functions that are alike. Their constants may be other floats, if the same ones are equal in each:
        nothing is made of such a number but a claim that two are the same.
    values
        All of its values, in an order that is the same in functions that are alike.

    >>> from affdsl.mlir.readers import parse
    >>> text = '''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
    ...   return
    ... }'''
    >>> one, other = (form_of(parse(each).functions[0]) for each in (text, text.replace("%i", "%j")))
    >>> one.key == other.key, [v.hint for v in one.values], [v.hint for v in other.values]
    (True, ['A', 'x', 'i'], ['A', 'x', 'j'])
    """

    key: tuple[object, ...]
    values: tuple[Value, ...]


def form_of(function: Func) -> Form:
    """The form of a function."""
    numbers: dict[Value, int] = {}
    floats: dict[str, int] = {}

    def parts(part: object) -> object:
        match part:
            case Value():
                known = numbers.get(part)
                if known is None:
                    known = numbers[part] = len(numbers)
                    return "new", known, part.type
                return "value", known
            case Affine(terms=terms, constant=constant):
                return (constant, *[(parts(atom), factor) for atom, factor in terms]) if terms else constant
            case Constraint(expr=expr, equality=equality):
                return equality, parts(expr)
            case FloorDiv(dividend=dividend, divisor=divisor):
                return "floordiv", parts(dividend), parts(divisor)
            case Product(factors=factors):
                return "product", *map(parts, factors)
            case tuple() if part and isinstance(part[0], Op):
                return len(part)  # a block, whose operations follow
            case tuple():
                return tuple([parts(each) for each in part])
            case float() | complex():
                return repr(part)  # of which there are two zeros
        return part

    def field(op: Op, name: str) -> object:
        part = getattr(op, name)
        if name == "value" and isinstance(op, Constant) and isinstance(part, float) and part not in _TELLING:
            return "float", floats.setdefault(repr(part), len(floats))
        return parts(part)

    key = tuple([(type(op), *[field(op, name) for name in _fields(type(op))]) for op in walk(function)])
    return Form(key, tuple(numbers))


_fields_of: dict[type[Op], tuple[str, ...]] = {}


def _fields(cls: type[Op]) -> tuple[str, ...]:
    """The names of the fields that say what operations of a class do."""
    found = _fields_of.get(cls)
    if found is None:
        names = (f.name for f in fields(cls) if f.name not in _SPELLING and (cls, f.name) != (Func, "symbol"))
        found = _fields_of[cls] = tuple(names)
    return found


class Memory(Generic[T]):
    """What was found of functions, for others that are alike."""

    def __init__(self) -> None:
        self._found: dict[object, tuple[Form, T]] = {}

    def keep(self, what: object, form: Form, found: T) -> None:
        """Keep what was found of a function."""
        self._found[what, form.key] = form, found

    def recall(self, what: object, form: Form) -> tuple[dict[Value, Value], T] | None:
        """What was found of a function like this one, with its values and those that stand for them here."""
        known = self._found.get((what, form.key))
        return None if known is None else (dict(zip(known[0].values, form.values, strict=True)), known[1])
