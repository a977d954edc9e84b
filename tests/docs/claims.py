"""What documents say and show: their blocks, the commands in their text, and each claim with the test that holds it."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"(affdsl|cc|make|mlir-opt|pip|python) |[A-Z_]+=")
"""How a command of the text itself starts."""


class Document:
    """A page by its parts."""

    def __init__(self, path: str) -> None:
        self.text = (ROOT / path).read_text(encoding="utf-8")
        self.blocks = FENCE.findall(self.text)
        self.prose = FENCE.sub("", self.text)

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs, points and rows of the text itself, each on one line."""
        parts = re.split(r"\n\s*\n|\n(?=[*|] ?)", self.prose)
        lines = [" ".join(part.split()) for part in parts]
        return [line for line in lines if line and not line.startswith("#") and re.search(r"\w", line)]

    @property
    def commands(self) -> list[str]:
        """The lines of its blocks of commands."""
        return [line for language, text in self.blocks if language == "sh" for line in text.splitlines() if line]

    @property
    def inline_commands(self) -> set[str]:
        """The commands in the text itself."""
        inline = {" ".join(code.split()) for code in re.findall(r"`([^`]+)`", self.prose)}
        return {code for code in inline if COMMAND.match(code)}


def unheld(paragraphs: list[str], claims: Mapping[str, str]) -> list[str]:
    """What says nothing that a test holds; claims that are not made; tests that are not there."""
    silent = [text for text in paragraphs if not any(claim in text for claim in claims)]
    unmade = [claim for claim in claims if not any(claim in text for text in paragraphs)]
    return silent + unmade + [test for test in claims.values() if not is_there(test)]


def is_there(test: str) -> bool:
    """Whether there is a test of a name like `docs/test_readme.py::test_its_commands`."""
    file, _, name = test.partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
