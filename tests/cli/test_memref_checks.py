"""The test passes for dependences and bounds next to mlir-opt: the same form, status and streams; exact answers."""

import re

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.memref_bound_check import memref_bound_check
from affdsl.passes.mlir_opt.memref_dependence_check import memref_dependence_check
from affdsl.passes.mlir_opt.relations import relations_of
from tests.cli.tools import mlir_opt

DEPENDENCES, BOUNDS = "--test-memref-dependence-check", "--test-memref-bound-check"
BARE = "--mlir-print-op-on-diagnostic=false"

# Names are those that mlir-opt gives, so that what is printed can be equal.
SAME = """\
func.func @f(%arg0: memref<100x100xf32>, %arg1: memref<100x100xf32>, %arg2: index, %arg3: f32) {
  affine.for %arg4 = 0 to 100 {
    affine.for %arg5 = 0 to 100 {
      %0 = affine.load %arg0[%arg4, %arg5] : memref<100x100xf32>
      affine.store %0, %arg0[%arg4 + 1, %arg5] : memref<100x100xf32>
      affine.store %0, %arg1[%arg2, %arg5] : memref<100x100xf32>
    }
  }
  affine.for %arg4 = 0 to %arg2 {
    affine.store %arg3, %arg1[%arg4, 0] : memref<100x100xf32>
  }
  affine.parallel (%arg4, %arg5) = (0, 0) to (10, 20) {
    affine.store %arg3, %arg0[%arg4, %arg5] : memref<100x100xf32>
    affine.store %arg3, %arg0[%arg4 + 1, %arg5] : memref<100x100xf32>
  }
  return
}
func.func @g(%arg0: memref<100x100xf32>, %arg1: f32, %arg2: vector<4xf32>) {
  affine.for %arg3 = 0 to 9 {
    affine.vector_store %arg2, %arg0[0, %arg3] : memref<100x100xf32>, vector<4xf32>
    memref.store %arg1, %arg0[%arg3, %arg3] : memref<100x100xf32>
    affine.store %arg1, %arg0[%arg3 + 1, 0] : memref<100x100xf32>
  }
  return
}
func.func @h(%arg0: memref<100x100xf32>, %arg1: f32) {
  %0 = affine.for %arg2 = 0 to 10 step 3 iter_args(%arg3 = %arg1) -> (f32) {
    %1 = affine.load %arg0[%arg2, %arg2] : memref<100x100xf32>
    affine.store %1, %arg0[%arg2 + 3, %arg2 + 3] : memref<100x100xf32>
    affine.yield %1 : f32
  }
  return
}
"""
SKEWED = """\
func.func @kernel() {
  %alloc = memref.alloc() : memref<10x10xf32>
  %cst = arith.constant 7.000000e+00 : f32
  affine.for %arg0 = 0 to 10 {
    affine.for %arg1 = 0 to 7 {
      affine.store %cst, %alloc[%arg0 + %arg1 * 3, %arg0 * 4 + %arg1 * 5] : memref<10x10xf32>
      %0 = affine.load %alloc[%arg0 + %arg1, %arg0 + %arg1 * 2 + 3] : memref<10x10xf32>
    }
  }
  return
}
"""
OUTSIDE = """\
func.func @f(%arg0: memref<10x100xf32>, %arg1: index, %arg2: f32) {
  affine.for %arg3 = 0 to %arg1 {
    affine.for %arg4 = 0 to 100 {
      %0 = affine.load %arg0[%arg3, %arg4 + 1] : memref<10x100xf32>
      affine.store %0, %arg0[%arg4 - 1, %arg4] : memref<10x100xf32>
      affine.store %0, %arg0[%arg3 mod 3, %arg4 floordiv 2] : memref<10x100xf32>
    }
  }
  affine.parallel (%arg3, %arg4) = (0, 0) to (10, 20) {
    affine.store %arg2, %arg0[%arg3, %arg4] : memref<10x100xf32>
    affine.store %arg2, %arg0[%arg3 + 1, %arg4] : memref<10x100xf32>
  }
  affine.store %arg2, %arg0[-1, 100] : memref<10x100xf32>
  affine.for %arg3 = 0 to 0 {
    affine.store %arg2, %arg0[%arg3 + 20, 0] : memref<10x100xf32>
  }
  return
}
"""


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (SAME, [DEPENDENCES]),
        (SAME, [DEPENDENCES, BARE]),
        (SAME, [f"--pass-pipeline=builtin.module(func.func({DEPENDENCES[2:]}))"]),
        (SAME, [DEPENDENCES, "--mlir-print-op-on-diagnostic"]),
        (SAME, [BOUNDS, DEPENDENCES, BARE]),
        (OUTSIDE, [BOUNDS, BARE]),
        (OUTSIDE + "// -----\n" + SAME, [BOUNDS, BARE, "--split-input-file"]),
        ("", [BOUNDS, DEPENDENCES]),
    ],
)
def test_messages_are_those_of_mlir_opt(cli, text, flags):
    ours, theirs = cli("opt", *flags, text=text), mlir_opt(*flags, "-", text=text)
    assert ours.err.split("\n") == theirs.err.split("\n")
    assert (ours.status, ours.out) == (theirs.status, theirs.out)


def test_exact_answers_where_mlir_opt_is_loose(cli):
    ours, theirs = cli("opt", DEPENDENCES, BARE, text=SKEWED).err, mlir_opt(DEPENDENCES, BARE, "-", text=SKEWED).err
    other = [(a, b) for a, b in zip(ours.split("\n"), theirs.split("\n"), strict=True) if a != b]
    of = re.compile(r"dependence from .*")
    assert [(of.search(a)[0], of.search(b)[0].split(" = ")[1]) for a, b in other] == [
        ("dependence from 0 to 1 at depth 2 = false", "[0, 0][2, 4]"),
        ("dependence from 1 to 0 at depth 1 = [2, 2][-4, -4]", "[1, 2][-4, -1]"),
    ]
    assert "dependence from 0 to 1 at depth 1 = [1, 7][-1, 3]" in ours


def test_the_operation_below_an_error_is_shown_in_generic_form(cli):
    text = OUTSIDE.replace("%arg3 mod 3", "%arg3 mod 3 + 9")
    noted = [line for line in cli("opt", BOUNDS, text=text).err.split("\n") if ": note: " in line]
    assert noted[-1] == (
        '<stdin>:13:3: note: see current operation: "affine.store"(%arg2, %arg0) '
        "<{map = affine_map<() -> (-1, 100)>}> : (f32, memref<10x100xf32>) -> ()"
    )
    assert noted[-1] in mlir_opt(BOUNDS, "-", text=text).err.split("\n")


def test_expected_remarks_are_compared(cli):
    wanted = "      // expected-remark @+1 {{dependence from 0 to}}\n      affine.store"
    marked = SKEWED.replace("      affine.store", wanted)
    wanted = "      // expected-remark @+1 {{dependence from 1 to}}\n      %0 = affine.load"
    marked = marked.replace("      %0 = affine.load", wanted)
    assert cli("opt", DEPENDENCES, "--verify-diagnostics", text=marked).status == 0
    assert cli("opt", DEPENDENCES, "--verify-diagnostics", text=marked.replace("from 1", "from 2")).status == 1
    failed = cli("opt", DEPENDENCES, "--verify-diagnostics", text=SKEWED)
    assert failed.status == 1
    assert "<stdin>:6:7: error: unexpected remark: dependence from 0 to 0 at depth 1 = false" in failed.err


def said(check, text):
    """What a check says, by severity."""
    return [(r.severity, m) for r in check(parse(text)) for m in r.messages]


def test_what_is_not_known_is_a_dependence_and_a_warning():
    text = """func.func @f(%A: memref<9xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.store %x, %A[%i] : memref<9xf32>
        affine.store %x, %A[symbol(%n) * symbol(%n)] : memref<9xf32>
      }
      return
    }"""
    found = said(memref_dependence_check, text)
    assert ("remark", "dependence from 0 to 1 at depth 1 = [1, 8]") in found
    assert ("remark", "dependence from 0 to 1 at depth 2 = true") in found
    why = "'affine.store' op may have fewer dependences than are listed: n * n is semi-affine"
    assert [m for s, m in found if s == "warning"] == [why]


def test_views_are_traced_to_their_buffer_and_loops_of_scf_count():
    text = """func.func @f(%A: memref<10xf32>, %n: index, %x: f32) {
      %one = arith.constant 1 : index
      %V = memref.subview %A[1] [9] [1] : memref<10xf32> to memref<9xf32, strided<[1], offset: 1>>
      scf.for %t = %one to %n step %one {
        affine.store %x, %A[3] : memref<10xf32>
        %a = affine.load %V[2] : memref<9xf32, strided<[1], offset: 1>>
      }
      return
    }"""
    assert [m for _, m in said(memref_dependence_check, text) if not m.endswith("false")] == [
        "dependence from 0 to 0 at depth 1 = [1, +inf]",
        "dependence from 0 to 1 at depth 1 = [1, +inf]",
        "dependence from 0 to 1 at depth 2 = true",
        "dependence from 1 to 0 at depth 1 = [1, +inf]",
    ]


def test_accesses_outside_of_functions_may_depend():
    text = """"other.thing"() ({
      %A = memref.alloc() : memref<9xf32>
      %a = affine.load %A[0] : memref<9xf32>
      affine.store %a, %A[0] : memref<9xf32>
    }) : () -> ()"""
    found = said(memref_dependence_check, text)
    assert ("remark", "dependence from 0 to 1 at depth 1 = true") in found
    assert found[-1] == (
        "warning",
        "'affine.store' op may have fewer dependences than are listed: it stands outside of all functions",
    )


def test_bounds_of_vectors_views_and_sizes_known_at_run_time():
    text = """func.func @f(%A: memref<10xf32>, %B: memref<?xf32>, %n: index, %v: vector<4xf32>, %x: f32) {
      %zero = arith.constant 0 : index
      %size = memref.dim %B, %zero : memref<?xf32>
      %V = memref.subview %A[1] [9] [1] : memref<10xf32> to memref<9xf32, strided<[1], offset: 1>>
      affine.for %i = 0 to 7 {
        affine.vector_store %v, %A[%i] : memref<10xf32>, vector<4xf32>
        %w = affine.vector_load %A[%i + 1] : memref<10xf32>, vector<4xf32>
        affine.store %x, %V[%i + 2] : memref<9xf32, strided<[1], offset: 1>>
        affine.store %x, %V[%i + 3] : memref<9xf32, strided<[1], offset: 1>>
      }
      affine.for %i = 0 to %size {
        affine.store %x, %B[%i] : memref<?xf32>
        affine.store %x, %B[%i + 1] : memref<?xf32>
      }
      affine.for %i = 0 to %n {
        affine.store %x, %B[%i] : memref<?xf32>
        affine.store %x, %B[%i - 1] : memref<?xf32>
      }
      return
    }"""
    found = [(r.op.location.line, r.severity, *r.messages) for r in memref_bound_check(parse(text))]
    upper, lower = "op memref out of upper bound access", "op memref out of lower bound access"
    assert found == [
        (7, "error", f"'affine.vector_load' {upper} along dimension #1"),
        (9, "error", f"'affine.store' {upper} along dimension #1"),
        (13, "error", f"'affine.store' {upper} along dimension #1"),
        (17, "error", f"'affine.store' {lower} along dimension #1"),
    ]


def test_bounds_that_are_not_known_are_said_once_where_an_index_is_not_affine_and_are_warnings_else():
    text = """func.func @f(%A: memref<10xf32>, %B: memref<10x10xf32>, %n: index, %b: i1, %x: f32) {
      affine.store %x, %B[symbol(%n) * symbol(%n), symbol(%n) * symbol(%n)] : memref<10x10xf32>
      scf.if %b {
        affine.store %x, %A[10] : memref<10xf32>
      }
      return
    }"""
    start = "'affine.store' op memref out of"
    assert said(memref_bound_check, text) == [
        ("error", "getMemRefRegion: compose affine map failed: n * n is semi-affine"),
        (
            "warning",
            f"{start} upper bound access along dimension #1 is not excluded: the condition is known only at run time",
        ),
    ]


ALIASED = """func.func private @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
  affine.store %x, %A[0] : memref<9xf32>
  %b = affine.load %B[0] : memref<9xf32>
  return
}
func.func @g(%A: memref<9xf32>, %x: f32) {
  call @f(%A, %A, %x) : (memref<9xf32>, memref<9xf32>, f32) -> ()
  return
}
"""


@pytest.mark.parametrize("pipeline", ["test-memref-dependence-check", "func.func(test-memref-dependence-check)"])
def test_a_call_elsewhere_in_the_module_shows_that_arguments_are_one_buffer(cli, pipeline):
    outcome = cli("opt", f"--pass-pipeline=builtin.module({pipeline})", text=ALIASED)
    assert "dependence from 0 to 1 at depth 1 = true" in outcome.err


def test_relations_of_a_text_are_shown_access_by_access(cli):
    text = """func.func @f(%A: memref<?xf32>, %n: index) {
  affine.for %i = 3 to %n step 3 {
    %a = affine.load %A[%i - 3] : memref<?xf32>
    affine.store %a, %A[%i] : memref<?xf32>
  }
  return
}
"""
    ran = cli("opt", "--affdsl-relations", "--mlir-print-op-on-diagnostic=false", text=text)
    assert (ran.status, ran.out.count("affine.for")) == (0, 1)
    assert (
        "3:10: remark: affine.load of A in line 3: [n] -> { [i] -> [m0 = -3 + i] : (i) mod 3 = 0 and 3 <= i < n }\n"
        in ran.err
    )
    assert "4:5: remark: from affine.store of A in line 4 to affine.load of A in line 3: flow dependence" in ran.err
    assert "distances:\ni' - i  n  const\n     1  0     -3  = 0\n" in ran.err
    assert [remark.op.location.line for remark in relations_of(parse(text))] == [3, 4]
