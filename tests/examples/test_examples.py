"""Every example, three ways: interpreted, compiled as standalone C, and lowered by mlir-opt, gives what NumPy gives."""

import ctypes
import importlib
import pkgutil
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image
from skimage import data

import affdsl as af
import examples
from affdsl.codegen.errors import SizeError
from affdsl.codegen.jit import check_sizes
from affdsl.errors import ProgramError
from affdsl.optimize import forecast
from affdsl.report import report, times
from affdsl.seeing import profile
from examples import demo
from examples.case import Case
from tests.effort import TRIES_ALL, some
from tests.harness.judges import copied
from tests.oracles import compile_c, mlir_opt, run_mlir
from tests.report.kernels import machine

NAMES = sorted(m.name for m in pkgutil.iter_modules(examples.__path__) if m.name not in ("case", "demo"))
MODULES = {name: importlib.import_module(f"examples.{name}") for name in NAMES}
CASES = [(name, n, case) for name, module in MODULES.items() for n, case in enumerate(module.cases())]
KERNELS = {id(case.kernel): (name, case.kernel) for name, _, case in CASES}

STRICT = (
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wshadow",
    "-Wconversion",
    "-ffp-contract=off",
)

# exp of single precision is the C library's in C and MLIR, and NumPy's in the interpreter: right to an ulp or so.
INEXACT = {"softmax": 2**-21}

every_case = pytest.mark.parametrize("case", [c for *_, c in CASES], ids=[f"{name}-{n}" for name, n, _ in CASES])
IN_TURN = some([*CASES[::2], *CASES[1::2]], len(CASES) // 2)
every_second_case = pytest.mark.parametrize(
    "case", [c for *_, c in IN_TURN], ids=[f"{name}-{n}" for name, n, _ in IN_TURN]
)
BY_KERNEL = [[(name, n, case) for name, n, case in CASES if case.kernel is kernel] for _, kernel in KERNELS.values()]
LOWERED = CASES if TRIES_ALL else [row for rows in BY_KERNEL for row in rows[len(rows) // 3 :][:1]]
one_case_of_each_kernel = pytest.mark.parametrize(
    "case", [c for *_, c in LOWERED], ids=[f"{name}-{n}" for name, n, _ in LOWERED]
)
NAMED = [(f"{name}-{n}-{kernel.name}", kernel) for n, (name, kernel) in enumerate(KERNELS.values())]
every_kernel = pytest.mark.parametrize("kernel", [kernel for _, kernel in NAMED], ids=[name for name, _ in NAMED])


def run_lowered(kernel: af.Kernel) -> Callable[..., object]:
    """kernel's MLIR, lowered by mlir-opt, as a callable on the kernel's Python arguments."""

    def run(*arguments):
        results = run_mlir(kernel.mlir(), kernel.name, [*sizes(kernel, arguments), *arguments])
        several = () if results is None else results if isinstance(results, tuple) else (results,)
        types = (getattr(r, "dtype", r) for r in kernel.program.results)
        return tuple(np.asarray(x).view(t.numpy) for x, t in zip(several, types, strict=True))  # MLIR has no unsigned

    return run


def run_standalone(kernel: af.Kernel) -> Callable[..., object]:
    """kernel's C, compiled without anything of ours, as a callable on the kernel's Python arguments."""
    library = ctypes.CDLL(str(_library(kernel)))
    status = f"int32_t {kernel.name}(" in kernel.header()

    def run(*arguments):
        values = [ctypes.c_int64(n) for n in sizes(kernel, arguments)]
        for p, x in zip(kernel.program.parameters, arguments, strict=True):
            dtype = getattr(p.type, "numpy", np.dtype(np.int64))
            values.append(pointer(x) if isinstance(x, np.ndarray) else np.ctypeslib.as_ctypes_type(dtype)(x))
        bound = dict(zip(kernel.program.sizes, sizes(kernel, arguments), strict=True))
        results = []
        entry = getattr(library, kernel.name)
        entry.restype = ctypes.c_int32 if status else None
        for t in kernel.program.results:
            scalar = not hasattr(t, "shape")
            shape = () if scalar else tuple(e.evaluate(bound) for e in t.shape)
            results.append(np.empty(shape, t.numpy if scalar else t.dtype.numpy))
            if scalar and not status:
                entry.restype = np.ctypeslib.as_ctypes_type(t.numpy)
            else:
                values.append(pointer(results[-1]))
        returned = entry(*values)
        if status:
            assert returned == 0
        elif entry.restype is not None:
            results = [np.asarray(returned, r.dtype) if r.shape == () else r for r in results]
        return tuple(results)

    return run


@cache
def _library(kernel: af.Kernel) -> Path:
    return compile_c(sources(kernel), "gcc", STRICT)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def sizes(kernel: af.Kernel, arguments: tuple[object, ...]) -> list[int]:
    """The leading arguments of the function: the sizes that the arrays have."""
    shapes = tuple(x.shape for x in arguments if isinstance(x, np.ndarray))
    found = check_sizes(kernel.program, shapes, tuple(x for x in arguments if not isinstance(x, np.ndarray)))
    return [found[size] for size in kernel.program.sizes]


def sources(kernel: af.Kernel) -> dict[str, str]:
    return {f"{kernel.name}.c": kernel.c(), f"{kernel.name}.h": kernel.header()}


def as_interpreted(case: Case) -> Case:
    """The case with the interpreter's own outcome as what is expected, to the last bit where nothing else is said."""
    return _interpreted(next(n for n, (*_, each) in enumerate(CASES) if each is case))


@cache
def _interpreted(number: int) -> Case:
    *_, case = CASES[number]
    given = copied(case.arguments)
    returned = case.kernel.interpret(*given)
    results = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    names = [p.name for p in case.kernel.program.parameters]
    changes = {name: x for name, x in zip(names, given, strict=True) if isinstance(x, np.ndarray)}
    atol = INEXACT.get(case.kernel.name, 0.0)
    return replace(case, changes=changes, returns=results, rtol=0.0, atol=atol)


def test_there_are_all_examples():
    assert NAMES == [
        "cholesky", "conv2d", "floyd_warshall", "gauss_seidel", "gauss_seidel_wavefront", "gemm", "heat_blocks",
        "histogram", "jacobi2d", "packed_matmul", "prefix_sum", "softmax", "spmv", "unsharp_sobel",
    ]  # fmt: skip


@pytest.mark.parametrize("module", MODULES.values(), ids=NAMES)
def test_the_cases_have_sizes_0_and_1_and_different_ones(module: ModuleType):
    shapes = [x.shape for case in module.cases() for x in case.arguments if isinstance(x, np.ndarray)]
    extents = {n for shape in shapes for n in shape}
    assert {0, 1} <= extents
    assert any(n > 3 for n in extents)
    square = module.__name__ in ("examples.cholesky", "examples.floyd_warshall")
    vector = module.__name__ in ("examples.prefix_sum", "examples.spmv")
    assert square or vector or any(a != b and min(shape) > 1 for shape in shapes for a, b in pairwise(shape))


@every_case
def test_compiled(case: Case):
    case.check()


@every_case
def test_interpreted(case: Case):
    case.check(case.kernel.interpret)


@every_second_case
def test_standalone_c(case: Case):
    run = run_standalone(case.kernel)
    case.check(run)
    as_interpreted(case).check(run)


@one_case_of_each_kernel
def test_lowered_by_mlir_opt(case: Case):
    run = run_lowered(case.kernel)
    case.check(run)
    as_interpreted(case).check(run)


@every_kernel
def test_mlir_opt_accepts_the_text(kernel: af.Kernel):
    assert f"func.func @{kernel.name}(" in mlir_opt(kernel.mlir(), "--verify-each")


SERIAL, *OTHERS = [(compiler, openmp) for compiler in ("gcc", "clang-22") for openmp in ((), ("-fopenmp",))]
COMPILED = [
    (compiler, openmp, number)
    for number in range(len(KERNELS))
    for compiler, openmp in (SERIAL, *some([*OTHERS[number % 3 :], *OTHERS[: number % 3]], 1))
]
"""Each kernel, by gcc without threads, and in one of the other ways, or in all."""


@pytest.mark.parametrize(
    ("compiler", "openmp", "number"),
    COMPILED,
    ids=[f"{compiler}-{'openmp' if openmp else 'serial'}-{NAMED[n][0]}" for compiler, openmp, n in COMPILED],
)
def test_the_c_compiles_silently(compiler: str, openmp: tuple[str, ...], number: int):
    kernel = NAMED[number][1]
    if compiler == "gcc" and not openmp:
        _library(kernel)
    else:
        compile_c(sources(kernel), compiler, (*STRICT, *openmp))


@every_kernel
def test_the_header_compiles_as_cpp(kernel: af.Kernel):
    program = f'#include "{kernel.name}.h"\nauto entry() {{ return &{kernel.name}; }}\n'
    header = {f"{kernel.name}.h": kernel.header()}
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
    compile_c({"use.cpp": program, **header}, "g++", flags)


@every_kernel
def test_sizes_are_64_bits_wide(kernel: af.Kernel):
    declared = re.search(rf"\b{kernel.name}\((.*?)\);", kernel.header(), re.S)
    assert declared is not None
    first = declared[1].split(",")[: len(kernel.program.sizes)]
    assert first
    assert all(re.fullmatch(r"\s*int64_t \w+", one) for one in first)


def test_a_c_program_uses_gemm_without_anything_of_ours():
    main = """
    #include <stdio.h>
    #include "gemm.h"
    int main(void)
    {
        const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 1, 0, 3};
        float c[] = {10, 20, 30, 40};
        gemm(2, 3, 2, 2.0f, 0.5f, a, b, c);
        printf("%g %g %g %g\\n", c[0], c[1], c[2], c[3]);
        return 0;
    }
    """
    kernel = MODULES["gemm"].gemm
    program = compile_c({"main.c": main, **sources(kernel)}, "gcc", STRICT, shared=False)
    # [1 2 3; 4 5 6] @ [1 0; 2 1; 0 3] = [5 11; 14 23], twice that, plus half of what C held.
    said = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout == "15 32 43 66\n"


def test_conv2d_refuses_a_window_that_does_not_fit():
    kernel = MODULES["conv2d"].conv2d(stride=1, padding=1)
    with pytest.raises(SizeError, match=r"assumes .*KH.*H = 1, KH = 4|assumes .*KH = 4"):
        kernel(np.zeros((1, 1, 1, 1), np.float32), np.zeros((1, 1, 4, 1), np.float32))
    with pytest.raises(ProgramError):
        MODULES["conv2d"].conv2d(stride=0, padding=0)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("heat_blocks", "unsharp_sobel")])
def test_main_says_what_it_checked(name: str, capsys):
    MODULES[name].main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list(MODULES[name].cases()))
    assert all(": equal" in line for line in lines)


def test_the_photograph_is_written_as_a_png(tmp_path, monkeypatch, capsys):
    example = MODULES["unsharp_sobel"]
    path = tmp_path / "coffee.png"
    monkeypatch.setattr("sys.argv", ["unsharp_sobel", str(path)])
    example.main()
    assert capsys.readouterr().out.endswith(f"wrote {path}\n")
    with Image.open(path) as image:
        left, middle, right = np.split(np.asarray(image), 3, axis=1)
    photo = data.coffee()
    sharp, edges = example.reference(photo)
    grey = np.rint(photo @ np.array([0.2126, 0.7152, 0.0722]))
    for found, expected in [(left, grey), (middle, sharp), (right, edges)]:
        np.testing.assert_allclose(found, expected, atol=1)
    assert left.std() < middle.std()  # sharpening adds contrast
    assert edges.max() == 255


def test_the_demo_says_what_it_is_to_say(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["demo", str(tmp_path)])
    monkeypatch.setattr(demo, "SECONDS", 0.0)
    monkeypatch.setattr(demo, "LEAST", 1)
    monkeypatch.setattr(demo, "PAGE_SECONDS", 0.0)
    monkeypatch.setattr(demo, "numba", None)  # it takes seconds to compile
    for module in (forecast, report, times, profile):  # nobody has to measure it
        monkeypatch.setattr(module, "roofline", machine)
    few = demo.rows()[:1]
    monkeypatch.setattr(demo, "rows", lambda: few)
    demo.main()
    said = capsys.readouterr().out
    assert len(said.splitlines()) < 50
    found = re.findall(r"^\S.* +\d+\.\d\d ms, +\d+\.\d x as fast as .*(?:NumPy|SciPy)", said, re.M)
    assert len(found) == len(few)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["distances.html", "pairwise_distances.c", "pairwise_distances.mlir", "photograph.png"]
    for name in files:
        assert str(tmp_path / name) in said
        assert (tmp_path / name).stat().st_size
    text = (tmp_path / "pairwise_distances.c").read_text()
    shown = re.search(r"^Distances in C.*\n\n((?: {4}.*\n)+) {4}\.\.\.$", said, re.M)[1].splitlines()
    assert len(shown) == demo.SHOWN
    assert [line for line in shown if line.strip() not in text] == []


def test_the_demo_notices_what_is_not_the_same():
    row = demo.rows()[0]
    wrong = replace(row, peer=lambda x, y, out: out.fill(0.5), loops=None)
    with pytest.raises(AssertionError, match="distances of 450 and 449 points: library"):
        demo.measured(wrong)


def test_a_wrong_expectation_is_noticed():
    case = next(c for name, _, c in CASES if name == "histogram" and c.arguments[0].size)
    with pytest.raises(AssertionError, match="counts"):
        replace(case, changes={"counts": case.changes["counts"] + 1}).check()
    with pytest.raises(AssertionError, match="image"):
        case.check(lambda image, counts: image.fill(0))
    with pytest.raises(AssertionError, match="returned 1 results"):
        case.check(lambda image, counts: 1)
