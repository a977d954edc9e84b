"""A kernel's program as plain data and back: what a pickle of a kernel holds that no name leads to.

The IR is MLIR text: values and expressions are what they are by identity, which no other process shares. The contract
of an external function, behind all others, has the sizes of the arrays that the kernel returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from affdsl.errors import InternalError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.lang import dtypes
from affdsl.lang.annotations import ArrayType, Parameter
from affdsl.lang.builder import SymbolValue
from affdsl.lang.derived import derived
from affdsl.lang.dtypes import DType
from affdsl.lang.indices import Index
from affdsl.lang.trace import Program
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op

Word: TypeAlias = tuple[str, str]
"""What an argument or a result is, one of `_ARRAYS`, "number" or "symbol", and the name of its element type."""
PackedModule: TypeAlias = tuple[str, tuple[str, ...]]
"""MLIR text, and what its values were called: text has to number those of one name."""
Packed: TypeAlias = tuple[
    PackedModule,
    int,
    tuple[tuple[str, Word, int | float | complex | None], ...],
    tuple[Word, ...],
    tuple[int, ...],
    bool,
    tuple[str, ...],
]
"""The IR; how many sizes come before the arguments; the arguments and results; which arguments are written; whether
each access is to be checked; what the results are called."""


def packed(program: Program) -> Packed:
    """A program as plain data."""
    arguments = dict(zip(_given(program), program.func.args, strict=True))
    shapes = [t.shape if isinstance(t, ArrayType) else None for t in program.results]
    taken = [Value(v.type, v.hint) for v in program.func.args if v.type == INDEX]
    own = dict(zip((v for v in program.func.args if v.type == INDEX), taken, strict=True))
    inputs: dict[Value, Term] = {v: own.get(a, a) for v, a in arguments.items()}
    made = [Value(t.memref, f"r{n}") for n, t in enumerate(program.results) if isinstance(t, ArrayType)]
    sizes = [tuple(e.substitute(inputs) for e in shape) for shape in shapes if shape is not None]
    contract = Func(
        f"{program.func.symbol}.results", (*taken, *made), (), (), (*(None for _ in taken), *sizes), private=True,
        external=True,
    )  # fmt: skip
    module = program.module
    return (
        _written(with_fields(module, body=(*module.body, contract))),
        len(program.sizes),
        tuple((p.name, _word(p.type), p.default) for p in program.parameters),
        tuple(map(_word, program.results)),
        tuple(sorted(program.written)),
        program.checked,
        program.result_names,
    )


def unpacked(data: Packed) -> Program:
    """The program that was packed; its symbols are new ones."""
    text, count, arguments, results, written, checked, names = data
    *body, contract = _read(text).body
    module = Module(tuple(body))
    function = module.functions[-1]
    assert isinstance(contract, Func), "the last one has the sizes of the results"
    symbols: dict[Value, Value] = {}
    for k, v in enumerate(function.args):
        if k < count or arguments[k - count][1][0] == "symbol":
            symbols[v] = SymbolValue(INDEX, v.hint, v.location)
    # The kernel's expressions over its first arguments, as its annotations had them: over symbols.
    inputs: dict[Value, Term] = dict(symbols)
    parameters = tuple(
        Parameter(name, _type(word, v, _sizes(function, count + k, inputs)), default)
        for k, ((name, word, default), v) in enumerate(
            zip(arguments, (symbols.get(v, v) for v in function.args[count:]), strict=True)
        )
    )
    indices = [v for v in function.args if v.type == INDEX]
    taken = zip(contract.args, (inputs.get(v, v) for v in indices), strict=False)
    of_results: dict[Value, Term] = dict(taken)
    position = len(indices)
    types: list[ArrayType | DType] = []
    for word in results:
        is_array = word[0] in _ARRAYS
        made = _type(word, None, _sizes(contract, position, of_results) if is_array else ())
        assert not isinstance(made, Index), "a kernel returns no symbol"
        types.append(made)
        position += is_array
    sizes = tuple(symbols[v] for v in function.args[:count])
    program = Program(
        function, parameters, sizes, tuple(types), frozenset(written), checked=checked, result_names=names
    )
    return derived(program, module)


def packed_module(program: Program) -> PackedModule:
    """The module of a program that passes made of another one."""
    return _written(program.module)


def unpacked_module(data: PackedModule, program: Program) -> Module:
    """The module that was packed, with the arguments of the program of which passes made it."""
    module = _read(data)
    *others, function = module.body
    assert isinstance(function, Func), "what is called comes first"
    own: dict[Value, Term] = dict(zip(function.args, program.func.args, strict=True))
    return with_fields(module, body=(*others, with_fields(substitute(function, own), args=program.func.args)))


def _written(module: Module) -> PackedModule:
    return print_op(module, locations=True), tuple(v.hint for v in _values(module))


def _read(data: PackedModule) -> Module:
    text, hints = data
    module = parse(text, "<pickle>")
    for value, hint in zip(_values(module), hints, strict=True):
        value.hint = hint  # nobody else has seen it yet
    return module


def _values(module: Module) -> Iterator[Value]:
    """All values, in the order of the text."""
    for op in walk(module):
        yield from (*op.defines(), *op.binds())


def _given(program: Program) -> list[Value]:
    """What the arguments of the IR function are called in the types of the parameters: symbols, or themselves."""
    own = program.func.args[len(program.sizes) :]
    return [*program.sizes, *(p.symbol or v for p, v in zip(program.parameters, own, strict=True))]


def _word(type: ArrayType | DType | Index) -> Word:
    match type:
        case ArrayType():
            said = ["const"] * type.const + ["strided"] * type.strided
            return " ".join(said) or "array", type.dtype.name
        case DType():
            return "number", type.name
        case Index():
            return "symbol", ""


def _type(word: Word, value: Value | None, sizes: tuple[Affine, ...]) -> ArrayType | DType | Index:
    kind, name = word
    if kind == "symbol":
        assert value is not None, "a symbol is the value of an argument"
        return Index(value + 0)
    dtype = getattr(dtypes, name, None)
    if not isinstance(dtype, DType):
        raise InternalError(f"there is no element type {name!r}: the pickle is of another version of affdsl")
    return ArrayType(dtype, sizes, "const" in kind, "strided" in kind) if kind in _ARRAYS else dtype


def _sizes(function: Func, position: int, inputs: Mapping[Value, Term]) -> tuple[Affine, ...]:
    promised = function.shapes[position] if function.shapes else None
    if promised is not None:
        return tuple(e.substitute(inputs) for e in promised)
    type = function.args[position].type  # text says nothing of sizes that are numbers
    return tuple(Affine.of(n) for n in type.shape if n is not None) if isinstance(type, MemRefType) else ()


_ARRAYS = ("array", "const", "strided", "const strided")
