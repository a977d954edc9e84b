"""What a notebook shows: cells and lines instead of temporary files, and text as it is."""

import linecache
import sys
from types import SimpleNamespace

import pytest

import affdsl as af
from examples.gemm import gemm

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
