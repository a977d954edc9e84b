"""`affdsl opt --validate`: nothing is said where passes are right; where one is wrong, which, and all that shows it."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.passes.pipeline import language as pipeline
from affdsl.passes.pipeline.registry import Pass

TEXT = """\
func.func @f(%A: memref<?xf32>, %n: index, %s: f32) {
  affine.for %i = 0 to %n step 2 {
    affine.store %s, %A[%i] : memref<?xf32>
  }
  return
}
"""


def shorter(module):
    def rule(op):
        return with_fields(op, upper=tuple(e - 1 for e in op.upper), written=None) if type(op) is affine.For else None

    return rewrite(module, rule)


@pytest.fixture
def wrong_pass(monkeypatch):
    """`cse` forgets the last iteration of each loop."""
    row = Pass("cse", "CSE", "any", "Wrong", shorter)
    monkeypatch.setattr(pipeline, "BY_NAME", {**pipeline.BY_NAME, "cse": row})


def test_right_passes(cli):
    passes = ("--affine-loop-normalize", "--affine-parallelize", "-")
    plain, checked = cli("opt", *passes, text=TEXT), cli("opt", "--validate", *passes, text=TEXT)
    assert checked == plain
    assert "affine.parallel" in checked.out
    assert (checked.status, checked.err) == (0, "")


def test_a_wrong_pass(cli, wrong_pass, tmp_path):
    folder = tmp_path / "here"
    assert cli("opt", "--canonicalize", "--cse", text=TEXT).status == 0
    done = cli("opt", f"--validate={folder}", "--canonicalize", "--cse", "-", text=TEXT)
    assert done.status == 1
    assert "error: the program does something else after pass 'cse': f(A: 1, n = 1, s = " in done.err
    assert f"all that shows it is in {folder}" in done.err
    assert sorted(path.name for path in folder.iterdir()) == [
        "arguments.npz", "expected.npz", "found.npz", "input.mlir", "pass-after.mlir", "pass-before.mlir",
        "pipeline.txt", "report.txt",
    ]  # fmt: skip
    with np.load(folder / "expected.npz") as expected, np.load(folder / "found.npz") as found:
        assert expected["A"][0] != found["A"][0]
    again = cli("opt", f"--validate={tmp_path / 'again'}", "--pass-pipeline", (folder / "pipeline.txt").read_text(),
                folder / "input.mlir")  # fmt: skip
    assert again.status == 1
    assert "after pass 'cse'" in again.err


def test_without_a_folder_it_is_a_temporary_one(cli, wrong_pass, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = cli("opt", "--validate", "--cse", "-", text=TEXT)
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("affdsl-reproducer-")
    assert str(folder) in done.err


def test_what_cannot_be_checked_is_said(cli):
    text = """func.func @f(%x: f32) {
      %a = arith.addf %x, %x : f32
      %b = arith.addf %x, %x : f32
      "test.use"(%a, %b) : (f32, f32) -> ()
      return
    }"""
    done = cli("opt", "--validate", "--allow-unregistered-dialect", "--cse", "-", text=text)
    assert done.status == 0
    assert "note: --validate: @f: not checked: " in done.err


def test_one_function_without_a_module(cli, wrong_pass, tmp_path):
    done = cli("opt", f"--validate={tmp_path}", "--no-implicit-module", "--cse", "-", text=TEXT)
    assert done.status == 1
    assert (tmp_path / "input.mlir").read_text().startswith("func.func @f")


def test_the_help_has_it(cli):
    assert "--validate[=<folder>]" in cli("opt", "--help").out


def test_how_each_function_was_checked_is_said_where_it_is_asked_for(cli):
    text = TEXT + TEXT.replace("@f", "@g").replace("[%i]", "[%i mod symbol(%n)]")
    plain = cli("opt", "--validate", "--affine-loop-normalize", "-", text=text)
    done = cli("opt", "--validate", "--validate-report", "--affine-loop-normalize", "-", text=text)
    assert (plain.status, plain.err) == (0, "")
    assert (done.status, done.out) == (0, plain.out)
    assert "note: --validate: @f: proved for all sizes\n" in done.err
    assert "note: --validate: @g: " in done.err
    assert "runs agree; not proved: " in done.err


def test_a_race_that_no_run_shows(cli, monkeypatch, tmp_path):
    text = """func.func @f(%A: memref<9xi64>, %x: i64, %n: index) {
      affine.for %i = 0 to %n {
        %a = affine.load %A[3] : memref<9xi64>
        %s = arith.addi %a, %x : i64
        affine.store %s, %A[3] : memref<9xi64>
      }
      return
    }"""

    def parallel(module):
        def rule(op):
            if type(op) is not affine.For:
                return None
            return affine.Parallel((op.iv,), (op.lower,), (op.upper,), (op.step,), op.body)

        return rewrite(module, rule)

    monkeypatch.setattr(pipeline, "BY_NAME", {**pipeline.BY_NAME, "cse": Pass("cse", "CSE", "any", "Wrong", parallel)})
    done = cli("opt", f"--validate={tmp_path}", "--canonicalize", "--cse", "-", text=text)
    assert done.status == 1
    assert "after pass 'cse': @f: iterations of the parallel band of %i touch one element of A (" in done.err
    assert "both touch A[3]" in done.err
    assert "what was proved for all sizes: races: iterations of" in (tmp_path / "report.txt").read_text()
