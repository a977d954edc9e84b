"""A kernel's program as plain data and back: what a pickle of a kernel holds that no name leads to."""

from __future__ import annotations

import json
from typing import TypeAlias

from affdsl.errors import InternalError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.plain import plain, restored
from affdsl.ir.traverse import substitute, with_fields
from affdsl.ir.types import INDEX
from affdsl.lang import dtypes
from affdsl.lang.annotations import ArrayType, Parameter
from affdsl.lang.builder import SymbolValue
from affdsl.lang.derived import derived
from affdsl.lang.dtypes import DType
from affdsl.lang.indices import Index
from affdsl.lang.trace import Program

Word: TypeAlias = tuple[str, str]
"""What an argument or a result is, one of `_ARRAYS`, "number" or "symbol", and the name of its element type."""
Packed: TypeAlias = tuple[
    str,
    tuple[str, ...],
    int,
    tuple[tuple[str, Word, int | float | complex | None], ...],
    tuple[Word, ...],
    tuple[int, ...],
    bool,
    tuple[str, ...],
]
"""The IR with the sizes of arrays, as text; what symbols are called; how many of them are sizes; the arguments and
results; which arguments are written; whether each access is to be checked; what the results are called."""


def packed(program: Program) -> Packed:
    """A program as plain data."""
    symbols = (*program.sizes, *(p.symbol for p in program.parameters if p.symbol is not None))
    types = (*(p.type for p in program.parameters), *program.results)
    shapes = tuple(t.shape for t in types if isinstance(t, ArrayType))
    return (
        json.dumps(plain(program.module, symbols, beside=(shapes,))),
        tuple(v.hint for v in symbols),
        len(program.sizes),
        tuple((p.name, _word(p.type), p.default) for p in program.parameters),
        tuple(map(_word, program.results)),
        tuple(sorted(program.written)),
        program.checked,
        program.result_names,
    )


def unpacked(data: Packed) -> Program:
    """The program that was packed; its symbols are new ones."""
    text, hints, count, arguments, results, written, checked, names = data
    symbols = tuple(SymbolValue(INDEX, hint) for hint in hints)
    module, shapes = _read(text, symbols)
    of_arguments, of_arrays = iter(symbols[count:]), iter(shapes)

    def type_of(word: Word) -> ArrayType | DType | Index:
        kind, name = word
        if kind == "symbol":
            return Index(next(of_arguments) + 0)
        dtype = getattr(dtypes, name, None)
        if not isinstance(dtype, DType):
            raise InternalError(f"there is no element type {name!r}: the pickle is of another version of affdsl")
        return ArrayType(dtype, next(of_arrays), "const" in kind, "strided" in kind) if kind in _ARRAYS else dtype

    parameters = tuple(Parameter(name, type_of(word), default) for name, word, default in arguments)
    given = [made for made in map(type_of, results) if not isinstance(made, Index)]
    assert len(given) == len(results), "a kernel returns no symbol"
    program = Program(
        module.functions[-1], parameters, symbols[:count], tuple(given), frozenset(written), checked=checked,
        result_names=names,
    )  # fmt: skip
    return derived(program, module)


def packed_module(program: Program) -> str:
    """The module of a program that passes made of another one."""
    return json.dumps(plain(program.module, beside=((),)))


def unpacked_module(data: str, program: Program) -> Module:
    """The module that was packed, with the arguments of the program of which passes made it."""
    module, _ = _read(data, ())  # its values may be older than those arguments: these come in their places afterwards
    *others, function = module.body
    assert isinstance(function, Func), "what is called comes first"
    own: dict[Value, Term] = dict(zip(function.args, program.func.args, strict=True))
    return with_fields(module, body=(*others, with_fields(substitute(function, own), args=program.func.args)))


def _read(text: str, known: tuple[Value, ...]) -> tuple[Module, tuple[tuple[Affine, ...], ...]]:
    found = restored(json.loads(text), known)
    assert isinstance(found, tuple), "a module and shapes"
    module, shapes = found
    return module, shapes


def _word(type: ArrayType | DType | Index) -> Word:
    match type:
        case ArrayType():
            said = ["const"] * type.const + ["strided"] * type.strided
            return " ".join(said) or "array", type.dtype.name
        case DType():
            return "number", type.name
        case Index():
            return "symbol", ""


_ARRAYS = ("array", "const", "strided", "const strided")
