"""Every operation that touches memory is checked in C, as the interpreter checks it: inside nothing is found."""

import ctypes
import re

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.codegen.c.sites import Sites
from affdsl.errors import AffdslError, DivisorError, OutOfBoundsError
from affdsl.ir.interpreter import run
from affdsl.ir.interpreter.environment import InterpreterError
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import call, compile_silently
from tests.oracles import require

A = np.arange(12, dtype=np.float32).reshape(3, 4)
V = "vector<4xf32>"
LANES = "memref<3x4xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>"
SOME = "memref<?x4xf32, strided<[4, 1], offset: ?>>"
PART = "memref<2x2xf32, strided<[4, 2], offset: 5>>"
ROWS = "memref<?xf32, strided<[3], offset: ?>>"
BIG = 2**63 - 1

# The arguments of each function are %A: 3 rows of 4 numbers, and %p, %q: index; of some a mask by %m as well.
LOADS = {
    "load": "%x = memref.load %A[%p, %q] : memref<3x4xf32>",
    "store": "memref.store %c, %A[%p, %q] : memref<3x4xf32>",
    "atomic": "%x = memref.atomic_rmw addf %c, %A[%p, %q] : (f32, memref<3x4xf32>) -> f32",
    "vector.load": f"%x = vector.load %A[%p, %q] : memref<3x4xf32>, {V}",
    "vector.store": f"vector.store %v, %A[%p, %q] : memref<3x4xf32>, {V}",
    "maskedload": f"%x = vector.maskedload %A[%p, %q], %mask, %v : memref<3x4xf32>, vector<4xi1>, {V} into {V}",
    "maskedstore": f"vector.maskedstore %A[%p, %q], %mask, %v : memref<3x4xf32>, vector<4xi1>, {V}",
    "transfer_read": f"%x = vector.transfer_read %A[%p, %q], %c {{in_bounds = [true]}} : memref<3x4xf32>, {V}",
    "padded": f"%x = vector.transfer_read %A[%p, %q], %c : memref<3x4xf32>, {V}",
    "transfer_write": f"vector.transfer_write %v, %A[%p, %q] : {V}, memref<3x4xf32>",
    "gather": f"%x = vector.gather %A[%p, %q] [%offsets], %mask, %v : {LANES} into {V}",
    "scatter": f"vector.scatter %A[%p, %q] [%offsets], %mask, %v : {LANES}",
    "expandload": f"%x = vector.expandload %A[%p, %q], %mask, %v : memref<3x4xf32>, vector<4xi1>, {V} into {V}",
    "compressstore": f"vector.compressstore %A[%p, %q], %mask, %v : memref<3x4xf32>, vector<4xi1>, {V}",
    "subview": f"""%s = memref.subview %A[%p, 0] [%q, 4] [1, 1] : memref<3x4xf32> to {SOME}
  %last = arith.subi %q, %one : index
  memref.store %c, %s[%last, %one] : {SOME}""",
    "through a view": f"""%s = memref.subview %A[1, 1] [2, 2] [1, 2] : memref<3x4xf32> to {PART}
  memref.store %c, %s[%p, %q] : {PART}""",
    "reinterpret_cast": f"""%s = memref.reinterpret_cast %A to offset: [%p], sizes: [%q], strides: [3]
    : memref<3x4xf32> to {ROWS}
  %x = memref.load %s[%zero] : {ROWS}""",
    "expand_shape": """%d = memref.cast %A : memref<3x4xf32> to memref<?x4xf32>
  %s = memref.expand_shape %d [[0, 1], [2]] output_shape [%p, %q, 4] : memref<?x4xf32> into memref<?x?x4xf32>""",
    "cast": """%t = memref.alloc(%p, %q) : memref<?x?xf32>
  %s = memref.cast %t : memref<?x?xf32> to memref<3x4xf32>
  memref.dealloc %t : memref<?x?xf32>""",
    "copy": """%t = memref.alloc(%p, %q) : memref<?x?xf32>
  %s = memref.cast %A : memref<3x4xf32> to memref<?x?xf32>
  memref.copy %s, %t : memref<?x?xf32> to memref<?x?xf32>
  memref.dealloc %t : memref<?x?xf32>""",
    "view": """%b = memref.alloc() : memref<64xi8>
  %s = memref.view %b[%p][%q] : memref<64xi8> to memref<?xf32>
  memref.store %c, %s[%zero] : memref<?xf32>
  memref.dealloc %b : memref<64xi8>""",
    "dma": """%t = memref.alloc() : memref<8xf32, 1>
  %tag = memref.alloc() : memref<1xi32>
  affine.dma_start %A[symbol(%p), 1], %t[0], %tag[0], %q : memref<3x4xf32>, memref<8xf32, 1>, memref<1xi32>
  affine.dma_wait %tag[0], %q : memref<1xi32>
  memref.dealloc %tag : memref<1xi32>
  memref.dealloc %t : memref<8xf32, 1>""",
    "strided dma": """%t = memref.alloc() : memref<8xf32, 1>
  %tag = memref.alloc() : memref<1xi32>
  affine.dma_start %A[0, 0], %t[0], %tag[0], %eight, %p, %q : memref<3x4xf32>, memref<8xf32, 1>, memref<1xi32>
  affine.dma_wait %tag[0], %eight : memref<1xi32>
  memref.dealloc %tag : memref<1xi32>
  memref.dealloc %t : memref<8xf32, 1>""",
    "prefetch": "memref.prefetch %A[%p, %q], read, locality<3>, data : memref<3x4xf32>",
    "floordiv": "%x = affine.apply affine_map<()[s0, s1] -> (s0 floordiv s1)>()[%p, %q]",
    "if": """affine.if affine_set<()[s0, s1] : (s1 - 5 >= 0, s0 mod s1 == 0)>()[%p, %q] {
    memref.store %c, %A[%zero, %zero] : memref<3x4xf32>
  }""",
    "delinearize": """%x:2 = affine.delinearize_index %p into (%q, %q) : index, index""",
    "scf.parallel": """scf.parallel (%i) = (%zero) to (%p) step (%one) {
    memref.store %c, %A[%i, %q] : memref<3x4xf32>
  }""",
    "affine.parallel": """affine.parallel (%i) = (0) to (symbol(%p)) {
    affine.store %c, %A[%i, symbol(%q)] : memref<3x4xf32>
  }""",
    "call": "func.call @g(%A, %p, %q) : (memref<3x4xf32>, index, index) -> ()",
}  # fmt: skip
INSIDE = {
    **{name: [(0, 0), (2, 3)] for name in LOADS},
    **{name: [(0, 0), (2, 0)] for name in ("vector.load", "vector.store", "transfer_read")},
    **{name: [(0, 0), (2, 1)] for name in ("maskedload", "maskedstore")},
    **{name: [(0, 0), (2, 3), (2, 2**40)] for name in ("padded", "transfer_write")},
    **{name: [(0, 1), (1, 2)] for name in ("gather", "scatter")},
    **{name: [(0, 0), (1, 3), (2, 2)] for name in ("expandload", "compressstore")},
    "subview": [(0, 3), (2, 1)], "through a view": [(0, 0), (1, 1)],
    "reinterpret_cast": [(0, 4), (2, 4), (11, 1)], "expand_shape": [(3, 1), (1, 3)], "cast": [(3, 4)], "copy": [(3, 4)],
    "view": [(0, 16), (4, 15), (60, 1)], "dma": [(0, 8), (2, 3), (2, 0)],
    "strided dma": [(4, 4), (8, 4), (1, 1), (0, 8)],
    "prefetch": [(0, 0), (9, 9), (-BIG, BIG)], "floordiv": [(-7, 3), (7, 1)], "if": [(10, 5), (1, -3), (1, 0)],
    "delinearize": [(5, 3), (-5, 1)], "scf.parallel": [(3, 3), (0, 9)], "affine.parallel": [(3, 3), (0, 9)],
    "call": [(2, 3)],
}  # fmt: skip
ELEMENT = [(3, 0), (0, 4), (-1, 0), (0, -1), (BIG, 0), (0, -BIG - 1), (1, BIG)]
OUTSIDE = {
    **dict.fromkeys(LOADS, ELEMENT),
    **{name: [*ELEMENT, (0, 1), (2, 3), (0, BIG - 3)] for name in ("vector.load", "vector.store", "transfer_read")},
    **{name: [(3, 0), (0, 3), (-1, 0), (0, -1), (0, BIG - 1)] for name in ("maskedload", "maskedstore")},
    **{name: [(3, 0), (-1, 0), (BIG, 0)] for name in ("padded", "transfer_write")},
    **{name: [(2, 3), (0, -1), (-1, 0), (3, 0), (BIG, 0), (0, BIG)] for name in ("gather", "scatter")},
    **{name: [(2, 3), (-1, 0), (3, 0), (BIG, 1), (0, -1)] for name in ("expandload", "compressstore")},
    "subview": [(0, 4), (3, 1), (-1, 2), (1, BIG), (BIG, 2)], "through a view": [(2, 0), (0, 2), (-1, 0), (0, -1)],
    "reinterpret_cast": [(0, 5), (-1, 2), (3, 4), (12, 1), (BIG, 2), (0, BIG)],
    "expand_shape": [(2, 1), (3, 2), (2**32, 2**32), (-1, -3)], "cast": [(3, 5), (2, 4)], "copy": [(3, 3), (4, 4)],
    "view": [(0, 17), (-4, 2), (61, 1), (64, 1), (2, 1), (0, BIG), (BIG - 3, 1)],
    "dma": [(2, 4), (3, 1), (-1, 1), (0, 9), (0, -1), (0, 1000)],
    "strided dma": [(9, 4), (3, 1), (BIG, 4), (4, 0), (4, 3), (-1, 4)],
    "prefetch": [], "floordiv": [(7, 0), (7, -3)], "if": [], "delinearize": [(5, 0), (5, -1)],
    "scf.parallel": [(4, 3), (1, 4), (3, -1)], "affine.parallel": [(4, 3), (1, 4), (3, -1)],
}  # fmt: skip


def text(name: str) -> str:
    lanes = {"expandload": "true, false, true, false"}.get(name, "true, true, false, false")
    lanes = "true, false, true, false" if name == "compressstore" else lanes
    callee = """
func.func @g(%A: memref<3x4xf32>, %r: index, %s: index) {
  %x = memref.load %A[%r, %s] : memref<3x4xf32>
  return
}"""
    return f"""
func.func @f(%A: memref<3x4xf32>, %p: index, %q: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %c = arith.constant -1.0 : f32
  %v = arith.constant dense<7.0> : {V}
  %mask = arith.constant dense<[{lanes}]> : vector<4xi1>
  %offsets = arith.constant dense<[-1, 5, 999999, -99999]> : vector<4xi32>
  {LOADS[name]}
  return
}}{callee if name == "call" else ""}"""


@pytest.mark.parametrize("name", LOADS)
def test_an_operation_is_checked_as_the_interpreter_does(name, tmp_path):
    module = parse(text(name))
    verify(module)
    function = next(f for f in module.functions if f.symbol == "f")
    sites = Sites()
    source = emit_jit(module, "f", sites=sites)
    library = ctypes.CDLL(str(compile_silently(source, tmp_path, require("gcc"), "-O1", "-fopenmp", "-fwrapv")))
    for p, q in INSIDE[name]:
        expected, given = A.copy(), A.copy()
        run(function, expected, p, q, module=module)
        status, _ = call(library, module, "f", (given, p, q))
        assert status == 0, f"{(p, q)}: {failure(library, sites) if status == 3 else status}"
        np.testing.assert_array_equal(given, expected)
    for p, q in OUTSIDE[name]:
        with pytest.raises(
            InterpreterError, match=r"out of bounds|reach|divisor|negative|fit|size|begin|chunks|elements|basis|shape"
        ):
            run(function, A.copy(), p, q, module=module)
        status, _ = call(library, module, "f", (A.copy(), p, q))
        assert status == 3 if name != "copy" else status in (2, 3), (p, q)
        error = failure(library, sites)
        assert isinstance(error, OutOfBoundsError | DivisorError)
        assert re.fullmatch(r"<\w+>:\d+: [^{}]+", str(error)), str(error)


def failure(library: ctypes.CDLL, sites: Sites) -> AffdslError:
    numbers = (ctypes.c_int64 * sites.room)()
    library.affdsl_failure(numbers)
    return sites.error(tuple(numbers))


def test_words_of_what_does_not_fit(tmp_path):
    said = {}
    for name, p, q in [("subview", 0, 4), ("gather", 2, 3), ("dma", 2, 4), ("cast", 3, 5), ("vector.load", 0, 1)]:
        module, sites = parse(text(name)), Sites()
        source = emit_jit(module, "f", sites=sites)
        library = ctypes.CDLL(str(compile_silently(source, tmp_path, require("gcc"), "-O1")))
        assert call(library, module, "f", (A.copy(), p, q))[0] == 3
        said[name] = str(failure(library, sites)).split(": ", 1)[1]
    assert said == {
        "subview": "the part of A with 4 elements 1 apart from 0 on is out of bounds for dimension 0 of A, which has "
                   "size 3",
        "gather": "A[p, q] (4 lanes): lane 1, 5 elements behind index (2, 3), is out of bounds of A, which has sizes "
                  "(3, 4)",
        "dma": "the copy of A to t: 4 elements from element 9 on are out of bounds of A, which has 12",
        "cast": "the cast of t: dimension 1 has size 5, and must have 4",
        "vector.load": "A[p, q] (4 lanes): index 4 of (0, 4) in lane 3 is out of bounds for dimension 1 of A, which "
                       "has size 4",
    }  # fmt: skip


def test_checked_c_compiles_without_warnings_and_says_what_its_numbers_mean(tmp_path):
    source = "\n".join(text(name).replace("@f(", f"@f{n}(").replace("@g", f"@g{n}") for n, name in enumerate(LOADS))
    calls = "\n".join(
        f"  func.call @f{n}(%A, %p, %q) : (memref<3x4xf32>, index, index) -> ()" for n in range(len(LOADS))
    )
    source += f"\nfunc.func @all(%A: memref<3x4xf32>, %p: index, %q: index) {{\n{calls}\n  return\n}}"
    made = emit(parse(source), "all", checked=True)
    assert "Returns 0, or 2 where there is not enough memory, or 3 where an access would leave its" in made.header
    assert re.search(r"failure +int64_t\[\d+\], for what fails: the first is 0 before the call", made.header)
    assert "Compile with -fwrapv: an index that" in made.header
    numbers = re.findall(r"^ \* +(\d+)  ", made.source, re.M)
    assert numbers == [str(n + 1) for n in range(len(numbers))]
    assert len(numbers) > len(LOADS)
    assert "/" not in "".join(re.findall(r"^ \* +\d+  (.*?):", made.source, re.M)), "no folder of the user"
    for compiler in (require("gcc"), require("clang-22")):
        for flags in (("-O2",), ("-O1", "-fopenmp")):
            header = f"{made.name}.h", made.header
            compile_silently(made.source, tmp_path, compiler, *flags, header=header, kind=("-c",))
