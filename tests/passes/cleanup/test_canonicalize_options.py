"""The options of canonicalize do what they do in mlir-opt."""

import functools

import pytest

from affdsl.errors import AffdslError
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.canonicalize import canonicalize
from affdsl.passes.pipeline.language import run_pipeline
from tests.oracles import mlir_opt
from tests.passes.compare import UNKNOWN, all_shown

PROGRAM = """
func.func @f(%x: i32, %c: i1) -> i32 {
  %c1 = arith.constant 1 : i32
  %a = arith.addi %c1, %x : i32
  %b = arith.addi %a, %c1 : i32
  %dead = arith.muli %x, %x : i32
  %r = scf.if %c -> i32 { scf.yield %b : i32 } else { scf.yield %x : i32 }
  return %r : i32
}
func.func @blocks(%x: i32) -> i32 {
  cf.br ^bb1
^bb1:
  return %x : i32
}
"""
OF_ONE_BLOCK = PROGRAM[: PROGRAM.index("func.func @blocks")]
OPTIONS = (
    "region-simplify=disabled",
    "region-simplify=normal",
    "region-simplify=aggressive",
    "max-iterations=0",
    "max-iterations=1",
    "max-iterations=-1",
    "max-num-rewrites=0",
    "max-num-rewrites=1",
    "max-num-rewrites=0 region-simplify=disabled",
    "max-num-rewrites=1 test-convergence=true",
    "test-convergence=true",
    "top-down=false",
    "enable-patterns=NoSuchPattern",
    "disable-patterns=NoSuchPattern,NorThis",
)


@functools.cache
def ours():
    pipelines = [f"builtin.module(canonicalize{{{options}}})" for options in OPTIONS]
    return dict(zip(OPTIONS, all_shown([run_pipeline(parse(OF_ONE_BLOCK), p) for p in pipelines]), strict=True))


@pytest.mark.parametrize("options", OPTIONS)
def test_an_option_does_what_it_does_in_mlir_opt(options):
    theirs = mlir_opt(OF_ONE_BLOCK, UNKNOWN, f"--canonicalize={options}")
    assert ours()[options].rstrip() == theirs.rstrip()


@pytest.mark.parametrize("options", OPTIONS)
def test_blocks_that_branch_stay_with_every_option(options):
    made = run_pipeline(parse(PROGRAM), f"builtin.module(canonicalize{{{options}}})")
    assert print_op(made).count("cf.br") == 1


def test_rules_are_chosen_by_their_names():
    enabled = print_op(canonicalize(parse(OF_ONE_BLOCK), enable_patterns=("join_constants",)))
    assert "arith.constant 2" in enabled
    assert "scf.if" in enabled
    disabled = print_op(canonicalize(parse(OF_ONE_BLOCK), disable_patterns=("join_constants",)))
    assert "arith.constant 1" in disabled
    assert "arith.select" in disabled


def test_what_does_not_converge_is_an_error_if_that_is_asked_for():
    with pytest.raises(AffdslError, match="after 1 rounds over all operations something still changes"):
        run_pipeline(parse(OF_ONE_BLOCK), "builtin.module(canonicalize{max-iterations=1 test-convergence=true})")
    with pytest.raises(AffdslError, match="'sometimes' is none of disabled, normal, aggressive"):
        run_pipeline(parse(OF_ONE_BLOCK), "builtin.module(canonicalize{region-simplify=sometimes})")
