"""`affdsl run`: calls a function of MLIR text on numbers and arrays, and prints what comes out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from affdsl.cli import arguments as words
from affdsl.cli.arguments import Argument, Array, read_arguments
from affdsl.cli.diagnostics import diagnostics_of
from affdsl.cli.entry import entry_of
from affdsl.cli.execute import argument_names, compile_and_call, external_calls, interpret
from affdsl.cli.files import complain, read_input
from affdsl.cli.flags import CommandLine, Flag, UsageError
from affdsl.cli.text import read
from affdsl.codegen.errors import CacheError, ToolchainError
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.location import Location
from affdsl.ir.numeric import from_bits
from affdsl.ir.types import BF16, MemRefType, Type

_FORMS = (words.__doc__ or "").partition("\n\n")[2].rstrip()
HELP = f"""usage: affdsl run [flags] file [arguments]

Calls a function of MLIR text, then prints its results and the arrays that it changed. Compiled code trusts the
program: an index out of bounds reads or writes what is not its own. The interpreter checks each access. Sizes that
come first and that the arrays tell, as those of a kernel's symbols, can be left out.

  affdsl run kernel.mlir --entry=matmul 64x64=random:1 64x64=random:2 64x64=zeros
  affdsl run kernel.mlir --entry=axpy 2.5 @x.npy @y.npz:y --save=out.npz

arguments:
{_FORMS}"""
FLAGS = (
    Flag("entry", "value", "The function to call (default: the only public one)", "name"),
    Flag("interpreter", "switch", "Run it by the interpreter, which checks each access; slow"),
    Flag("compiled", "switch", "Compile it for this machine: the default, unless it calls functions without a body"),
    Flag("save", "value", "Write changed arrays and results to a NumPy file instead of printing them", "file.npz"),
    Flag("allow-unregistered-dialect", "switch", "Accept operations of dialects that are not known"),
)


def main(line: CommandLine) -> int:
    """Run the command; the exit status. Raises UsageError for a command line that means nothing."""
    if not line.words:
        raise UsageError("affdsl run: needs a file of MLIR text, or - for the standard input")
    if line.on("interpreter") and line.on("compiled"):
        raise UsageError("affdsl run: choose one of --interpreter and --compiled")
    save = line.given("save")
    if save is not None and not save.endswith(".npz"):
        raise UsageError(f"affdsl run: --save={save}: the name must end in .npz")
    text, file = read_input(line.words[0])
    at: Location | None = None
    try:
        module = read(text, file, allow_unregistered=line.on("allow-unregistered-dialect"))
        function = entry_of(module, line.given("entry"), "run")
        at = function.location
        outcome = _call(module, function, read_arguments(function, line.words[1:]), line)
    except UsageError:
        raise
    except (ToolchainError, CacheError) as error:  # which have nothing to do with the text
        raise UsageError(f"affdsl run: {error}") from None
    except (AffdslError, MemoryError) as error:
        for diagnostic in diagnostics_of(error, file, at):
            complain(diagnostic.shown(text, file))
        return 1
    if save is None:
        _print(outcome)
    else:
        _save(save, outcome)
    return 0


def _call(
    module: Module, function: Func, arguments: Sequence[Argument], line: CommandLine
) -> Mapping[str, tuple[Type, object]]:
    """What came out, by name: the changed arrays, then the results."""
    external = external_calls(module, function)
    if external and line.on("compiled"):
        raise UsageError(
            f"affdsl run: @{function.symbol} calls functions without a body ({', '.join(f'@{e}' for e in external)}), "
            "which only the interpreter has; leave out --compiled"
        )
    before = [x.copy() if isinstance(x, np.ndarray) else None for x in arguments]
    sys.stdout.flush()
    call = interpret if external or line.on("interpreter") else compile_and_call
    results = call(module, function, arguments)
    outcome: dict[str, tuple[Type, object]] = {}
    for name, value, old, now in zip(argument_names(function), function.args, before, arguments, strict=True):
        if isinstance(now, np.ndarray) and old is not None and old.tobytes() != now.tobytes():
            outcome[name] = value.type, now
    for position, (type, result) in enumerate(zip(function.result_types, results, strict=True)):
        name = f"result{position}"
        while name in outcome:
            name += "_"
        outcome[name] = type, result
    return outcome


def _print(outcome: Mapping[str, tuple[Type, object]]) -> None:
    for name, (type, value) in outcome.items():
        if isinstance(value, np.ndarray):
            print(f"{name}: {type}\n{_readable(value, type)}")
        else:
            print(f"{name}: {type} = {value}")


def _readable(array: Array, type: Type) -> Array:
    """An array as it is printed: bf16 elements, which NumPy does not have, as float32."""
    if isinstance(type, MemRefType) and type.element == BF16:
        numbers = [float(from_bits(int(x), BF16)) for x in array.ravel().tolist()]
        return np.array(numbers, np.float32).reshape(array.shape)
    return array


def _save(name: str, outcome: Mapping[str, tuple[Type, object]]) -> None:
    arrays = {key: np.asarray(value) for key, (_, value) in outcome.items()}
    try:
        with open(name, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise UsageError(f"cannot open output file '{name}': {error.strerror}") from None
