"""What is seen of something that takes long: a line on a terminal, nothing elsewhere, and nothing after it."""

import io
import os
import threading

import pytest

import affdsl as af
from affdsl import progress as module
from affdsl.progress import CLEAR, Progress, progress, tracked
from examples.gemm import gemm


class Terminal(io.StringIO):
    """A terminal that tells when a text stands on it."""

    def __init__(self, awaited):
        super().__init__()
        self.awaited, self.seen = awaited, threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        super().write(text)
        if self.awaited in text:
            self.seen.set()
        return len(text)


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "PERIOD", 0.001)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("TERM", raising=False)


def screen(text):
    """What stands in the line in the end."""
    return text.rpartition(CLEAR)[2]


def test_a_line_says_how_far_it_is():
    bar = Progress("validating blur", 40)
    bar.advance(10)
    bar.at("on sizes 7")
    assert bar.line(80, 3.4) == "validating blur [#####               ] 10 of 40 3 s on sizes 7"
    assert bar.line(20) == "validating blur [..."
    assert Progress("tuning").line(80, 12.0) == "tuning 12 s"
    over = Progress("tuning", 2)
    over.advance(5)
    assert over.line(80) == "tuning [####################] 5 of 2"


def test_a_terminal_shows_it_and_is_empty_afterwards(at_once):
    terminal = Terminal("2 of 3")
    with progress("adding", 3, stream=terminal) as bar:
        bar.advance(2)
        assert terminal.seen.wait(30)
    assert "adding [#############       ] 2 of 3" in terminal.getvalue()
    assert screen(terminal.getvalue()) == ""
    assert not [t for t in threading.enumerate() if t.name == "affdsl-progress"]


def test_what_stands_inside_is_what_is_shown(at_once):
    terminal = Terminal("inner")
    with progress("outer", stream=terminal), progress("inner", stream=terminal):
        assert terminal.seen.wait(30)
    assert screen(terminal.getvalue()) == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_ends_early_leaves_the_line_empty(error, at_once):
    terminal = Terminal("adding")

    def interrupted():
        with progress("adding", stream=terminal):
            assert terminal.seen.wait(30)
            raise error

    with pytest.raises(error):
        interrupted()
    assert screen(terminal.getvalue()) == ""
    assert module._shown == []


def test_nothing_is_written_elsewhere(at_once, monkeypatch, tmp_path):
    text, path = io.StringIO(), tmp_path / "log"
    with open(path, "w") as file:
        for stream in (text, file):
            with progress("adding", 3, stream=stream) as bar:
                bar.advance()
                assert not [t for t in threading.enumerate() if t.name == "affdsl-progress"]
    assert (text.getvalue(), path.read_text()) == ("", "")
    monkeypatch.setenv("AFFDSL_PROGRESS", "0")
    terminal = Terminal("adding")
    with progress("adding", stream=terminal):
        pass
    assert terminal.getvalue() == ""


def test_what_takes_no_second_is_not_shown(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 1000.0)
    terminal = Terminal("adding")
    with progress("adding", stream=terminal):
        pass
    assert terminal.getvalue() == ""


def test_items_are_counted(monkeypatch, at_once):
    terminal = Terminal("2 of 4")
    monkeypatch.setattr("sys.stderr", terminal)
    for n in tracked([1, 2, 3, 4], "squaring"):
        assert n < 3 or terminal.seen.wait(30)
    assert screen(terminal.getvalue()) == ""
    assert list(tracked((n for n in "ab"), "reading")) == ["a", "b"]


@pytest.mark.parametrize("how", ["schedule", "passes"])
def test_validation_says_what_it_does(how, at_once, monkeypatch):
    lines = []
    monkeypatch.setattr(module, "_shows", lambda stream: True)
    monkeypatch.setattr(module, "_draw", lambda stream, ended: lines.append(module._shown[0].what))
    monkeypatch.setattr(Progress, "at", lambda bar, detail: lines.append(detail))
    if how == "schedule":
        af.Schedule(gemm).tile(("k",), 4).kernel(validate=True)
    else:
        gemm.apply("affine-loop-unroll{unroll-factor=2}", validate=True)
    assert {"validating gemm", "a proof for all sizes"} <= {*lines}


def test_a_terminal_of_the_system_shows_it(at_once):
    ours, theirs = os.openpty()
    with open(theirs, "w") as terminal, open(ours, "rb", buffering=0) as shown:
        with progress("adding", 2, stream=terminal):
            text = b""
            while b"0 of 2" not in text:
                text += shown.read(1000)
        while not text.endswith(CLEAR.encode()):
            text += shown.read(1000)
