"""`affdsl opt`: runs passes on MLIR text, with the flags of mlir-opt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from affdsl.cli.diagnostics import Diagnostic, diagnostics_of
from affdsl.cli.dumps import Dumps, listed_passes
from affdsl.cli.expected import Strictness, compare, ignored
from affdsl.cli.files import complain, read_input, write_output
from affdsl.cli.flags import CommandLine, Flag, UsageError, describe
from affdsl.cli.remarks import Listener
from affdsl.cli.text import DIALECTS, Style, read, read_without_module, show
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func
from affdsl.passes.mlir_opt.options import OptionError, describe_options
from affdsl.passes.pipeline.language import dump_pipeline, nested, parse_pipeline, pass_step
from affdsl.passes.pipeline.manager import (
    AnchorName,
    Event,
    Observer,
    PassError,
    PassStep,
    Pipeline,
    PipelineError,
    Root,
    explained,
    printed,
    steps_of,
)
from affdsl.passes.pipeline.registry import OURS, PASSES

if TYPE_CHECKING:
    from affdsl.passes.validation import Report

MARKER = "// -----"

HELP = """usage: affdsl opt [flags] [file]

Runs passes on MLIR text, in the order given, and prints the result; the text comes from a file or, without one or
for -, from the standard input. Flags and passes are those of mlir-opt, with one dash or two.

  affdsl opt --canonicalize --cse a.mlir
  affdsl opt --affine-loop-normalize="promote-single-iter=true" a.mlir -o b.mlir
  affdsl opt --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' a.mlir"""
FLAGS = (
    Flag("o", "value", "Write the result to a file, only if all went well (default: -, the standard output)", "file"),
    Flag("pass-pipeline", "value", "Passes as text: builtin.module(func.func(cse,canonicalize{top-down=false}),...)"),
    Flag("dump-pass-pipeline", "switch", "Print the pipeline that will run, on the standard error output"),
    Flag("verify-each", "switch", "Run the verifier after each pass (default: true)"),
    Flag("validate", "optional", "Check the result against the input: by a proof for all sizes, or by running both on "
         "small ones; where they differ, name the first pass at fault and save all that shows it (default: in a "
         "temporary folder)", "folder"),
    Flag("validate-report", "switch", "Say of each function how --validate checked it"),
    Flag("split-input-file", "optional", "Treat the parts between lines with a marker one by one", "marker",
         default=MARKER),
    Flag("output-split-marker", "value", "What is written between the results of the parts", "marker"),
    Flag("verify-diagnostics", "optional", "Succeed if the messages are those of // expected-error {{...}} comments",
         choices=("all", "only-expected"), default="all"),
    Flag("allow-unregistered-dialect", "switch", "Accept operations of dialects that are not known"),
    Flag("no-implicit-module", "switch", "Do not wrap a text without a module of its own in one"),
    Flag("mlir-print-op-generic", "switch", "Print in the generic form"),
    Flag("mlir-print-debuginfo", "switch", "Print locations"),
    Flag("numbered", "switch", "Call values as mlir-opt does, %0 and %arg0"),
    Flag("mlir-print-local-scope", "switch", "Print maps and sets where they are used, without aliases"),
    Flag("mlir-print-ir-before-all", "switch", "Print the IR before each pass, on the standard error output"),
    Flag("mlir-print-ir-after-all", "switch", "Print the IR after each pass"),
    Flag("mlir-print-ir-before", "list", "Print the IR before some passes", "pass,..."),
    Flag("mlir-print-ir-after", "list", "Print the IR after some passes", "pass,..."),
    Flag("mlir-print-ir-after-change", "switch", "Of what is printed after passes, leave out what did not change"),
    Flag("mlir-print-ir-after-failure", "switch", "Print the IR after a pass that failed"),
    Flag("mlir-print-ir-module-scope", "switch", "Print the whole module, also for passes on functions"),
    Flag("debug-only", "list", "Print how some passes come to what they do, before each runs", "pass,..."),
    Flag("mlir-print-op-on-diagnostic", "switch", "Below what a pass says of an operation, print it (default: true)"),
    Flag("mlir-disable-threading", "switch", "Has no effect: one thread does it all"),
    Flag("list-passes", "switch", "Print the names of all passes, and exit"),
    Flag("show-dialects", "switch", "Print the names of the dialects that are known, and exit"),
    *(Flag(row.name, "pass", row.summary) for row in PASSES),
)  # fmt: skip


def main(line: CommandLine) -> int:
    """Run the command; the exit status. Raises UsageError for a command line that means nothing."""
    if line.on("list-passes"):
        print(passes_text())
    elif line.on("show-dialects"):
        print(f"Available Dialects: {','.join(DIALECTS)}")
    else:
        return _optimise(line)
    return 0


def passes_text() -> str:
    """All passes with their options and defaults."""
    rows: list[tuple[str, str]] = []
    for row in PASSES:
        rows.append((f"--{row.name}", row.summary))
        rows += [(f"    {name}", summary) for name, summary in describe_options(row.options)]
    return f"passes:\n{describe(rows)}"


def _optimise(line: CommandLine) -> int:
    name = line.only_word()
    plan = _Requested(line)
    text, file = read_input(name)
    marker = line.given("split-input-file")
    outputs: list[str] = []
    produced: list[Diagnostic] = []
    said_of_operations: list[Diagnostic] = []
    if line.on("dump-pass-pipeline"):
        complain(dump_pipeline(plan.pipeline("builtin.module")))
    expecting = line.given("verify-diagnostics")
    for chunk in split(text, marker):
        shows = expecting is None and line.on("mlir-print-op-on-diagnostic", default=True)
        listener = Listener(show_operations=shows, numbered=line.on("numbered"))
        output, problems = plan.process(chunk, file, listener)
        outputs.append(output)
        produced += problems
        if expecting is None:
            _complain(said.shown(text, file) for said in listener.said)
            _complain(d.shown(text, file) for d in problems)
        else:
            said_of_operations += [d for said in listener.said for d in said.diagnostics()]
    if expecting is None:
        failed = any(d.severity == "error" for d in produced)
    else:
        strictness: Strictness = "only-expected" if expecting == "only-expected" else "all"
        _complain(ignored(text, file))
        produced = [*said_of_operations, *(d for d in produced if d.severity != "note")]
        wrong = compare(text, file, produced, strictness)
        _complain(wrong)
        failed = bool(wrong)
    target = line.given("o") or "-"
    if not failed or target == "-":
        write_output(target, f"{line.given('output-split-marker') or MARKER}\n".join(outputs))
    return int(failed)


def split(text: str, marker: str | None) -> Iterator[str]:
    """The parts of a text between markers, each with as many lines and columns before it as in the whole.

    >>> [part.strip() for part in split("a\\n// -----\\nb", "// -----")]
    ['a', 'b']
    """
    if not marker:
        yield text
        return
    start = 0
    for part in text.split(marker):
        before = text[:start]
        yield "\n" * before.count("\n") + " " * (start - before.rfind("\n") - 1) + part
        start += len(part) + len(marker)


class _Requested:
    """What a command line asks to be done with each part of the input; made once, before any input is read."""

    def __init__(self, line: CommandLine) -> None:
        self.line = line
        self.style = Style(
            generic=line.on("mlir-print-op-generic"),
            locations=line.on("mlir-print-debuginfo"),
            local_scope=line.on("mlir-print-local-scope"),
            numbered=line.on("numbered"),
        )
        text = line.given("pass-pipeline")
        if text is not None and line.passes:
            raise UsageError("affdsl opt: '--pass-pipeline' option can't be used with individual pass options")
        try:
            self.written = None if text is None else parse_pipeline(text)
            self.steps: tuple[PassStep, ...] = tuple(pass_step(name, options) for name, options in line.passes)
        except (PipelineError, OptionError) as error:
            raise UsageError(str(error)) from None
        self.dumps = Dumps.of(line, self.style)
        self.explained = listed_passes(line, "debug-only")

    def pipeline(self, anchor: AnchorName) -> Pipeline:
        """The passes for a whole that is a module or a function."""
        if self.written is not None:
            return self.written
        return Pipeline(anchor, tuple(nested(anchor, step) for step in self.steps))

    def process(self, text: str, file: str, listener: Listener) -> tuple[str, list[Diagnostic]]:
        """The output for a part of the input, and messages; no output where one is an error.

        What passes say of operations is for the listener: an error that an analysis finds does not end the run.
        """
        line = self.line
        notes: list[Diagnostic] = []
        try:
            reader = read_without_module if line.on("no-implicit-module") else read
            root: Root = reader(text, file, allow_unregistered=line.on("allow-unregistered-dialect"))
            pipeline = self.pipeline("func.func" if isinstance(root, Func) else "builtin.module")
            dump = self.dumps.observer()

            def observe(event: Event) -> None:
                if event.when == "says":
                    listener.hear(event.remarks, event.op)
                elif dump is not None:
                    dump(event)
                for text in printed(event):
                    print(text)
                if event.step.name in self.explained:
                    _complain(list(explained(event)))

            run = pipeline.run if line.given("validate") is None else partial(self._validated, pipeline, notes)
            root = run(root, observe=observe, verify_each=line.on("verify-each", default=True))
        except PassError as error:
            cause = error.__cause__
            found = diagnostics_of(cause if isinstance(cause, AffdslError) else error, file)
            return "", [*found, Diagnostic("note", str(error).split(":")[0], file if found[-1].file else "")]
        except AffdslError as error:
            return "", diagnostics_of(error, file)
        if any(step.name in OURS for step in steps_of(pipeline)):
            # Lanes that nobody looks at are computed, too, so nothing may be open there. This comes with NumPy.
            handed_on: Callable[[Root], Root] = import_module("affdsl.passes.lowering.handed_on").handed_on
            root = handed_on(root)
        return show(root, self.style), notes

    def _validated(
        self, pipeline: Pipeline, notes: list[Diagnostic], root: Root, *, observe: Observer, verify_each: bool
    ) -> Root:
        """root after all passes, checked against root; notes get what could not be checked, or all."""
        # The interpreter comes with NumPy, for which no other run of the command waits.
        validated: Callable[..., tuple[Root, Report]] = import_module("affdsl.passes.validation.pipeline").run_validated
        folder = self.line.given("validate") or None
        root, report = validated(pipeline, root, observe=observe, verify_each=verify_each, folder=folder)
        told = report.functions if self.line.on("validate-report") else report.unchecked
        notes += [Diagnostic("note", f"--validate: {each}") for each in told]
        return root


def _complain(messages: Iterator[str] | Sequence[str]) -> None:
    for message in messages:
        complain(message)
