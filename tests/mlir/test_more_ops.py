"""Views, global buffers, DMA, prefetches, vectors of affine accesses, the loops and choices of scf: text both ways.

`more_ops.mlir` has each of these operations with and without attributes.
"""

from pathlib import Path

import pytest

from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from affdsl.mlir.writers import print_op
from tests.oracles import mlir_opt

TEXTS = Path(__file__).with_name("more_ops.mlir").read_text().split("// -----\n")


@pytest.mark.parametrize("number", range(len(TEXTS)))
@pytest.mark.parametrize("generic", [False, True])
def test_text_both_ways(number, generic):
    wanted = mlir_opt(TEXTS[number])
    for text in (TEXTS[number], wanted, mlir_opt(TEXTS[number], "--mlir-print-op-generic")):
        module = parse(text)
        verify(module)
        assert mlir_opt(print_op(module, generic=generic)) == wanted


def test_elements_as_bytes():
    numbers = ", ".join(str(k) for k in range(-60, 60))
    bits = ", ".join("true" if k % 3 == 0 else "false" for k in range(121))
    halves = ", ".join(f"{k}.5" for k in range(120))
    types = {"i32": numbers, "f16": halves, "index": numbers, "i9": numbers, "bf16": halves}
    lines = [f"memref.global @{type} : memref<120x{type}> = dense<[{shown}]>" for type, shown in types.items()]
    text = "\n".join([f"memref.global @i1 : memref<121xi1> = dense<[{bits}]>", *lines])
    wanted = mlir_opt(text)
    assert wanted.count('dense<"0x') == 6
    plain, read = parse(text), parse(wanted)
    assert [g.value for g in read.body] == [g.value for g in plain.body]
    assert plain.body[1].value == tuple(range(-60, 60))
    assert mlir_opt(print_op(read)) == wanted


PROBLEMS = [
    ("scf.while : () -> () { scf.condition(%c) } do { }", "a block must end with scf.yield here"),
    ("scf.parallel (%i, %j) = (%n) to (%n) step (%n) { }", "the numbers of variables, bounds and steps differ"),
    ("%v = memref.subview %A[0] [4] [1] : memref<8xf32> to f32", "memref.subview needs a memref"),
    ("memref.prefetch %A[%n], reed, locality<3>, data : memref<8xf32>",
     "rw specifier has to be 'read' or 'write', not reed"),
    ("affine.dma_start %A[%n], %A[%n], %A[%n], %n, %n : memref<8xf32>, memref<8xf32>, memref<8xf32>",
     "a stride is a distance and a count, got 1 values"),
    ("%x = memref.atomic_rmw addx %f, %A[%n] : (f32, memref<8xf32>) -> f32", "addx is no way to combine"),
    (('"memref.subview"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = [0], '
     "static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (memref<8xf32>) -> memref<4xf32>"),
     "the property static_offsets of memref.subview must be an array of numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), PROBLEMS)
def test_problems(line, message):
    with pytest.raises(ParseError, match=message.replace("(", r"\(")):
        parse(f"func.func @f(%A: memref<8xf32>, %n: index, %c: i1, %f: f32) {{\n{line}\nreturn\n}}")


def test_a_global_buffer_that_is_seen_by_some():
    with pytest.raises(ParseError, match='the visibility is "private", "public" or "nested", not "hidden"'):
        parse('memref.global "hidden" @g : memref<2xf32>')
