"""`python -m benchmarks.polybench` runs a kernel, prints and keeps what came out, and explains what it cannot do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.errors import ToolchainError
from benchmarks.polybench.__main__ import main
from benchmarks.polybench.benchmark import Benchmark
from benchmarks.polybench.suite import SUITE

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("how", ["c", "interpreter"])
def test_a_run_prints_and_keeps_the_live_out_arrays(how, tmp_path, capsys):
    assert main(["bicg", "--size", "MINI", "--run", how, "--dump", str(tmp_path / "out.npz")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "bicg at MINI: M=38, N=42"
    assert printed[-2:] == [
        "  s: 38 elements, sum 367.94047619, sha256 98beb5f4f4",
        "  q: 42 elements, sum 351.289473684, sha256 eb7635e6c3",
    ]
    assert [line.split()[0] for line in printed[1:-2]] == {"c": ["compiled", "run"], "interpreter": ["interpreted"]}[
        how
    ]
    with np.load(tmp_path / "out.npz") as found, np.load(ROOT / "tests/polybench/dumps/bicg.MINI.npz") as wanted:
        assert list(found) == list(wanted)
        assert all(found[name].tobytes() == wanted[name].tobytes() for name in wanted)


def test_it_is_a_program():
    command = [sys.executable, "-m", "benchmarks.polybench", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [benchmark.name for benchmark in SUITE]
    assert lines[lines.index("gemm") + 5] == "  EXTRALARGE NI=2000, NJ=2300, NK=2600"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs the name of a kernel; --list prints all"),
        (["2nm"], "PolyBench has no kernel '2nm': did you mean '2mm'?"),
        (["jacobi_2d"], "PolyBench has no kernel 'jacobi_2d': did you mean 'jacobi-2d'?"),
        (["gemm", "--size", "HUGE"], "invalid choice: 'HUGE'"),
        (["gemm", "--run", "fortran"], "invalid choice: 'fortran'"),
        (["gemm", "--dump", "out.txt"], "--dump out.txt: the name must end in .npz"),
        (["gemm", "--dump", "no/such/out.npz"], "--dump no/such/out.npz: there is no folder no/such"),
    ],
)
def test_mistakes_are_explained(words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "message"),
    [(ToolchainError("there is no C compiler"), "there is no C compiler"), (MemoryError(), "out of memory")],
)
def test_a_run_that_fails_says_why(error, message, capsys, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(Benchmark, "run", fail)
    assert main(["gemm", "--size", "MINI"]) == 1
    assert capsys.readouterr().err == f"gemm at MINI: {message}\n"
