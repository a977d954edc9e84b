"""The packed entry points: sizes found and checked, scalars of every type, results."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.arguments import ArrayArgument, ArrayResult, ScalarArgument, Signature
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.c.entry import signature
from affdsl.errors import UnsupportedError
from affdsl.ir.expr import Constraint
from affdsl.ir.types import BF16, F16, F32, F64, I8, I64, MemRefType
from tests.codegen.c.build import Builder, module
from tests.codegen.c.compare import call, compile_silently
from tests.oracles import require


def library(m, folder: Path, sizes: int, name: str = "kernel") -> ctypes.CDLL:
    return ctypes.CDLL(str(compile_silently(emit_jit(m, name, sizes=sizes), folder, require("gcc"), "-O2")))


def floats(*shape: int) -> np.ndarray:
    return np.ones(shape, "float32")


def test_sizes_that_agree_and_disagree(tmp_path: Path):
    b = Builder()
    M, N, P = b.index("M"), b.index("N"), b.index("P")
    x = b.array("x", M, 3)
    b.array("y", N * 2 + 1, M)
    b.array("z", M + N + P, M * N)
    b.assumes.append(Constraint(M - 2))
    b.store(b.constant(7.0, F32), x, 0, 0)
    m = module(b.func())
    c = library(m, tmp_path, 3)

    def status(*shapes: tuple[int, ...]) -> int:
        arrays = [floats(*s) for s in shapes]
        result = call(c, m, "kernel", arrays, sizes=3)[0]
        assert (arrays[0][:1, :1] == 7.0).all() == (result == 0) or not arrays[0].size
        return result

    assert status((2, 3), (9, 2), (7, 8)) == 0
    assert status((2, 3), (9, 2), (6, 8)) == 0
    assert status((2, 4), (9, 2), (7, 8)) == 1
    assert status((2, 3), (8, 2), (7, 8)) == 1
    assert status((2, 3), (9, 3), (7, 8)) == 1
    assert status((2, 3), (9, 2), (5, 8)) == 1
    assert status((2, 3), (9, 2), (7, 9)) == 1
    assert status((1, 3), (9, 1), (7, 4)) == 1
    assert status((2, 3), (0, 2), (7, 0)) == 1


def test_a_product_of_sizes_that_no_integer_holds_is_refused(tmp_path: Path):
    b = Builder()
    M, N = b.index("M"), b.index("N")
    for name, shape in (("x", (M, 0)), ("y", (N, 0)), ("z", (M * N, 0))):
        b.array(name, *shape, type=I8)
    m = module(b.func())
    c = library(m, tmp_path, 2)

    def status(*sizes: int) -> int:
        return call(c, m, "kernel", [np.empty((n, 0), "int8") for n in sizes], sizes=2)[0]

    assert status(2**31, 2**31, 2**62) == 0
    assert status(2**32, 2**32, 0) == 1
    assert status(2**40, 2**40, 5) == 1


def test_scalars_of_every_kind(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N, type=F64)
    half, brain = b.scalar("half", F16), b.scalar("brain", BF16)
    byte = b.scalar("byte", I8, unsigned=True)
    k = b.index("k")
    wide = b.cast("extf", half, F64)
    b.store(wide, x, k)
    b.store(b.cast("uitofp", byte, F64), x, k + 1)
    m = module(b.func(b.binary("addf", brain, brain)))
    assert signature(m, "kernel", sizes=1).arguments[1:] == (
        ScalarArgument("half", np.dtype("float16")),
        ScalarArgument("brain", np.dtype("float32")),
        ScalarArgument("byte", np.dtype("uint8")),
        ScalarArgument("k", np.dtype("int64")),
    )
    x = np.zeros(4)
    status, (result,) = call(library(m, tmp_path, 1), m, "kernel", [x, 1.5, 1.00390625, 200, 2], sizes=1)
    assert status == 0
    assert list(x) == [0, 0, 1.5, 200]
    assert result == 2.0  # the argument was rounded to bf16


def test_results_of_every_kind(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N)
    first = b.alloc(MemRefType((None, 2), F32), b.apply(N - 1), name="first")
    second = b.alloc(MemRefType((), F64), name="second")
    with b.loop("i", 0, N - 1) as i:
        b.store(b.load(x, i.iv), first, i.iv, 0)
        b.store(b.load(x, i.iv + 1), first, i.iv, 1)
    b.store(b.constant(2.5, F64), second)
    m = module(b.func(b.load(x, 0), first, b.constant(9, I64), second))
    types = signature(m, "kernel", sizes=1)
    assert types.arguments == (ArrayArgument("x", np.dtype("float32"), 1, False),)
    assert types.results[1] == ArrayResult(np.dtype("float32"), 2)
    assert isinstance(types, Signature)
    c = library(m, tmp_path, 1)
    status, results = call(c, m, "kernel", [np.arange(3, dtype="float32") + 1], sizes=1)
    assert status == 0
    assert results[0] == 1
    assert results[1].tolist() == [[1, 2], [2, 3]]
    assert (results[2], results[3].item()) == (9, 2.5)
    assert call(c, m, "kernel", [np.empty(0, "float32")], sizes=1)[0] == 1, "an array of -1 rows"


def test_only_the_entry_points_are_visible(tmp_path: Path):
    b = Builder()
    b.array("x", b.index("N"))
    source = emit_jit(module(b.func()), "kernel", sizes=1)
    c = ctypes.CDLL(str(compile_silently(source, tmp_path, require("gcc"), "-fvisibility=hidden")))
    assert hasattr(c, "affdsl_entry")
    assert not hasattr(c, "kernel")
    assert not hasattr(c, "affdsl_results")


def test_an_argument_that_is_no_size():
    b = Builder()
    b.scalar("alpha", F32)
    with pytest.raises(UnsupportedError, match="argument 0 of 'kernel' is said to be a size, but is f32"):
        emit_jit(module(b.func()), "kernel", sizes=1)
