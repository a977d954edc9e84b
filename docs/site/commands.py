"""The command line and the passes in the reference, as the program itself tells them."""

import contextlib
import io
from collections.abc import Iterator, Sequence

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from affdsl import cli
from affdsl.passes.mlir_opt.options import Option
from affdsl.passes.pipeline.registry import PASSES


class Commands(SphinxDirective):
    """What `affdsl <command> --help` says, for each command."""

    def run(self) -> list[nodes.Node]:
        """A section for each command."""
        made: list[nodes.Node] = []
        for name in cli.COMMANDS:
            text = help_of(name)
            if name == "opt":  # which has a page of its own for them
                text = text.partition("\npasses:\n")[0]
            section = nodes.section(ids=[f"affdsl-{name}"])
            section += [nodes.title("", "", nodes.literal("", f"affdsl {name}")), _block(text)]
            self.state.document.note_explicit_target(section)
            made.append(section)
        return made


class Passes(SphinxDirective):
    """Each pass with its options."""

    def run(self) -> list[nodes.Node]:
        """An entry for each pass, in the order of the alphabet."""
        rows = sorted(PASSES, key=lambda row: row.name)
        lines = [line for row in rows for line in _pass(row.name, row.summary, row.options)]
        container = nodes.container()
        self.state.nested_parse(
            StringList(["````{eval-rst}", *lines, "````"], "the passes"), self.content_offset, container
        )
        return container.children


def help_of(command: str) -> str:
    """What a command says of itself.

    >>> help_of("run").startswith("usage: affdsl run")
    True
    """
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = cli.main([command, "--help"])
    assert status == 0, f"affdsl {command} --help fails"
    return printed.getvalue()


def _pass(name: str, summary: str, options: Sequence[Option]) -> Iterator[str]:
    yield from (f".. option:: --{name}", "", f"   {summary}.", "")
    for option in options:
        default = f" (``{option.default}``)" if f"{option.default}" else ""
        yield f"   * ``{option.name}``: {option.summary}{default}"
    yield ""


def _block(text: str) -> nodes.literal_block:
    block = nodes.literal_block(text, text)
    block["language"] = "text"
    return block


def setup(app: Sphinx) -> dict[str, bool]:
    """Give pages these directives."""
    app.add_directive("commands", Commands)
    app.add_directive("passes", Passes)
    return {"parallel_read_safe": True}
