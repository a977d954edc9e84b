"""Tests of the oracles themselves: a judge that is wrong would pass everything."""

import ctypes
import math
import os
import re
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests import native, oracles
from tests.oracles import compile_c, mlir_opt, require, run_mlir


def test_mlir_opt_prints_the_module():
    assert "func.func @f(%arg0: index)" in mlir_opt("func.func @f(%n: index) { return }")


def test_mlir_opt_takes_arguments():
    text = "func.func @f() -> index { %0 = affine.apply affine_map<() -> (3 + 4)>() return %0 : index }"
    assert "arith.constant 7 : index" in mlir_opt(text, "--canonicalize")


def test_mlir_opt_shows_the_diagnostic_and_the_text():
    with pytest.raises(AssertionError, match=r"(?s)expected ':'.*   1 func.func @f\(%n\)"):
        mlir_opt("func.func @f(%n) { return }")


def test_results_of_every_kind():
    text = """
    func.func @none() { return }
    func.func @scalar(%x: f32) -> f32 { %y = arith.negf %x : f32 return %y : f32 }
    func.func @array(%n: index) -> memref<?x2xi32> {
      %c = arith.constant 7 : i32
      %a = memref.alloc(%n) : memref<?x2xi32>
      affine.for %i = 0 to %n { affine.for %j = 0 to 2 { affine.store %c, %a[%i, %j] : memref<?x2xi32> } }
      return %a : memref<?x2xi32>
    }
    func.func @several(%n: index, %x: f64) -> (i1, memref<?x2xi32>, f64, f32) {
      %a = call @array(%n) : (index) -> memref<?x2xi32>
      %t = arith.constant true
      %h = arith.truncf %x : f64 to f32
      return %t, %a, %x, %h : i1, memref<?x2xi32>, f64, f32
    }"""
    assert run_mlir(text, "none") is None
    negated = run_mlir(text, "scalar", [1.5])
    assert negated == -1.5
    assert negated.dtype == np.float32
    for n in (0, 3):
        array = run_mlir(text, "array", [n])
        assert array.dtype == np.int32
        np.testing.assert_array_equal(array, np.full((n, 2), 7))
    flag, array, double, single = run_mlir(text, "several", [3, 2.5])
    assert (flag, double, single) == (True, 2.5, 2.5)
    assert [flag.dtype, double.dtype, single.dtype] == [np.bool_, np.float64, np.float32]
    np.testing.assert_array_equal(array, np.full((3, 2), 7))


SCALARS = "\n".join(
    f"""func.func @one_{element}(%x: {element}) -> {element} {{ return %x : {element} }}
    func.func @two_{element}(%x: {element}, %A: memref<1x{element}>) -> ({element}, {element}) {{
      %y = affine.load %A[0] : memref<1x{element}>
      affine.store %x, %A[0] : memref<1x{element}>
      return %y, %x : {element}, {element}
    }}"""
    for element in ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64")
)


@pytest.mark.parametrize(
    ("element", "value"),
    [
        *[("i1", True), ("i1", False), ("i8", -128), ("i16", -3), ("i32", -(2**31)), ("i64", 2**63 - 1), ("index", -5)],
        *[("f16", 1.5), ("f16", 6e-8), ("bf16", -3.0), ("f32", math.inf), ("f64", 0.1)],
    ],
)
def test_scalars_pass_through_alone_and_in_company(element, value):
    result = run_mlir(SCALARS, f"one_{element}", [value])
    assert result == (np.float16(value) if element == "f16" else value)
    slot = np.zeros(1, np.uint16 if element == "bf16" else result.dtype)
    assert run_mlir(SCALARS, f"two_{element}", [value, slot]) == (0, result)
    if element != "bf16":
        assert slot[0] == result


def test_strided_arrays_and_strided_copy():
    layout = "memref<?x?xf64, strided<[?, ?], offset: ?>>"
    text = f"func.func @f(%A: {layout}, %B: {layout}) {{ memref.copy %A, %B : {layout} to {layout} return }}"
    source, target = np.arange(12.0).reshape(3, 4), np.zeros((8, 6))
    run_mlir(text, "f", [source.T, target[::2, 1:6:2][::-1]])
    expected = np.zeros((8, 6))
    expected[::2, 1:6:2] = source.T[::-1]
    np.testing.assert_array_equal(target, expected)


def test_argument_attributes_and_maps_do_not_hide_the_signature():
    text = """
    func.func @f(%n: index {affdsl.x = "-> (f32), sym_name"}, %A: memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>
        {affdsl.shape = affine_map<()[M, N] -> (M, N)>}) -> (f32 {affdsl.y = 1}) {
      %v = affine.load %A[1, 0] : memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>
      return %v : f32
    }"""
    # LLVM cannot express this layout, so only the signature is read.
    found = native.signature(native.function_types(mlir_opt(text, "--mlir-print-op-generic"))["f"])
    array = native.Type("f32", (None, None))
    assert found == native.Signature((native.Type("index"), array), (native.Type("f32"),))


IDENTITY = "func.func @f(%A: memref<?x3xf32>, %n: i8) { return }"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([np.zeros((2, 3), np.float32)], "@f takes 2 arguments, got 1"),
        ([[1.0], 1], r"argument 0 of @f must be an array, got \[1.0\]"),
        ([np.zeros((2, 3)), 1], r"argument 0 of @f must have dtype float32 \(f32\), got float64"),
        ([np.zeros(3, np.float32), 1], r"must have the shape \(None, 3\), got \(3,\)"),
        ([np.zeros((3, 2), np.float32), 1], r"must have the shape \(None, 3\), got \(3, 2\)"),
        ([np.zeros((2, 3), np.float32), 1.5], r"argument 1 of @f must be an integer \(i8\), got 1.5"),
        ([np.zeros((2, 3), np.float32), np.zeros(1)], r"argument 1 of @f must be a number \(i8\), got an array"),
        ([np.zeros((2, 3), np.float32), 256], "argument 1 of @f: 256 does not fit i8"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        run_mlir(IDENTITY, "f", arguments)


def test_strides_that_no_memref_has_are_refused():
    fields = np.zeros(4, [("x", "f4"), ("y", "i1")])
    with pytest.raises(TypeError, match="no multiples of its item size"):
        run_mlir("func.func @f(%A: memref<?xf32, strided<[?]>>) { return }", "f", [fields["x"]])


def test_a_bf16_must_be_exact():
    with pytest.raises(TypeError, match=r"0\.1 is not a bf16"):
        run_mlir("func.func @f(%x: bf16) { return }", "f", [0.1])


def test_types_that_cannot_be_passed_are_refused():
    with pytest.raises(TypeError, match="no way to pass the type vector<4xf32>"):
        run_mlir("func.func @f(%v: vector<4xf32>) { return }", "f", [1])
    run_mlir("func.func @f(%v: vector<4xf32>) { return }\nfunc.func @g() { return }", "g")


def test_an_unknown_function_is_named():
    with pytest.raises(AssertionError, match="no function @g in the module, only f"):
        run_mlir(IDENTITY, "g")


def test_an_undefined_reference_fails_before_the_call():
    with pytest.raises(AssertionError, match="_mlir_ciface_g"):
        run_mlir("func.func private @g()\nfunc.func @f() { call @g() : () -> () return }", "f")


def test_a_write_to_a_read_only_array_is_seen():
    text = "func.func @f(%A: memref<2xi32>, %x: i32) { affine.store %x, %A[1] : memref<2xi32> return }"
    a = np.zeros(2, np.int32)
    a.flags.writeable = False
    with pytest.raises(AssertionError, match="@f wrote to a read-only array"):
        run_mlir(text, "f", [a, 1])
    assert not a.any()


def test_a_crash_is_a_failure():
    text = """
    func.func @f(%A: memref<?xf32>, %i: index) -> f32 {
      %v = memref.load %A[%i] : memref<?xf32>
      return %v : f32
    }"""
    with pytest.raises(AssertionError, match="@f crashed with SIGSEGV"):
        run_mlir(text, "f", [np.zeros(1, np.float32), 2**44])


def test_an_endless_loop_is_a_failure(monkeypatch):
    monkeypatch.setattr(native, "TIME_LIMIT", 1)
    text = """
    func.func @f() {
      cf.br ^again
    ^again:
      cf.br ^again
    }"""
    with pytest.raises(AssertionError, match="@f ran for more than 1 seconds"):
        run_mlir(text, "f")


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_compile_c_makes_a_library_with_headers(compiler):
    sources = {
        "twice.c": '#include "twice.h"\nint twice(int x) { return FACTOR * x; }\n',
        "twice.h": "#define FACTOR 2\n",
    }
    library = compile_c(sources, compiler, ["-std=c11", "-O1"])
    assert ctypes.CDLL(str(library)).twice(21) == 42


def test_compile_c_makes_a_program():
    program = compile_c({"main.cpp": "int main() { return 3; }\n"}, "g++", shared=False)
    assert subprocess.run([program], check=False).returncode == 3


def test_compile_c_fails_on_a_warning():
    with pytest.raises(AssertionError, match=r"(?s)gcc -Wall .*unused variable.*1 void f"):
        compile_c({"f.c": "void f(void) { int x; }\n"}, "gcc", ["-Wall"])


@pytest.fixture
def fake_tools(tmp_path, monkeypatch):
    """An empty PATH on which scripts can stand for tools."""
    monkeypatch.setenv("PATH", str(tmp_path))
    oracles._find.cache_clear()
    yield tmp_path
    oracles._find.cache_clear()
    oracles._refusal.cache_clear()


def _script(path: Path, version: str) -> None:
    path.write_text(f"#!/bin/sh\necho 'LLVM version {version}'\n")
    path.chmod(0o755)


def test_a_missing_oracle_skips_or_fails(fake_tools, monkeypatch):
    monkeypatch.delenv("AFFDSL_REQUIRE_ORACLES", raising=False)
    message = r"oracle missing: needs mlir-opt-22 \(package mlir-22-tools\)"
    with pytest.raises(pytest.skip.Exception, match=message):
        require("mlir-opt-22")
    monkeypatch.setenv("AFFDSL_REQUIRE_ORACLES", "1")
    with pytest.raises(pytest.fail.Exception, match=message):
        require("mlir-opt-22")


def test_the_plain_name_counts_if_the_version_is_right(fake_tools):
    _script(fake_tools / "mlir-opt", "22.1.0")
    assert require("mlir-opt-22") == os.fspath(fake_tools / "mlir-opt")


def test_another_version_does_not_count(fake_tools, monkeypatch):
    monkeypatch.setenv("AFFDSL_REQUIRE_ORACLES", "1")
    _script(fake_tools / "mlir-opt", "21.1.0")
    with pytest.raises(pytest.fail.Exception, match="needs mlir-opt-22"):
        require("mlir-opt-22")


def _compiler(path: Path, refused: str, said: str) -> None:
    """A gcc that refuses a flag, and otherwise makes a program that ends well."""
    path.write_text(f"""#!/bin/sh
for word; do case "$word" in {refused}) echo "{said}" >&2; exit 1;; esac; done
printf '#!/bin/sh\\nexit 0\\n' > probe
/bin/chmod 755 probe
""")
    path.chmod(0o755)


SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def test_a_compiler_without_the_run_time_of_its_sanitizers_skips_what_needs_it_and_nothing_else(
    fake_tools, monkeypatch
):
    _compiler(fake_tools / "gcc", "-fsanitize=*", "ld: cannot find libasan")
    assert require("gcc", ("-O2", "-fopenmp")) == os.fspath(fake_tools / "gcc")
    monkeypatch.delenv("AFFDSL_REQUIRE_ORACLES", raising=False)
    message = (
        r"oracle missing: needs a gcc whose programs run with -fsanitize=address,undefined \(package gcc\); "
        "it said: ld: cannot find libasan"
    )
    with pytest.raises(pytest.skip.Exception, match=message):
        require("gcc", SANITIZED)
    with pytest.raises(pytest.skip.Exception, match=message):
        compile_c({"f.c": ""}, "gcc", SANITIZED)
    monkeypatch.setenv("AFFDSL_REQUIRE_ORACLES", "1")
    with pytest.raises(pytest.fail.Exception, match=message):
        require("gcc", SANITIZED)


@pytest.mark.parametrize(
    ("flags", "refused", "package"),
    [
        (("-x", "c++", "-fsyntax-only"), "c++", "g++"),
        (("-fopenmp", "-O0"), "-fopenmp", "gcc"),
        (("-O1",), "probe.c", "libc6-dev"),
    ],
)
def test_what_a_compiler_lacks_is_named_with_its_package(fake_tools, monkeypatch, flags, refused, package):
    monkeypatch.delenv("AFFDSL_REQUIRE_ORACLES", raising=False)
    _compiler(fake_tools / "gcc", refused, "no")
    with pytest.raises(
        pytest.skip.Exception, match=rf"a gcc whose programs run.* \(package {re.escape(package)}\); it said: no"
    ):
        require("gcc", flags)


def test_a_program_that_the_compiler_makes_and_that_does_not_run_counts_as_refused(fake_tools, monkeypatch):
    monkeypatch.delenv("AFFDSL_REQUIRE_ORACLES", raising=False)
    (fake_tools / "gcc").write_text("#!/bin/sh\nprintf '#!/bin/sh\\nexit 3\\n' > probe\n/bin/chmod 755 probe\n")
    (fake_tools / "gcc").chmod(0o755)
    with pytest.raises(pytest.skip.Exception, match="it said: exit status 3"):
        require("gcc")
    oracles._refusal.cache_clear()
    (fake_tools / "gcc").write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(pytest.skip.Exception, match=r"it said: .*No such file or directory: './probe'"):
        require("gcc")


def test_missing_header_files_of_python_are_counted_too(tmp_path, monkeypatch):
    monkeypatch.delenv("AFFDSL_REQUIRE_ORACLES", raising=False)
    monkeypatch.setattr(oracles.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=r"oracle missing: needs Python\.h \(package python3-dev\)"):
        oracles.require_headers()


def test_ci_installs_every_package_that_an_oracle_names():
    """What CI needs, CI installs: a package that was installed by hand once made it green."""
    script = Path(__file__).parent.parent.joinpath(".ci", "run").read_text(encoding="utf-8")
    installed = {word for line in re.findall(r"packages\+?=\((.*?)\)", script) for word in line.split()}
    named = {package for _, package in oracles.TOOLS.values()}.union(*oracles.PARTS.values(), ["python3-dev"])
    project = tomllib.loads(Path(__file__).parent.parent.joinpath("pyproject.toml").read_text(encoding="utf-8"))
    tested = {re.match(r"[\w-]+", each)[0] for each in project["project"]["optional-dependencies"]["test"]}
    assert named <= installed | tested
