"""Producers are fused into consumers: as mlir-opt does it where that is right, and beyond where it stops."""

from __future__ import annotations

import numpy as np
import pytest

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.mlir_opt.affine_loop_fusion import Attempt, Policy, affine_loop_fusion, fused
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.transforms.fuse.compute_at import compute_at
from tests.effort import some
from tests.fuzz.check import check_seeds
from tests.mlir.batches import judge
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, parsed, shown
from tests.passes.mlir_opt.fusion_programs import program

SIZES = (0, 1, 5, 64)

MATMULS = """func.func @main(%arg0: memref<8x128x384xf32>, %arg1: memref<8x384x512xf32>, %arg2: memref<8x128x512xf32>,
                     %arg3: memref<8x512x64xf32>, %arg4: memref<8x128x64xf32>) {
  affine.for %b = 0 to 8 { affine.for %i = 0 to 128 { affine.for %j = 0 to 512 { affine.for %k = 0 to 384 {
    %0 = affine.load %arg0[%b, %i, %k] : memref<8x128x384xf32>
    %1 = affine.load %arg1[%b, %k, %j] : memref<8x384x512xf32>
    %2 = affine.load %arg2[%b, %i, %j] : memref<8x128x512xf32>
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    affine.store %4, %arg2[%b, %i, %j] : memref<8x128x512xf32>
  } } } }
  affine.for %b = 0 to 8 { affine.for %i = 0 to 128 { affine.for %j = 0 to 64 { affine.for %k = 0 to 512 {
    %0 = affine.load %arg2[%b, %i, %k] : memref<8x128x512xf32>
    %1 = affine.load %arg3[%b, %k, %j] : memref<8x512x64xf32>
    %2 = affine.load %arg4[%b, %i, %j] : memref<8x128x64xf32>
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    affine.store %4, %arg4[%b, %i, %j] : memref<8x128x64xf32>
  } } } }
  return
}"""
EVALUATIONS = """evaluating fusion profitability at depth : 4
 additional compute fraction: 5400.00%
 storage reduction factor: 1.00x
 fused nest cost: 77510737920
 src write region size: 2097152
 slice write region size: 2097152
evaluating fusion profitability at depth : 3
 additional compute fraction: 5400.00%
 storage reduction factor: 1.00x
 fused nest cost: 77510737920
 src write region size: 2097152
 slice write region size: 2097152
evaluating fusion profitability at depth : 2
 additional compute fraction: 0.00%
 storage reduction factor: 1.00x
 fused nest cost: 1409286144
 src write region size: 2097152
 slice write region size: 2097152
evaluating fusion profitability at depth : 1
 additional compute fraction: 0.00%
 storage reduction factor: 1.00x
 fused nest cost: 1409286144
 src write region size: 2097152
 slice write region size: 2097152
LoopFusion fusion stats:
  best loop depth: 2
  src loop nest compute cost: 1207959552
  dst loop nest compute cost: 201326592
  fused loop nest compute cost: 1409286144
   src mem: 9961472
   dst mem: 3407872
   fused mem: 5505024
   slice mem: 2097152
 fusion is most profitable at depth 2 with 0% redundant computation and a 58.823529% storage reduction.
Fused src loop 0 (%b) into dst loop 1 (%b) at depth 2"""
"""What the reference text prints."""

BLUR = """func.func @blur(%in: memref<?x?xf32>, %out: memref<?x?xf32>, %n: index, %m: index) {
  %t = memref.alloc(%n, %m) : memref<?x?xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 1 to affine_map<()[m] -> (m - 1)>()[%m] {
      %a = affine.load %in[%i, %j - 1] : memref<?x?xf32>
      %b = affine.load %in[%i, %j] : memref<?x?xf32>
      %c = affine.load %in[%i, %j + 1] : memref<?x?xf32>
      %d = arith.addf %a, %b : f32
      %e = arith.addf %d, %c : f32
      affine.store %e, %t[%i, %j] : memref<?x?xf32>
    }
  }
  affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
    affine.for %j = 1 to affine_map<()[m] -> (m - 1)>()[%m] {
      %a = affine.load %t[%i - 1, %j] : memref<?x?xf32>
      %b = affine.load %t[%i, %j] : memref<?x?xf32>
      %c = affine.load %t[%i + 1, %j] : memref<?x?xf32>
      %d = arith.addf %a, %b : f32
      %e = arith.addf %d, %c : f32
      affine.store %e, %out[%i, %j] : memref<?x?xf32>
    }
  }
  memref.dealloc %t : memref<?x?xf32>
  return
}"""

PRODUCT = """  affine.for %i = 0 to %n {{ affine.for %j = 0 to %n {{
    affine.store %zero, %{2}[%i, %j] : memref<?x?xf32>
    affine.for %k = 0 to %n {{
      %a = affine.load %{0}[%i, %k] : memref<?x?xf32>
      %b = affine.load %{1}[%k, %j] : memref<?x?xf32>
      %c = affine.load %{2}[%i, %j] : memref<?x?xf32>
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      affine.store %s, %{2}[%i, %j] : memref<?x?xf32>
    }} }} }}"""


def products(args: str, locals: str, *chain: tuple[str, str, str]) -> str:
    """A function of matrix products, some of which stay in it."""
    head = ", ".join(f"%{a}: memref<?x?xf32>" for a in args)
    made = "\n".join(f"  %{t} = memref.alloc(%n, %n) : memref<?x?xf32>" for t in locals)
    freed = "\n".join(f"  memref.dealloc %{t} : memref<?x?xf32>" for t in locals)
    nests = "\n".join(PRODUCT.format(*each) for each in chain)
    zero = "  %zero = arith.constant 0.0 : f32"
    return f"func.func @f({head}, %n: index) {{\n{zero}\n{made}\n{nests}\n{freed}\n  return\n}}"


TWO = products("ABCD", "t", ("A", "B", "t"), ("t", "C", "D"))
THREE = products("ABCDG", "EF", ("A", "B", "E"), ("C", "D", "F"), ("E", "F", "G"))


def attempts(text: str) -> list[Attempt]:
    module = parsed(text)
    return fused(module.functions[0], module, Policy())[1]


def test_the_matmul_chain_of_the_reference_text():
    ours = affine_loop_fusion(parsed(MATMULS))
    assert shown(ours) == mlir_opt(MATMULS, "--affine-loop-fusion")
    (attempt,) = attempts(MATMULS)
    assert str(attempt) == EVALUATIONS
    assert attempt.chosen is not None
    assert attempt.chosen.variant.is_removed


def test_the_matmul_chain_leaves_the_same_numbers():
    text = MATMULS
    for size, small in (("128", "3"), ("384", "4"), ("512", "5"), ("64", "2"), ("8x", "2x"), ("to 8 ", "to 2 ")):
        text = text.replace(size, small)
    module = parsed(text)
    made = affine_loop_fusion(module)
    assert made is not module
    assert assert_alike(module, made) > 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("other", [0, 1, 7])
def test_a_blur_keeps_three_elements_between_its_sweeps(size, other):
    module = parsed(BLUR)
    made = affine_loop_fusion(module, compute_tolerance=1.0)
    assert "%t = memref.alloc() : memref<3x1xf32>" in print_op(made)
    image = np.random.default_rng(0).integers(0, 9, (size, other)).astype(np.float32)
    results = []
    for each in (module, made):
        out = np.zeros_like(image)
        run(each.functions[0], image, out, size, other)
        results.append(out)
    assert np.array_equal(*results)


def test_what_costs_more_than_is_tolerated_stays():
    module = parsed(BLUR)
    assert affine_loop_fusion(module) is module
    (attempt, *_) = attempts(BLUR)
    assert str(attempt).endswith("not fused: src loop 1 (%i) into dst loop 2 (%i)")


@pytest.mark.parametrize(("text", "count", "buffers"), [(TWO, 1, ["1x?"]), (THREE, 1, ["?x?", "1x?"])])
def test_products_of_matrices_keep_rows(text, count, buffers):
    module = parsed(text)
    made = affine_loop_fusion(module)
    assert sum(a.chosen is not None for a in attempts(text)) == count
    for shape in buffers:
        assert f"memref<{shape}xf32>" in print_op(made)
    for size in (0, 1, 5, 8):
        args = [np.random.default_rng(k).integers(0, 5, (size, size)).astype(np.float32) for k in range(5)]
        args = args[: len(module.functions[0].args) - 1]
        theirs = [a.copy() for a in args]
        run(module.functions[0], *theirs, size)
        run(made.functions[0], *args, size)
        assert all(map(np.array_equal, args, theirs))


def test_the_options_under_the_name_of_mlir_opt():
    text = f"builtin.module(affine-loop-fusion{{{'compute-tolerance=1.0 mode=producer'}}})"
    assert "memref<3x1xf32>" in print_op(run_pipeline(parse(BLUR), text))
    assert run_pipeline(module := parse(BLUR), text.replace("producer", "sibling")) is module, "one reads the other"
    fast = text.replace("mode", "fast-mem-space=2 local-buf-threshold=1 mode")
    assert "memref<3x1xf32, 2>" in print_op(run_pipeline(parse(BLUR), fast))


SIBLINGS = """func.func @f(%A: memref<?x?xf32>, %x: memref<?xf32>, %y: memref<?xf32>,
                          %p: memref<?xf32>, %q: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n { affine.for %j = 0 to %n {
    %a = affine.load %A[%i, %j] : memref<?x?xf32>
    %b = affine.load %x[%j] : memref<?xf32>
    %c = affine.load %p[%i] : memref<?xf32>
    %d = arith.mulf %a, %b : f32
    %e = arith.addf %c, %d : f32
    affine.store %e, %p[%i] : memref<?xf32>
  } }
  affine.for %i = 0 to %n { affine.for %j = 0 to %n {
    %a = affine.load %A[%i, %j] : memref<?x?xf32>
    %b = affine.load %y[%j] : memref<?xf32>
    %c = affine.load %q[%i] : memref<?xf32>
    %d = arith.mulf %a, %b : f32
    %e = arith.addf %c, %d : f32
    affine.store %e, %q[%i] : memref<?xf32>
  } }
  return
}"""


@pytest.mark.parametrize("mode", ["greedy", "sibling"])
def test_siblings_share_their_loops(mode):
    module = parsed(SIBLINGS)
    made = affine_loop_fusion(module, mode=mode)
    assert print_op(made).count("affine.for") == 2
    for size in SIZES[:3]:
        shapes = [(size, size), *[(size,)] * 4]
        args = [np.random.default_rng(k).integers(0, 5, s).astype(np.float32) for k, s in enumerate(shapes)]
        theirs = [a.copy() for a in args]
        run(module.functions[0], *theirs, size)
        run(made.functions[0], *args, size)
        assert all(map(np.array_equal, args, theirs))


def test_siblings_are_not_fused_where_only_producers_are():
    module = parsed(SIBLINGS)
    assert affine_loop_fusion(module, mode="producer") is module


@pytest.mark.parametrize("options", [{}, {"maximal": True}, {"mode": "producer", "compute_tolerance": 100.0}])
@pytest.mark.parametrize("first", some(range(0, 12, 4), 1))
def test_random_chains_leave_the_same_numbers(first, options):
    for seed in range(first, first + 4):
        module = parsed(program(seed))
        made = affine_loop_fusion(module, **options)
        verify(made)
        assert leaves(made) == leaves(module), seed


WHILE = """%r = scf.while (%s = %n) : (index) -> index {
  %more = arith.cmpi sgt, %s, %zero : index
  scf.condition(%more) %s : index
} do {
^bb0(%left: index):
  BODY
  %less = arith.subi %left, %one : index
  scf.yield %less : index
}"""
AROUND = {
    "scf.for": "scf.for %s = %zero to %n step %one { BODY }",
    "scf.if": "scf.if %b { BODY }",
    "else": "affine.if affine_set<()[s0] : (s0 - 2 >= 0)>()[%n] { %x = arith.constant 0 : i64 } else { BODY }",
    "scf.while": WHILE,
    "three": "scf.for %s = %zero to %n step %one { affine.parallel (%p) = (0) to (1) { scf.if %b { BODY } } }",
}


@pytest.mark.parametrize("around", some([*AROUND], 2))
def test_nests_in_blocks_of_scf_are_fused_too_and_leave_the_same_numbers(around):
    """With arrays that are made in the block, as much as in a function; with others, what is right."""
    for seed in range(6):
        module = parsed(placed(program(seed), around, are_made_outside=seed % 2 == 1))
        made = affine_loop_fusion(module)
        verify(made)
        for n, b in ((0, False), (1, True), (2, True), (3, False)):
            assert leaves(made, n, b) == leaves(module, n, b), (seed, n, b)
        if seed % 2 == 0:
            alone = parsed(program(seed))
            assert loops(module) - loops(made) == loops(alone) - loops(affine_loop_fusion(alone)), seed


def placed(text: str, around: str, *, are_made_outside: bool) -> str:
    """A program with its nests in a block, and with its arrays made in the block or before it."""
    head, _, body = text.removesuffix("  return\n}\n").partition("{\n")
    made = "".join(line for line in body.splitlines(keepends=True) if "memref.alloc" in line and are_made_outside)
    before = f"{made}%zero = arith.constant 0 : index %one = arith.constant 1 : index"
    inside = AROUND[around].replace("BODY", body.replace(made, "") if made else body)
    return f"{head.replace(') ', ', %n: index, %b: i1) ')}{{\n{before} {inside}\n return }}"


def loops(module) -> int:
    return sum(isinstance(op, affine.For) for op in walk(module))


def test_at_least_as_many_are_fused_as_by_mlir_opt_where_it_is_right():
    texts = [program(seed) for seed in some(range(24), 8)]
    ours = theirs = 0
    for text, verdict in zip(texts, judge(texts, "--affine-loop-fusion"), strict=True):
        module, other = parsed(text), parsed(verdict.output or text)
        if leaves(other) == leaves(module):
            ours += nests(module) - nests(affine_loop_fusion(module))
            theirs += nests(module) - nests(other)
    assert ours >= theirs > 0


def nests(module) -> int:
    return sum(isinstance(op, affine.For) for op in module.functions[0].body)


def leaves(module, *more) -> list[bytes]:
    """What a program leaves in its arguments but the last ones; nothing where it reads what was not stored."""
    function = module.functions[0]
    arrays = function.args[: len(function.args) - len(more)]
    args = [np.random.default_rng(k).integers(0, 5, v.type.shape) for k, v in enumerate(arrays)]
    try:
        run(function, *args, *more)
    except AffdslError as error:
        return [str(error).encode()]
    return [a.tobytes() for a in args]


STEPS = """func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %steps: index) {
  %t = memref.alloc(%n) : memref<?xf32>
  affine.for %s = 0 to %steps {
    affine.for %i = 0 to %n {
      %a = affine.load %A[%i] : memref<?xf32>
      %b = arith.addf %a, %a : f32
      affine.store %b, %t[%i] : memref<?xf32>
    }
    affine.for %i = 0 to %n {
      %a = affine.load %t[%i] : memref<?xf32>
      %b = affine.load %B[%i] : memref<?xf32>
      %c = arith.addf %a, %b : f32
      affine.store %c, %A[%i] : memref<?xf32>
    }
  }
  memref.dealloc %t : memref<?xf32>
  return
}"""


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (STEPS, "1"),
        # The second half of what one step reads was stored in the step before.
        (STEPS.replace("%i = 0 to %n", "%i = 0 to affine_map<()[n] -> (n floordiv 2)>()[%n]", 1), "?"),
    ],
)
def test_inside_of_a_loop_over_time(text, shape):
    module = parsed(text)
    made = affine_loop_fusion(module)
    assert f"memref.alloc({'%n' if shape == '?' else ''}) : memref<{shape}xf32>" in print_op(made)
    for size in SIZES[:3] if shape == "1" else ():
        args = [np.random.default_rng(k).integers(0, 5, size).astype(np.float32) for k in range(2)]
        theirs = [a.copy() for a in args]
        run(module.functions[0], *theirs, size, 3)
        run(made.functions[0], *args, size, 3)
        assert all(map(np.array_equal, args, theirs))


def test_what_a_step_over_time_leaves_for_the_next_one_is_still_stored():
    """Only half of it is read by the consumer; but the producer itself reads the rest, before it stores it anew."""
    module = parsed("""func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %steps: index) {
      %t = memref.alloc(%n) : memref<?xf32>
      affine.for %s = 0 to %steps {
        affine.for %i = 0 to %n {
          %a = affine.load %A[%i] : memref<?xf32>
          affine.store %a, %t[%i] : memref<?xf32>
          affine.if affine_set<(d0, d1)[n] : (d0 - 1 >= 0, n - d1 - 2 >= 0)>(%s, %i)[%n] {
            %b = affine.load %t[%i + 1] : memref<?xf32>
            affine.store %b, %t[%i] : memref<?xf32>
          }
        }
        affine.for %j = 0 to affine_map<()[n] -> (n floordiv 2)>()[%n] {
          %a = affine.load %t[%j] : memref<?xf32>
          affine.store %a, %B[%j] : memref<?xf32>
        }
      }
      memref.dealloc %t : memref<?xf32>
      return
    }""")
    made = affine_loop_fusion(module)
    for size in SIZES:
        args, theirs = ([np.arange(size, dtype=np.float32), np.zeros(size, np.float32)] for _ in "ab")
        run(module.functions[0], *theirs, size, 3, uninitialised="poison")
        run(made.functions[0], *args, size, 3, uninitialised="poison")
        assert all(map(np.array_equal, args, theirs))


PARALLEL = """func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index) {
  %t = memref.alloc(%n) : memref<?xf32>
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf32>
    %b = arith.addf %a, %a : f32
    affine.store %b, %t[%i] : memref<?xf32>
  }
  affine.parallel (%j) = (1) to (%n) {
    %a = affine.load %t[%j] : memref<?xf32>
    %b = affine.load %t[%j - 1] : memref<?xf32>
    %c = arith.addf %a, %b : f32
    affine.store %c, %B[%j] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xf32>
  return
}"""


def test_parallel_iterations_have_buffers_of_their_own():
    module = parsed(PARALLEL)
    made = affine_loop_fusion(module, compute_tolerance=1.0)
    (band,) = [op for op in made.functions[0].body if isinstance(op, affine.Parallel)]
    assert "%t = memref.alloc() : memref<2xf32>" in print_op(band)
    assert "memref.dealloc %t : memref<2xf32>" in print_op(band)
    verify(made)
    assert assert_alike(module, made) > 0


SUM = """func.func @f(%A: memref<9xf32>, %x: f32) -> f32 {
  %t = memref.alloc() : memref<9xf32>
  affine.for %i = 0 to 8 {
    %a = affine.load %A[%i] : memref<9xf32>
    affine.store %a, %t[%i] : memref<9xf32>
  }
  %s = affine.for %j = 0 to 8 iter_args(%c = %x) -> f32 {
    %a = affine.load %t[%j] : memref<9xf32>
    %b = arith.addf %a, %c : f32
    affine.store %x, %A[%j + 1] : memref<9xf32>
    affine.yield %b : f32
  }
  memref.dealloc %t : memref<9xf32>
  return %s : f32
}"""


def test_what_a_consumer_yields_counts():
    module = parsed(SUM)
    assert affine_loop_fusion(module) is module, "each iteration overwrites what the next one would read"
    right = parsed(SUM.replace("%A[%j + 1]", "%A[%j]"))
    made = affine_loop_fusion(right)
    assert "%t = memref.alloc() : memref<1xf32>" in print_op(made)
    assert assert_alike(right, made) > 0


SIDE_BY_SIDE = """func.func @f(%A: memref<9x9xf32>, %B: memref<9x9xf32>) {
  %t = memref.alloc() : memref<9x9xf32>
  affine.parallel (%p) = (0) to (9) {
    affine.for %i = 0 to 9 {
      %a = affine.load %A[%p, %i] : memref<9x9xf32>
      affine.store %a, %t[%p, %i] : memref<9x9xf32>
    }
    affine.for %j = 0 to 9 {
      %a = affine.load %t[%p, %j] : memref<9x9xf32>
      affine.store %a, %B[%p, %j] : memref<9x9xf32>
    }
  }
  memref.dealloc %t : memref<9x9xf32>
  return
}"""


def test_iterations_side_by_side_share_no_smaller_buffer():
    module = parsed(SIDE_BY_SIDE)
    made = affine_loop_fusion(module)
    (band,) = [op for op in made.functions[0].body if isinstance(op, affine.Parallel)]
    assert "memref<1x1xf32>" not in print_op(made).replace(print_op(band), "")
    assert assert_alike(module, made) > 0
    (inner, *_) = (op.iv for op in walk(module.functions[0]) if isinstance(op, affine.For) and op.iv.hint == "j")
    alone = compute_at(module.functions[0], module.functions[0].body[0].result, inner)
    assert "memref.alloc() : memref<9x9xf32>" in print_op(alone)


OWN = """func.func @f(%A: memref<9x9xf32>, %B: memref<9x9xf32>) {
  affine.parallel (%p) = (0) to (9) {
    %t = memref.alloc() : memref<9xf32>
    affine.for %i = 0 to 9 {
      %a = affine.load %A[%p, %i] : memref<9x9xf32>
      affine.store %a, %t[%i] : memref<9xf32>
    }
    affine.for %j = 0 to 9 {
      %a = affine.load %t[%j] : memref<9xf32>
      affine.store %a, %B[%p, %j] : memref<9x9xf32>
    }
    memref.dealloc %t : memref<9xf32>
  }
  return
}"""


def test_a_buffer_of_each_parallel_iteration_becomes_smaller():
    module = parsed(OWN)
    made = affine_loop_fusion(module)
    assert "%t = memref.alloc() : memref<1xf32>" in print_op(made)
    assert print_op(made).count("affine.for") == 1
    assert assert_alike(module, made) > 0


@pytest.mark.parametrize("seed", [1101, 30133])
def test_nothing_is_read_that_was_not_stored_even_if_nobody_needs_it(seed):
    report = check_seeds([seed], ["builtin.module(affine-loop-fusion{maximal=true})"], ["interpreter"])
    assert report.failures == []


def test_subscripts_of_a_smaller_buffer_do_not_speak_of_what_they_were_computed_from():
    before = parsed("""func.func @f(%B: memref<40x9xf32>, %x: f32) {
      %A = memref.alloc() : memref<40x9xf32>
      %c5 = arith.constant 5 : index
      affine.for %i = 0 to 9 { affine.for %j = 0 to 4 {
        %p = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %j)
        %y = affine.load %B[%p, 3] : memref<40x9xf32>
        affine.store %y, %A[%p, symbol(%c5)] : memref<40x9xf32>
      } }
      affine.for %k = 0 to 9 { affine.for %l = 0 to 4 {
        %q = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%k, %l)
        %a = affine.load %A[%q, 5] : memref<40x9xf32>
        affine.store %a, %B[%q, 4] : memref<40x9xf32>
      } }
      return
    }""")
    made = affine_loop_fusion(before)
    touched = [op for op in walk(made) if isinstance(op, affine.Load | affine.Store) and "1x1" in str(op.memref.type)]
    assert len(touched) == 2
    assert all(e.is_constant for op in touched for e in op.index)
    assert assert_alike(before, made) >= 5


def test_loops_over_nothing_stay():
    text = """func.func @f(%A: memref<8xf32>, %B: memref<8xf32>, %x: f32) {
      affine.for %i = 0 to 8 { affine.store %x, %A[%i] : memref<8xf32> }
      affine.parallel () = () to () {
        %a = affine.load %A[0] : memref<8xf32>
        affine.for %j = 0 to 8 { affine.store %a, %B[%j] : memref<8xf32> }
        affine.for %k = 0 to 8 { affine.store %x, %B[%k] : memref<8xf32> }
      }
      return
    }"""
    assert shown(affine_loop_fusion(parsed(text))) == shown(parsed(text))


def test_arrays_of_unknown_origin_are_read_by_nests_that_store_to_arrays_of_their_own():
    """Whatever %cur is, it is neither %t nor %w; but it may be %u, of the iteration before."""
    before = parsed("""func.func @f(%A: memref<12xi64>, %n: index) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %last = scf.for %s = %zero to %n step %one iter_args(%cur = %A) -> memref<12xi64> {
        %t = memref.alloc() : memref<12xi64>
        %w = memref.alloc() : memref<12xi64>
        %u = memref.alloc() : memref<12xi64>
        affine.for %i = 0 to 12 {
          %a = affine.load %cur[%i] : memref<12xi64>
          %b = arith.addi %a, %a : i64
          affine.store %b, %t[%i] : memref<12xi64>
        }
        affine.for %j = 0 to 12 {
          %c = affine.load %t[11 - %j] : memref<12xi64>
          %d = affine.load %cur[%j] : memref<12xi64>
          %e = arith.addi %c, %d : i64
          affine.store %e, %w[%j] : memref<12xi64>
        }
        affine.for %k = 0 to 12 {
          %g = affine.load %w[%k] : memref<12xi64>
          %h = affine.load %cur[%k] : memref<12xi64>
          %l = arith.addi %g, %h : i64
          affine.store %l, %u[%k] : memref<12xi64>
        }
        scf.yield %u : memref<12xi64>
      }
      affine.for %m = 0 to 12 {
        %x = affine.load %last[%m] : memref<12xi64>
        affine.store %x, %A[%m] : memref<12xi64>
      }
      return
    }""")
    made = affine_loop_fusion(before, mode="producer")
    assert (loops(before), loops(made)) == (4, 3)
    for n in (0, 1, 2, 5):
        assert leaves(made, n) == leaves(before, n)
    assert leaves(before, 1) != leaves(before, 2)


def test_what_is_made_between_two_loops_and_read_behind_them_counts():
    """The loop that fills %D reads %B as the first one does, which has no iteration: in there it would never run."""
    before = parsed("""func.func @f(%B: memref<5xf64>, %C: memref<6xf64>, %s: f64) {
      %r = affine.for %i = 2 to 0 step 3 iter_args(%a = %s) -> (f64) {
        %x = affine.load %B[%i - 1] : memref<5xf64>
        affine.store %x, %C[%i] : memref<6xf64>
        affine.yield %a : f64
      }
      %D = memref.alloc() : memref<2xf64>
      affine.for %j = 1 to 3 {
        %x = affine.load %B[%j] : memref<5xf64>
        affine.store %x, %D[%j - 1] : memref<2xf64>
      }
      affine.store %r, %D[1] : memref<2xf64>
      affine.for %j = 1 to 3 {
        %x = affine.load %D[%j - 1] : memref<2xf64>
        affine.store %x, %B[%j] : memref<5xf64>
      }
      return
    }""")
    assert assert_alike(before, affine_loop_fusion(before)) > 0
