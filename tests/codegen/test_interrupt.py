"""Ctrl-C, the exit and a fork while a compiler hangs: none waits, nothing is left running, the next call works."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import oracles
from tests.effort import some

ROOT = Path(__file__).parents[2]

COMPILER = """#!/bin/sh
# Hangs, with a child, where a word of the command line is HANGS; a compiler otherwise.
for word in "$@"; do
    if [ "$word" = "HANGS" ]; then
        sleep 1000 &
        echo "$$ $!" >> "STARTED"
        wait
    fi
done
exec "REAL" "$@"
"""

PROGRAM = '''
import os, signal, sys, threading, time
import numpy as np
import affdsl as af

signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts the tests may have it ignored
N = af.symbols("N")


@af.kernel
def fill(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = 1.0


def waits(thread):
    """Whether a thread waits for the compiler, or for a thread that does."""
    file = os.path.basename(sys._current_frames()[thread].f_code.co_filename)
    return file in {"selectors.py", "threading.py", "background.py"}


def interrupt():
    """Press Ctrl-C when the main thread waits for the compiler, or for a thread that does."""
    main = threading.main_thread().ident
    while not os.path.exists(os.environ["STARTED"]):
        time.sleep(0.01)
    while not waits(main):
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


def hang(call):
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        call()
    except KeyboardInterrupt:
        sys.stdout.write("interrupted\\n")
    else:
        raise SystemExit("it did not hang")


def call():
    x = np.zeros(9)
    fill(x)
    assert x.sum() == 9


def works():
    os.environ["AFFDSL_CC"] = os.environ["REAL"]
    call()
    sys.stdout.write("works\\n")


match sys.argv[1]:
    case "call":
        hang(call)
        works()
    case "optimize":
        hang(fill.optimize)
        works()
    case "build":
        hang(lambda: af.build(fill, sys.argv[2]))
        works()
    case "thread":
        def other():
            try:
                call()
            except KeyboardInterrupt:
                sys.stdout.write("stopped\\n")  # in one piece: both threads print at once
        thread = threading.Thread(target=other)
        thread.start()
        while not os.path.exists(os.environ["STARTED"]) or not waits(thread.ident):
            time.sleep(0.01)
        hang(call)
        thread.join()
        works()
    case "exit":
        from affdsl.codegen import ahead
        ahead.begin()
        while not os.path.exists(os.environ["STARTED"]):
            time.sleep(0.01)
        print("begun")
    case "fork":
        from affdsl.codegen import ahead, background
        background.PATIENCE = 0.1
        ahead.begin()
        while not os.path.exists(os.environ["STARTED"]):
            time.sleep(0.01)
        child = os.fork()
        works()
        if child:
            assert os.waitpid(child, 0)[1] == 0
    case "fork of a thread's":
        from affdsl.codegen import background
        background.PATIENCE = background.CLEANUP = 0.1
        def other():
            try:
                call()
            except KeyboardInterrupt:
                pass
        thread = threading.Thread(target=other)
        thread.start()
        while not os.path.exists(os.environ["STARTED"]):
            time.sleep(0.01)
        child = os.fork()
        if not child:
            works()
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        background.stop()
        thread.join()
'''

INTERRUPTED = [
    ("call", "-O2", ["interrupted", "works"]),  # what calls kernels is built in a thread
    ("optimize", "--version", ["interrupted", "works"]),
    ("thread", "-fopenmp", ["interrupted", "stopped", "works"]),
    ("build", "-c", ["interrupted", "works"]),
    ("call", "--version", ["interrupted", "works"]),
    ("call", "-fopenmp", ["interrupted", "works"]),
    ("call", "-march=native", ["interrupted", "works"]),
    ("call", "-ffp-contract=off", ["interrupted", "works"]),
    ("optimize", "-dM", ["interrupted", "works"]),
    ("build", "-shared", ["interrupted", "works"]),
]
ALONE = [
    ("exit", "--version", ["begun"]),
    ("fork", "-fopenmp", ["works", "works"]),
    ("fork of a thread's", "--version", ["works"]),
]


@pytest.fixture
def start(tmp_path):
    """Starts the program with a compiler that hangs; gives it when the compiler does, and says whether all ended."""
    compiler, program, started = tmp_path / "gcc", tmp_path / "program.py", tmp_path / "started"
    (tmp_path / "tmp").mkdir()
    program.write_text(PROGRAM)
    processes = []

    def begin(what: str, hangs: str) -> subprocess.Popen:
        if (what, hangs) == ("call", "-O2"):  # the flag of what is built with header files of Python alone
            oracles.require_headers()
        real = oracles.require("gcc")
        compiler.write_text(COMPILER.replace("HANGS", hangs).replace("STARTED", str(started)).replace("REAL", real))
        compiler.chmod(0o700)
        environment = {**os.environ, "AFFDSL_CC": str(compiler), "REAL": real, "STARTED": str(started)}
        environment |= {"TMPDIR": str(tmp_path / "tmp"), "AFFDSL_CACHE_DIR": str(tmp_path / "cache")}
        environment |= {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-W", "ignore::DeprecationWarning", str(program), what, str(tmp_path / "built")]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        wait_for(started.exists)
        return processes[0]

    yield begin
    if not processes:  # for want of an oracle
        return
    for process in processes:
        process.kill()
        process.communicate()
    left = [int(number) for number in started.read_text().split()]
    wait_for(lambda: not any(map(runs, left)))
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == []
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)


def wait_for(what) -> None:
    """Wait until something holds."""
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def runs(process: int) -> bool:
    """Whether a process is there, and not only its number."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked at in /proc")
@pytest.mark.parametrize(("what", "hangs", "said"), some(INTERRUPTED, 4))
def test_ctrl_c_while_a_compiler_hangs(start, what, hangs, said):
    process = start(what, hangs)
    output, _ = process.communicate(timeout=60)
    printed = sorted(output.decode().splitlines())  # either of two threads may be the first to say that it was stopped
    assert (process.returncode, printed) == (0, said)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked at in /proc")
@pytest.mark.parametrize(("what", "hangs", "said"), ALONE)
def test_the_exit_and_forks_do_not_wait_for_a_compiler_that_hangs(start, what, hangs, said):
    process = start(what, hangs)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output.decode().splitlines()) == (0, said)
