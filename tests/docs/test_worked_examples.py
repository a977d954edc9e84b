"""The worked examples of docs/ are run, and what they show is what they print and draw."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from affdsl.codegen.toolchain import find_compiler, identify
from tests.docs.pages import DOCS, PAGES, written
from tests.oracles import missing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_outputs_and_pictures_are_those_that_come(path, tmp_path, monkeypatch, request):
    page = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lacking: list[str] = []
    # The lines in the outputs are those of the page as it is: where outputs grow, a second round moves them.
    found = written(page, path.name, lacking)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.glob("*.svg")}
    shown = set(re.findall(r"!\[[^\]]+\]\((?:\.\./)?pictures/([^)]+)\)", page))
    assert drawn.keys() == shown
    if request.config.getoption("update_golden"):
        while found != (found := written(found, path.name)):
            pass
        path.write_text(found, encoding="utf-8")
        for picture, text in drawn.items():
            (DOCS / "pictures" / picture).write_text(text, encoding="utf-8")
        return
    assert found == page, f"{path.name} shows other outputs; pytest --update-golden writes them"
    for picture, text in drawn.items():
        now = (DOCS / "pictures" / picture).read_text(encoding="utf-8")
        assert text == now, f"pictures/{picture} differs; pytest --update-golden draws it"
        ET.fromstring(text)
    if lacking:
        missing(", ".join(dict.fromkeys(lacking)))


def test_pictures_are_shown():
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    for picture in (DOCS / "pictures").iterdir():
        assert f"pictures/{picture.name})" in pages


def test_what_a_page_must_not_do():
    with pytest.raises(AssertionError, match="line 1: the output of nothing"):
        written("```text\n1\n```\n", "page.md")
    with pytest.raises(AssertionError, match="line 5: it does not follow code"):
        written("```python\nprint(1)\n```\nwords\n```text\n1\n```\n", "page.md")
    with pytest.raises(AssertionError, match="line 1: the page does not show what this prints"):
        written("```python\nprint(1)\n```\n", "page.md")
    assert written("```python\nprint(1)\n```\n\n```text\n2\n```\n", "page.md").endswith("```text\n1\n```\n")


def test_commands_run_where_the_files_of_the_page_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = "```c\n/* a.c */\nint a;\n```\n```sh\nwc -l a.c \\\n  | cat\n```\n```text\n```\n"
    assert written(page, "page.md").endswith("```text\n2 a.c\n```\n")
    with pytest.raises(AssertionError, match="nothing: No such file or directory"):
        written(page.replace("wc -l a.c", "cat nothing"), "page.md")


def test_a_command_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lacking: list[str] = []
    page = "```sh\nno-such-tool | cat\n```\n```text\n1\n```\n"
    assert written(page, "page.md", lacking) == page
    assert lacking == ["no-such-tool"]


def test_a_compiler_without_openmp_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = replace(identify(find_compiler()), has_openmp=False)
    monkeypatch.setattr("tests.docs.pages.identify", lambda _: plain)
    lacking: list[str] = []
    page = "```sh\ncc -fopenmp --version\n```\n```text\nof another one\n```\n"
    assert written(page, "page.md", lacking) == page
    assert lacking == ["a compiler with -fopenmp"]
