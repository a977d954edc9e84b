"""What is begun before the first compiled call is begun once, and nobody asks the compiler a second time meanwhile."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import affdsl as af
from affdsl.codegen import ahead, cache, native, toolchain
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.toolchain import Command, Compiler

N = af.symbols("N")


@af.kernel
def fill(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = 1.0


@pytest.fixture
def begun(monkeypatch):
    """What begins, by name, as it does; an optimizer that begins nothing itself."""
    found, is_done = [], threading.Event()

    def asked():
        found.append("target")
        is_done.set()
        raise ToolchainError("no compiler")

    monkeypatch.setattr(ahead, "prepare", lambda: found.append("caller"))
    monkeypatch.setattr(ahead, "native_target", asked)
    ahead.begin.cache_clear()
    yield found, is_done
    ahead.begin.cache_clear()


def test_optimizing_for_this_machine_begins_once(begun):
    found, is_done = begun
    fill.optimize("avx2", threads=1)
    assert found == []
    fill.optimize(threads=1)
    fill.optimize(threads=1)
    assert is_done.wait(30)
    assert found == ["caller", "target"]


def test_a_cache_that_cannot_be_trusted_is_said_at_once_and_again(begun, monkeypatch):
    monkeypatch.setenv("AFFDSL_CACHE_DIR", "here")
    for _ in range(2):
        with pytest.raises(af.CacheError, match=r"^AFFDSL_CACHE_DIR is 'here', which depends on the working directory"):
            ahead.begin()
    assert begun[0] == []


def test_threads_that_ask_for_the_compiler_together_run_it_once(tmp_path, monkeypatch):
    compiler, runs = tmp_path / "cc", []
    compiler.write_text("")

    def identified(command: Command) -> Compiler:
        runs.append(command)
        time.sleep(0.05)
        return Compiler(command.path, (), "it", "gcc", has_openmp=False, has_native=False)

    monkeypatch.setattr(cache, "identify", identified)
    folder = cache.Cache(tmp_path / "cache")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(folder.compiler, [Command(compiler)] * 4))
    assert runs == [Command(compiler)]
    assert all(each is found[0] for each in found)


def test_threads_that_ask_for_the_target_together_run_the_compiler_once(monkeypatch):
    runs = []
    native.macros.cache_clear()
    run = toolchain._run

    def noted(line, folder):
        runs.append(line)
        time.sleep(0.05)
        return run(line, folder)

    cache.default_cache().compiler()
    monkeypatch.setattr(toolchain, "_run", noted)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: native.native_target(), range(4)))
    assert len(runs) == 1
    assert found == [native.native_target()] * 4


FORKED = """
import os, signal, threading
import numpy as np
import affdsl as af
from affdsl.codegen import ahead

N = af.symbols("N")

@af.kernel
def fill(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = 1.0

ahead.begin()
child = os.fork()
assert threading.active_count() == 1
x = np.zeros(9)
if not child:
    signal.alarm(20)
fill(x)
assert x.sum() == 9
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_process_forks_when_the_threads_have_ended(tmp_path):
    file, folder = tmp_path / "forked.py", tmp_path / "cache"
    file.write_text(FORKED)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(file)]
    ran = subprocess.run(command, env={**os.environ, "AFFDSL_CACHE_DIR": str(folder)}, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
