"""Runs a page: its Python, its commands and its files in order, and gives it back with the outputs that come.

A block of Python or of commands runs; a `text`, `c` or `mlir` block right behind it is what it prints. A block that
opens with a comment of a file's name alone, as `/* main.c */`, is that file. Any other one is a mistake of the page.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from affdsl.codegen.toolchain import find_compiler, identify

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("index", "cluster", "downstream", "fusion", "gauss-seidel", "optimize")),
    *sorted((DOCS / "guides").glob("*.md")),
]
"""The pages whose outputs are shown and held."""

FENCE = re.compile(r"^```(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```$", re.M | re.S)
FILE = re.compile(r"(?:/\*|#|//) ([\w.-]+\.\w+)(?: \*/)?\n")


@dataclass
class Block:
    """Python, commands or a file of a page, and the output that is shown right behind it, if any."""

    kind: str
    code: str
    line: int
    shown: tuple[int, int] | None = None


def blocks(page: str) -> Iterator[Block]:
    """The code of a page, in order. Raises AssertionError for an output that stands behind no code."""
    last, end = None, 0
    for fence in FENCE.finditer(page):
        language, text = fence["language"], fence["text"]
        line = page.count("\n", 0, fence.start("text"))
        if language.startswith("{"):
            continue
        if language in ("python", "sh") or FILE.match(text):
            if last is not None:
                yield last
            last = Block(language if language in ("python", "sh") else "file", text, line)
        else:
            assert last is not None, f"line {line}: the output of nothing"
            assert last.shown is None, f"line {line}: a second output"
            assert not page[end : fence.start()].strip(), f"line {line}: it does not follow code"
            last.shown = fence.span("text")
        end = fence.end()
    if last is not None:
        yield last


def written(page: str, name: str, missing: list[str] | None = None) -> str:
    """The page with what its code prints, run in order in the working directory.

    Commands of tools that are not there do not run, and are put into `missing`.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    result, end = "", 0
    for block in blocks(page):
        out = _done(block, name, namespace, [] if missing is None else missing)
        if block.shown is None:
            assert not out, f"line {block.line}: the page does not show what this prints"
            continue
        result += page[end : block.shown[0]] + (page[slice(*block.shown)] if out is None else out)
        end = block.shown[1]
    return result + page[end:]


def _done(block: Block, name: str, namespace: dict[str, object], missing: list[str]) -> str | None:
    """What a block prints; None where it could not run."""
    if block.kind == "file":
        found = FILE.match(block.code)
        assert found is not None, "it is a file by this line"
        Path(found[1]).write_text(block.code, encoding="utf-8")
        return ""
    if block.kind == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + block.code, name, "exec"), namespace)
        return out.getvalue()
    lines = [*_commands(block.code)]
    words = {word for line in lines for word in _tools(line)}
    needed = sorted(word for word in words if not (word in OURS or "/" in word or shutil.which(word)))
    if "-fopenmp" in block.code and not identify(find_compiler()).has_openmp:
        needed.append("a compiler with -fopenmp")
    if needed:
        missing += needed
        return None
    return "".join(_printed(line) for line in lines)


OURS = ("affdsl", "python", "cc")


def _commands(code: str) -> Iterator[str]:
    """The commands of a block, each with the text that it is handed up to END."""
    for command in re.finditer(r".*<<'END'\n(?:.*\n)*?END$|.+", code.replace("\\\n", " "), re.M):
        yield command[0]


def _tools(command: str) -> Iterator[str]:
    """The programs of a command."""
    for part in re.split(r"\||&&", command.splitlines()[0]):
        yield next(word for word in shlex.split(part) if not re.match(r"\w+=", word))


def _printed(line: str) -> str:
    """What a command prints, in a shell where `affdsl`, `cc` and `python` are those of this test."""
    calls = {"affdsl": f"{sys.executable} -m affdsl", "python": sys.executable, "cc": str(find_compiler().path)}
    defined = "".join(f'{name}() {{ {call} "$@"; }}\n' for name, call in calls.items())
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.getcwd()}"}
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail\n{defined}{line}"], env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert not done.stderr, f"{line}\n{done.stderr}"
    return done.stdout
