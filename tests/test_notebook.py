"""What a notebook shows: cells and lines instead of temporary files, and text as it is."""

import linecache
import re
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import affdsl as af
from affdsl.shown import html_table
from examples.gemm import gemm

N = af.symbols("N")
CELL = "import affdsl as af\nN = af.symbols('N')\n@af.kernel\ndef f(A: af.f64[N]):\n    A[0.5] = 1.0\n"


@pytest.mark.parametrize(
    ("file", "place"),
    [("/tmp/ipykernel_123/456.py", "cell 7, line 5"), ("<ipython-input-3-0a1b>", "cell 3, line 5"),
     ("/tmp/ipykernel_123/9.py", "a cell, line 5"), ("/tmp/ipykernel/456.py", "/tmp/ipykernel/456.py:5")],
)  # fmt: skip
def test_a_place_in_a_notebook_is_a_cell_and_a_line(file, place, monkeypatch):
    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map={"/tmp/ipykernel_123/456.py": 7}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(linecache.cache, file, (len(CELL), None, CELL.splitlines(keepends=True), file))
    with pytest.raises(af.ProgramError) as caught:
        exec(compile(CELL, file, "exec"), {"__name__": "__main__"})
    assert str(caught.value).startswith(f"{place}: ")


def test_what_is_asked_of_a_kernel_shows_itself_as_it_prints():
    s = af.Schedule(gemm).tile(("k",), 4)
    for text in (gemm.c(), gemm.mlir(), gemm.loops(), gemm.check(), gemm.dependences(), s, s.explain()):
        assert "_repr_pretty_" in vars(type(text))  # before a __repr__ of a class, IPython asks for nothing inherited
        shown = []
        text._repr_pretty_(SimpleNamespace(text=shown.append), False)
        assert shown == [str(text)]
        assert "\n" in shown[0]
    assert isinstance(gemm.c(), str)


@af.kernel
def halves(x: af.f64[N], y: af.f64[N]):
    with af.for_(1, N) as i:
        y[i] = (x[i - 1] + x[i]) * 0.5
    with af.for_(1, N) as i:
        x[i] = x[i - 1] + y[i]


def line(below: int) -> str:
    """A line of the kernel, counted from its decorator."""
    return str(halves.func.location.line - 1 + below)


def rows(html: str) -> list[list[str]]:
    """The cells of the only table, which is well formed."""
    table = ET.fromstring(f"<div>{html}</div>").find("table")
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


def test_answers_are_tables():
    found = [row[:3] for row in rows(halves.loops()._repr_html_())][1:]
    assert found == [["i#1", line(2), "parallel"], ["i#2", line(4), "sequential"]]
    head, *found = rows(halves.dependences()._repr_html_())
    assert head == ["dependence", "from", "to", "carried by", "distance of each loop", "if any"]
    assert ["flow of x", f"writes, line {line(5)}", f"reads, line {line(5)}", "i", "[1, 1]", ""] in found
    assert len(found) == len([*halves.dependences().all()])
    found = rows(halves.check()._repr_html_())
    assert found[1] == [f"tests/test_notebook.py:{line(3)}", "reads x[i - 1]", "proved", ""]
    assert len(found) == 1 + len(halves.check().findings)
    explained = halves.optimize("avx2", threads=1).explain()
    found = rows(explained._repr_html_())[1:]
    assert [": ".join(row) for row in found] == [*map(str, explained.notes)]
    profiled = halves.profile(np.ones(50), np.zeros(50), repeats=1)
    found = rows(profiled._repr_html_())
    assert [row[0] for row in found[1:]] == ["i#1", "i#2", "beside the nests", "whole call"]
    assert {len(row) for row in found} == {len(found[0])}


def test_tables_have_the_colours_of_the_notebook_and_no_markup_of_a_program():
    html = html_table(("a", "b"), [("x < y", "&")], title="<script>", notes=["<b>"], code=(0,))
    assert rows(html) == [["a", "b"], ["x < y", "&"]]
    assert "<script>" not in html
    assert "<b>" not in html
    assert "monospace" in html
    assert not re.search(r"(?<!-)color:(?!inherit)|background:(?!none)", html)


def test_ipython_points_at_the_line_that_is_at_fault(capsys):
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.colors = "nocolor"
    shell.run_cell(CELL.replace("    A[0.5]", "    with af.for_(N) as i:\n        A[i + 1]"), store_history=True)
    said = capsys.readouterr().out
    arrows = [text.split(maxsplit=2)[2] for text in said.splitlines() if text.startswith("---->")]
    assert arrows == ["@af.kernel", "A[i + 1] = 1.0"]
    assert "ProgramIndexError: cell 1, line 6: A[i + 1] writes A[N]" in said
