"""The wheel of a library: pip takes it, it needs NumPy only, and its functions do and refuse what the kernels do."""

import base64
import csv
import hashlib
import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.aot.wheel import COPIED, copies
from affdsl.codegen.errors import BuildError
from tests.shipping import kernels


def wheel_of(folder):
    """The wheel in a folder: its name says for which systems it is, which depends on the compiler."""
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def wheel(all_kinds, tmp_path_factory):
    """The module of the wheel, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel_of(all_kinds)).extractall(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        import all_kinds as found  # noqa: PLC0415 - it is there now
    yield found
    for name in [name for name in sys.modules if name.partition(".")[0] == "all_kinds"]:
        del sys.modules[name]


def test_pip_installs_it_and_numpy_is_all_that_it_needs(all_kinds, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--target", tmp_path / "installed", wheel_of(all_kinds)], check=True, stdin=subprocess.DEVNULL
    )
    (tmp_path / "only").mkdir()
    packages = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs"):
        if (packages / name).exists():
            (tmp_path / "only" / name).symlink_to(packages / name)
    script = f"""
import sys
sys.path += [{str(tmp_path / "only")!r}, {str(tmp_path / "installed")!r}]
import numpy as np, all_kinds
a, b, c = np.ones((2, 3), "f4"), np.ones((3, 4), "f4"), np.empty((2, 4), "f4")
all_kinds.product(a, B=b, C=c)
print(c.tolist(), all_kinds.__version__, "affdsl" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("[[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]] 1.2.3 False\n", "")


def test_its_list_has_the_hash_of_every_file(all_kinds):
    with zipfile.ZipFile(wheel_of(all_kinds)) as archive:
        assert archive.testzip() is None
        rows = list(csv.reader(io.StringIO(archive.read("all_kinds-1.2.3.dist-info/RECORD").decode())))
        assert [name for name, _, _ in rows] == archive.namelist()
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={wanted}", str(len(data)))
        assert rows[-1] == ["all_kinds-1.2.3.dist-info/RECORD", "", ""]
        library = archive.getinfo("all_kinds/liball_kinds.so")
    assert library.external_attr >> 16 == 0o100755


def test_the_same_kernels_give_the_same_wheel(all_kinds, tmp_path):
    af.build(kernels.ALL, tmp_path, name="all_kinds", version="1.2.3", python=True)
    assert wheel_of(tmp_path).read_bytes() == (wheel_of(all_kinds)).read_bytes()


def calls(random, size):
    """Arguments for each kernel, of some size: those of the wheel, and the same again for the interpreter."""
    n = size
    floats, bytes_ = random.random((3, n, n)).astype("f4"), random.integers(0, 200, 2 * n + 3, np.uint8)
    yield "product", (floats[0], floats[1], np.zeros((n, n), "f4"))
    yield "scaled", (0.5, np.arange(2.0 * n)[::2], np.ones((n, 3))[::-1, 1], 3)
    yield "scaled", (np.float64(2.5), np.broadcast_to(1.5, n), np.ones(n))
    yield "halves", (bytes_[: 2 * (n // 2) + 3],)
    yield "mean", (random.integers(-9, 9, n, np.int32), np.int32(0))
    yield "half", (np.float16(n),)
    yield "shifted", (random.random(n + 1), np.zeros(n))
    yield "gathered", (random.random(9), random.integers(0, 9, n), np.zeros(n))
    yield "rooted", (random.random(n).astype("f4"),)
    yield "by_number", ((random.random(n) + 2j).astype("c8"), 1 - 2j)
    yield "by_number", (np.ones(n, "c8"), np.complex64(0.1j), 2)
    yield "doubled", (floats[0, :1].ravel(),)
    yield "turned", ((random.random(n) + 2j).astype("c8"), np.zeros(n, "c16"), 1.5)


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_it_does_what_the_interpreter_does(wheel, size):
    for name, arguments in calls(np.random.default_rng(size), size):
        copied = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
        got, wanted = getattr(wheel, name)(*arguments), getattr(kernels, name).interpret(*copied)
        for ours, theirs in zip((*arguments, *tupled(got)), (*copied, *tupled(wanted)), strict=True):
            np.testing.assert_array_equal(ours, theirs, strict=isinstance(theirs, np.ndarray))
        for ours, theirs in zip(tupled(got), tupled(wanted), strict=True):
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype


def tupled(results):
    return () if results is None else results if isinstance(results, tuple) else (results,)


A, X = np.ones((2, 3), "f4"), np.ones(4)
WRONG = [
    ("product", (A, A, A.copy()), "dimension 0 of argument 'B' must be K = 3 (K = 3 from dimension 1 of 'A'), got 2"),
    ("product", (A, A.T.copy(), A.astype("f8")), "argument 'C' must be an array of float32, got float64"),
    ("product", (A, A.T, np.zeros((2, 2), "f4")), "argument 'B' must be C-contiguous, with strides (8, 4), got"),
    ("product", (A.ravel(), A, A), "argument 'A' must have rank 2, got shape (6,)"),
    ("product", ([1], A, A), "argument 'A' must be a NumPy array of float32, got a list"),
    ("scaled", ("2", X, X), "argument 'a' must be a number for float64, got '2'"),
    ("scaled", (2.0, X, X), "'x' and 'y' overlap in memory and 'y' is written; pass a copy"),
    ("scaled", (2.0, X, X.copy(), 2**63), "argument 'times' must be between -9223372036854775808 and"),
    ("halves", (np.zeros(4, "u1"),), "dimension 0 of argument 'x' is 4, which N * 2 + 1 is for no size N"),
    ("halves", (np.zeros(1, "u1"),), "halves: it assumes N - 1 >= 0, but N = 0"),
    ("shifted", (X, X.copy()), "is in bounds only where N > M or M == 0, but N = 4, M = 4"),
    ("gathered", (X, np.array([1, 4]), X[:2].copy()), "values[places[i]]: index 4 is out of bounds for dimension 0"),
    ("rooted", (np.array([1, -2.5], "f4"),), "not negative (i = 1, x[i] = -2.5)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "said"), WRONG, ids=[f"{n}-{k}" for k, (n, *_) in enumerate(WRONG)])
def test_it_refuses_what_kernels_refuse_in_the_same_words(wheel, name, arguments, said):
    with pytest.raises((TypeError, ValueError, IndexError, AssertionError)) as ours:
        getattr(kernels, name)(*arguments)
    with pytest.raises((TypeError, ValueError, IndexError, AssertionError)) as theirs:
        getattr(wheel, name)(*arguments)
    assert type(theirs.value).__name__ == type(ours.value).__name__
    assert said in str(theirs.value)
    place = re.compile(r"[\w./]*kernels\.py")
    # Of an access out of bounds, affdsl also finds the iteration.
    assert place.sub("", str(ours.value)).startswith(place.sub("", str(theirs.value)))


def test_a_number_with_which_64_bits_are_too_few_is_refused(wheel):
    for scaled in (kernels.scaled, wheel.scaled):
        with pytest.raises(ValueError, match=r"scaled: argument times .*must lie between -\d+ and \d+.*"):
            scaled(2.0, X, X.copy(), 2**62)


def test_numbers_of_arguments_and_defaults_are_those_of_python(wheel):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'C'"):
        wheel.product(A, A)
    with pytest.raises(TypeError, match="unexpected keyword argument 'D'"):
        wheel.product(A, A, D=A)
    y = np.zeros(4)
    wheel.scaled(1.0, X, y)
    assert y.tolist() == [2.0] * 4
    assert wheel.half() == np.inf
    assert wheel.half(np.float16(3)) == np.float16(1.5)


def test_one_for_several_cpus_says_which_it_runs_on(dispatched, tmp_path):
    (file,) = dispatched.glob("*.whl")
    zipfile.ZipFile(file).extractall(tmp_path)
    script = """
import filters, numpy as np
image, out = np.ones((5, 5), "f4"), np.zeros((5, 5), "f4")
filters.smooth(image, out)
print(filters.target(), out[2, 2] == np.float32(5) * np.float32(0.2), filters.brightest(image, np.zeros(5, "f4")))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "FILTERS_TARGET": "baseline"},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("baseline True 1.0\n", "")


def test_it_says_what_it_is(wheel):
    assert wheel.__all__ == [kernel.name for kernel in kernels.ALL]
    assert wheel.product.__doc__.startswith("The product of two matrices.\n")
    assert "C : f32 array of shape (M, N), contiguous\n        Written in place." in wheel.product.__doc__
    assert "y : f64 array of shape (N,), any strides" in wheel.scaled.__doc__


def test_its_stub_has_the_functions_with_their_types(all_kinds):
    text = zipfile.ZipFile(wheel_of(all_kinds)).read("all_kinds/__init__.pyi").decode()
    compile(text, "__init__.pyi", "exec")
    assert "def product(A: _npt.NDArray[_np.float32], B: _npt.NDArray[_np.float32], C:" in text
    assert "times: _int | _np.integer[_Any] = ...) -> None: ..." in text
    assert "by: _complex | _np.complexfloating[_Any] | _float | _np.floating[_Any] | _np.integer[_Any], turn:" in text
    assert "def halves(x: _npt.NDArray[_np.uint8]) -> _tuple[_npt.NDArray[_np.float16], _np.float16, _np.bool_]" in text


def test_what_kernels_print_comes_in_order(all_kinds, wheel, capfd):
    print("before")
    wheel.said(np.array([1, 2.5], "f4"))
    print("after")
    sys.stdout.flush()
    assert capfd.readouterr().out == "before\nx 0 1\nx 1 2.5\nafter\n"


def test_a_library_that_the_system_refuses_is_said(all_kinds, tmp_path):
    zipfile.ZipFile(wheel_of(all_kinds)).extractall(tmp_path)
    (tmp_path / "all_kinds" / "liball_kinds.so").write_bytes(b"nothing")
    done = subprocess.run([sys.executable, "-c", "import all_kinds"], cwd=tmp_path, capture_output=True, text=True)
    assert "ImportError: the compiled library liball_kinds.so cannot be loaded: " in done.stderr
    assert "install what it names, or a wheel that was built for this machine" in done.stderr


def test_a_kernel_that_only_affdsl_can_check_is_refused(tmp_path):
    with pytest.raises(af.UnsupportedError, match=r"folded: whether x\[.*only the numbers of each call decide.*bounds"):
        af.build(kernels.folded, tmp_path, python=True)
    assert not list(tmp_path.iterdir())
    af.build(kernels.folded, tmp_path)
    assert "Requires sizes for which x[i % K] (kernels.py:" in (tmp_path / "folded.h").read_text()


def test_numbers_that_no_wheel_can_pass_are_refused(tmp_path):
    with pytest.raises(af.UnsupportedError, match="narrow: a wheel cannot pass bfloat16 to C: NumPy alone has no such"):
        af.build(narrow(), tmp_path, python=True)


def narrow():
    N = af.symbols("N")

    @af.kernel
    def narrow(x: af.bf16[N]):
        x[0] = 1.0

    return narrow


def test_its_errors_are_those_of_the_package(wheel):
    with pytest.raises(wheel.SizeError) as caught:
        wheel.halves(np.zeros(4, "u1"))
    assert isinstance(caught.value, wheel.AffdslError)
    assert type(caught.value).__module__ == "all_kinds"
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args  # noqa: S301 - it is our own


def test_names_that_no_function_of_a_package_can_have(tmp_path):
    with pytest.raises(BuildError, match="a function of a Python package cannot be called _hidden: give it another"):
        af.build(hidden(), tmp_path, name="kernels_of_mine", python=True)


def hidden():
    N = af.symbols("N")

    @af.kernel
    def _hidden(x: af.f32[N]):
        x[0] = 1.0

    return _hidden


def test_copies_import_each_other_only():
    for name, text in copies().items():
        compile(text, name, "exec")
        assert not re.search(r"^\s*(from|import) affdsl", text, re.M), name
    assert len(copies()) == len(COPIED) + 1
