"""Programs of other languages that use libraries: what they print is what their kernels compute."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.aot.languages import fortran, julia, rust
from tests.oracles import require
from tests.shipping import kernels

N = af.symbols("N")
PROGRAMS = Path(__file__).with_name("programs")
STRICT = ("-Wall", "-Wextra", "-Werror")
PRINTED = {
    # [1 2 3; 4 5 6] @ [1 0; 2 1; 0 3], and the mean of 3 and 4 as a sum.
    "products.c": "5 11 14 23\n7\n",
    "products.f90": "5.0 11.0 14.0 23.0\n7.0\n",
    # values[2], values[0]; then the check that fails, the index 5, and the size 3.
    "failures.c": "0 3 1\n3 5 3\n",
    "threads.c": "1 2 2 3 4 6 3\n",
    # Squares would be others: each number times 2.
    "complex.cpp": "(2,4) (6,-8)\n",
    # 1 + 2 + 4, and 4 * 2; the bits of 4.0, 1.0 and 6.0, and whether 8 is more than 3.
    "results.cpp": "7 8\n4400 3c00 4600 1\n",
    # The same; the root of 4, and the iteration that fails; (1 + 2i) i, and (2i) i.
    "results.f90": "7.0 8.0\n4400 3C00 4600 T\n3 2.0 1\n-2.0 1.0 -2.0 .0\n",
    "threads.f90": "2.0 4.0 6.0 8.0\n20.0\n12.0 24.0 36.0 48.0\n",
    "all_kinds.rs": "[5.0, 11.0, 14.0, 23.0] 7\n3 2 1\n-2 1 -2 0\n",
    "threaded.rs": "[2.0, 4.0, 6.0, 8.0] 20\n[12.0, 24.0, 36.0, 48.0]\n",
}


def test_there_is_a_program_for_each_line():
    assert {path.name for path in PROGRAMS.iterdir()} == PRINTED.keys()


@pytest.mark.parametrize("name", PRINTED)
def test_a_program_computes_what_the_kernels_do(name, all_kinds, threaded, tmp_path):
    libraries = [all_kinds, threaded]
    source, program = tmp_path / name, tmp_path / "program"
    source.write_text((PROGRAMS / name).read_text())
    linked = [f"-L{folder}" for folder in libraries] + ["-lall_kinds", "-lthreaded"]
    linked += [f"-Wl,-rpath,{folder}" for folder in libraries]
    included = [f"-I{folder}" for folder in libraries]
    match source.suffix:
        case ".c":
            command = [require("gcc"), *STRICT, "-D_GNU_SOURCE", "-std=c11", *included, source, *linked]
        case ".cpp":
            command = [require("g++"), *STRICT, "-std=c++17", *included, source, *linked]
        case ".f90":
            modules = [folder / f"{n}.f90" for folder, n in zip(libraries, ("all_kinds", "threaded"), strict=True)]
            command = [require("gfortran"), *STRICT, "-std=f2008", f"-J{tmp_path}", *modules, source, *linked]
        case _:
            folder, rustc = next(f for f in libraries if (f / name).exists()), require("rustc")
            declared = (folder / name).read_text()
            (tmp_path / "declared.rs").write_text(
                declared if _is_new(rustc) else declared.replace("unsafe extern", "extern")
            )
            source.write_text((PROGRAMS / name).read_text().replace("DECLARED", str(tmp_path / "declared.rs")))
            command = [rustc, "--edition=2021", "-Dwarnings", f"-L{folder}", source]
            command += [f"-Clink-arg=-Wl,-rpath,{folder}"]
    made = subprocess.run([*command, "-o", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", PRINTED[name])


def _is_new(rustc: str) -> bool:
    """Whether a compiler of Rust knows `unsafe extern`, as 1.82 and newer do."""
    said = subprocess.run([rustc, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r" (\d+)\.(\d+)", said).groups())) >= (1, 82)


# What C has, read from the header, so that declarations in a language that is not run here are of the same types.
_DECLARED = re.compile(r"_API (\w+) (\w+)\(([^)]*)\);")


@pytest.mark.parametrize("library", ["all_kinds", "threaded"])
def test_julia_passes_what_the_header_takes(library, all_kinds, threaded):
    folder = {"all_kinds": all_kinds, "threaded": threaded}[library]
    header = (folder / f"{library}.h").read_text()
    for macro, type in (("C64", "float _Complex"), ("C128", "double _Complex")):
        header = re.sub(rf"\b{library.upper()}_{macro}\b", type, header)
    declared = {name: (returns, listed) for returns, name, listed in _DECLARED.findall(header)}
    assert len(declared) > 2
    text = (folder / f"{library}.jl").read_text()
    called = re.findall(
        r"function \w+\(.*\)\n    ccall\(\(:(\w+), LIBRARY\), (\w+), \((.*?)\)(?:, (.*))?\)\nend\n", text
    )
    assert {name for name, *_ in called} == declared.keys()
    defined = {word for head in re.findall(r"function (.*)\n", text) for word in re.findall(r"\w+", head)}
    assert not defined & {*julia.TYPES.values(), "Ptr", "Ref", "Sys", "joinpath"}
    for name, returns, types, given in called:
        wanted, listed = declared[name]
        assert returns == julia.TYPES[wanted]
        ours = [t for t in types.split(", ") if t] if not types.endswith(",") else [types[:-1]]
        theirs = [" ".join(part.split()) for part in listed.split(",")]
        assert len(ours) == len(theirs) == len(given.split(", "))
        for our, their in zip(ours, theirs, strict=True):
            kind = their.removeprefix("const ").partition("*")[0].strip() if "*" in their else their.rpartition(" ")[0]
            pointed = re.fullmatch(r"(?:Ptr|Ref)\{(\w+)\}", our)
            assert bool(pointed) == ("*" in their)
            assert (pointed[1] if pointed else our) == julia.TYPES[kind]


def test_all_languages_know_the_same_types():
    assert fortran.TYPES.keys() == rust.TYPES.keys() == julia.TYPES.keys() - {"void"}


def test_a_language_that_is_not_known_is_refused(tmp_path):
    for asked in ("cobol", ["rust", "cobol"]):
        with pytest.raises(af.BuildError) as error:
            af.build(kernels.shifted, tmp_path / "out", bindings=asked)
        said = "there are no declarations for 'cobol': they are for fortran, rust, julia; C and C++ take the header"
        assert str(error.value) == said
    assert not (tmp_path / "out").exists()


def test_functions_of_a_wheel_take_the_number_of_threads(threaded, tmp_path, monkeypatch):
    zipfile.ZipFile(next(threaded.glob("*.whl"))).extractall(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("threaded")
    assert "threads : int\n    How many threads run its parallel loops" in inspect.getdoc(module.twice)
    stub = (tmp_path / "threaded" / "__init__.pyi").read_text()
    assert re.search(r"def twice\(x: [^,]*, y: [^,]*, \*, threads: _int = \.\.\.\) -> None", stub)
    assert "threads" not in str(inspect.signature(module.clashing))
    x, y = np.arange(5.0), np.zeros(5)
    assert module.total(x, y, threads=2) == 20
    assert module.total(x, y) == 20
    for number, error, said in (
        (-1, module.RangeError, "total: argument 'threads' must be between 0 and 4096, got -1"),
        (5000, module.RangeError, "total: argument 'threads' must be between 0 and 4096, got 5000"),
    ):
        with pytest.raises(error) as refused:
            module.total(x, y, threads=number)
        assert str(refused.value) == said
    for wrong in (1.5, True, None):
        with pytest.raises(module.ArgumentError) as refused:
            module.total(x, y, threads=wrong)
        said = f"total: argument 'threads' must be a whole number, got {wrong!r}: pass 0 to leave it to OpenMP"
        assert str(refused.value) == said


def test_an_argument_that_is_called_threads_is_refused_where_it_would_be_two(tmp_path):
    @af.kernel
    def shared(threads: af.f64[N]):
        with af.parallel(N) as i:
            threads[i] = 0.0

    af.build(shared, tmp_path, threads_parameter=True)
    header = (tmp_path / "shared.h").read_text()
    assert "SHARED_RESTRICT threads, int32_t threads_1);" in " ".join(header.split())
    with pytest.raises(af.BuildError, match=r"^shared has an argument called threads, which is also that of its func"):
        af.build(shared, tmp_path, threads_parameter=True, python=True)
