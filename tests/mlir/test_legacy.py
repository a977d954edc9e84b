"""Spellings of 2019 to 2021 are read as the operations of today: the same program in both spellings prints the same."""

from pathlib import Path

import numpy as np
import pytest

from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from affdsl.mlir.writers import print_op
from tests.mlir.batches import judge


def whole_programs():
    """What is compared: the old spelling, and that of today."""
    for program in Path(__file__).with_name("legacy.mlir").read_text(encoding="utf-8").split("// ----- ")[1:]:
        name, _, text = program.partition("\n")
        old, new = text.split("// TODAY\n")
        yield name, (old, new)


WHOLE = dict(whole_programs())

# One operation in the old spelling -> today's, inside a function with HEADING's arguments.
HEADING = (
    "@f(%i: index, %j: index, %n: index, %a: f32, %b: f32, %d: f64, %p: i32, %q: i32, %l: i64, %t: i1, "
    "%A: memref<?x?xf32>, %B: memref<16x16xf32>, %v: vector<4xf32>, %w: vector<4xi32>, %bytes: memref<64xi8>, "
    "%far: memref<16x16xf32, 2>, %tag: memref<1xi32>, %c0: index)"
)
ONE = {
    "%0 = addf %a, %b : f32": "%0 = arith.addf %a, %b : f32",
    "%0 = std.addf %a, %b : f32": "%0 = arith.addf %a, %b : f32",
    "%0 = subf %v, %v : vector<4xf32>": "%0 = arith.subf %v, %v : vector<4xf32>",
    "%0 = mulf %a, %b {note} : f32": "%0 = arith.mulf %a, %b {note} : f32",
    "%0 = divf %a, %b : f32": "%0 = arith.divf %a, %b : f32",
    "%0 = remf %a, %b : f32": "%0 = arith.remf %a, %b : f32",
    "%0 = maxf %a, %b : f32": "%0 = arith.maximumf %a, %b : f32",
    "%0 = minf %a, %b : f32": "%0 = arith.minimumf %a, %b : f32",
    "%0 = arith.maxf %a, %b : f32": "%0 = arith.maximumf %a, %b : f32",
    "%0 = addi %i, %j : index": "%0 = arith.addi %i, %j : index",
    "%0 = muli %w, %w : vector<4xi32>": "%0 = arith.muli %w, %w : vector<4xi32>",
    "%0 = divis %p, %q : i32": "%0 = arith.divsi %p, %q : i32",
    "%0 = diviu %p, %q : i32": "%0 = arith.divui %p, %q : i32",
    "%0 = remi_signed %p, %q : i32": "%0 = arith.remsi %p, %q : i32",
    "%0 = remi_unsigned %p, %q : i32": "%0 = arith.remui %p, %q : i32",
    "%0 = floordivi_signed %p, %q : i32": "%0 = arith.floordivsi %p, %q : i32",
    "%0 = and %p, %q : i32": "%0 = arith.andi %p, %q : i32",
    "%0 = or %p, %q : i32": "%0 = arith.ori %p, %q : i32",
    "%0 = xor %t, %t : i1": "%0 = arith.xori %t, %t : i1",
    "%0 = shift_left %p, %q : i32": "%0 = arith.shli %p, %q : i32",
    "%0 = shift_right_signed %p, %q : i32": "%0 = arith.shrsi %p, %q : i32",
    "%0 = shift_right_unsigned %p, %q : i32": "%0 = arith.shrui %p, %q : i32",
    '%0 = cmpi "slt", %p, %q : i32': "%0 = arith.cmpi slt, %p, %q : i32",
    '%0 = cmpf "ogt", %a, %b : f32': "%0 = arith.cmpf ogt, %a, %b : f32",
    "%0 = select %t, %a, %b : f32": "%0 = arith.select %t, %a, %b : f32",
    "%0 = negf %a : f32": "%0 = arith.negf %a : f32",
    "%0 = fpext %a : f32 to f64": "%0 = arith.extf %a : f32 to f64",
    "%0 = fptrunc %d : f64 to f32": "%0 = arith.truncf %d : f64 to f32",
    "%0 = sexti %p : i32 to i64": "%0 = arith.extsi %p : i32 to i64",
    "%0 = zexti %t : i1 to i32": "%0 = arith.extui %t : i1 to i32",
    "%0 = trunci %l : i64 to i32": "%0 = arith.trunci %l : i64 to i32",
    "%0 = index_cast %i : index to i64": "%0 = arith.index_cast %i : index to i64",
    "%0 = sitofp %p : i32 to f32": "%0 = arith.sitofp %p : i32 to f32",
    "%0 = bitcast %a : f32 to i32": "%0 = arith.bitcast %a : f32 to i32",
    "%0 = exp %a : f32": "%0 = math.exp %a : f32",
    "%0 = absf %a : f32": "%0 = math.absf %a : f32",
    "%0 = ceilf %v : vector<4xf32>": "%0 = math.ceil %v : vector<4xf32>",
    "%0 = floorf %a : f32": "%0 = math.floor %a : f32",
    "%0 = sqrt %a : f32": "%0 = math.sqrt %a : f32",
    "%0 = tanh %a : f32": "%0 = math.tanh %a : f32",
    "%0 = copysign %a, %b : f32": "%0 = math.copysign %a, %b : f32",
    "%0 = fmaf %a, %b, %a : f32": "%0 = math.fma %a, %b, %a : f32",
    "%0 = constant true": "%0 = arith.constant true",
    "%0 = constant -3 : i32": "%0 = arith.constant -3 : i32",
    "%0 = constant dense<[1, 2]> : vector<2xi64>": "%0 = arith.constant dense<[1, 2]> : vector<2xi64>",
    "%0 = dim %A, 1 : memref<?x?xf32>": "%c1 = arith.constant 1 : index\n%0 = memref.dim %A, %c1 : memref<?x?xf32>",
    "%0 = dim %A, %i : memref<?x?xf32>": "%0 = memref.dim %A, %i : memref<?x?xf32>",
    "%0 = rank %A : memref<?x?xf32>": "%0 = memref.rank %A : memref<?x?xf32>",
    "%0 = alloc() : memref<8xf32>": "%0 = memref.alloc() : memref<8xf32>",
    "%0 = alloc(%n) {alignment = 64} : memref<?xf32>": "%0 = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>",
    "%0 = alloca() : memref<f32>": "%0 = memref.alloca() : memref<f32>",
    "dealloc %A : memref<?x?xf32>": "memref.dealloc %A : memref<?x?xf32>",
    "%0 = load %A[%i, %j] : memref<?x?xf32>": "%0 = memref.load %A[%i, %j] : memref<?x?xf32>",
    "%0 = std.load %A[%i, %j] : memref<?x?xf32>": "%0 = memref.load %A[%i, %j] : memref<?x?xf32>",
    "%0 = load %A[%i, %j - 1] : memref<?x?xf32>": "%0 = affine.load %A[%i, %j - 1] : memref<?x?xf32>",
    "store %a, %A[%i, %j] : memref<?x?xf32>": "memref.store %a, %A[%i, %j] : memref<?x?xf32>",
    "store %a, %A[%i + symbol(%n), 2] : memref<?x?xf32>": "affine.store %a, %A[%i + symbol(%n), 2] : memref<?x?xf32>",
    "%0 = memref_cast %B : memref<16x16xf32> to memref<?x?xf32>": (
        "%0 = memref.cast %B : memref<16x16xf32> to memref<?x?xf32>"
    ),
    "%0 = view %bytes[%i][] : memref<64xi8> to memref<4x4xf32>": (
        "%0 = memref.view %bytes[%i][] : memref<64xi8> to memref<4x4xf32>"
    ),
    "%0 = alloc() : memref<16x8xf32, (d0, d1) -> (d1, d0), 2>": (
        "%0 = memref.alloc() : memref<16x8xf32, affine_map<(d0, d1) -> (d1, d0)>, 2>"
    ),
    "%0 = alloc() : memref<16x8xf32, (d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>": (
        "%0 = memref.alloc() : memref<16x8xf32, affine_map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>>"
    ),
    "%0 = alloc()[%n] : memref<4x4xf32, (d0, d1)[s0] -> (d0, d1 + s0)>": (
        "%0 = memref.alloc()[%n] : memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0, d1 + s0)>>"
    ),
    "%0 = alloc() : memref<16x8xf32, (d0, d1) -> (d0, d1)>": "%0 = memref.alloc() : memref<16x8xf32>",
    "%0 = memref_cast %B : memref<16x16xf32> to memref<16x16xf32, offset: ?, strides: [?, 1]>": (
        "%0 = memref.cast %B : memref<16x16xf32> to memref<16x16xf32, strided<[?, 1], offset: ?>>"
    ),
    "dma_start %B[%i, %j], %far[%j, %i], %n, %tag[%c0] : memref<16x16xf32>, memref<16x16xf32, 2>, memref<1xi32>": (
        "memref.dma_start %B[%i, %j], %far[%j, %i], %n, %tag[%c0]"
        " : memref<16x16xf32>, memref<16x16xf32, 2>, memref<1xi32>"
    ),
    "dma_wait %tag[%c0], %n : memref<1xi32>": "memref.dma_wait %tag[%c0], %n : memref<1xi32>",
    "prefetch %B[%i, %j], write, locality<1>, data : memref<16x16xf32>": (
        "memref.prefetch %B[%i, %j], write, locality<1>, data : memref<16x16xf32>"
    ),
    '%0 = atomic_rmw "addf" %a, %B[%i, %j] : (f32, memref<16x16xf32>) -> f32': (
        "%0 = memref.atomic_rmw addf %a, %B[%i, %j] : (f32, memref<16x16xf32>) -> f32"
    ),
    "%0 = affine.max (d0) -> (100, d0 + 8) (%i) : index": "%0 = affine.max affine_map<(d0) -> (100, d0 + 8)>(%i)",
    "%0 = affine.min (d0)[s0] -> (d0, s0) (%i)[%n]": "%0 = affine.min affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n]",
    "%0 = affine_apply (d0) -> (d0 * 4) (%i)": "%0 = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)",
    "for %k = 0 to 10 {\n}": "affine.for %k = 0 to 10 {\n}",
    "if (d0) : (d0 >= 0) (%i) {\n}": "affine.if affine_set<(d0) : (d0 >= 0)>(%i) {\n}",
    "%0 = splat %a : vector<8xf32>": "%0 = vector.broadcast %a : f32 to vector<8xf32>",
    "%0 = vector.splat %a : vector<8xf32>": "%0 = vector.broadcast %a : f32 to vector<8xf32>",
    '%0 = vector.reduction "mul", %v : vector<4xf32> into f32': (
        "%0 = vector.reduction <mul>, %v : vector<4xf32> into f32"
    ),
    '%0 = vector.reduction "min", %w : vector<4xi32> into i32': (
        "%0 = vector.reduction <minsi>, %w : vector<4xi32> into i32"
    ),
    "%0 = vector.strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>": (
        "%0 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]}"
        " : vector<4xf32> to vector<2xf32>"
    ),
    '%0 = affine.parallel (%k) = (0) to (8) reduce ("addf") -> f32 {\naffine.yield %a : f32\n}': (
        '%0 = affine.parallel (%k) = (0) to (8) reduce ("addf") -> (f32) {\naffine.yield %a : f32\n}'
    ),
}  # fmt: skip


def today(text: str) -> str:
    """What is printed of a text that is read and verified."""
    module = parse(text)
    verify(module)
    return print_op(module)


def check_the_same(pairs: list[tuple[str, str]]) -> None:
    """What we print of old programs is what we print of today's, and mlir-opt agrees."""
    printed = []
    for old, new in pairs:
        printed.append(today(old))
        assert printed[-1] == today(new), old
    for (old, _), ours, theirs in zip(pairs, judge(printed), judge([new for _, new in pairs]), strict=True):
        assert not ours.errors, f"{ours.errors}\n{old}"
        assert ours.output is not None, old
        assert ours == theirs, old


def test_whole_programs():
    check_the_same(list(WHOLE.values()))


@pytest.mark.parametrize("keyword", ["func", "func.func"])
def test_single_operations(keyword):
    """Old operations in an old function, and between those of today."""
    check_the_same(
        [
            (f"{keyword} {HEADING} {{\n{old}\nreturn\n}}", f"func.func {HEADING} {{\n{new}\nfunc.return\n}}")
            for old, new in ONE.items()
        ]
    )


@pytest.mark.parametrize("old", ["%x = addf %a, %b : f32", "%x = constant 1.0 : f32", "call @g() : () -> ()"])
def test_inside_loops(old):
    program = "func.func private @g()\nfunc.func @f(%a: f32, %b: f32) {{ affine.for %i = 0 to 3 {{ {} }} return }}"
    new = old.replace("addf", "arith.addf").replace("constant", "arith.constant").replace("call", "func.call")
    assert today(program.format(old)) == today(program.format(new))


def test_old_reductions_compute():
    matrix = np.arange(24 * 8, dtype=np.float32).reshape(24, 8) % 5
    sums = np.zeros(8, np.float32)
    run(parse(WHOLE["a reduction carried through a loop, scalar"][0]).functions[0], matrix, sums)
    np.testing.assert_array_equal(sums, (matrix * matrix).sum(axis=0))
    before = matrix.copy()
    run(parse(WHOLE["a reduction carried through a loop, in vectors"][0]).functions[0], matrix, sums)
    np.testing.assert_array_equal(sums, before[:8].sum(axis=1))


def test_types_with_bare_layouts_are_told_apart():
    """Two types that begin alike: what was read of the first is no answer for the second."""
    text = "func @f(%A: memref<8x8xf32, (d0, d1) -> (d1, d0)>, %B: memref<8x8xf32, (d0, d1) -> (d0, d1 + 1)>)"
    one, other = parse(text).functions[0].args
    assert str(one.type) == "memref<8x8xf32, affine_map<(d0, d1) -> (d1, d0)>>"
    assert str(other.type) == "memref<8x8xf32, affine_map<(d0, d1) -> (d0, d1 + 1)>>"


F = "func @f(%n: index, %x: f32, %A: memref<8xf32>) {\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("func @f(%A, %X) : (memref<8xf32>, i32) {\n}", 1, 11, "expected ':'"),
        ("mlfunc @f() {\n}", 1, 1, "mlfunc is an operation of former times; write func.func"),
        ("cfgfunc @f(i32) {\n}", 1, 1, "write func.func, with blocks like"),
        (F + "%y = vector.extractelement %x[%n : index] : vector<4xf32>", 2, 6, "write vector.extract %v[%i]"),
        (F + "%y = tensor_load %A : memref<8xf32>", 2, 6, "write bufferization.to_tensor"),
        (F + "assume_alignment %A, 16 : memref<8xf32>", 2, 1, "write %B = memref.assume_alignment"),
        (F + "%y = dim %A : memref<8xf32>", 2, 13, "expected ','"),
        (F + "%y = dim %A, 0.5 : memref<8xf32>", 2, 14, "expected an integer"),
        (F + "%y = load %A[%n : memref<8xf32>", 2, 17, "expected"),
        (F + "%y = load %A[%m] : memref<8xf32>", 2, 14, "%m is not defined"),
        (F + "%y = affine.apply (d0) : (d0 >= 0) (%n)", 2, 19, "expected an affine map, but this is a set"),
        (F + "affine.if (d0) -> (d0) (%n) {\n}", 2, 11, "expected an integer set, but this is a map"),
        (F + "%y = affine.apply (d0) -> (floordiv(d0)) (%n)", 2, 39, "expected ','"),
        (F + "%y = affine.apply (d0) -> (floordiv(d0, d0)) (%n)", 2, 41, "this is not affine: the right side"),
        (F + "%y = affine.max affine_map<(d0) -> (1, d0)>(%n) : index", 2, 49, "expected an operation or '}'"),
        (F + "%y = affine.max (d0) -> (1, d0) (%n) : i32", 2, 40, "expected 'index'"),
        (F + "%y = func.constant 1.0 : f32", 2, 20, "expected a symbol"),
        (F + "%y = constant 1.0 : i32", 2, 15, "1.0 is no number of type i32"),
        (F + '%y = cmpf "less", %x, %x : f32', 2, 11, "expected a predicate"),
        (F + '%y = vector.reduction "average", %x : vector<4xf32> into f32', 2, 23, "there is no kind average"),
        ("func @f(memref<8x8xf32, (d0) -> (d0)>)", 1, 9, "the layout takes 1 dimensions, but the memref has 2"),
        ("func @f(memref<8xf32, (d0) : (d0 >= 0)>)", 1, 23, "expected an affine map, but this is a set"),
        ("func @f(memref<8xf32, (d0) -> (d0 + 1), (d0) -> (d0)>)", 1, 53, "a memref has one layout"),
        ("func @f(memref<8xf32, offset: 2>)", 1, 32, "expected ','"),
        ("func @f(memref<8xf32, offset: 0, strides: [8, 1]>)", 1, 9, "2 strides, but the memref has 1 dimensions"),
        (F + "%y = affine.terminator", 2, 6, "affine.terminator has 0 results, but 1 names"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_shown_in_place(text, line, column, message):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)
