"""Each row of the page on what is not supported is refused as it says, and what to write instead is accepted."""

import linecache
import re
from collections.abc import Iterator

import numpy as np
import pytest

import affdsl as af
from tests.docs.pages import DOCS, FENCE

PAGE = (DOCS / "guides" / "not-supported.md").read_text(encoding="utf-8")
BLOCKS = [fence["text"] for fence in FENCE.finditer(PAGE) if fence["language"] == "python"]
SPAN = re.compile(r"`([^`]+)`")


def rows() -> Iterator[tuple[str, str, str, str]]:
    """For each row the title of its section and the cells."""
    title = ""
    for line in PAGE.splitlines():
        title = line.removeprefix("## ") if line.startswith("## ") else title
        if line.startswith("| `"):
            yield title, *(cell.strip() for cell in line.strip("|").split(" | "))


def code(cell: str) -> str:
    """The code of a cell, a line for each span; nothing where it is words."""
    spans = SPAN.findall(re.sub(r"\[[^\]]*\]\([^)]*\),? ?", "", cell))
    return "\n".join(spans)


def program(title: str, lines: str) -> str:
    """A program with some lines in their place."""
    whole = "\n".join(BLOCKS)
    head = whole.partition("@af.kernel")[0]
    if title == "Arguments":
        return f"{head}@af.kernel\n{lines}"
    if title == "Calls":
        return f"{head}{next(block for block in BLOCKS if 'def scale' in block)}\n{lines}"
    return BLOCKS[0].replace("        ...", "\n".join(f"        {line}" for line in lines.splitlines()))


def run(title: str, lines: str, path) -> None:
    path.write_text(program(title, lines), encoding="utf-8")
    linecache.checkcache(str(path))
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(("title", "wrong", "said", "right"), list(rows()))
def test_a_row(title, wrong, said, right, tmp_path):
    with pytest.raises((af.AffdslError, AttributeError, ValueError)) as caught:
        run(title, code(wrong), tmp_path / "page.py")
    message = re.sub(r"^\S+:\d+: ", "", str(caught.value))
    assert f"{type(caught.value).__name__}: {message}".startswith(said)
    instead = code(right)
    if instead:
        run(title, instead, tmp_path / "instead.py")


def test_rows_are_read_with_their_cells():
    assert len(list(rows())) > 50
    assert code("`a`<br>`b`") == "a\nb"
    assert code("a loop") == ""
    assert "\n        a\n        b\n" in program("In a kernel", "a\nb")


def test_what_python_does_once_is_done_once(capsys):
    n = af.symbols("n")

    @af.kernel
    def twice(x: af.f64[n], y: af.f64[n]):
        x = y
        with af.for_(n) as i:
            print(x[i])
            x[i] = 1.0

    assert capsys.readouterr().out == "a number of type f64\n"
    x, y = np.zeros(2), np.zeros(2)
    twice.interpret(x, y)
    assert (x.sum(), y.sum()) == (0, 2)
