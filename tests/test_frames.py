"""Tracebacks show the lines of the user and none of ours, unless everything is asked for."""

import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import affdsl as af

ROOT = Path(__file__).parent.parent
N = af.symbols("N")


@af.kernel
def shifted(A: af.f64[N], B: af.f64[N]):
    with af.for_(1, N) as i:
        A[i] = A[i - 1] + B[i]


def in_the_body():
    @af.kernel
    def wrong(A: af.f64[N]):
        with af.for_(N) as i:
            A[i * i] = 1.0


def of_the_proof():
    @af.kernel(boundscheck=True)
    def wrong(A: af.f64[N]):
        with af.for_(N) as i:
            A[i + 1] = 1.0


def of_the_user():
    @af.kernel
    def wrong(A: af.f64[N]):
        A[0] = undefined  # noqa: F821


def of_a_method():
    class Thing:
        @af.kernel
        def run(self, A: af.f64[N]):
            A[0] = "x"

    Thing().run(np.ones(1))


MISTAKES = {
    in_the_body: ["in_the_body", "wrong"],
    of_the_proof: ["of_the_proof", "<kernel>"],
    of_the_user: ["of_the_user", "wrong"],
    of_a_method: ["of_a_method", "run"],
    lambda: shifted(np.ones(2), np.ones(3)): ["<lambda>"],
    lambda: shifted(np.ones(2), 1): ["<lambda>"],
    lambda: shifted.interpret(np.ones(2), np.ones(3)): ["<lambda>"],
    lambda: shifted.apply("nonsense"): ["<lambda>"],
    lambda: af.Schedule(shifted).parallel("i"): ["<lambda>"],
    lambda: af.Schedule(shifted).tile("q", 4).kernel(): ["<lambda>"],
}


def frames(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)][1:]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_tracebacks_show_the_lines_of_the_user_alone(mistake, monkeypatch):
    monkeypatch.delenv("AFFDSL_FULL_TRACEBACK", raising=False)
    for _ in range(2):  # the first call of a kernel compiles it
        with pytest.raises((af.AffdslError, NameError)) as caught:
            mistake()
        assert frames(caught.value) == MISTAKES[mistake]
    monkeypatch.setenv("AFFDSL_FULL_TRACEBACK", "1")
    with pytest.raises((af.AffdslError, NameError)) as caught:
        mistake()
    assert len(frames(caught.value)) > len(MISTAKES[mistake])


def test_errors_that_nobody_meant_keep_all_frames(monkeypatch):
    monkeypatch.setattr(sys.modules["affdsl.printed"], "verify", None)
    with pytest.raises(TypeError, match="not callable") as caught:
        shifted.mlir()
    assert frames(caught.value)[-1:] == ["mlir"]


def test_causes_and_contexts_stay():
    def failing():
        @af.kernel
        def wrong(A: af.f64[N]):
            try:
                A[0.5] = 1.0
            except af.ProgramError as error:
                raise ValueError("the user's") from error

    with pytest.raises(ValueError, match="the user's") as caught:
        failing()
    assert isinstance(caught.value.__cause__, af.ProgramError)
    assert frames(caught.value) == ["failing", "wrong"]


def test_what_a_program_prints():
    program = (
        "import affdsl as af\nN = af.symbols('N')\n@af.kernel\ndef f(A: af.f64[N]):\n"
        "    with af.for_(N) as i:\n        A[i * i] = 1.0\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if "File" in line] == [
        '  File "<string>", line 3, in <module>',
        '  File "<string>", line 6, in f',
    ]


def test_a_line_that_has_run_is_where_the_traceback_ends():
    @af.kernel(boundscheck=True)
    def scatter(A: af.f64[N], at: af.i64[N]):
        with af.for_(N) as i:
            A[at[i]] = 1.0

    for _ in range(2):
        with pytest.raises(af.OutOfBoundsError) as caught:
            scatter(np.zeros(2), np.array([1, 5]))
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.filename, last.line) == (__file__, "A[at[i]] = 1.0")
        assert last.colno is None  # it has no columns, so none are marked
