"""`affdsl report`: the page of a kernel of a module, for sizes or measured, and what is said where there is none."""

import pytest

from affdsl.cli import main
from affdsl.optimize import forecast
from affdsl.report import report, times
from affdsl.seeing import profile
from tests.report.kernels import machine

MODULE = """\
import affdsl as af

N = af.symbols("N")


@af.kernel
def third(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = x[i] / 3.0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for module in (forecast, report, times, profile):
        monkeypatch.setattr(module, "roofline", machine)
    (tmp_path / "of_report.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page_for_sizes(folder, capsys):
    assert main(["report", "of_report:third", "--sizes=N=50", "--seconds=5"]) == 0
    assert capsys.readouterr().out == "third.html\n"
    text = (folder / "third.html").read_text()
    assert all(said in text for said in ("N = 50", "by the model", "allow reciprocal"))


def test_a_page_that_is_measured(folder, capsys):
    arguments = ["report", "of_report:third", "--sizes=N=50", "--run", "--optimize=reciprocal threads=1", "--seconds=0"]
    assert main([*arguments, "-o", "out.html"]) == 0
    assert capsys.readouterr().out == "out.html\n"
    text = (folder / "out.html").read_text()
    assert all(said in text for said in ("(measured)", "may round in another way</dt><dd>reciprocal"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "affdsl report: needs MODULE:KERNEL"),
        (["a.mlir"], "affdsl report: a.mlir is no kernel: write MODULE:KERNEL"),
        (["of_report:third", "--sizes=N"], "affdsl report: --sizes takes names with numbers"),
        (["of_report:third", "--seconds=soon"], "affdsl report: --seconds takes a number, got 'soon'"),
        (["of_report:third", "--sizes=K=3"], "cannot report on third: it has no size K"),
    ],
)
def test_what_is_wrong_is_said(folder, capsys, arguments, said):
    assert main(["report", *arguments]) == 1
    assert said in capsys.readouterr().err


def test_help(capsys):
    assert main(["report", "--help"]) == 0
    assert "usage: affdsl report [flags] module:kernel" in capsys.readouterr().out
