"""C and C++ that call what is shipped with complex numbers."""

import subprocess

import numpy as np
import pytest

import affdsl as af
from tests.codegen.c.compare import WARNINGS
from tests.complex_numbers.kernels import CASES
from tests.oracles import compile_c, require

USE = """\
#include "combine.h"

int main(void)
{
    double _Complex x[2] = {1.0, 2.0}, sum;
    const float _Complex y[2] = {0.5f, -1.0f};
    combine(2, x, y, 2.0, &sum);
    return sum == 2.75 ? 0 : 1;
}
"""
USE_CPP = """\
#include "combine.h"

int main()
{
    std::complex<double> x[2] = {{1, 1}, {2, 0}};
    const std::complex<float> y[2] = {{0.5f, 0}, {-1, 1}};
    std::complex<double> sum;
    combine(2, x, y, {0, 2}, &sum);
    return sum == std::complex<double>(-1.25, 3.5) ? 0 : 1;
}
"""


@pytest.mark.parametrize(("compiler", "cpp"), [("gcc", "g++"), ("clang-22", "")])
def test_c_and_cpp_call_what_is_shipped(tmp_path, compiler: str, cpp: str):
    N = af.symbols("N")

    @af.kernel
    def combine(x: af.c128[N], y: af.const(af.c64[N]), factor: af.c128):
        with af.for_(N, iter_args=af.c128(0)) as (i, s):
            x[i] = factor * x[i] + af.c128(y[i])
            af.yield_(s + x[i] / 2)
        return s

    combine.save_c(tmp_path)
    kernel, header = ((tmp_path / f"combine.{end}").read_text() for end in ("c", "h"))
    flags = ["-std=c11", *WARNINGS, "-O1"]
    program = compile_c({"combine.c": kernel, "combine.h": header, "use.c": USE}, compiler, flags, shared=False)
    assert subprocess.run([program], check=False).returncode == 0
    if not cpp:
        return
    library = compile_c({"combine.c": kernel, "combine.h": header}, compiler, flags)
    sources = {"use.cpp": USE_CPP, "combine.h": header}
    program = compile_c(
        sources,
        cpp,
        ["-std=c++17", *WARNINGS, "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{library.parent}"],
        shared=False,
    )
    assert subprocess.run([program], check=False).returncode == 0


def test_a_variable_of_the_kernel_hides_nothing_of_complex_h():
    N = af.symbols("N")

    @af.kernel
    def odd(creal: af.c128[N], CMPLX: af.f64, cexp: af.c64, re: af.f64[N]):
        with af.for_(N) as i:
            creal[i] = af.exp(creal[i]) * af.complex(CMPLX, 1) + af.c128(cexp)
            re[i] = creal[i].real

    given = [np.array([1j]), 2.0, 1 - 1j, np.zeros(1)]
    expected = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
    odd(*given)
    odd.interpret(*expected)
    assert given[0] == expected[0]
    assert given[3] == expected[0].real


def test_no_compiler_warns_of_any_kernel(tmp_path):
    for case in CASES:
        (tmp_path / f"{case}.c").write_text(case.kernel.c())
    files = [f"{case}.c" for case in CASES]
    for compiler in ("gcc", "clang-22"):
        command = [require(compiler), "-std=c11", *WARNINGS, "-fsyntax-only", *files]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
