"""The table of tools: it counts what is done, says why not and what is not here, and stands on its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from affdsl.mlir.known_versions import TRIED
from tests.handed_on import table
from tests.handed_on.kernels import CASES, Case


def refuses_the_first(case: Case) -> None:
    if case is CASES[0]:
        raise AssertionError("tool: error: no such loop")


def not_here() -> str:
    raise table.NotHereError("it")


def nothing(case: Case) -> None:
    pass


def test_what_is_done_is_counted_and_the_rest_has_its_reason() -> None:
    tool = table.Tool("a tool", lambda: "1.2", nothing, refuses_the_first, cases=CASES[:3])
    found = table.row(tool)
    assert (found.parsed, found.lowered, found.equal) == (3, 2, None)
    assert table.line(found).startswith("| a tool | 1.2 | 3 | 3 | 2 |  | ")
    assert table.misses(found) == f"* a tool: {CASES[0].name} (`no such loop`)"


def test_what_is_not_here_has_a_row_that_says_so() -> None:
    found = table.row(table.Tool("a tool", not_here, nothing))
    assert table.line(found).startswith("| a tool | not here | 33 |  |  |  | ")
    missing = [tool for tool in table.tools(Path("nowhere")) if "IREE" in tool.name]
    assert table.row(missing[0]).version == "not here"


def test_an_error_of_the_command_itself_is_not_taken_for_one_of_a_tool() -> None:
    def wrong(case: Case) -> None:
        raise KeyError(case.name)

    with pytest.raises(KeyError):
        table.row(table.Tool("a tool", lambda: "1", wrong, cases=CASES[:1]))


def test_a_row_takes_its_place_on_the_page_and_the_others_stay(tmp_path, monkeypatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\n{table.END}\nafter\n")
    monkeypatch.setattr(table, "PAGE", page)
    tools = [table.Tool(name, lambda: "1", nothing, refuses_the_first, cases=CASES[:2]) for name in ("one", "other")]
    for tool in (tools[1], tools[0], tools[1]):
        table.written(table.row(tool), tools)
    text = page.read_text()
    assert [line[:6] for line in text.splitlines() if line.startswith("| o")] == ["| one ", "| othe"]
    assert [line[:6] for line in text.splitlines() if line.startswith("* o")] == ["* one:", "* othe"]
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")


def test_the_page_has_rows_of_the_tools_in_their_order() -> None:
    text = table.PAGE.read_text(encoding="utf-8")
    rows = re.search(rf"{table.BEGIN}\n(.*){table.END}", text, re.S)
    assert rows is not None
    names = [line.split(" | ")[0].removeprefix("| ") for line in rows[1].splitlines() if line.startswith("| ")][1:]
    assert names == [tool.name for tool in table.tools(None) if tool.name in names]
    assert sum("mlir-opt, to LLVM" in name for name in names) == len(TRIED)
