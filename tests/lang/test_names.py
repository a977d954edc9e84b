"""Names that are odd or hostile, of kernels, arguments and loops: harmless in MLIR and in C, and still readable."""

import functools
import types
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from tests.mlir.batches import Verdict, judge
from tests.oracles import compile_c, mlir_opt

FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")

IDENTIFIERS = (
    "int for_ affine func index f32 memref restrict main exp module builtin true false none null NULL errno stdin "
    "double float32_t int64_t uint8_t bool inline register auto static sizeof volatile _Bool _Complex __func__ _ __ "
    "vector arith scf math map set loc to step iter_args symbol dim mod floordiv ceildiv min max unit tensor i i1 I "
    "abs malloc free printf INT64_MAX EOF unix linux complex signal d0 s0 c0 cst arg0 bb0 A_0 N M größe 变量 ﬁ "
    "class_ template namespace new delete this operator private public typename using virtual friend typeof asm"
).split()

HOSTILE = [
    '"; system("touch /tmp/x"); "', "a\nb", "%0", "@f", "a b", "0", "-1", "//", "/* x */", "*/", '"', "\\", "\\22",
    "\0", "\u202e", "f(", "f.g", "#define x", "<lambda>", "é", "ﬁ", "\U0001f600",
    "x" * 300, "int", "for", "main", "exp",
    "memcpy", "affdsl_f", "_start", "__stack_chk_fail", "operator", "class",
]  # fmt: skip


def defined(text: str, name: str = "kernel", **names: object) -> af.Kernel:
    """The function of a text as a kernel, under any name."""
    space: dict[str, object] = {"af": af, "N": af.symbols("N"), **names}
    exec(text, space)
    function = space["kernel"]
    assert isinstance(function, types.FunctionType)
    function.__name__ = name
    return af.kernel(function)


def accepted(kernel: af.Kernel, folder: Path) -> None:
    """mlir-opt reads it, gcc compiles it, and neither has anything to say."""
    canonical = mlir_opt(kernel.mlir())
    assert mlir_opt(canonical) == canonical
    compiled(kernel, folder)


def compiled(kernel: af.Kernel, folder: Path) -> None:
    compile_c({path.name: path.read_text("utf-8") for path in kernel.save_c(folder)}, "gcc", FLAGS)


def test_the_names_are_all_different():
    assert len(set(IDENTIFIERS)) == len(IDENTIFIERS)
    assert len(set(HOSTILE)) == len(HOSTILE)
    assert all(name.isidentifier() for name in IDENTIFIERS)


def test_arguments_may_be_called_anything(tmp_path):
    arguments = ", ".join(f"{name}: af.f64" for name in IDENTIFIERS)
    stores = "\n".join(f"    out[{n}] = {name}" for n, name in enumerate(IDENTIFIERS))
    kernel = defined(f"def kernel(out: af.f64[{len(IDENTIFIERS)}], {arguments}):\n{stores}\n")
    accepted(kernel, tmp_path)
    numbers = np.arange(float(len(IDENTIFIERS)))
    for run in (kernel, kernel.interpret):
        out = np.zeros(len(IDENTIFIERS))
        run(out, *numbers.tolist())
        np.testing.assert_array_equal(out, numbers)


def test_nested_loops_may_be_called_like_the_arrays_and_sizes_around_them(tmp_path):
    kernel = defined(
        """
def kernel(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        with af.for_(i, i + 1) as A_, af.for_(N) as N_, af.if_(N_ == A_):
            A[N_] += B[A_]
            with af.for_(1) as i, af.for_(1) as i, af.for_(1) as kernel:
                B[kernel] += 0.0
"""
    )
    accepted(kernel, tmp_path)
    a, b = np.ones(3), np.arange(3.0)
    kernel(a, b)
    assert a.tolist() == [1, 2, 3]


@functools.cache
def called(name: str) -> af.Kernel:
    return defined("def kernel(A: af.f64[N]):\n    with af.for_(N) as i:\n        A[i] += 1.0\n", name)


@functools.cache
def read() -> dict[str, tuple[Verdict, Verdict]]:
    """What mlir-opt says of each kernel with a hostile name, and of what it printed of it; two runs for all of them."""
    first = judge([called(name).mlir() for name in HOSTILE])
    return dict(zip(HOSTILE, zip(first, judge([each.output or "" for each in first]), strict=True), strict=True))


@pytest.mark.parametrize("name", HOSTILE, ids=[f"{n}" for n in range(len(HOSTILE))])
def test_a_kernel_may_be_called_anything(name, tmp_path):
    kernel = called(name)
    canonical, again = read()[name]
    assert canonical.output is not None, canonical
    assert again.output == canonical.output
    compiled(kernel, tmp_path)
    assert [path.parent for path in kernel.save_c(tmp_path)] == [tmp_path] * 2
    a = np.zeros(2)
    kernel(a)
    assert a.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["2N", "a-b", "a;b", "%", '"', "a\n\0b", "", "x y!"])
def test_symbols_are_identifiers(name):
    with pytest.raises(af.ProgramNameError, match="a symbol needs a name like N"):
        af.symbols(name)


@pytest.mark.parametrize("name", ["", "\ud800", "a\udfff"], ids=ascii)
def test_a_kernel_has_a_name_that_can_be_written(name):
    with pytest.raises(af.ProgramNameError, match="which no output can spell\n    set the function's __name__"):
        defined("def kernel(A: af.f64[N]):\n    A[0] = 0.0\n", name)


def test_a_hostile_name_is_quoted_in_messages_as_it_is():
    with pytest.raises(af.ProgramTypeError, match=r"argument A of kernel % has no annotation"):
        defined("def kernel(A):\n    pass\n", "%")
