"""What the loops of a kernel, and of those that it calls, are called where they are shown and asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from affdsl.errors import ProgramNameError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.messages import nearest
from affdsl.ir.spelling import called
from affdsl.ir.traverse import walk
from affdsl.lang.source import problem
from affdsl.mlir.naming import numbered

Loop: TypeAlias = affine.For | affine.Parallel | scf.For | scf.Parallel | scf.While
UNNAMED = "while"
"""What a loop without a counter is called."""


def counters(op: Op) -> tuple[Value, ...]:
    """The counters of a loop, the outermost first; none of what is no loop, or has none."""
    match op:
        case affine.For() | scf.For():
            return (op.iv,)
        case affine.Parallel() | scf.Parallel():
            return op.ivs
    return ()


def names_of(function: Func) -> dict[Value, str]:
    """What each counter of a function is called: `i#1` and `i#2` where there are two, as `picture` has it."""
    found = [iv for op in walk(function) for iv in counters(op)]
    return dict(zip(found, numbered([plain(iv) for iv in found]), strict=True))


def names_in(module: Module) -> dict[Value, str]:
    """What the counters of all functions are called: with the function before, but in the last, which is the kernel."""
    *others, kernel = module.functions
    found = {iv: f"{function.symbol}: {name}" for function in others for iv, name in names_of(function).items()}
    return found | names_of(kernel)


def plain(value: Value) -> str:
    """What a counter is called, in Python and in MLIR text."""
    return called(value).removeprefix("%") or "loop"


def chosen(wanted: object, names: Mapping[Value, str], symbol: str) -> str:
    """The name of a loop as it is asked for. Raises ProgramNameError where none, or several, are called so."""
    known: Sequence[str] = list(dict.fromkeys(names.values()))
    listed = f"its loops are {', '.join(known)}" if known else "it has none"
    if not isinstance(wanted, str):
        raise problem(ProgramNameError, f"a loop is given by its name, got {wanted!r}", listed)
    name = wanted.removeprefix("%")
    if name in known:
        return name
    several = [each for each in known if each.startswith(f"{name}#")]
    if several:
        choice = " or ".join(f'"{each}"' for each in several)
        raise problem(ProgramNameError, f"{len(several)} loops of {symbol} are called {name}", f"write {choice}")
    raise problem(ProgramNameError, f"{symbol} has no loop {name}{nearest(name, known)}", listed)
