"""Functions that say whether others may run with some sizes: as a call of the kernel says, and never undefined."""

import ctypes
import itertools
import subprocess

import numpy as np
import pytest

import affdsl as af
from affdsl.cli import main
from affdsl.codegen.aot.naming import symbols
from tests.oracles import require
from tests.shipping import kernels
from tests.shipping.machine import SEVERAL

M, N = af.symbols("M N")


@af.kernel
def windows(x: af.f64[2 * N + 3], y: af.f64[M], first: af.index):
    """What no condition on one size can say: a product and a quotient of sizes, and an index that is given."""
    af.assume(M >= 1, first >= 0, M + first <= 7, M * N <= 8, N // M <= 3)
    with af.for_(M) as i:
        y[i] = x[i + first]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A folder with the library, and the library itself."""
    folder = tmp_path_factory.mktemp("checked")
    listed = [windows, kernels.shifted, kernels.halves, kernels.half, kernels.gathered]
    af.build(listed, folder, name="sizes", checked=True, targets=SEVERAL)
    return folder, ctypes.CDLL(str(folder / "libsizes.so"))


def asked(library, name, *numbers):
    return getattr(library[1], f"{name}_check")(*map(ctypes.c_int64, numbers))


def test_it_says_what_a_call_says(library):
    for n, m in itertools.product(range(5), repeat=2):
        assert (asked(library, "shifted", n, m) == 0) == runs(kernels.shifted, np.ones(n), np.ones(m))
        assert (asked(library, "halves", n) == 0) == runs(kernels.halves, np.ones(2 * n + 1, "u1"))
        for first in range(-2, 9):
            arrays = np.ones(2 * n + 3), np.ones(m)
            assert (asked(library, "windows", n, m, first) == 0) == runs(windows, *arrays, first), (m, n, first)
    assert asked(library, "half") == 0


def runs(kernel, *arguments):
    try:
        kernel(*arguments)
    except af.SizeError:
        return False
    return True


def test_the_number_is_that_of_the_header(library):
    header = (library[0] / "sizes.h").read_text()
    for name, numbers, said in (
        ("shifted", (5, -1), "M is at least 0"),
        ("shifted", (-1, 2), "N is at least 0"),
        ("shifted", (2, 2), "A[i + 1] (kernels.py:49) is in bounds only where N > M or M == 0"),
        ("windows", (0, 0, 0), "it assumes M - 1 >= 0"),
        ("windows", (1, 4, 4), "it assumes 7 - first - M >= 0"),
        ("halves", (0,), "it assumes N - 1 >= 0"),
    ):
        about = header[header.index(f" * {name}_check\n") :].partition("*/")[0]
        assert f" * {asked(library, name, *numbers):4}  {said}\n" in about
    assert "It does not find out whether" not in header
    assert "SIZES_API int32_t half_check(void);" in header


MAIN = """
#include <sizes.h>

int main(void)
{
    static const int64_t ends[] = {NUMBERS};
    const int count = (int)(sizeof ends / sizeof ends[0]);
    int found = 0;
    for (int k = 0; k < count * count * count; ++k)
        found += windows_check(ends[k % count], ends[k / count % count], ends[k / count / count]) != 0;
    return found == 0;
}
"""


def test_it_is_defined_for_all_numbers(library, tmp_path):
    ends = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**62, 2**63 - 1]
    for sizes in itertools.product(ends, repeat=3):
        answer = asked(library, "windows", *sizes)
        assert answer != 0 or sizes[1] >= 1
    numbers = ", ".join("INT64_MIN" if n == -(2**63) else f"INT64_C({n})" for n in ends)
    (tmp_path / "main.c").write_text(MAIN.replace("NUMBERS", numbers))
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wmissing-prototypes"]
    sanitized = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
    command = [
        require("gcc", sanitized),
        *flags,
        *sanitized,
        f"-I{library[0]}",
        "main.c",
        library[0] / "sizes_checks.c",
    ]
    for line in ([*command, "-o", "main"], ["./main"]):
        done = subprocess.run([*map(str, line)], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_what_it_cannot_find_out_is_said(tmp_path):
    @af.kernel
    def trusting(values: af.f64[N], places: af.i64[M], out: af.f64[M]):
        with af.for_(M) as i:
            out[i] = values[places[i]]

    af.build([trusting, kernels.folded], tmp_path, name="hidden", checked=True)
    header = (tmp_path / "hidden.h").read_text()
    assert "It does not find out whether values[...] (test_checks.py:" in header
    assert "It does not find out whether x[i % K] (kernels.py:" in header


def test_a_kernel_that_is_called_as_a_check_is_refused():
    with pytest.raises(af.BuildError, match="f_check checks the sizes of f: give the kernel f_check another name"):
        symbols("", ["f", "f_check"], "mk", checked=True)
    assert symbols("", ["f", "f_check"], "mk") == ["f", "f_check"]


def test_the_command_line_has_it(tmp_path, capsys):
    assert main(["build", "tests.shipping.kernels:half", "--checked", "-o", str(tmp_path)]) == 0
    assert "half_checks.c" in capsys.readouterr().out
