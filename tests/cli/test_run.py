"""`affdsl run`: numbers and arrays in, the interpreter and compiled code next to NumPy, and what is refused."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests import oracles

TEXT = """\
func.func @matmul(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %C, %c0 : memref<?x?xf32>
  %n = memref.dim %C, %c1 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf32>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.for %l = 0 to %k {
        %a = affine.load %A[%i, %l] : memref<?x?xf32>
        %b = affine.load %B[%l, %j] : memref<?x?xf32>
        %c = affine.load %C[%i, %j] : memref<?x?xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
func.func @scalars(%a: f64, %n: index, %b: i1, %i: i8) -> (f64, index, i1, i8) {
  return %a, %n, %b, %i : f64, index, i1, i8
}
func.func @fill(%x: bf16, %A: memref<3xbf16>, %B: memref<i64>) -> memref<2xi32> {
  affine.for %i = 0 to 3 {
    affine.store %x, %A[%i] : memref<3xbf16>
  }
  %R = memref.alloc() : memref<2xi32>
  %c7 = arith.constant 7 : i32
  affine.for %i = 0 to 2 {
    affine.store %c7, %R[%i] : memref<2xi32>
  }
  return %R : memref<2xi32>
}
func.func @copy(%A: memref<?x2xi16>, %B: memref<?x2xi16>) {
  memref.copy %A, %B : memref<?x2xi16> to memref<?x2xi16>
  return
}
"""
BOTH = pytest.mark.parametrize("how", ["--interpreter", "--compiled"])


@pytest.fixture
def run(cli, tmp_path):
    path = tmp_path / "text.mlir"
    path.write_text(TEXT)
    return lambda *arguments: cli("run", path, *arguments)


@BOTH
def test_the_product_of_files_is_that_of_numpy(run, tmp_path, how):
    random = np.random.default_rng(1)
    a, b = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((3, 4), (4, 2)))
    np.save(tmp_path / "a.npy", a)
    np.savez(tmp_path / "b.npz", other=a, b=np.asfortranarray(b))
    out = tmp_path / "out.npz"
    outcome = run("--entry=matmul", f"@{tmp_path}/a.npy", f"@{tmp_path}/b.npz:b", "3x2xf32=zeros", f"--save={out}", how)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    saved = np.load(out)
    assert saved.files == ["C"]
    assert np.array_equal(saved["C"], a @ b)


@BOTH
def test_scalars_go_in_and_out(run, how):
    outcome = run("--entry", "scalars", "-2.5", "-0x10", "true", "-128", how)
    assert outcome.out == "result0: f64 = -2.5\nresult1: index = -16\nresult2: i1 = True\nresult3: i8 = -128\n"


@BOTH
def test_changed_arrays_and_results_are_printed(run, how):
    outcome = run("--entry=fill", "1.5", "zeros", "5", how)
    assert outcome.out == "A: memref<3xbf16>\n[1.5 1.5 1.5]\nresult0: memref<2xi32>\n[7 7]\n"


@pytest.mark.parametrize(
    ("word", "array"),
    [
        ("3x2=iota", np.arange(6).reshape(3, 2)),
        ("1x2xi16=-5", np.full((1, 2), -5)),
        ("2x2=ones", np.ones((2, 2))),
        ("[[1, 2], [-3, 4]]", np.array([[1, 2], [-3, 4]])),
        ("5x2=random:3", np.random.default_rng(3).integers(0, 100, (5, 2))),
        ("5x2=random", np.random.default_rng(0).integers(0, 100, (5, 2))),
    ],
)
def test_forms_of_arrays(run, tmp_path, word, array):
    out = tmp_path / "out.npz"
    target = "x".join(map(str, array.shape)) + "=0x7fff"
    assert run("--entry=copy", word, target, f"--save={out}").err == ""
    assert np.array_equal(np.load(out)["B"], array)


def test_random_floats_are_the_same_for_the_same_seed(run):
    first, again, other = (run("--entry=matmul", "2x2=ones", f"2x2=random:{s}", "2x2=zeros").out for s in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say which function with --entry=<name>"),
        (["--entry=fil"], "there is no function @fil; did you mean 'fill'?"),
        (["--entry=fill"], "@fill takes 3 arguments (%x: bf16, %A: memref<3xbf16>, %B: memref<i64>), got 0"),
        (["--entry=fill", "x", "zeros", "zeros"], "argument %x of @fill, of type bf16: needs a number like 2.5"),
        (["--entry=fill", "1", "4=zeros", "0"], "needs size 3 along dimension 0, got 4 of 4"),
        (["--entry=fill", "1", "3x1=zeros", "0"], "needs an array of rank 1, got 3x1 of rank 2"),
        (["--entry=fill", "1", "3xf32=zeros", "0"], "has elements of bf16, got f32"),
        (["--entry=fill", "1", "3=many", "0"], "'many' is nothing to fill an array with: write zeros, ones, iota"),
        (["--entry=fill", "1", "zeros", "2.5"], "'2.5' is nothing to fill an array with"),
        (["--entry=fill", "1", "zeros", str(2**63)], "needs numbers from -9223372036854775808"),
        (["--entry=fill", "1", "zeros", "@none.npy"], "cannot open 'none.npy': No such file or directory"),
        (["--entry=copy", "zeros", "zeros"], "its sizes are needed: write 4x2=zeros; got 'zeros'"),
        (["--entry=copy", "[[1, 2], [3]]", "2x2=0"], "is no list of numbers like [1, 2]"),
        (["--entry=copy", "[[1, 2.5]]", "2x2=0"], "needs whole numbers, got 2.5"),
        (["--entry=copy", "[[1, 99999]]", "2x2=0"], "needs numbers from -32768 to 32767, got 99999"),
        (["--entry=copy", "9999999999999x2=0", "2x2=0"], "is too large"),
        (["--entry=scalars", "1", "2.5", "1", "1"], "argument %n of @scalars, of type index: needs a number like 3"),
        (["--entry=scalars", "1", "1", "1", "1", "--compiled", "--interpreter"], "choose one of"),
        (["--entry=scalars", "1", "1", "1", "1", "--save=a.npy"], "--save=a.npy: the name must end in .npz"),
        (["--entry=scalars", "1", "1", "1", "1", "--save=/no/such/a.npz"], "cannot open output file '/no/such/a.npz'"),
    ],
)
def test_bad_usage_is_explained(run, arguments, message):
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (1, "")
    assert message in outcome.err


@BOTH
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--entry=scalars", "1", "1", "0", "128"], "%i must lie between -128 and 127, got 128"),
        (["--entry=scalars", "1", str(2**63), "0", "1"], "%n must lie between"),
    ],
)
def test_what_breaks_the_contract_is_refused_both_ways(run, how, arguments, message):
    outcome = run(*arguments, how)
    assert (outcome.status, outcome.out) == (1, "")
    assert message in outcome.err


def test_files_of_the_wrong_kind_are_refused(run, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 2), np.float64))
    np.savez(tmp_path / "two.npz", x=np.zeros(1), y=np.zeros(1))
    (tmp_path / "text.npy").write_text("no array")
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    for name, message in {
        "a.npy": "needs elements of int16, but",
        "two.npz": "two.npz holds x, y; write @",
        "two.npz:z": "two.npz holds x, y; write @",
        "text.npy": "is no NumPy file of numbers",
        "objects.npy": "is no NumPy file of numbers",
    }.items():
        assert message in run("--entry=copy", f"@{tmp_path}/{name}", "2x2=0").err, name


def test_the_interpreter_names_an_access_out_of_bounds(run):
    outcome = run("--entry=matmul", "2x3=iota", "3x2=iota", "3x2=zeros", "--interpreter")
    assert outcome.status == 1
    assert re.search(r"text.mlir:10:\d+: error: .*%A\[2, 0\] is out of bounds", outcome.err)


def test_a_file_is_needed(cli):
    assert "needs a file of MLIR text" in cli("run").err
    assert "cannot open input file 'none.mlir'" in cli("run", "none.mlir").err
    outcome = cli("run", "-", "--entry=f", text="func.func @f() -> i32 { %0 = arith.constant 3 : i32 return %0 : i32 }")
    assert outcome.out == "result0: i32 = 3\n"
    assert "4x4xf32=zeros" in cli("run", "--help").out


PRINTING = """\
func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefF32(memref<*xf32>)
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printNewline()
func.func private @printComma()
func.func @main() {
  %A = memref.alloc() : memref<2x3xi32>
  %c7 = arith.constant 7 : i32
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      affine.store %c7, %A[%i, %j] : memref<2x3xi32>
    }
  }
  %B = memref.cast %A : memref<2x3xi32> to memref<*xi32>
  call @printMemrefI32(%B) : (memref<*xi32>) -> ()
  %f = arith.constant 1.5 : f32
  %C = memref.alloc() : memref<f32>
  affine.store %f, %C[] : memref<f32>
  %D = memref.cast %C : memref<f32> to memref<*xf32>
  call @printMemrefF32(%D) : (memref<*xf32>) -> ()
  %l = arith.constant -3 : i64
  %d = arith.constant 100000.5 : f64
  call @printI64(%l) : (i64) -> ()
  call @printComma() : () -> ()
  call @printF64(%d) : (f64) -> ()
  call @printNewline() : () -> ()
  return
}
"""


def test_a_program_that_prints_prints_what_the_runner_of_mlir_prints(cli):
    # Without the C interface that our own lowering asks for, which the runner's functions do not all have.
    pipeline = oracles.LOWERING.replace("llvm-request-c-wrappers, ", "")
    lowered = oracles.mlir_opt(PRINTING, f"--pass-pipeline={pipeline}")
    runner = Path(oracles.require("mlir-runner-22"))
    folder = runner.resolve().parent.parent / "lib"
    libraries = ",".join(str(next(folder.glob(f"libmlir_{name}_utils.so*"))) for name in ("runner", "c_runner"))
    command = [str(runner), "-", "-e", "main", "-entry-point-result=void", f"-shared-libs={libraries}"]
    done = subprocess.run(command, input=lowered, capture_output=True, text=True, timeout=oracles.TIMEOUT, check=True)
    outcome = cli("run", "-", text=PRINTING)
    address = re.compile("0x[0-9a-f]+")
    assert (outcome.status, outcome.err) == (0, "")
    assert address.sub("0x", outcome.out) == address.sub("0x", done.stdout)


def test_what_only_the_interpreter_has_is_not_compiled(cli):
    outcome = cli("run", "-", "--compiled", text=PRINTING)
    assert (outcome.status, outcome.out) == (1, "")
    assert "@main calls functions without a body (@printMemrefI32, @printMemrefF32," in outcome.err


KERNEL = """\
func.func @scaled(%N: index, %M: index, %k: index, %A: memref<?x?xf64> {affdsl.shape = affine_map<()[N, M, k] -> (2 * N + 1, M)>}) attributes {affdsl.assume = affine_set<()[N, M, k] : (k - 1 >= 0)>} {
  %c = arith.index_cast %k : index to i64
  %f = arith.sitofp %c : i64 to f64
  affine.for %i = 0 to %N {
    affine.for %j = 0 to %M {
      affine.store %f, %A[%i * 2, %j] : memref<?x?xf64>
    }
  }
  return
}
"""  # noqa: E501


@BOTH
def test_sizes_that_the_arrays_tell_can_be_left_out(cli, how):
    outcome = cli("run", "-", "7", "5x2=zeros", how, text=KERNEL)
    assert outcome.out == "A: memref<?x?xf64>\n[[7. 7.]\n [0. 0.]\n [7. 7.]\n [0. 0.]\n [0. 0.]]\n"
    assert cli("run", "-", "2", "2", "7", "5x2=zeros", how, text=KERNEL) == outcome
    for given, wanted in (
        (["7"], "of which %N, %M can be left out: the arrays tell them, got 1"),
        (["7", "4x2=zeros"], "argument %A of @scaled: dimension 0 is 4, which N * 2 + 1 is for no size"),
        (["7", "0x2=zeros"], "argument %A of @scaled: dimension 0 is 0, which N * 2 + 1 is for no size"),
    ):
        refused = cli("run", "-", *given, how, text=KERNEL)
        assert (refused.status, refused.out) == (1, "")
        assert wanted in refused.err


@BOTH
def test_sizes_that_disagree_are_said_with_the_file_and_the_place_of_the_function(cli, how):
    outcome = cli("run", "-", "3", "2", "7", "5x2=zeros", how, text=KERNEL)
    head, shown, caret = outcome.err.splitlines()
    assert head == "<stdin>:1:1: error: @scaled: argument %A has sizes (5, 2), but must have (7, 2)"
    assert (shown, caret) == (KERNEL.splitlines()[0], "^")
    assert cli("run", "-", "0", "5x2=zeros", how, text=KERNEL).err.startswith(
        "<stdin>:1:1: error: @scaled assumes k - 1"
    )


def test_a_compiler_that_is_not_there_is_no_error_of_the_text(cli, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", "/no/such/compiler")
    outcome = cli("run", "-", "7", "5x2=zeros", text=KERNEL)
    assert outcome.err.startswith("affdsl run: $AFFDSL_CC is '/no/such/compiler', but there is no program")


def test_every_error_of_every_command_names_the_file_and_where_it_can_the_place(cli, monkeypatch):
    """Those that isl, C or the interpreter raise know no place: it is that of the function."""
    complex = "\n\n  func.func @f(%z: complex<f16>) {\n  return\n}\n"
    for command in (["translate", "--to=c", "-"], ["run", "-", "1"]):
        error = cli(*command, text=complex).err
        assert error.startswith(("<stdin>:3:3: error: ", "affdsl run: argument %z of @f"))
    assert "<unknown>" not in cli("graph", "-", text="func.func @f(").err
