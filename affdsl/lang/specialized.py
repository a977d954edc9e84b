"""A kernel's program for some sizes: as if its annotations had numbers in place of these symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.core import Op
from affdsl.ir.dialects.arith import Constant
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.dialects.memref import Cast, SubView
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.messages import nearest
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.traverse import rewrite, substitute, walk, with_fields
from affdsl.ir.types import INDEX, IndexType
from affdsl.lang.annotations import ArrayType, Parameter
from affdsl.lang.dtypes import DType, require_index
from affdsl.lang.indices import Index
from affdsl.lang.source import problem
from affdsl.lang.trace import Program


class Specialization:
    """What becomes of a program, and of all that passes and schedules made of it, if some sizes are numbers.

    Sizes that arrays tell are no arguments any more, and each call checks that arrays have them. Index arguments stay
    arguments, of which each call checks that they are these numbers.

    Attributes
    ----------
    program
        The program as it was written, with these numbers.
    """

    def __init__(self, program: Program, sizes: Mapping[str, object]) -> None:
        self._name = program.func.symbol
        self._known = {value: _number(self._name, value.hint, number) for value, number in _found(program, sizes)}
        self._numbers: dict[Value, Term] = {value: Affine.of(number) for value, number in self._known.items()}
        args = program.func.args
        self._gone = frozenset(k for k, v in enumerate(args[: len(program.sizes)]) if v in self._known)
        of_symbol = dict(zip(program.sizes, args, strict=False))
        of_symbol |= {
            p.symbol: v for p, v in zip(program.parameters, args[len(program.sizes) :], strict=True) if p.symbol
        }
        numbers: dict[Value, Term] = {
            symbol: Affine.of(self._known[v]) for symbol, v in of_symbol.items() if v in self._known
        }
        parameters = tuple(_parameter(self._name, p, numbers) for p in program.parameters)
        own = dict(zip(args[len(program.sizes) :], parameters, strict=True))
        self._args = {v: _argument(v, own.get(v)) for v in args}
        self.program = replace(
            program,
            func=self._function(program.func),
            parameters=parameters,
            sizes=tuple(size for size in program.sizes if size not in numbers),
            results=tuple(_with_numbers(self._name, type, numbers) for type in program.results),
        )

    def applied(self, module: Module) -> Module:
        """A module that passes made of that of the program, with these numbers."""
        body = tuple(
            self._function(op) if isinstance(op, Func) and op.symbol == self._name else op for op in module.body
        )
        made: Module = with_fields(module, body=body)
        return made

    def _function(self, function: Func) -> Func:
        """A function with the arguments of the program, with these numbers."""
        values = {value: Value(INDEX, value.hint, value.location) for value in self._known}

        def rule(op: Op) -> Op | tuple[Op, ...] | None:
            if any(True for _ in op.blocks()):
                return None  # its bounds come next, when nothing inside of it has these sizes any more
            return _called(_substituted(op, self._numbers, values), self._args)

        made: Func = rewrite(function, rule)
        made = rewrite(made, lambda op: _substituted(op, self._numbers, values) if [*op.blocks()] else None)
        used = {v for op in walk(made) for v in op.reads()}
        constants = [
            Constant(values[v], number, location=function.location)
            for v, number in self._known.items() if values[v] in used
        ]  # fmt: skip
        kept = [k for k in range(len(function.args)) if k not in self._gone]
        places = {old: new for new, old in enumerate(kept)}
        shapes = [function.shapes[k] for k in kept] if function.shapes else []
        attributes = [function.argument_attributes[k] for k in kept] if function.argument_attributes else []
        made = with_fields(
            made,
            body=(*constants, *made.body),
            shapes=tuple(None if s is None else tuple(e.substitute(self._numbers) for e in s) for s in shapes),
            assumes=tuple(self._facts(function, kept)),
            unsigned=frozenset(places[k] for k in function.unsigned if k in places),
            argument_attributes=tuple(attributes),
        )
        typed: dict[Value, Term] = {old: new for old, new in self._args.items() if old is not new}
        return with_fields(substitute(made, typed), args=tuple(self._args[function.args[k]] for k in kept))

    def _facts(self, function: Func, kept: Sequence[int]) -> list[Constraint]:
        """What is left to promise. Raises ProgramError where the numbers break a promise."""
        found: list[Constraint] = []
        for fact in function.assumes:
            made = fact.substitute(self._numbers)
            if not made.expr.is_constant:
                found.append(made)
            elif made.expr.constant < 0 or (made.equality and made.expr.constant != 0):
                shown = ", ".join(f"{v.hint} = {self._known[v]}" for v in dict.fromkeys(fact.values()))
                raise problem(
                    ProgramError, f"cannot specialize {self._name}: it assumes {spell_constraint(fact)}, but {shown}"
                )
        for k in kept:
            value = function.args[k]
            if value in self._known:
                found.append(Constraint(Affine.of(value) - self._known[value], equality=True))
        return found


def _found(program: Program, sizes: Mapping[str, object]) -> list[tuple[Value, object]]:
    """The arguments of the names. Raises ProgramError for one that is no size."""
    known = {v.hint: v for v in program.func.args if isinstance(v.type, IndexType)}
    for name in sizes:
        if name not in known:
            raise problem(
                ProgramError,
                f"cannot specialize {program.func.symbol}: it has no size {name}{nearest(name, [*known])}",
                f"its sizes are {', '.join(known) or 'numbers already'}",
            )
    return [(known[name], number) for name, number in sizes.items()]


def _number(kernel: str, name: str, number: object) -> int:
    if not hasattr(number, "__index__") or isinstance(number, bool):
        raise problem(ProgramTypeError, f"cannot specialize {kernel}: {name} is {number!r}", "it is a whole number")
    return require_index(int(number.__index__()))


def _parameter(kernel: str, parameter: Parameter, numbers: Mapping[Value, Term]) -> Parameter:
    type = parameter.type
    return parameter if isinstance(type, Index) else replace(parameter, type=_with_numbers(kernel, type, numbers))


def _with_numbers(kernel: str, type: ArrayType | DType, numbers: Mapping[Value, Term]) -> ArrayType | DType:
    """A type with numbers for symbols. Raises ProgramError for a size below 0."""
    if not isinstance(type, ArrayType):
        return type
    shape = tuple(size.substitute(numbers) for size in type.shape)
    for old, new in zip(type.shape, shape, strict=True):
        if new.is_constant and new.constant < 0:
            raise problem(
                ProgramError, f"cannot specialize {kernel}: {spell(old)}, a size of an array, would be {new.constant}"
            )
    return replace(type, shape=shape)


def _argument(value: Value, parameter: Parameter | None) -> Value:
    """An argument with the type of its array, in which numbers stand for sizes."""
    if parameter is None or not isinstance(parameter.type, ArrayType) or parameter.type.memref == value.type:
        return value
    return Value(parameter.type.memref, value.hint, value.location)


def _substituted(op: Op, numbers: Mapping[Value, Term], values: Mapping[Value, Term]) -> Op:
    try:
        return substitute(op, numbers)
    except ValueError:  # an operand that is no affine expression
        return substitute(op, values)


def _called(op: Op, args: Mapping[Value, Value]) -> Op | tuple[Op, ...]:
    """A call of a function that takes arrays of any size, or a part of one, with arrays that are of another type."""
    if isinstance(op, SubView) and args.get(op.source, op.source) is not op.source:
        cast = Cast(Value(op.source.type, op.source.hint), args[op.source], location=op.location)
        return cast, with_fields(op, source=cast.result)
    if not isinstance(op, Call):
        return op
    casts = {v: Cast(Value(v.type, v.hint), args[v], location=op.location) for v in op.args if args.get(v, v) is not v}
    return (*casts.values(), with_fields(op, args=tuple(casts[v].result if v in casts else v for v in op.args)))
