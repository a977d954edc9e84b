"""The worked examples of docs/ are run, and what they show is what they print and draw."""

import contextlib
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGES = ["fusion.md", "gauss-seidel.md", "optimize.md"]

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


@dataclass
class Block:
    """Code of a page, and the output that is shown right behind it, if any: its place in the page and its text."""

    code: str
    line: int
    shown: tuple[int, int] | None = None


def blocks(page: str) -> Iterator[Block]:
    """The code of a page, in order. Raises AssertionError for an output that stands behind no code."""
    last, end = None, 0
    for fence in FENCE.finditer(page):
        if fence["language"] == "python":
            if last is not None:
                yield last
            last = Block(fence["text"], page.count("\n", 0, fence.start("text")))
        else:
            line = page.count("\n", 0, fence.start()) + 1
            assert last is not None, f"line {line}: the output of nothing"
            assert last.shown is None, f"line {line}: a second output"
            assert not page[end : fence.start()].strip(), f"line {line}: it does not follow code"
            last.shown = fence.span("text")
        end = fence.end()
    if last is not None:
        yield last


def written(page: str, name: str) -> str:
    """The page with what its code prints, run in order in the working directory."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    result, end = "", 0
    for block in blocks(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + block.code, name, "exec"), namespace)
        if block.shown is None:
            assert not out.getvalue(), f"line {block.line}: the page does not show what this prints"
            continue
        result += page[end : block.shown[0]] + out.getvalue()
        end = block.shown[1]
    return result + page[end:]


@pytest.mark.parametrize("name", PAGES)
def test_the_outputs_and_pictures_are_those_that_come(name, tmp_path, monkeypatch, request):
    path = DOCS / name
    page = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # The lines in the outputs are those of the page as it is: where outputs grow, a second round moves them.
    found = written(page, name)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    shown = set(re.findall(r"!\[[^\]]+\]\(pictures/([^)]+)\)", page))
    assert drawn.keys() == shown
    if request.config.getoption("update_golden"):
        while found != (found := written(found, name)):
            pass
        path.write_text(found, encoding="utf-8")
        for picture, text in drawn.items():
            (DOCS / "pictures" / picture).write_text(text, encoding="utf-8")
        return
    assert found == page, f"{name} shows other outputs; pytest --update-golden writes them"
    for picture, text in drawn.items():
        now = (DOCS / "pictures" / picture).read_text(encoding="utf-8")
        assert text == now, f"pictures/{picture} differs; pytest --update-golden draws it"
        ET.fromstring(text)


def test_pictures_are_shown():
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in PAGES)
    for picture in (DOCS / "pictures").iterdir():
        assert f"(pictures/{picture.name})" in pages


def test_what_a_page_must_not_do():
    with pytest.raises(AssertionError, match="line 1: the output of nothing"):
        written("```text\n1\n```\n", "page.md")
    with pytest.raises(AssertionError, match="line 5: it does not follow code"):
        written("```python\nprint(1)\n```\nwords\n```text\n1\n```\n", "page.md")
    with pytest.raises(AssertionError, match="line 1: the page does not show what this prints"):
        written("```python\nprint(1)\n```\n", "page.md")
    assert written("```python\nprint(1)\n```\n\n```text\n2\n```\n", "page.md").endswith("```text\n1\n```\n")
