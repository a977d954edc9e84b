"""Declarations for Fortran 2003: a module of interfaces with `bind(C)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.codegen.aot.languages.described import Function, Parameter
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.c.names import Scope
from affdsl.ir.expr import Affine, Product, Value
from affdsl.ir.spelling import spell

TYPES = {
    "float": "real(c_float)", "double": "real(c_double)", "bool": "logical(c_bool)",
    "float _Complex": "complex(c_float_complex)", "double _Complex": "complex(c_double_complex)",
    **{f"{sign}int{bits}_t": f"integer(c_int{bits}_t)" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""By types of C. Fortran has no unsigned integers: those that take as many bits stand for them."""
INTENTS = {"value": ", value", "read": ", intent(in)", "changed": ", intent(inout)", "given": ", intent(out)"}
LONGEST = 63
"""So many characters has a name of Fortran at most."""
WIDEST = 132
"""So many characters has a line of Fortran at most, but for comments."""
_UNSIGNED = "unsigned: the same bits as the signed integer here"


def module_name(library: str) -> str:
    """What the module is called: a library may be called as its function is, and a module may not."""
    end = "_kernels"
    return library[: LONGEST - len(end)] + end


def fortran(library: Library, functions: Sequence[Function]) -> str:
    """The text of NAME.f90."""
    name = module_name(library.name)
    kinds = sorted({kind for function in functions for kind in _kinds(function)})
    lines = [
        f"! {library.name} {library.version} for Fortran, made by affdsl: use {name}",
        "!",
        "! Arrays are row-major: what is a[i][j] in C is a(j + 1, i + 1) here, so the dimensions of an array stand in",
        "! the opposite order. Comments have the types and names of C.",
        f"module {name}",
        *_folded(f"  use, intrinsic :: iso_c_binding, only: {', '.join(kinds)}" if kinds else ""),
        "  implicit none",
        "  private",
    ]
    names = _names([f.symbol for f in functions], {name, *kinds})
    lines += [f"  public :: {names[f.symbol]}" for f in functions]
    lines += ["", "  interface"]
    for function in functions:
        lines += ["", *(f"    ! {line}".rstrip() for line in function.about), *_interface(function, names)]
    lines += ["", "  end interface", f"end module {name}"]
    return "\n".join(lines) + "\n"


def _interface(function: Function, functions: dict[str, str]) -> Iterator[str]:
    kind = "subroutine" if function.returns == "void" else "function"
    called = functions[function.symbol]
    kinds = _kinds(function)
    names = _names([p.name for p in function.parameters], {called.lower(), "answer", *kinds})
    end = "" if kind == "subroutine" else " result(answer)"
    given = [names[p.name] for p in function.parameters]
    yield f"    {kind} {called}( &"
    for position, name in enumerate(given):
        yield f"        {name}{',' if position < len(given) - 1 else ''} &"
    yield f'        ) bind(C, name="{function.symbol}"){end}'
    if kinds:
        yield from _folded(f"      import :: {', '.join(kinds)}")
    shown = {value: names[name] for value, name in function.names.items() if name in names}
    # Sizes are declared before the arrays whose dimensions they are.
    for p in sorted(function.parameters, key=lambda p: p.use != "value"):
        note = "" if p.name == names[p.name] else f"{p.name} in C"
        note = ", ".join(filter(None, (note, _UNSIGNED if p.type.startswith("u") else "")))
        dimensions = _dimensions(p, shown)
        *lines, last = _folded(f"      {TYPES[p.type]}{INTENTS[p.use]} :: {names[p.name]}{dimensions}")
        yield from lines
        yield f"{last}  ! {note}" if note else last
    if kind == "function":
        yield f"      {TYPES[function.returns]} :: answer"
    yield f"    end {kind} {called}"


def _kinds(function: Function) -> list[str]:
    """The names of iso_c_binding that the declaration of a function has."""
    found = {p.type for p in function.parameters} | {function.returns} - {"void"}
    return sorted({TYPES[t].partition("(")[2].rstrip(")") for t in found})


def _folded(line: str) -> Iterator[str]:
    """A line as one or several, none of which is too long for compilers."""
    while len(line) > WIDEST:
        end = line.rfind(", ", 0, WIDEST - 1) + 2
        if end < len("        &, "):
            end = WIDEST - 1
        yield f"{line[:end]}&"
        line = f"        &{line[end:]}"
    if line:
        yield line


def _dimensions(p: Parameter, names: dict[Value, str]) -> str:
    """The dimensions of an array, the last one of C first; `(*)` where Fortran cannot say them as C does."""
    if p.shape is None:
        return ""
    if not p.shape or not all(e is not None and _is_said(e, names) for e in p.shape):
        return "(*)"
    shown = [spell(e, lambda value: names[value]).replace(" ", "") for e in reversed(p.shape) if e is not None]
    return f"({', '.join(shown)})"


def _is_said(expr: Affine, names: dict[Value, str]) -> bool:
    """Whether an expression is sums and products of parameters, short enough for a line."""
    atoms = [a for atom, _ in expr.terms for a in (atom.factors if isinstance(atom, Product) else (atom,))]
    return len(atoms) < 4 and all(isinstance(a, Value) and a in names for a in atoms)


def _names(wanted: Sequence[str], taken: set[str]) -> dict[str, str]:
    """Names that differ also where capitals and small letters are the same, as they are in Fortran."""
    scope = Scope()
    for name in taken:
        scope.reserve(name)
    found: dict[str, str] = {}
    for name in wanted:
        lower = name.lower()[: LONGEST - 4]
        reserved = scope.reserve(lower)
        found[name] = name if reserved == name.lower() else reserved
    return found
