"""normalize_memrefs: next to mlir-opt's, run before and after, and what must stay as it is."""

from itertools import product
from random import Random

import pytest

from affdsl.ir.dialects import memref
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.passes.cleanup.normalize_memrefs import normalize_memrefs
from tests.passes.compare import assert_alike, parsed
from tests.passes.program_files import program_file

ALIKE = program_file("normalize-memrefs").programs
LAYOUTS, _, _ = ALIKE["mirrored"].text.partition("func.func")

LOCAL = """func.func @f(%x: f32, %n: index) {{
  %A = memref.alloc{operands} : {type}
  affine.store %x, %A[3] : {type}
  {use}
  return }}"""

KEPT = {
    "an argument that callers know": """func.func @f(%A: memref<8xf32, #shifted>, %x: f32) {
        affine.store %x, %A[3] : memref<8xf32, #shifted> return }""",
    "a result that callers know": """func.func @f() -> memref<8xf32, #shifted> {
        %A = memref.alloc() : memref<8xf32, #shifted>
        return %A : memref<8xf32, #shifted> }""",
    "handed to a function without a body": """func.func private @p(memref<8xf32, #shifted>)
      func.func @f() {
        %A = memref.alloc() : memref<8xf32, #shifted>
        call @p(%A) : (memref<8xf32, #shifted>) -> ()
        return }""",
    "a private function that is also called from elsewhere": """func.func private @p(%A: memref<8xf32, #shifted>) {
        %c = arith.constant 1.0 : f32
        affine.store %c, %A[1] : memref<8xf32, #shifted>
        return }
      "llvm.func"() <{sym_name = "q", function_type = !llvm.func<void ()>, CConv = #llvm.cconv<ccc>,
          linkage = #llvm.linkage<external>, visibility_ = 0 : i64}> ({
        %A = memref.alloc() : memref<8xf32, #shifted>
        func.call @p(%A) : (memref<8xf32, #shifted>) -> ()
        "llvm.return"() : () -> ()
      }) : () -> ()
      func.func @f() {
        %A = memref.alloc() : memref<8xf32, #shifted>
        func.call @p(%A) : (memref<8xf32, #shifted>) -> ()
        return }""",
    "a private function that is also a value": """func.func private @p(%A: memref<8xf32, #shifted>) {
        %c = arith.constant 1.0 : f32
        affine.store %c, %A[1] : memref<8xf32, #shifted>
        return }
      func.func @f() {
        %A = memref.alloc() : memref<8xf32, #shifted>
        func.call @p(%A) : (memref<8xf32, #shifted>) -> ()
        "test.call"() {callee = @p} : () -> ()
        return }""",
    "places below 0": LOCAL.format(operands="()", type="memref<8xf32, #below>", use=""),
    "two elements in one place": LOCAL.format(operands="()", type="memref<8xf32, #halved>", use=""),
    "overlapping strides": LOCAL.format(operands="()", type="memref<8xf32, strided<[0]>>", use=""),
    "a size that is not known": LOCAL.format(operands="(%n)", type="memref<?xf32, #shifted>", use=""),
    "a layout with symbols": LOCAL.format(operands="()[%n]", type="memref<8xf32, #symbolic>", use=""),
    "an unknown operation": LOCAL.format(
        operands="()", type="memref<8xf32, #shifted>", use='"test.use"(%A) : (memref<8xf32, #shifted>) -> ()'
    ),
    "a cast": LOCAL.format(
        operands="()", type="memref<8xf32, strided<[2]>>",
        use="%B = memref.cast %A : memref<8xf32, strided<[2]>> to memref<?xf32, strided<[?], offset: ?>>",
    ),
    "several elements at once": LOCAL.format(
        operands="()", type="memref<8xf32, strided<[2]>>",
        use="%v = affine.vector_load %A[0] : memref<8xf32, strided<[2]>>, vector<4xf32>",
    ),
    "carried by a loop": LOCAL.format(
        operands="()", type="memref<8xf32, #shifted>",
        use="""%r = affine.for %i = 0 to 4 iter_args(%B = %A) -> memref<8xf32, #shifted> {
          affine.yield %B : memref<8xf32, #shifted> }""",
    ),
}  # fmt: skip
"""Programs that stay as they are."""


@pytest.mark.parametrize("name", ALIKE)
def test_no_layout_is_left(name):
    made = normalize_memrefs(parsed(ALIKE[name].text))
    assert not [v for op in walk(made) for v in op.defines() if isinstance(v.type, MemRefType) and v.type.layout]


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name):
    module = parsed(LAYOUTS + KEPT[name])
    assert normalize_memrefs(module) is module


def test_the_size_of_a_buffer_is_that_before():
    module = parsed(
        LAYOUTS
        + """func.func @f() -> (index, index) {
      %A = memref.alloc() : memref<5x9xi32, #tile>
      %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index
      %m = memref.dim %A, %c0 : memref<5x9xi32, #tile>
      %n = memref.dim %A, %c1 : memref<5x9xi32, #tile>
      return %m, %n : index, index }"""
    )
    made = normalize_memrefs(module)
    assert [op.result.type.shape for op in walk(made) if isinstance(op, memref.Alloc)] == [(2, 2, 4, 8)]
    assert assert_alike(module, made) > 0


def random_layout(random: Random, rank: int) -> str:
    """Axes in some order, mirrored, split, apart; now and then with two elements in one place or one below 0."""
    parts = []
    for k in random.sample(range(rank), rank):
        axis = f"d{k}" if random.random() < 0.7 else f"{random.choice([5, 6, 8])} - d{k}"
        match random.choice("accmsst"):
            case "a":
                parts.append(axis)
            case "c":
                parts.append(f"({axis}) ceildiv 2")
            case "m":
                parts.append(f"({axis}) * {random.choice([2, 3])} + {random.choice([0, 1])}")
            case "s":
                size = random.choice([2, 3, 4])
                parts += [f"({axis}) floordiv {size}", f"({axis}) mod {size}"]
            case "t":
                parts.append(f"({axis}) * 8 + d{random.randrange(rank)}")
    return f"affine_map<({', '.join(f'd{k}' for k in range(rank))}) -> ({', '.join(parts)})>"


def test_random_layouts():
    """Each element is written and read back; those layouts change that give each element a place of its own."""
    random, changed, tried = Random(5), 0, 0
    for _ in range(100):
        rank = random.choice([1, 2, 2, 3])
        sizes = [random.randint(1, 7) for _ in range(rank)]
        text = random_layout(random, rank)
        shape, ivs = "x".join(map(str, sizes)), ", ".join(f"%i{k}" for k in range(rank))
        opened = "".join(f"affine.for %i{k} = 0 to {n} {{ " for k, n in enumerate(sizes))
        type, plain, closed = f"memref<{shape}xi32, {text}>", f"memref<{shape}xi32>", "} " * rank
        module = parsed(f"""func.func @f(%C: {plain}) {{
          %A = memref.alloc() : {type}
          {opened} %v = affine.load %C[{ivs}] : {plain} affine.store %v, %A[{ivs}] : {type} {closed}
          {opened} %v = affine.load %A[{ivs}] : {type} %w = arith.addi %v, %v : i32
          affine.store %w, %C[{ivs}] : {plain} {closed}
          return }}""")
        made = normalize_memrefs(module)
        (alloc,) = [op for op in walk(module) if isinstance(op, memref.Alloc)]
        (new,) = [op for op in walk(made) if isinstance(op, memref.Alloc)]
        layout = alloc.result.type.layout
        if layout is None:
            continue
        tried += 1
        places = [tuple(e.constant for e in layout.apply(p)) for p in product(*map(range, sizes))]
        fits = len(set(places)) == len(places) and min(min(p) for p in places) >= 0
        assert (made is not module) == fits, f"{type} {places}"
        if fits:
            changed += 1
            assert new.result.type.shape == tuple(max(p[k] for p in places) + 1 for k in range(len(layout.results)))
            assert assert_alike(module, made, runs=2) == 2
    assert min(changed, tried - changed) > 15
