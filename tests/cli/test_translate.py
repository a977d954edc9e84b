"""`affdsl translate`: C that compilers accept and that computes the same, and MLIR as mlir-opt prints it."""

import ctypes

import numpy as np
import pytest

from tests import oracles
from tests.cli.tools import mlir_opt

MATMUL = """\
func.func private @row(%A: memref<?xf32>, %s: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.store %s, %A[%i] : memref<?xf32>
  }
  return
}
func.func @ones(%A: memref<?xf32>) {
  %s = arith.constant 1.0 : f32
  call @row(%A, %s) : (memref<?xf32>, f32) -> ()
  return
}
func.func @add(%a: i64, %b: i64) -> i64 {
  %0 = arith.addi %a, %b : i64
  return %0 : i64
}
"""
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]


def test_one_file_of_c_compiles_and_runs(cli):
    outcome = cli("translate", "--to=c", "--entry=ones", text=MATMUL)
    assert (outcome.status, outcome.err) == (0, "")
    library = ctypes.CDLL(str(oracles.compile_c({"ones.c": outcome.out}, "gcc", STRICT)))
    array = np.zeros(5, np.float32)
    library.ones(ctypes.c_int64(4), array.ctypes.data_as(ctypes.c_void_p))
    assert array.tolist() == [1, 1, 1, 1, 0]
    assert not hasattr(library, "row")


def test_the_header_is_a_file_of_its_own(cli, tmp_path):
    source, header = tmp_path / "code.c", tmp_path / "my-add.h"
    outcome = cli("translate", "-to", "c", "--entry", "@add", "-o", source, "--header", header, "-", text=MATMUL)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert '#include "my-add.h"' in source.read_text()
    user = '#include "my-add.h"\nint64_t twice(int64_t a);\nint64_t twice(int64_t a) { return add(a, a); }\n'
    files = {"code.c": source.read_text(), "my-add.h": header.read_text(), "user.c": user}
    library = ctypes.CDLL(str(oracles.compile_c(files, "gcc", STRICT)))
    library.twice.restype = library.twice.argtypes = None
    library.twice.restype, library.twice.argtypes = ctypes.c_int64, [ctypes.c_int64]
    assert library.twice(21) == 42


def test_to_mlir_prints_what_mlir_opt_accepts(cli):
    outcome = cli("translate", "--to=mlir", text=MATMUL)
    assert mlir_opt("-", text=outcome.out) == mlir_opt("-", text=MATMUL)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to translate to: --to=c or --to=mlir"),
        (["--to=cc"], "'cc' is none of c, mlir"),
        (["--to=c"], "say which function with --entry=<name>: the text has @row, @ones, @add"),
        (["--to=c", "--entry=one"], "there is no function @one; did you mean 'ones'?; the text has @row, @ones, @add"),
        (["--to=mlir", "--entry=add"], "--entry, --header, --optimize and --width are for --to=c"),
        (["--to=mlir", "--width=128"], "--entry, --header, --optimize and --width are for --to=c"),
        (["--to=mlir", "--optimize"], "--optimize and --width are for --to=c"),
        (["--to=c", "--optimize=foo"], "--optimize: no such option foo; it takes contract, reassociate, reciprocal,"),
        (["--to=c", "--optimize=threads=x"], "--optimize: for the option threads: 'x' is not an integer"),
        (["--to=c", "--width=100"], "'100' is none of 128, 256, 512"),
        (["--to=c", "--entry=add", "--header=-"], "--header=-: it must be a file of its own"),
        (["--to=c", "--entry=add", '--header=a"b.h'], "it must be a file of its own, called like matmul.h"),
        (["--too=c"], "unknown command line argument '--too=c'; did you mean '--to'?"),
    ],
)
def test_bad_usage_is_explained(cli, arguments, message):
    outcome = cli("translate", *arguments, text=MATMUL)
    assert (outcome.status, outcome.out) == (1, "")
    assert message in outcome.err


def test_what_c_cannot_say_is_an_error_and_writes_nothing(cli, tmp_path):
    part = "memref<2xf32, strided<[1]>>"
    text = f"func.func @f(%A: memref<4xf32>) -> {part} {{ %p = memref.subview %A[0] [2] [1] : memref<4xf32> to {part} "
    text += f"return %p : {part} }}"
    path = tmp_path / "f.c"
    outcome = cli("translate", "--to=c", "-o", path, text=text)
    assert outcome.status == 1
    assert "error: array" in outcome.err
    assert "is an argument: the caller has it already" in outcome.err
    assert not path.exists()
    assert cli("translate", "--to=c", text="func.func @f() { retrn }").err.startswith("<stdin>:1:18: error: ")
    assert "no function with a body" in cli("translate", "--to=c", text="").err


def test_help_says_what_it_takes(cli):
    assert "--header=<file>" in cli("translate", "--help").out


def test_vectors_are_as_wide_as_registers(cli):
    text = """func.func @double(%A: memref<16xf32>) {
      %v = affine.vector_load %A[0] : memref<16xf32>, vector<16xf32>
      %w = arith.addf %v, %v : vector<16xf32>
      affine.vector_store %w, %A[0] : memref<16xf32>, vector<16xf32>
      return
    }"""
    for width, has in ((None, "f32x16"), (512, "f32x16"), (256, "f32x8"), (128, "f32x4")):
        made = cli("translate", "--to=c", *([] if width is None else [f"--width={width}"]), text=text).out
        assert {each for each in ("f32x16", "f32x8", "f32x4") if each in made} == {has}


def test_to_mlir_of_an_earlier_version_and_with_numbers(cli):
    text = """func.func @f(%flag: i1, %x: f32, %y: f32) -> f32 {
      %most = arith.maximumf %x, %y : f32
      %r = arith.select %flag, %x, %most : f32
      return %r : f32
    }"""
    outcome = cli("translate", "--to=mlir", "--mlir-version=14", text=text)
    assert (outcome.status, outcome.err) == (0, "")
    assert "func @f(%flag: i1, %x: f32, %y: f32) -> f32 {" in outcome.out
    assert "%r = select %flag, %x, %most : f32" in outcome.out
    assert "maximumf" not in outcome.out
    outcome = cli("translate", "--to=mlir", "--numbered", text=text)
    assert "%1 = arith.select %arg0, %arg1, %0 : f32" in outcome.out


def test_arrays_that_loops_hand_on_as_they_are(cli):
    text = """func.func @f(%A: memref<4xi64>, %B: memref<4xi64>, %n: index) -> i64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %z = arith.constant 0 : i64
      %C, %s = scf.for %i = %c0 to %n step %c1 iter_args(%P = %A, %t = %z) -> (memref<4xi64>, i64) {
        %Q = affine.for %j = 0 to 4 iter_args(%R = %P) -> (memref<4xi64>) {
          %x = affine.load %R[%j] : memref<4xi64>
          %y = affine.load %B[%j] : memref<4xi64>
          %u = arith.addi %x, %y : i64
          affine.store %u, %R[%j] : memref<4xi64>
          affine.yield %R : memref<4xi64>
        }
        %v = affine.load %Q[1] : memref<4xi64>
        %w = arith.addi %t, %v : i64
        scf.yield %P, %w : memref<4xi64>, i64
      }
      %D = affine.for %j = 0 to 0 iter_args(%R = %C) -> (memref<4xi64>) {
        affine.yield %R : memref<4xi64>
      }
      %e = affine.load %D[2] : memref<4xi64>
      %r = arith.addi %s, %e : i64
      return %r : i64
    }"""
    made = cli("translate", "--to=c", text=text).out
    function = ctypes.CDLL(str(oracles.compile_c({"f.c": made}, "gcc", STRICT))).f
    function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    for n in (0, 3):
        (a, found), (b, given) = ((np.arange(4) + 1, np.arange(4) + 1), (np.arange(4) * 10, np.arange(4) * 10))
        wanted = oracles.run_mlir(text, "f", [a, b, n])
        assert function(found.ctypes.data, given.ctypes.data, n) == wanted
        assert (found.tolist(), given.tolist()) == (a.tolist(), b.tolist())


def test_versions_and_numbers_are_for_mlir(cli):
    for flag in ("--mlir-version=16", "--numbered"):
        outcome = cli("translate", "--to=c", flag, text=MATMUL)
        assert outcome.status != 0
        assert "--mlir-version and --numbered are for --to=mlir" in outcome.err
    outcome = cli("translate", "--to=mlir", "--mlir-version=13", text=MATMUL)
    assert outcome.status != 0
    assert "14" in outcome.err
