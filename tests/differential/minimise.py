"""Makes a program that shows a failure small, by trying smaller ones that still show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from affdsl.errors import AffdslError
from affdsl.ir.dialects import func
from affdsl.ir.traverse import users, with_fields
from affdsl.ir.verifier import verify
from tests.differential.generator import Program
from tests.differential.outcome import interpret
from tests.harness.minimise import dropped, exchanged, simpler_modules, smallest


def minimise(program: Program, fails: Callable[[Program], bool], tries: int = 2000) -> Program:
    """A smaller program for which `fails` is still true."""
    return smallest(program, _simpler, lambda each: _is_valid(each) and fails(each), seconds=300, tries=tries)


def _is_valid(program: Program) -> bool:
    try:
        verify(program.module)
        for call in program.calls:
            interpret(program, call)
    except (AffdslError, ValueError):
        return False
    return True


def _simpler(program: Program) -> Iterator[Program]:
    if len(program.calls) > 1:
        yield from (replace(program, calls=(call,)) for call in program.calls)
    for module in simpler_modules(program.module, program.entry):
        yield replace(program, module=module)
    yield from _smaller_frame(program)


def _smaller_frame(program: Program) -> Iterator[Program]:
    """Programs that return fewer values, or take fewer arguments."""
    f = program.function
    if f.body and isinstance(last := f.body[-1], func.Return):
        for k in reversed(range(len(last.values))):
            values = dropped(last.values, k)
            end = (with_fields(last, values=values),) if values else ()
            smaller = with_fields(f, body=(*f.body[:-1], *end), result_types=dropped(f.result_types, k))
            yield replace(program, module=exchanged(program.module, f, smaller))
    read = users(f)
    for k in reversed(range(program.sizes, len(f.args))):
        if all(op is f for op in read.get(f.args[k], ())):
            unsigned = frozenset(n - (n > k) for n in f.unsigned if n != k)
            smaller = with_fields(f, args=dropped(f.args, k), shapes=dropped(f.shapes, k), unsigned=unsigned)
            calls = tuple(dropped(call, k) for call in program.calls)
            yield replace(program, module=exchanged(program.module, f, smaller), calls=calls)
