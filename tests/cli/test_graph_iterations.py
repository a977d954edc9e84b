"""`affdsl graph --iterations`: drawings of iteration spaces, and what is said where there are none."""

import xml.etree.ElementTree as ET

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.drawing.iteration_space import iteration_space

TEXT = """\
func.func @f(%A: memref<?x?xf32>, %n: index) {
  affine.for %t = 0 to 3 {
    affine.for %i = 1 to %n {
      affine.for %j = 1 to affine_map<(d) -> (d)>(%i) {
        %a = affine.load %A[%i - 1, %j - 1] : memref<?x?xf32>
        affine.store %a, %A[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""


def drawn(at=None, **options):
    (function,) = parse(TEXT).functions
    return iteration_space(Dependences(function), "i", "j", {"n": 7}, at=at).to_svg(**options)


def test_the_drawing_is_that_of_the_library(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = cli("graph", "-", "--iterations=i,j", "--sizes=n=7", text=TEXT)
    assert (outcome.status, outcome.err, outcome.out) == (0, "", drawn())
    outcome = cli(
        "graph", "-", "--iterations", "i,j", "--sizes", "n=7", "--at=t=0", "--complete", "-o", "x.svg", text=TEXT
    )
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert text == drawn({"t": 0}, complete=True) != drawn()
    assert ET.fromstring(text).tag.endswith("svg")
    pytest.importorskip("matplotlib")
    outcome = cli("graph", "-", "--iterations=i,j", "--sizes=n=4", "-o", "x.png", text=TEXT)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_kernel_of_a_module(cli):
    arguments = ["--iterations=t,i", "--sizes=M=6,N=5,steps=4"]
    outcome = cli("graph", "examples.gauss_seidel:gauss_seidel", *arguments)
    assert (outcome.status, outcome.err) == (0, "")
    circles = [each for each in ET.fromstring(outcome.out).iter() if each.get("rx")]
    assert len(circles) == 4 * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--iterations=i"], "--iterations takes two loops, the outer one first, got i"),
        (["--iterations=t,i,j"], "--iterations takes two loops, the outer one first, got t, i, j"),
        (["--iterations=i,j", "--sizes=n"], "--sizes takes names with numbers, as in --sizes=n=8, got 'n'"),
        (["--iterations=i,j", "--sizes=n=x"], "--sizes takes names with numbers, as in --sizes=n=8, got 'n=x'"),
        (["--iterations=i,j", "--at=0"], "--at takes names with numbers, as in --at=n=8, got '0'"),
        (["--sizes=n=3"], "--sizes is for a drawing of iterations: say of which by --iterations=t,i"),
        (["--at=t=3"], "--at is for a drawing of iterations: say of which by --iterations=t,i"),
        (["--iterations=i,j", "-o", "x.dot"], "-o x.dot: the name must end in .svg, .png"),
        (["--iterations=i,j"], "cannot draw loops of @f: give a number for n among the sizes"),
        (["--iterations=i,k"], "cannot draw loops of @f: none is called k; its loops are t, i, j"),
    ],
)  # fmt: skip
def test_what_is_said(cli, arguments, message):
    outcome = cli("graph", "-", *arguments, text=TEXT)
    assert (outcome.status, outcome.out, outcome.err) == (1, "", f"affdsl graph: {message}\n")
