"""Commands whose output nobody reads, or cannot be written, and those whose streams are closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import affdsl

ROOT = Path(__file__).parent.parent.parent
TEXT = (
    "func.func @f(%A: memref<4xf32>) { %c = arith.constant 1.0 : f32 affine.store %c, %A[0] : memref<4xf32> return }\n"
)
COMMANDS = {
    "--help": ["--help"],
    "--version": ["--version"],
    "nothing": [],
    "opt": ["opt", "-"],
    "opt --help": ["opt", "--help"],
    "translate": ["translate", "--to=c", "-"],
    "translate --help": ["translate", "--help"],
    "run": ["run", "-", "ones", "--interpreter"],
    "run --help": ["run", "--help"],
    "graph": ["graph", "-"],
    "graph --help": ["graph", "--help"],
}
EVERY = pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
QUICK = pytest.mark.parametrize("arguments", [["--help"], ["opt", "-"], ["opt", "--help"]], ids=" ".join)


def start(arguments: list[str], before: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    program = f"import sys, os; {before}\nfrom affdsl.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, input=TEXT, stderr=subprocess.PIPE, text=True, **options
    )  # fmt: skip


@EVERY
def test_a_command_whose_output_nobody_reads_ends_in_silence(arguments):
    """As in `affdsl --help | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = start(arguments, stdout=writing)
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode == (0 if "ones" in arguments else 1)


@QUICK
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_said(arguments):
    with open("/dev/full", "w") as full:
        done = start(arguments, stdout=full)
    assert done.stderr == f"affdsl {arguments[0]}: cannot write to the standard output: No space left on device\n"
    assert done.returncode == 1


@QUICK
def test_closed_streams_are_said_and_do_no_harm(arguments):
    close = "sys.{0} = None; sys.__{0}__ = None"
    done = start(arguments, close.format("stdout"), stdout=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (1, "cannot write to the standard output: it is closed\n")
    done = start(["opt", "--nonsense"], close.format("stderr"), stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_a_closed_standard_input_is_said():
    done = start(["opt", "-"], "sys.stdin = None", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "cannot read the standard input: it is closed\n")


def test_the_version(cli):
    for arguments in (["--version"], ["opt", "--version"]):
        assert cli(*arguments).out == f"affdsl {affdsl.__version__}\n"
    assert "affdsl --version" in cli("--help").out
