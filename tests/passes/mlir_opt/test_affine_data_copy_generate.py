"""The pass affine-data-copy-generate: next to mlir-opt's where that is right, and right where that is wrong."""

from __future__ import annotations

import re

import pytest

from affdsl.ir.traverse import rewrite, with_fields
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.mlir_opt.affine_data_copy_generate import affine_data_copy_generate
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.pipeline.manager import PipelineError
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, parsed, shown
from tests.soundness.programs import PROGRAMS as UNSOUND
from tests.soundness.programs import interpreted

BOXES = """
func.func @product(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  affine.for %ii = 0 to 64 step 16 { affine.for %jj = 0 to 64 step 16 { affine.for %kk = 0 to 64 step 16 {
    affine.for %i = affine_map<(d) -> (d)>(%ii) to affine_map<(d) -> (d + 16)>(%ii) {
      affine.for %j = affine_map<(d) -> (d)>(%jj) to affine_map<(d) -> (d + 16)>(%jj) {
        affine.for %k = affine_map<(d) -> (d)>(%kk) to affine_map<(d) -> (d + 16)>(%kk) {
          %x = affine.load %A[%i, %k] : memref<64x64xf32>
          %y = affine.load %B[%k, %j] : memref<64x64xf32>
          %c = affine.load %C[%i, %j] : memref<64x64xf32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%i, %j] : memref<64x64xf32>
  } } } } } }
  return
}
func.func @several_at_once(%A: memref<64xf32>, %B: memref<64xf32>, %C: memref<64xf32>, %x: f32) {
  affine.for %i = 0 to 16 {
    affine.store %x, %C[%i] : memref<64xf32>
    %b = affine.load %B[%i + 3] : memref<64xf32>
    affine.store %b, %A[%i] : memref<64xf32>
    %a = affine.load %A[%i + 8] : memref<64xf32>
    affine.store %a, %B[%i] : memref<64xf32>
  }
  affine.for %i = 0 to 4 { affine.for %j = 0 to 8 {
    %b = affine.load %B[%j * 4 + 2] : memref<64xf32>
    affine.store %b, %A[-%i + 9] : memref<64xf32>
  } }
  return
}
func.func @statements_between_loops(%A: memref<64xf32>, %B: memref<64xf32>, %k: index) {
  %a = affine.load %A[3] : memref<64xf32>
  affine.store %a, %B[symbol(%k)] : memref<64xf32>
  affine.for %i = 0 to 8 { affine.for %j = 0 to 64 {
    %x = affine.load %A[%i] : memref<64xf32>
    affine.store %x, %B[%j] : memref<64xf32>
  } }
  %b = affine.load %B[5] : memref<64xf32>
  affine.store %b, %A[symbol(%k) + 1] : memref<64xf32>
  return
}
func.func @spaces(%A: memref<64xf32, 2>, %B: memref<64xf32, 3>, %C: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %a = affine.load %A[%i] : memref<64xf32, 2>
    affine.store %a, %B[%i] : memref<64xf32, 3>
    affine.store %a, %C[%i] : memref<64xf32>
  }
  return
}
func.func @steps(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  affine.for %i = 0 to 64 step 4 { affine.for %k = 0 to 8 { affine.for %j = 0 to 64 step 8 {
    affine.for %l = affine_map<(d) -> (d)>(%j) to affine_map<(d) -> (d + 8)>(%j) {
      %a = affine.load %A[%i, %l] : memref<64x64xf32>
      affine.store %a, %B[%l, %k] : memref<64x64xf32>
  } } } }
  return
}
"""
"""Dense boxes, where mlir-opt's copies are right."""

LATE = """
func.func @sizes_that_come_late(%A: memref<64xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<64xf32> }
  affine.for %i = 0 to 10 { affine.store %x, %B[%i] : memref<?xf32> }
  affine.for %i = 0 to %n { affine.store %x, %B[%i] : memref<?xf32> }
  affine.for %i = 0 to 10 {
    %y = affine.load %B[%i + symbol(%n)] : memref<?xf32>
    affine.store %y, %B[symbol(%n)] : memref<?xf32>
  }
  return
}
"""
"""Sizes that come late, where mlir-opt's loops are right; its DMAs take back more than was brought."""

OPTIONS: tuple[dict[str, int | bool], ...] = (
    {}, {"skip_non_unit_stride_loops": True}, {"fast_mem_capacity": 1}, {"fast_mem_capacity": 0},
    {"fast_mem_space": 3, "slow_mem_space": 2}, {"generate_dma": True},
    {"generate_dma": True, "skip_non_unit_stride_loops": True, "tag_mem_space": 5},
    {"generate_dma": True, "fast_mem_capacity": 1},
)  # fmt: skip


def flag(options: dict[str, int | bool]) -> str:
    given = " ".join(f"{name.replace('_', '-')}={str(value).lower()}" for name, value in options.items())
    return f"--affine-data-copy-generate={given}"


def plain(text: str) -> str:
    """A module whose maps are spelled in one way; how constants stand in the indices of DMAs does not matter."""
    text = re.sub(r"\[[^]]*\]", lambda index: re.sub(r"%c(\d+)(_\d+)?\b", r"\1", index[0]), text)
    module = rewrite(parse(text), lambda op: with_fields(op, written=None) if op.written else None)
    lines = print_op(run_pipeline(module, "builtin.module(cse)")).splitlines()
    return "\n".join(line for line in lines if "arith.constant" not in line)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_dense_boxes_as_mlir_opt_copies_them(options: dict[str, int | bool]) -> None:
    is_right = not options.get("generate_dma") and options.get("fast_mem_capacity") != 0
    text = BOXES + LATE if is_right else BOXES
    ours = affine_data_copy_generate(parsed(text), **options)
    theirs = mlir_opt(text, flag(options), "--canonicalize")
    assert plain(shown(ours, "--canonicalize")) == plain(theirs)


def test_a_dma_that_would_have_two_strides_is_left() -> None:
    text = """func.func @f(%A: memref<8x8x8xf32>, %x: f32) {
      affine.for %i = 0 to 4 { affine.for %j = 0 to 4 { affine.for %k = 0 to 4 {
        affine.store %x, %A[%i, %j, %k] : memref<8x8x8xf32>
      } } }
      return
    }"""
    module = parsed(text)
    assert affine_data_copy_generate(module, generate_dma=True) is module
    assert mlir_opt(text, flag({"generate_dma": True}), "--canonicalize") == shown(module, "--canonicalize")


LEFT = {
    "another access": "affine.store %x, %A[%i] : T memref.store %x, %A[%i] : T",
    "no limit": "%y = affine.load %D[%i] : memref<?xf32>",
    "a scalar": "affine.store %x, %S[] : memref<f32>",
    "a layout": "affine.store %x, %L[%i] : memref<64xf32, strided<[2]>>",
    "another space": "affine.store %x, %O[%i] : memref<64xf32, 7>",
}


@pytest.mark.parametrize("name", LEFT)
def test_what_the_pass_leaves(name: str) -> None:
    body = LEFT[name].replace(": T", ": memref<64xf32>")
    module = parsed(f"""func.func @f(%A: memref<64xf32>, %D: memref<?xf32>, %S: memref<f32>, %n: index, %x: f32,
        %L: memref<64xf32, strided<[2]>>, %O: memref<64xf32, 7>) {{
      affine.for %i = 0 to %n {{ {body} }}
      return
    }}""")
    assert affine_data_copy_generate(module) is module


def test_copies_are_not_hoisted_over_other_uses() -> None:
    """mlir-opt brings A before the loop over i, and loses what the store in it writes."""
    text = """func.func @f(%A: memref<16xf32>, %B: memref<4x16xf32>, %x: f32) {
      affine.for %i = 0 to 4 step 2 {
        affine.for %j = 0 to 16 {
          %a = affine.load %A[%j] : memref<16xf32>
          affine.store %a, %B[%i, %j] : memref<4x16xf32>
        }
        affine.for %k = 0 to 16 step 5 { affine.store %x, %A[%k] : memref<16xf32> }
      }
      return
    }"""
    module = parsed(text)
    made = affine_data_copy_generate(module, skip_non_unit_stride_loops=True)
    (outer,) = made.functions[0].body
    assert outer.name == "affine.for"
    assert str(outer).count("memref.alloc()") == 3
    assert assert_alike(module, made) > 0


def test_a_global_buffer_that_was_asked_for_twice_is_one() -> None:
    module = parsed("""memref.global "private" @g : memref<8xf32> = dense<2.0>
    func.func @f(%A: memref<8xf32>) {
      %b = memref.get_global @g : memref<8xf32>
      %c = memref.get_global @g : memref<8xf32>
      affine.for %i = 0 to 7 {
        %x = affine.load %b[%i] : memref<8xf32>
        affine.store %x, %c[%i + 1] : memref<8xf32>
        %y = affine.load %c[%i] : memref<8xf32>
        affine.store %y, %A[%i] : memref<8xf32>
      }
      return
    }""")
    made = affine_data_copy_generate(module)
    assert str(made).count("memref.alloc") == 2
    assert assert_alike(module, made, size=8) > 0


def test_options() -> None:
    with pytest.raises(PipelineError, match="option min-dma-transfer is '1024' here and nothing else"):
        run_pipeline(parsed(BOXES), "builtin.module(func.func(affine-data-copy-generate{min-dma-transfer=64}))")
    huge = f"builtin.module(func.func(affine-data-copy-generate{{fast-mem-capacity={2**64 - 1}}}))"
    assert print_op(run_pipeline(parsed(BOXES), huge)) == print_op(affine_data_copy_generate(parsed(BOXES)))


@pytest.mark.parametrize("name", [name for name in UNSOUND if "datacopy" in name])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_others_get_wrong(name: str, options: dict[str, int | bool]) -> None:
    program = UNSOUND[name]
    made = affine_data_copy_generate(parse(program.text), **options)
    assert interpreted(made) == interpreted(parse(program.text))


def test_strided_and_guarded_stores_are_copied_all_the_same() -> None:
    for name in ("41-datacopy-strided-hole", "42-datacopy-guarded-oob"):
        module = parse(UNSOUND[name].text)
        main = next(f for f in affine_data_copy_generate(module).functions if f.symbol == "main")
        assert ", 1>" in str(main), name
