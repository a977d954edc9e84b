"""Declarations for Julia: a module of functions that are a `ccall` each."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.aot.languages.described import Function, Parameter
from affdsl.codegen.aot.shipped import Library

TYPES = {
    "void": "Cvoid", "float": "Float32", "double": "Float64", "bool": "Bool",
    "float _Complex": "ComplexF32", "double _Complex": "ComplexF64",
    **{f"{sign}int{bits}_t": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""By types of C."""
KEYWORDS = frozenset(
    """abstract baremodule begin break catch const continue do else elseif end export false finally for function global
    if import in isa let local macro module mutable outer primitive public quote return struct true try type using
    where while ccall eval include LIBRARY""".split()
) | {*TYPES.values(), "Ptr", "Ref", "Sys", "joinpath"}
"""Words of the language, and what the file has names for."""


def module_name(library: str) -> str:
    """What the module is called: `filters` is `FiltersKernels`."""
    return "".join(part.capitalize() for part in library.split("_")) + "Kernels"


def julia(library: Library, functions: Sequence[Function]) -> str:
    """The text of NAME.jl."""
    name = module_name(library.name)
    parts = [
        f'# {library.name} {library.version} for Julia, made by affdsl: include("{library.name}.jl")\n#\n',
        "# Arrays are row-major: what is a[i][j] in C is a[j + 1, i + 1] here, so the dimensions of an array stand\n",
        "# in the opposite order. Comments have the types of C; sizes are not checked. A result that is a number is\n",
        "# given as a Ref.\n",
        f"module {name}\n\n",
        f'const LIBRARY = joinpath(@__DIR__, "lib{library.name}." * (Sys.isapple() ? "dylib" : "so"))\n',
    ]
    return "".join([*parts, *(f"\n{_declared(function)}" for function in functions), f"\nend # module {name}\n"])


def _declared(function: Function) -> str:
    about = "".join(f"# {line}".rstrip() + "\n" for line in function.about)
    names = [_spelled(p.name, function.symbol) for p in function.parameters]
    types = ", ".join(map(_type, function.parameters)) + ("," if len(names) == 1 else "")
    given = "".join(f", {name}" for name in names)
    returns = TYPES[function.returns]
    head = f"function {_spelled(function.symbol)}({', '.join(names)})"
    return f"{about}{head}\n    ccall((:{function.symbol}, LIBRARY), {returns}, ({types}){given})\nend\n"


def _type(p: Parameter) -> str:
    kind = TYPES[p.type]
    return kind if p.use == "value" else f"Ref{{{kind}}}" if p.shape is None else f"Ptr{{{kind}}}"


def _spelled(name: str, function: str = "") -> str:
    """A name that means nothing else in the file, and is not that of the function."""
    return f"{name}_" if name in KEYWORDS or name == function else name
