"""`affdsl translate`: a function as C, or a text as MLIR in today's form."""

from __future__ import annotations

import re
from pathlib import PurePath

from affdsl.cli.diagnostics import diagnostics_of
from affdsl.cli.entry import entry_of
from affdsl.cli.files import complain, read_input, write_output
from affdsl.cli.flags import CommandLine, Flag, UsageError
from affdsl.cli.returned import without_returned_arguments
from affdsl.cli.sizes import with_sizes
from affdsl.cli.text import Style, read, show
from affdsl.codegen.c.emit import REGISTER_BITS, emit
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Module
from affdsl.ir.location import Location
from affdsl.mlir.known_versions import KNOWN, LAST
from affdsl.passes.lowering.carried_arrays import without_carried_arrays
from affdsl.passes.lowering.for_version import for_version
from affdsl.passes.lowering.index_as_arith import index_as_arith
from affdsl.passes.lowering.linalg import convert_linalg_to_affine_loops
from affdsl.passes.lowering.read_tensors import read_tensors_as_buffers
from affdsl.passes.lowering.vector_elements import vector_elements_as_rows
from affdsl.passes.lowering.without_promises import without_promises
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.pipeline.language import nested, pass_step
from affdsl.passes.pipeline.manager import Pipeline

HELP = """usage: affdsl translate --to=c|mlir [flags] [file]

Makes C of a function in MLIR text, or prints the text in the form of today's MLIR, of another one, or for xDSL. Without
--header the C is one file that needs no other. Sizes of arrays that the function does not know become arguments,
before the others.

  affdsl translate --to=c kernel.mlir --entry matmul -o matmul.c --header matmul.h
  affdsl translate --to=mlir --mlir-version=16 kernel.mlir
  affdsl translate --to=c --optimize="target=avx2 threads=4 contract" kernel.mlir -o fast.c"""
FLAGS = (
    Flag("to", "value", "What to make of the text", choices=("c", "mlir")),
    Flag("entry", "value", "The function to translate (default: the only public one); what it calls comes with it",
         "name"),
    Flag("o", "value", "Write the result to a file (default: -, the standard output)", "file"),
    Flag("header", "value", "Write the C header to a file of its own, which the C file includes", "file"),
    Flag("optimize", "optional", "Make loops fast first, with the options of affdsl opt --affdsl-optimize",
         "options"),
    Flag("width", "value", "The bits of a register in C: wider vectors are several", choices=("128", "256", "512")),
    Flag("mlir-version", "value", "The version of MLIR that is to read the text, or xdsl",
         choices=tuple(map(str, KNOWN))),
    Flag("numbered", "switch", "Call values as mlir-opt does, %0 and %arg0, in MLIR"),
    Flag("allow-unregistered-dialect", "switch", "Accept operations of dialects that are not known"),
)  # fmt: skip


def main(line: CommandLine) -> int:
    """Run the command; the exit status. Raises UsageError for a command line that means nothing."""
    target = line.given("to")
    if target is None:
        raise UsageError("affdsl translate: say what to translate to: --to=c or --to=mlir")
    if target == "mlir" and any(line.given(name) is not None for name in ("header", "entry", "optimize", "width")):
        raise UsageError(
            "affdsl translate: --entry, --header, --optimize and --width are for --to=c; --to=mlir prints the whole "
            "text"
        )
    if target == "c" and (line.given("mlir-version") is not None or line.on("numbered")):
        raise UsageError("affdsl translate: --mlir-version and --numbered are for --to=mlir")
    optimizing = _optimizing(line.given("optimize"))
    text, file = read_input(line.only_word())
    at: Location | None = None
    try:
        module = read(text, file, allow_unregistered=line.on("allow-unregistered-dialect"))
        if target == "c":
            at = entry_of(module, line.given("entry"), "translate").location
        outputs = _mlir(module, line) if target == "mlir" else _c(module, line, optimizing)
    except AffdslError as error:
        if isinstance(error, UsageError):
            raise
        for diagnostic in diagnostics_of(error, file, at):
            complain(diagnostic.shown(text, file))
        return 1
    for name, output in outputs.items():
        write_output(name, output)
    return 0


def _optimizing(options: str | None) -> Pipeline | None:
    """The pass that makes loops fast, if it is asked for. Raises UsageError for options that it does not take."""
    if options is None:
        return None
    try:
        step = pass_step("affdsl-optimize", options)
    except OptionError as error:
        raise UsageError(f"affdsl translate: --optimize: {str(error).partition(': ')[2]}") from None
    return Pipeline("builtin.module", (nested("builtin.module", step),))


_LOWERED = (
    without_promises, without_carried_arrays, index_as_arith, read_tensors_as_buffers, vector_elements_as_rows,
    convert_linalg_to_affine_loops, without_returned_arguments,
)  # fmt: skip
"""What makes terms that C output knows of others, in order."""


def prepared(module: Module) -> Module:
    """module in terms of what C output knows, with the sizes of arrays as arguments."""
    for lowered in _LOWERED:
        module = lowered(module)
    sized, _ = with_sizes(module)
    return sized


def _mlir(module: Module, line: CommandLine) -> dict[str, str]:
    """The file to write, by its name."""
    given = line.given("mlir-version") or str(LAST)
    version = next(version for version in KNOWN if str(version) == given)
    style = Style(version=version, numbered=line.on("numbered"))
    return {line.given("o") or "-": show(for_version(module, version), style)}


def _c(module: Module, line: CommandLine, optimizing: Pipeline | None) -> dict[str, str]:
    """The files to write, by their names."""
    entry = entry_of(module, line.given("entry"), "translate")
    width = int(line.given("width") or REGISTER_BITS[-1])
    module = prepared(module)
    if optimizing is not None:
        optimized = optimizing.run(module)
        assert isinstance(optimized, Module), "a pass makes a module of a module"
        module = optimized
    made = emit(module, entry.symbol, register_bits=width)
    output, header = line.given("o") or "-", line.given("header")
    if header is None:
        return {output: made.whole}
    name = PurePath(header).name
    if header in ("-", output) or not re.fullmatch(r"[\w.+ -]+", name, re.A):
        raise UsageError(f"affdsl translate: --header={header}: it must be a file of its own, called like matmul.h")
    return {output: made.including(f'#include "{name}"\n'), header: made.header}
