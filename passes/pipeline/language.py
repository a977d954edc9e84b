"""The language of mlir-opt for pipelines of passes: `builtin.module(func.func(cse),symbol-dce)`."""

from __future__ import annotations

import re
from typing import NoReturn

from affdsl.ir.dialects.func import Module
from affdsl.ir.messages import nearest
from affdsl.passes.mlir_opt.options import OptionError, read_options
from affdsl.passes.pipeline.manager import ANCHORS, OPAQUE_ANCHORS, AnchorName, PassStep, Pipeline, PipelineError
from affdsl.passes.pipeline.registry import BY_NAME


def run_pipeline(module: Module, text: str, *, verify_each: bool = True) -> Module:
    """module after the passes of a pipeline in the language of mlir-opt.

    >>> print(run_pipeline(Module(()), "builtin.module(strip-debuginfo)").body)
    ()
    """
    result = parse_pipeline(text).run(module, verify_each=verify_each)
    assert isinstance(result, Module), "a pass makes a module of a module"
    return result


def dump_pipeline(pipeline: Pipeline) -> str:
    """A pipeline as `mlir-opt --dump-pass-pipeline` shows it: how many passes, and each on a line.

    >>> print(dump_pipeline(parse_pipeline("builtin.module(func.func(strip-debuginfo))")))
    Pass Manager with 1 passes:
    builtin.module(
      func.func(
        strip-debuginfo
      )
    )
    <BLANKLINE>
    """
    return f"Pass Manager with {len(pipeline.items)} passes:\n{_indented(pipeline, 0)}\n"


def nested(anchor: AnchorName, step: PassStep) -> PassStep | Pipeline:
    """A pass in a pipeline on anchor: itself, or inside `func.func(...)` where it runs on functions only."""
    on_functions = step.row.anchor in ("func", "function interface")
    return Pipeline("func.func", (step,)) if on_functions and anchor == "builtin.module" else step


def pass_step(name: str, options: str = "") -> PassStep:
    """A pass by its name, with options as text. Raises PipelineError or OptionError, with the closest name known."""
    row = BY_NAME.get(name)
    if row is None:
        raise PipelineError(f"'{name}' does not refer to a registered pass or pass pipeline{nearest(name, [*BY_NAME])}")
    return PassStep(row, read_options(row.options, options, name))


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline that a text says: `builtin.module(func.func(cse,canonicalize{top-down=false}),symbol-dce)`.

    Raises
    ------
    PipelineError
        With the line, the column, and a caret under the place.
    """
    parser = _Parser(text)
    return parser.whole()


def pipeline_for_module(text: str) -> Pipeline:
    """The pipeline that a text says, which may also be names of passes alone: each is put where it can run.

    Raises PipelineError as `parse_pipeline` does.

    >>> print(pipeline_for_module("cse, affine-scalrep"), pipeline_for_module("builtin.module(cse)"))
    builtin.module(cse,func.func(affine-scalrep)) builtin.module(cse)
    """
    if re.match(r"\s*builtin\.module\s*\(", text):
        return parse_pipeline(text)
    parser = _Parser(f"any({text})", hidden=4)
    items = (nested("builtin.module", item) if isinstance(item, PassStep) else item for item in parser.whole().items)
    return Pipeline("builtin.module", tuple(items))


class _Parser:
    """Reads the text of a pipeline from left to right; the first `hidden` characters and a last `)` are not shown."""

    def __init__(self, text: str, hidden: int = 0) -> None:
        self.text = text
        self.place = 0
        self.hidden = hidden

    def whole(self) -> Pipeline:
        found = re.match(r"\s*([\w.]*)\s*\(", self.text)
        if found is None or found[1] not in ANCHORS:
            self.place = 0
            close = nearest(found[1], ANCHORS) if found is not None else ""
            self.fail(
                "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'"
                + close
            )
        self.place = found.end()
        items = self.items(found[1], found.end() - 1, may_be_empty=True)
        if self.text[self.place :].strip():
            self.space()
            extra = self.text[self.place] == ")"
            self.fail(
                "encountered extra closing ')' creating unbalanced parentheses while parsing pipeline"
                if extra
                else "expected the end of the pipeline"
            )
        return Pipeline(found[1], items)

    def items(self, anchor: AnchorName, opened: int, *, may_be_empty: bool) -> tuple[PassStep | Pipeline, ...]:
        """What stands between an opening parenthesis, already passed, and the closing one, which is passed too."""
        self.space()
        if may_be_empty and self.text[self.place : self.place + 1] == ")":
            self.place += 1
            return ()
        found = []
        while True:
            found.append(self.item(anchor))
            self.space()
            match self.text[self.place : self.place + 1]:
                case ",":
                    self.place += 1
                case ")":
                    self.place += 1
                    return tuple(found)
                case "":
                    self.fail("encountered unbalanced parentheses while parsing pipeline", opened)
                case _:
                    self.fail("expected ',' after parsing pipeline")

    def item(self, anchor: AnchorName) -> PassStep | Pipeline:
        self.space()
        start = self.place
        name = self.upto(",(){}").rstrip()
        after = self.text[self.place : self.place + 1]
        if after == "(" and name not in BY_NAME:
            if name not in ANCHORS:
                self.fail(
                    f"'{name}' is no anchor for passes: use {', '.join(ANCHORS)}{nearest(name, ANCHORS)}",
                    start,
                )
            opened = self.place
            self.place += 1
            inner = name
            if anchor == "func.func" and inner != "any":
                self.fail(f"a function holds no operation '{inner}' that passes could run on", start)
            return Pipeline(inner, self.items(inner, opened, may_be_empty=False))
        options = self.options() if after == "{" else ""
        try:
            step = pass_step(name, options)
        except (PipelineError, OptionError) as error:
            self.fail(str(error), start)
        if self.text[self.place : self.place + 1] == "(":
            self.fail(f"'{name}' is a pass, which holds no pipeline")
        self.fits(step, anchor, start)
        return step

    def options(self) -> str:
        """The text between braces, which nest."""
        start, depth = self.place, 0
        while self.place < len(self.text):
            depth += {"{": 1, "}": -1}.get(self.text[self.place], 0)
            self.place += 1
            if depth == 0:
                return self.text[start + 1 : self.place - 1]
        self.fail("missing closing '}' while processing pass options", start)

    def fits(self, step: PassStep, anchor: AnchorName, start: int) -> None:
        row, is_opaque = step.row.anchor, anchor in OPAQUE_ANCHORS
        match row, anchor:
            case ("func" | "module", _) if is_opaque or (row, anchor) in (
                ("func", "builtin.module"),
                ("module", "func.func"),
            ):
                wanted = "func.func" if row == "func" else "builtin.module"
                self.fail(
                    f"can't add pass '{step.name}' restricted to '{wanted}' on a pass manager intended to run on "
                    f"'{anchor}', did you intend to nest? Write {wanted}({step.name})",
                    start,
                )
            case "function interface", _ if anchor == "builtin.module" or (is_opaque and not anchor.endswith(".func")):
                self.fail(
                    f"unable to schedule pass '{step.name}' on a pass manager intended to run on '{anchor}': "
                    f"it runs on functions; write func.func({step.name})",
                    start,
                )
            case "symbol table", _ if is_opaque:
                self.fail(
                    f"pass '{step.name}' needs a symbol table, and here builtin.module alone has one; write it "
                    f"outside of {anchor}(...)",
                    start,
                )
            case "symbol table", "func.func":
                self.fail(
                    f"pass '{step.name}' needs a symbol table, which a function does not define; write it outside of "
                    "func.func(...)",
                    start,
                )
            case _:
                pass

    def upto(self, stops: str) -> str:
        start = self.place
        while self.place < len(self.text) and self.text[self.place] not in stops:
            self.place += 1
        return self.text[start : self.place]

    def space(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def fail(self, what: str, place: int | None = None) -> NoReturn:
        end = len(self.text) - bool(self.hidden)
        place = max(self.place if place is None else place, self.hidden)
        before = self.text[self.hidden : min(place, end)]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        shown = self.text[self.hidden : end].split("\n")[line - 1]
        caret = re.sub(r"[^\t]", " ", shown[: column - 1]) + "^"
        raise PipelineError(f"<pass-pipeline>:{line}:{column}: error: {what}\n{shown}\n{caret}")


def _indented(item: PassStep | Pipeline, depth: int) -> str:
    space = "  " * depth
    if isinstance(item, PassStep):
        return f"{space}{item}"
    inner = ",\n".join(_indented(i, depth + 1) for i in item.items)
    return f"{space}{item.anchor}(\n{inner}\n{space})"
