"""Processes that fork after a parallel loop ran: no child waits for threads that it doesn't have."""

import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import affdsl as af
from tests import oracles
from tests.cluster import forking
from tests.effort import TRIES_ALL

ROOT = Path(__file__).parents[2]
METHODS = ["os.fork", "pool fork"]
OTHERS = ["fork", "spawn", "forkserver", "pool spawn", "pool forkserver"]
CASES = [(compiler, kind, ran) for compiler in ("gcc", "clang-22") for kind in forking.KINDS for ran in "10"]
SHORT = [("gcc", kind, "1") for kind in forking.KINDS]
N = af.symbols("N")


@af.kernel
def twice(x: af.f64[N], y: af.f64[N]):
    with af.parallel(N) as i:
        y[i] = 2.0 * x[i]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Builds a library by a compiler, once; gives its folder, in which the wheel is unpacked."""
    found = {}

    def build(compiler: str) -> Path:
        if compiler not in found:
            folder = found[compiler] = tmp_path_factory.mktemp("twice")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("AFFDSL_CC", oracles.require(compiler, ["-fopenmp"]))
                files = af.build(twice, folder, python=True)
            zipfile.ZipFile(next(file for file in files if file.suffix == ".whl")).extractall(folder)
        return found[compiler]

    return build


def ran(built, compiler: str, kind: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """The script of `forking`, with two threads."""
    folder = built(compiler)
    environment = {**os.environ, "AFFDSL_CC": oracles.require(compiler), "TWICE": str(folder / "libtwice.so")}
    environment |= {"OMP_NUM_THREADS": "2", "PYTHONPATH": f"{ROOT}:{folder}", **variables}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", forking.__file__, kind, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("compiler", "kind", "before"), CASES if TRIES_ALL else SHORT)
def test_a_child_answers_after_its_parent_ran_a_parallel_loop(built, compiler, kind, before):
    methods = [*METHODS, *OTHERS] if TRIES_ALL else METHODS
    done = ran(built, compiler, kind, before, *methods)
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(line.split(": ") for line in done.stdout.splitlines())
    assert [*found] == methods
    assert all(float(seconds) < 1 for seconds in found.values()) or not TRIES_ALL, found


@pytest.mark.parametrize("kind", forking.KINDS if TRIES_ALL else ["kernel"])
def test_llvm_is_told_not_to_look_after_forks(built, kind):
    """As joblib tells it when it is imported."""
    done = ran(built, "clang-22", kind, "1", *METHODS, KMP_INIT_AT_FORK="FALSE")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(METHODS)


@pytest.mark.parametrize("kind", ["kernel", "wheel"] if TRIES_ALL else ["wheel"])
def test_a_child_that_loads_it_after_other_code_used_openmp_before_the_fork(built, kind):
    """Of gcc's OpenMP library there is one: its threads may have been begun by somebody else."""
    other = oracles.compile_c({"other.c": OTHER}, flags=["-fopenmp"])
    done = ran(built, "gcc", kind, "0", *METHODS, OTHER=str(other))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(METHODS)


OTHER = """
int other(void);
int other(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads) num_threads(2)
    threads += 1;
    return threads;
}
"""

PROGRAM = """
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

void twice(int64_t N, const double *x, double *y);

static double x[1000000], y[1000000];

static int run(double value)
{
    x[999999] = value;
    twice(1000000, x, y);
    return y[999999] == 2 * value ? 0 : 1;
}

int main(void)
{
    int status = run(1), inner = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        status = run(2) | run(3);
        child = fork();
        if (child == 0)
            _exit(run(4));
        waitpid(child, &inner, 0);
        _exit(status | run(5) | inner);
    }
    waitpid(child, &inner, 0);
    return status | run(6) | inner;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"] if TRIES_ALL else ["gcc"])
def test_a_program_in_c_that_forks(compiler):
    sources = {"twice.c": twice.c(), "main.c": f"#define _DEFAULT_SOURCE\n{PROGRAM}"}
    flags = ["-std=c11", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion"]
    program = oracles.compile_c(sources, compiler, flags, shared=False)
    done = subprocess.run([program], env={**os.environ, "OMP_NUM_THREADS": "2"}, timeout=60)
    assert done.returncode == 0


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="the function is called by its name elsewhere"
)
def test_libraries_load_where_a_package_has_brought_an_older_libgomp():
    """As that of PyTorch 2.0, which has nothing of OpenMP 5, and is found by all libraries that come later."""
    library = oracles.compile_c({"twice.c": twice.c()}, "gcc", ["-std=c11", "-fopenmp"])
    needed = subprocess.run(["readelf", "-V", library], capture_output=True, text=True, check=True).stdout
    assert "OMP_1.0" in needed
    assert "OMP_5" not in needed


def test_c_without_parallel_loops_knows_nothing_of_forks():
    @af.kernel
    def alone(x: af.f64[N]):
        with af.for_(N) as i:
            x[i] = 1.0

    assert "fork" not in alone.c()
    assert twice.c().count("pthread_atfork(AFFDSL_AT_FORK)") == 1


def test_functions_that_c_with_parallel_loops_declares_are_no_names_of_kernels():
    @af.kernel
    def omp_get_max_threads(x: af.f64[N]):
        with af.parallel(N) as i:
            x[i] = 1.0

    oracles.compile_c({"kernel.c": omp_get_max_threads.c()}, flags=["-std=c11", "-fopenmp"])
