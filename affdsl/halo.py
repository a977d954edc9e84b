"""How much of an array a part of it needs around, for kernels that run on one part after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from affdsl.errors import ProgramError, ProgramNameError, ProgramTypeError
from affdsl.ir.dialects.func import Call, Func
from affdsl.ir.messages import nearest, op_name
from affdsl.ir.traverse import walk
from affdsl.lang.annotations import ArrayType
from affdsl.lang.source import problem
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.feeding import UnfollowedError
from affdsl.passes.analysis.halo import Halo, halo
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.cleanup.inline import inline
from affdsl.passes.legality.words import accessed_element

if TYPE_CHECKING:
    from affdsl.lang.trace import Program


def halo_of(program: Program, names: Sequence[str], of: str | None) -> Halo:
    """As `Kernel.halo`, of a kernel as it was written."""
    name = program.func.symbol
    arrays = {p.name: k for k, p in enumerate(program.parameters) if isinstance(p.type, ArrayType)}
    unknown = next((array for array in names if array not in arrays), None)
    if unknown is not None or not names:
        what = f"{name} has no array {unknown!r}{nearest(unknown, [*arrays])}" if unknown else "halo takes an array"
        raise problem(ProgramNameError, what, f"its arrays are {', '.join(arrays) or 'none'}")
    function, dependences = _without_calls(program)
    inputs = function.args[len(program.sizes) :]
    arguments = {key: dependences.accesses.storage.buffer(inputs[k]) for key, k in arrays.items()}
    written = {key: arguments[key] for key, k in arrays.items() if k in program.written}
    output = _output(name, {**_returned(dependences), **written}, of)
    try:
        found = [halo(dependences, arguments[array], output) for array in names]
    except UnfollowedError as error:
        raise problem(
            ProgramError,
            f"{name} has no halo of {' and '.join(names)} around {output.name}",
            _reason(error),
            "give each part the whole array, or run the kernel on the whole",
            location=None if error.op is None else error.op.location,
        ) from None
    return tuple([(max(low for low, _ in each), max(high for _, high in each)) for each in zip(*found, strict=True)])


def _without_calls(program: Program) -> tuple[Func, Dependences]:
    """The function with the kernels that it calls in the place of their calls."""
    module = program.module
    if any(isinstance(op, Call) for op in walk(program.func)):
        module = inline(module, default_pipeline="")
    function = next(f for f in module.functions if f.symbol == program.func.symbol)
    return function, Dependences(function, module)


def _returned(dependences: Dependences) -> dict[str, Buffer]:
    return {b.name: b for b in dependences.accesses.storage.buffers if b.kind == "local" and b.is_returned}


def _output(name: str, outputs: dict[str, Buffer], of: str | None) -> Buffer:
    """The array that is meant: the one of a name, or the only one."""
    if of is None and len(outputs) == 1:
        return next(iter(outputs.values()))
    if of in outputs:
        return outputs[of]
    if of is None:
        what = f"{name} writes {' and '.join(outputs)}" if outputs else f"{name} writes no array"
        raise problem(ProgramTypeError, what, *([f'say which, as in of="{next(iter(outputs))}"'] if outputs else []))
    raise problem(
        ProgramNameError,
        f"{name} writes no array {of!r}{nearest(str(of), [*outputs])}",
        f"it writes {', '.join(outputs)}",
    )


def _reason(error: UnfollowedError) -> str:
    if error.op is None:
        return error.reason
    what = accessed_element(error.op) or op_name(error.op)
    line = "" if error.op.location is None else f" at line {error.op.location.line}"
    return f"{what}{line} {error.reason}"
