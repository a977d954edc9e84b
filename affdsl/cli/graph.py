"""`affdsl graph`: what depends on what in a function: its loop nests, or the iterations of two loops, as a drawing."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from affdsl.cli.diagnostics import diagnostics_of
from affdsl.cli.entry import entry_of
from affdsl.cli.files import complain, read_input, write_output
from affdsl.cli.flags import CommandLine, Flag, UsageError
from affdsl.cli.kernels import is_kernel, kernel_of
from affdsl.cli.text import read
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func, Module
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.graph import GraphError
from affdsl.passes.drawing.fused import DrawnFusion, drawn_fusion
from affdsl.passes.drawing.graph import DrawnGraph, drawn_graph
from affdsl.passes.drawing.iteration_space import IterationSpace, iteration_space
from affdsl.passes.drawing.layout import DrawingError

HELP = """usage: affdsl graph [flags] file|module:kernel

Draws which loop nests of a function must stay behind which, and why; or, of two loops, which iterations. MODULE:KERNEL
imports a Python module, as `python -m` does, and takes a kernel of it.

  affdsl graph kernel.mlir -o graph.svg
  affdsl graph examples.gemm:gemm -o graph.png
  affdsl graph kernel.mlir --fused -o fused.svg
  affdsl graph kernel.mlir --function=main | dot -Tpdf -o graph.pdf
  affdsl graph examples.gauss_seidel:gauss_seidel --iterations=t,i --sizes=M=8,N=8,steps=6 -o iterations.svg"""
FLAGS = (
    Flag("o", "value", "Draw it into a file: .svg, .png (needs affdsl[draw]) or .dot (default: DOT on the standard "
         "output)", "file"),
    Flag("function", "value", "The function of a text (default: the only public one)", "name"),
    Flag("loop", "value", "The statements in the body of this loop instead of the nests of the function", "name"),
    Flag("fused", "switch", "Draw what kernel.fuse() makes of it, too: the graph and the storage before and after"),
    Flag("complete", "switch", "Show also what makes buffers and values only, and arrows that follow from others"),
    Flag("iterations", "list", "Draw the iterations of two loops instead, the outer one first", "outer,inner"),
    Flag("sizes", "list", "Of that drawing: numbers for the sizes of the function", "name=number"),
    Flag("at", "list", "Of that drawing: only these iterations of other loops", "loop=number"),
    Flag("allow-unregistered-dialect", "switch", "Accept operations of dialects that are not known"),
)  # fmt: skip

SUFFIXES = (".svg", ".png", ".dot")


def main(line: CommandLine) -> int:
    """Run the command; the exit status. Raises UsageError for a command line that means nothing."""
    if not line.words:
        raise UsageError("affdsl graph: needs a file of MLIR text, - for the standard input, or MODULE:KERNEL")
    word, output = line.only_word(), line.given("o") or "-"
    if line.on("fused") and line.listed("iterations"):
        raise UsageError("affdsl graph: --fused is for the graph, and --iterations for those of two loops: ask for one")
    suffixes = SUFFIXES[:2] if line.listed("iterations") else SUFFIXES
    if output != "-" and Path(output).suffix not in suffixes:
        raise UsageError(f"affdsl graph: -o {output}: the name must end in {', '.join(suffixes)}")
    text = file = ""
    try:
        if is_kernel(word):
            if line.given("function") is not None:
                raise UsageError("affdsl graph: --function is for a text; MODULE:KERNEL says which kernel")
            kernel = kernel_of(word)
            function, module = kernel.func, kernel.module
        else:
            text, file = read_input(word)
            function, module = _function(text, file, line.given("function"), line.on("allow-unregistered-dialect"))
        if line.listed("iterations"):
            _write(_space(function, module, line), output, complete=line.on("complete"))
        elif line.on("fused"):
            _write(drawn_fusion(function, module, line.given("loop")), output, complete=line.on("complete"))
        else:
            of_space = [name for name in ("sizes", "at") if name in line.values]
            if of_space:
                raise UsageError(f"--{of_space[0]} is for a drawing of iterations: say of which by --iterations=t,i")
            _write(_graph(function, module, line.given("loop")), output, complete=line.on("complete"))
    except (UsageError, GraphError, DrawingError) as error:
        message = str(error)
        raise UsageError(message if message.startswith("affdsl graph") else f"affdsl graph: {message}") from None
    except AffdslError as error:
        for diagnostic in diagnostics_of(error, file):
            complain(diagnostic.shown(text, file))
        return 1
    return 0


def _function(text: str, file: str, name: str | None, allow_unregistered: bool) -> tuple[Func, Module]:
    module = read(text, file, allow_unregistered=allow_unregistered)
    return entry_of(module, name, "graph"), module


def _graph(function: Func, module: Module, loop: str | None) -> DrawnGraph:
    """The graph; what the analysis gave up on is said on the standard error output."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", AnalysisWarning)
        graph = drawn_graph(function, module, loop)
    for warning in given:
        complain(f"warning: {warning.message}")
    return graph


def _space(function: Func, module: Module, line: CommandLine) -> IterationSpace:
    """The iterations of two loops."""
    loops = line.listed("iterations")
    if len(loops) != 2:
        raise UsageError(f"--iterations takes two loops, the outer one first, got {', '.join(loops)}")
    sizes, at = (dict(_numbers(name, line.listed(name))) for name in ("sizes", "at"))
    return iteration_space(Dependences(function, module), *loops, sizes, at=at)


def _numbers(flag: str, words: Sequence[str]) -> Iterator[tuple[str, int]]:
    for word in words:
        name, _, number = word.partition("=")
        if not name or not re.fullmatch(r"-?\d{1,18}", number, re.ASCII):
            raise UsageError(f"--{flag} takes names with numbers, as in --{flag}=n=8, got '{word}'")
        yield name, int(number)


def _write(drawing: DrawnGraph | DrawnFusion | IterationSpace, output: str, *, complete: bool) -> None:
    match Path(output).suffix:
        case ".png":
            data = drawing.to_png(complete=complete)
            try:
                Path(output).write_bytes(data)
            except OSError as error:
                raise UsageError(f"cannot open output file '{output}': {error.strerror}") from None
        case suffix if suffix == ".svg" or isinstance(drawing, IterationSpace):
            write_output(output, drawing.to_svg(complete=complete))
        case _:
            write_output(output, drawing.to_dot(complete=complete))
