"""`affdsl graph`: drawings of texts and kernels, in each form, and what is said where there are none."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from affdsl.passes.analysis import dependence

TEXT = """\
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
  affine.for %t = 0 to 3 {
    affine.for %i = 0 to 9 {
      %a = affine.load %A[%i] : memref<9xf32>
      affine.store %a, %B[%i] : memref<9xf32>
    }
    affine.for %j = 0 to 9 {
      %b = affine.load %B[%j] : memref<9xf32>
      affine.store %b, %A[%j] : memref<9xf32>
    }
  }
  return
}
"""
MODULE = """\
import affdsl as af

N = af.symbols("N")
size = 3


@af.kernel
def twice(A: af.f32[N], B: af.f32[N]):
    with af.for_(N) as i:
        B[i] = A[i]
    with af.for_(N) as j:
        B[j] += A[j]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with some modules, which are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph_kernels.py").write_text(MODULE)
    (tmp_path / "graph_broken.py").write_text("x = 1\ny = x / 0\n")
    (tmp_path / "graph_wanting.py").write_text("import graph_absent\n")
    (tmp_path / "graph_empty.py").write_text("")
    (tmp_path / "graph_mistaken.py").write_text(MODULE.replace("A[i]\n", "A[i * i]\n"))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("graph_")]:
        del sys.modules[name]


def test_dot_goes_to_the_standard_output(cli):
    outcome = cli("graph", "-", text=TEXT)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith('digraph "f" {\n')
    assert '0 [label="0  for t  <stdin>:2\\l' in outcome.out
    inside = cli("graph", "-", "--loop=t", "--function", "f", "-o", "-", text=TEXT)
    assert (inside.status, inside.err) == (0, "")
    assert '0 -> 1 [label="flow B (0, 0)\\l"' in inside.out
    assert '1 -> 0 [label="flow A (1..2, 0)\\lcarried by t\\l"' in inside.out


def test_files_have_the_form_that_their_names_say(cli, folder):
    (folder / "a.mlir").write_text(TEXT)
    for name in ("a.svg", "a.dot"):
        outcome = cli("graph", "a.mlir", "-o", name)
        assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert ET.parse(folder / "a.svg").getroot().tag.endswith("svg")
    assert (folder / "a.dot").read_text().startswith('digraph "f"')
    pytest.importorskip("matplotlib")
    outcome = cli("graph", "a.mlir", "--loop", "t", "-o", "a.png")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert (folder / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_kernels_of_modules(cli, folder):
    before = list(sys.path)
    outcome = cli("graph", "graph_kernels:twice")
    assert (outcome.status, outcome.err) == (0, "")
    assert '0 -> 1 [label="flow B (0)\\l"' in outcome.out
    assert "graph_kernels.py:9" in outcome.out
    assert sys.path == before


def test_complete_shows_what_only_makes_buffers(cli):
    text = "func.func @f() {\n %t = memref.alloc() : memref<9xf32>\n return\n}"
    short, full = cli("graph", "-", text=text), cli("graph", "--complete", "-", text=text)
    assert 'label="not shown: 1 operation that only makes a buffer or value"' in short.out
    assert '0 [label="0  t = alloc : memref<9xf32>  <stdin>:2\\l"]' in full.out
    assert "not shown" not in full.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["graph"], "affdsl graph: needs a file of MLIR text, - for the standard input, or MODULE:KERNEL"),
        (["graph", "-", "-o", "x.pdf"], "affdsl graph: -o x.pdf: the name must end in .svg, .png, .dot"),
        (["graph", "-", "--loop=k"], "affdsl graph: @f has no loop called k; it has t, i, j"),
        (["graph", "-", "--function=g"], "affdsl graph: there is no function @g; the text has @f"),
        (["graph", "no.mlir"], "cannot open input file 'no.mlir': No such file or directory"),
        (["graph", "-", "-o", "no/x.svg"], "cannot open output file 'no/x.svg': No such file or directory"),
        (["graph", "graph_kernels:twic"], "twic is not there; did you mean 'twice'?; its kernels are twice"),
        (["graph", "graph_kernels:size"], "graph_kernels:size: size is of type int, no kernel; its kernels are twice"),
        (["graph", "graph_empty:f"], "graph_empty:f: f is not there; it has no kernels"),
        (["graph", "graph_nowhere.x:f"], "there is no Python module graph_nowhere: it is looked for in "),
        (["graph", "graph_wanting:f"], "importing graph_wanting fails: No module named 'graph_absent'"),
        (["graph", "graph_broken:f"], "graph_broken.py:2: ZeroDivisionError: division by zero"),
        (["graph", "graph_kernels:twice", "--function=f"], "--function is for a text; MODULE:KERNEL says which kernel"),
        (["graph", "-", "--lop=k"], "affdsl graph: unknown command line argument '--lop=k'; did you mean '--loop'?"),
    ],
)  # fmt: skip
def test_mistakes(cli, folder, arguments, message):
    outcome = cli(*arguments, text=TEXT)
    assert (outcome.status, outcome.out) == (1, "")
    assert message in outcome.err


def test_a_png_that_cannot_be_written(cli, folder):
    pytest.importorskip("matplotlib")
    outcome = cli("graph", "-", "-o", "no/x.png", text=TEXT)
    assert (outcome.status, outcome.out) == (1, "")
    assert "cannot open output file 'no/x.png': No such file or directory" in outcome.err


def test_a_png_without_matplotlib(cli, monkeypatch, folder):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = cli("graph", "-", "-o", "x.png", text=TEXT)
    assert outcome.status == 1
    assert outcome.err.startswith("affdsl graph: a PNG needs matplotlib, which is not installed: pip install")
    assert not (folder / "x.png").exists()


def test_texts_that_are_wrong_are_reported_where(cli):
    outcome = cli("graph", "-", text="func.func @f() {\n  affine.for\n}")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith("<stdin>:")


def test_a_mistake_in_a_kernel_is_reported_where(cli, folder):
    outcome = cli("graph", "graph_mistaken:twice")
    assert (outcome.status, outcome.out) == (1, "")
    assert "graph_mistaken.py:10" in outcome.err


def test_what_the_analysis_gave_up_on_is_said(cli, monkeypatch):
    def at(*given):
        raise dependence.UnknownError("isl needs too long")

    monkeypatch.setattr(dependence, "plain_distances", lambda *given: None)
    monkeypatch.setattr(dependence, "remembered", at)
    outcome = cli("graph", "-", "--loop=t", text=TEXT)
    assert outcome.status == 0
    assert "warning: isl needs too long, for the read of A at <stdin>:4 and the write of A at <stdin>:9" in outcome.err
    assert re.search(r'0 -> 1 \[label="flow B .*\?', outcome.out)


def test_help(cli):
    outcome = cli("graph", "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("usage: affdsl graph [flags] file|module:kernel")
    assert "graph      draw" in cli("--help").out


PIPELINE = """\
import affdsl as af

N, M = af.symbols("N M")


@af.kernel
def blur(image: af.f32[N, M], out: af.f32[N, M]):
    rows = af.alloc(af.f32[N, M])
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        rows[i, j] = image[i, j - 1] + image[i, j] + image[i, j + 1]
    with af.for_(1, N - 1) as k, af.for_(1, M - 1) as m:
        out[k, m] = rows[k - 1, m] + rows[k, m] + rows[k + 1, m]
"""


def test_before_and_after_fusion(cli, folder):
    (folder / "graph_pipeline.py").write_text(PIPELINE)
    outcome = cli("graph", "graph_pipeline:blur", "--fused")
    assert (outcome.status, outcome.err) == (0, "")
    before, after = outcome.out.split("subgraph ")[1:]
    assert 'label="blur before\\lstorage: 4000000 bytes\\lrows: N x M f32, 4000000 bytes\\l"' in before
    assert "p0_1 -> p0_2" in before
    assert "flow rows (-1..1, 0)" in before
    assert 'label="blur after\\lstorage: 12000 bytes\\lrows: 3 x M f32, 12000 bytes\\l"' in after
    assert "flow rows" not in after
    outcome = cli("graph", "graph_pipeline:blur", "--fused", "-o", "fused.svg")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    words = "".join((folder / "fused.svg").read_text())
    assert [words.count(each) for each in ("dependences of @blur", "storage: 4000000 bytes", "3 x M f32")] == [3, 1, 1]
    pytest.importorskip("matplotlib")
    outcome = cli("graph", "graph_pipeline:blur", "--fused", "-o", "fused.png")
    assert (folder / "fused.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_iterations_of_what_is_fused(cli):
    outcome = cli("graph", "-", "--fused", "--iterations=t,i", "--sizes=n=3", text=TEXT)
    assert outcome.status == 1
    assert "affdsl graph: --fused is for the graph, and --iterations for those of two loops: ask for one" in outcome.err
