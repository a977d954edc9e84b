"""C of functions that call others without a body: linked with those, it does what the whole program does."""

import ctypes

import numpy as np
import pytest

from affdsl.cli.sizes import with_sizes
from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.errors import UnsupportedError
from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from tests import oracles

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]

CALLER = """
func.func @f(%A: memref<?x4xf32>, %n: index, %x: f32) -> f32 {
  %before = affine.load %A[0, 1] : memref<?x4xf32>
  %s = func.call @g(%A, %x, %n) : (memref<?x4xf32>, f32, index) -> f32
  %after = affine.load %A[0, 1] : memref<?x4xf32>
  func.call @h() : () -> ()
  %0 = arith.subf %after, %before : f32
  %1 = arith.mulf %0, %s : f32
  affine.store %1, %A[symbol(%n), 0] : memref<?x4xf32>
  return %1 : f32
}
"""
DECLARED = """
func.func private @g(memref<?x4xf32>, f32, index) -> f32
func.func private @h()
"""
CALLED = """
func.func @g(%A: memref<?x4xf32>, %x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %N = memref.dim %A, %c0 : memref<?x4xf32>
  affine.for %i = 0 to %N { affine.for %j = 0 to 4 {
    %0 = affine.load %A[%i, %j] : memref<?x4xf32>
    %1 = arith.addf %0, %x : f32
    affine.store %1, %A[%i, %j] : memref<?x4xf32>
  } }
  %0 = affine.load %A[symbol(%n), 2] : memref<?x4xf32>
  return %0 : f32
}
func.func @h() { return }
"""


def c_of(text, entry):
    module, _ = with_sizes(parse(text))
    return emit(module, entry).whole


def test_a_function_of_another_file_is_called_as_translate_makes_it():
    files = {
        "f.c": c_of(DECLARED + CALLER, "f"), "g.c": c_of(CALLED, "g"), "h.c": c_of(CALLED, "h"),
    }  # fmt: skip
    library = ctypes.CDLL(str(oracles.compile_c(files, "gcc", STRICT)))
    library.f.restype = ctypes.c_float
    random = np.random.default_rng(0)
    for rows, n, x in ((3, 2, 1.5), (1, 0, -0.25), (7, 4, 8.0)):
        A = (random.integers(-64, 64, (rows, 4)) / 8).astype(np.float32)
        B = A.copy()
        (wanted,) = run(parse(CALLED + CALLER).functions[-1], B, n, np.float32(x), module=parse(CALLED + CALLER))
        sizes = [ctypes.c_int64(rows)]
        pointer = A.ctypes.data_as(ctypes.c_void_p)
        assert library.f(*sizes, pointer, ctypes.c_int64(n), ctypes.c_float(x)) == wanted
        assert A.tobytes() == B.tobytes()


DESCRIBED = """
func.func private @sum(memref<?x?xf64, strided<[?, ?], offset: ?>>, memref<*xf64>, f64) -> f64
  attributes {llvm.emit_c_interface}
func.func private @any(memref<*xf64>) -> f64
func.func private @one(memref<f64>) attributes {llvm.emit_c_interface}
func.func @f(%A: memref<6x8xf64>, %i: index) -> f64 {
  %one = memref.alloca() : memref<f64>
  func.call @one(%one) : (memref<f64>) -> ()
  %x = affine.load %one[] : memref<f64>
  %part = memref.subview %A[%i, 1] [2, 3] [2, 2] : memref<6x8xf64> to memref<2x3xf64, strided<[16, 2], offset: ?>>
  %given = memref.cast %part
    : memref<2x3xf64, strided<[16, 2], offset: ?>> to memref<?x?xf64, strided<[?, ?], offset: ?>>
  %all = memref.cast %A : memref<6x8xf64> to memref<*xf64>
  %0 = func.call @sum(%given, %all, %x) : (memref<?x?xf64, strided<[?, ?], offset: ?>>, memref<*xf64>, f64) -> f64
  %1 = func.call @any(%all) : (memref<*xf64>) -> f64
  %2 = arith.addf %0, %1 : f64
  return %2 : f64
}
"""
LIBRARY = """
#include <stdint.h>
struct two { double *allocated, *aligned; int64_t offset, sizes[2], strides[2]; };
struct none { double *allocated, *aligned; int64_t offset; };
struct unranked { int64_t rank; void *descriptor; };
static double total(const struct two *a)
{
    double sum = 0.0;
    for (int64_t i = 0; i < a->sizes[0]; ++i)
        for (int64_t j = 0; j < a->sizes[1]; ++j)
            sum += a->aligned[a->offset + i * a->strides[0] + j * a->strides[1]];
    return sum;
}
double _mlir_ciface_sum(struct two *part, struct unranked *all, double x);
double _mlir_ciface_sum(struct two *part, struct unranked *all, double x)
{
    part->aligned[part->offset] += x;
    return all->rank == 2 ? 100 * total(part) + total(all->descriptor) : -1;
}
double any(int64_t rank, void *descriptor);
double any(int64_t rank, void *descriptor) { return rank == 2 ? total(descriptor) : -1; }
void _mlir_ciface_one(struct none *a);
void _mlir_ciface_one(struct none *a) { a->aligned[a->offset] = 0.5; }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_arrays_are_handed_over_as_descriptors_where_mlir_does_so(compiler):
    files = {"f.c": c_of(DESCRIBED, "f"), "library.c": LIBRARY}
    library = ctypes.CDLL(str(oracles.compile_c(files, compiler, STRICT)))
    library.f.restype = ctypes.c_double
    for i in (0, 1, 3):
        A = np.arange(48, dtype=np.float64).reshape(6, 8)
        expected = A.copy()
        expected[i, 1] += 0.5
        part = expected[i : i + 4 : 2, 1:6:2]
        assert library.f(A.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(i)) == 100 * part.sum() + 2 * expected.sum()
        assert (expected == A).all()


def test_constants_are_handed_to_functions_that_might_write():
    text = """
memref.global "private" constant @table : memref<3xi32> = dense<[1, 2, 4]>
func.func private @take(memref<3xi32>) -> i32
func.func @f() -> i32 {
  %t = memref.get_global @table : memref<3xi32>
  %0 = func.call @take(%t) : (memref<3xi32>) -> i32
  return %0 : i32
}"""
    take = "int take(int *a);\nint take(int *a) { return a[0] + a[1] + a[2]; }\n"
    library = ctypes.CDLL(str(oracles.compile_c({"f.c": c_of(text, "f"), "take.c": take}, "gcc", STRICT)))
    assert library.f() == 7


@pytest.mark.parametrize(("declared", "said"), [
    ("func.func private @g() -> memref<4xf32>", "returns an array as result 0: nothing says who frees it"),
    ("func.func private @exp()", "has a name that is none in C, or another meaning there"),
    ("func.func private @\"a b\"()", "has a name that is none in C"),
    ("func.func private @g() -> (f32, f32) attributes {llvm.emit_c_interface}", "C output takes one at most"),
    ("func.func private @g(vector<4xf32>)", "no value of type vector<4xf32>"),
])  # fmt: skip
def test_what_cannot_be_declared_is_refused(declared, said):
    name = declared.split("@")[1].split("(")[0]
    given, _, results = declared.partition("@")[2].removeprefix(name).partition(" attributes")[0].partition(" -> ")
    argument = "%v: vector<4xf32>" if "vector" in given else ""
    used = "%v" if argument else ""
    results = results or "()"
    count = 0 if results == "()" else results.count(",") + 1
    named = f"%r{f':{count}' if count > 1 else ''} = " if count else ""
    call = f"{named}func.call @{name}({used}) : {given} -> {results}"
    text = f"{declared}\nfunc.func @f({argument}) {{ {call} return }}"
    with pytest.raises(UnsupportedError, match=said.replace("(", r"\(")):
        emit(parse(text), "f")


def test_what_is_called_from_python_needs_the_whole_program():
    with pytest.raises(UnsupportedError, match="function 'g' has no body; C output needs the whole program"):
        emit_jit(with_sizes(parse(DECLARED + CALLER))[0], "f")
