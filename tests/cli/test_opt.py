"""`affdsl opt` next to mlir-opt: the same output, exit status and dumps for the same flags."""

import re

import pytest

from affdsl.cli.text import DIALECTS
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func
from affdsl.ir.nesting import DEEPEST, TOO_DEEP
from affdsl.ir.traverse import with_fields
from affdsl.mlir.registry import OPERATIONS, OTHERS
from affdsl.passes.pipeline.registry import BY_NAME, Pass
from tests.cli.tools import mlir_opt

PLAIN = """\
module {
  func.func @f(%arg0: memref<8xf32>) {
    %cst = arith.constant 1.000000e+00 : f32
    affine.for %arg1 = 0 to 8 {
      affine.store %cst, %arg0[%arg1] : memref<8xf32>
    }
    return
  }
}
"""
TWO = """\
func.func @f(%arg0: index) -> index { return %arg0 : index }
func.func @g(%arg0: memref<8xf32>) {
  affine.for %arg1 = 0 to 8 {
    affine.for %arg2 = affine_map<(d0) -> (d0 + 1)>(%arg1) to 8 {
      %0 = affine.load %arg0[%arg2] : memref<8xf32>
      affine.store %0, %arg0[%arg1] : memref<8xf32>
    }
  }
  return
}
"""
PARTS = "func.func @a() { return }\n// -----\nfunc.func @b() { return }\n// -----\n"
MARKED = PARTS.replace("// -----", "//////")
BROKEN = "func.func @a() { return }\n// -----\nfunc.func @b() { retrn }\n// -----\nfunc.func @c() { return }\n"


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (PLAIN, []),
        (TWO, []),
        ("", []),
        (TWO, ["--mlir-print-local-scope"]),
        (TWO, ["--strip-debuginfo"]),
        (TWO, ["-strip-debuginfo", "-o", "-"]),
        (TWO, ["--pass-pipeline=builtin.module(func.func(strip-debuginfo),strip-debuginfo)"]),
        (TWO, ["--pass-pipeline", "builtin.module()"]),
        (TWO, ["--pass-pipeline", "any(strip-debuginfo)", "--verify-each=0"]),
        (PARTS, ["--split-input-file"]),
        (PARTS, ["--split-input-file", "--output-split-marker=NEXT"]),
        (PARTS, []),
        (MARKED, ["--split-input-file=//////"]),
        (BROKEN, ["--split-input-file"]),
        (BROKEN, []),
        ("func.func @a() { return }", ["--no-implicit-module"]),
        ("func.func @a() { return }", ["--no-implicit-module", "--strip-debuginfo"]),
        ("func.func @a() { return }", ["--no-implicit-module", "--pass-pipeline=func.func(strip-debuginfo)"]),
        ("func.func @a() { return }", ["--pass-pipeline=func.func(strip-debuginfo)"]),
        (PARTS, ["--no-implicit-module"]),
        (PLAIN, ["--no-implicit-module"]),
        (TWO, ["--show-nothing"]),
        (TWO, ["--strip-debuginfo", "--pass-pipeline=builtin.module(strip-debuginfo)"]),
        (TWO, ["--strip-debuginfo=nothing=3"]),
        (TWO, ["--verify-each=maybe"]),
        (TWO, ["--verify-each", "false"]),
        (TWO, ["-o"]),
        (TWO, ["--mlir-print-ir-after=nothing"]),
    ],
)
def test_prints_and_fails_as_mlir_opt_does(cli, text, flags):
    ours, theirs = cli("opt", "-", *flags, text=text), mlir_opt("-", *flags, text=text)
    assert (ours.out, ours.status) == (theirs.out, theirs.status)
    assert bool(ours.err) == bool(theirs.err)


@pytest.mark.parametrize(
    "flags",
    [
        ["--strip-debuginfo", "--mlir-print-ir-after-all"],
        ["--strip-debuginfo", "--mlir-print-ir-before-all"],
        ["--strip-debuginfo", "--mlir-print-ir-before=strip-debuginfo", "--mlir-print-ir-after=strip-debuginfo"],
        ["--strip-debuginfo", "--mlir-print-ir-after-failure"],
        ["--pass-pipeline=builtin.module(func.func(strip-debuginfo),strip-debuginfo)", "--mlir-print-ir-after-all"],
        [
            "--pass-pipeline=builtin.module(func.func(strip-debuginfo,strip-debuginfo))",
            "--mlir-print-ir-after-all",
            "--mlir-print-ir-module-scope",
        ],
        ["--strip-debuginfo", "--mlir-print-ir-after-all", "--mlir-print-ir-module-scope"],
    ],
)
def test_dumps_are_those_of_mlir_opt(cli, flags):
    ours = cli("opt", "-", *flags, text=TWO)
    theirs = mlir_opt("-", "--mlir-disable-threading", *flags, text=TWO)
    assert ours == theirs


def test_dumps_after_a_change_leave_out_what_did_not_change(cli):
    passes = ["--lower-affine", "--lower-affine", "--mlir-print-ir-after-all", "--mlir-print-ir-after-change"]
    assert cli("opt", "-", *passes, text=TWO).err.count("IR Dump After") == 1


def test_the_pipeline_is_shown_as_mlir_opt_shows_it(cli):
    flags = ["--strip-debuginfo", "--strip-debuginfo", "--dump-pass-pipeline"]
    assert cli("opt", "-", *flags, text=TWO) == mlir_opt("-", *flags, text=TWO)


def test_passes_by_name_and_as_text_give_the_same(cli):
    by_name = cli("opt", "-", "--lower-affine", "--strip-debuginfo", text=TWO)
    as_text = cli("opt", "-", "--pass-pipeline=builtin.module(func.func(lower-affine,strip-debuginfo))", text=TWO)
    assert by_name == as_text
    assert (by_name.status, by_name.err) == (0, "")
    assert "scf.for" in by_name.out
    assert "affine" not in by_name.out
    assert mlir_opt(text=by_name.out).status == 0


def test_an_error_shows_the_place_in_the_whole_file(cli, tmp_path):
    path = tmp_path / "broken.mlir"
    path.write_text(BROKEN)
    outcome = cli("opt", path, "--split-input-file")
    assert outcome.status == 1
    head, line, caret = outcome.err.splitlines()
    assert re.match(rf"{re.escape(str(path))}:3:18: error: .*retrn", head)
    assert line == "func.func @b() { retrn }"
    assert caret == " " * 17 + "^"


def test_a_text_that_breaks_a_rule_names_line_and_rule(cli):
    text = PLAIN.replace("%arg0[%arg1]", "%arg0[%arg1, %arg1]")
    outcome = cli("opt", text=text)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith("<stdin>:5:")
    assert ": error: 'affine.store' op " in outcome.err
    assert "affine.store %cst, %arg0[%arg1, %arg1] : memref<8xf32>" in outcome.err.splitlines()[1]


def test_what_mlir_opt_says_of_an_operand_is_said_with_the_reason(cli):
    """Its words are the first ones, so that `expected-error` comments fit; for DMAs they name the subscript."""
    text = """func.func @f(%n: index, %A: memref<8xf32>, %B: memref<8xf32, 2>, %t: memref<1xi32>) {
      affine.for %i = 0 to 8 {
        %q = arith.muli %i, %i : index
        // expected-error @+1 {{'affine.load' op operand cannot be used as a dimension id: %q is computed inside}}
        %0 = affine.load %A[%q] : memref<8xf32>
        // expected-error @+1 {{'affine.dma_start' op dst index must be a valid dimension or symbol identifier}}
        affine.dma_start %A[%i], %B[%q], %t[0], %n : memref<8xf32>, memref<8xf32, 2>, memref<1xi32>
        // expected-error @+1 {{'affine.load' op operand cannot be used as a symbol: %i is a dimension}}
        %1 = affine.load %A[symbol(%i)] : memref<8xf32>
      }
      return
    }"""
    outcome = cli("opt", "--verify-diagnostics", text=text)
    assert (outcome.status, outcome.err) == (0, "")


def test_output_goes_to_a_file_only_if_all_went_well(cli, tmp_path):
    good, bad = tmp_path / "good.mlir", tmp_path / "bad.mlir"
    assert cli("opt", "-", "-o", good, text=PLAIN).out == ""
    assert good.read_text() == PLAIN + "\n"
    assert cli("opt", "-", "--split-input-file", f"-o={bad}", text=BROKEN).status == 1
    assert not bad.exists()


def test_the_order_of_the_passes_is_that_of_the_command_line(cli):
    flags = ["--strip-debuginfo", "--mlir-disable-threading", "-", "--strip-debuginfo", "--dump-pass-pipeline"]
    assert cli("opt", *flags, text="").err.count("strip-debuginfo") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strip-debuginf"], "unknown command line argument '--strip-debuginf'; did you mean '--strip-debuginfo'?"),
        (["--split-inputfile=3"], "did you mean '--split-input-file'?"),
        (["--strip-debuginfo=top=3"], "strip-debuginfo: no such option top; it takes none"),
        (["a.mlir", "b.mlir"], "it takes one file, got 'a.mlir', 'b.mlir'"),
        (["no_such_file.mlir"], "cannot open input file 'no_such_file.mlir': No such file or directory"),
        (["-", "-o", "/no/such/folder/x"], "cannot open output file '/no/such/folder/x': No such file or directory"),
        (["-o"], "for the -o option: requires a value!"),
        (["--verify-diagnostics=al"], "'al' is none of all, only-expected; did you mean 'all'?"),
        (["--dump-pass-pipeline=2"], "for the --dump-pass-pipeline option: '2' is invalid value for boolean argument!"),
        (["--mlir-print-ir-after=strip-debug"], "there is no pass 'strip-debug'; did you mean 'strip-debuginfo'?"),
        (["--pass-pipeline=builtin.module(x)"], "<pass-pipeline>:1:16: error: 'x' does not refer to a registered pass"),
    ],
)
def test_bad_usage_is_explained(cli, arguments, message):
    outcome = cli("opt", *arguments)
    assert (outcome.status, outcome.out) == (1, "")
    assert message in outcome.err


def test_help_lists_every_pass_with_its_options(cli):
    from_help, listed = cli("opt", "--help").out, cli("opt", "--list-passes").out
    assert listed in from_help
    assert "--strip-debuginfo" in listed
    assert "--pass-pipeline" in from_help
    assert cli("opt", "-h").out == from_help


def test_the_dialects_are_listed_as_mlir_opt_lists_them(cli):
    ours, theirs = cli("opt", "--show-dialects").out, mlir_opt("--show-dialects").out
    title, names = ours.strip().split(": ")
    assert title == theirs.split(": ")[0]
    assert set(names.split(",")) < set(theirs.strip().split(": ")[1].split(","))


def test_without_a_command_the_help_has_examples(cli):
    outcome = cli()
    assert outcome.status == 0
    assert outcome.out == cli("--help").out
    assert outcome.out.count("\n  affdsl ") == 6
    assert cli("optt").err.startswith("affdsl: there is no command 'optt'; did you mean 'opt'?")


UNKNOWN = 'module {\n  "foo.bar"() : () -> ()\n}\n'


def test_operations_of_unknown_dialects_need_a_flag(cli):
    outcome = cli("opt", text=UNKNOWN)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith("<stdin>:2:3: error: operation being parsed with an unregistered dialect: foo.bar")
    allowed = ["-", "--allow-unregistered-dialect"]
    assert cli("opt", *allowed, text=UNKNOWN) == mlir_opt(*allowed, text=UNKNOWN)


NAMED = """func.func @f(%A: memref<?xf32>, %n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to %n iter_args(%t = %zero) -> (f32) {
    %v = affine.load %A[%i] : memref<?xf32>
    %u = arith.addf %t, %v : f32
    affine.yield %u : f32
  }
  return %s : f32
}"""


def test_values_are_called_as_mlir_opt_does_if_that_is_asked_for(cli):
    assert cli("opt", "-", "--numbered", text=NAMED) == mlir_opt("-", text=NAMED)
    assert "%zero" in cli("opt", "-", text=NAMED).out


def test_operations_of_mlir_opts_own_tests_need_no_flag(cli):
    text = 'func.func @f() { "test.foo"() : () -> () return }'
    assert '"test.foo"() : () -> ()' in cli("opt", "-", text=text).out


def test_the_dialects_that_are_kept_are_those_of_mlir_opt():
    theirs = mlir_opt("--show-dialects").out.strip().split(": ")[1].split(",")
    assert {*DIALECTS, *OPERATIONS, *OTHERS} == {*theirs}


def test_the_generic_form_is_that_of_mlir_opt(cli):
    flags = ["-", "--mlir-print-op-generic", "--mlir-print-local-scope"]
    assert cli("opt", *flags, text=PLAIN) == mlir_opt(*flags, text=PLAIN)
    assert mlir_opt(text=cli("opt", *flags[:2], text=TWO).out) == mlir_opt(text=TWO)


@pytest.mark.parametrize(("depth", "status"), [(DEEPEST, 0), (6000, 1)])
def test_deep_nests_work_or_are_refused(cli, depth, status):
    loops = "".join(f"affine.for %i{n} = 0 to 8 {{\n" for n in range(depth)) + "}\n" * depth
    outcome = cli("opt", "-", "--strip-debuginfo", text=f"func.func @f() {{\n{loops}return\n}}")
    assert outcome.status == status
    assert outcome.out.count("affine.for") == (0 if status else depth)
    assert (TOO_DEEP in outcome.err) == bool(status)


def drop_the_constant(module):
    def without(op):
        return with_fields(op, body=op.body[1:]) if isinstance(op, Func) else op

    return with_fields(module, body=tuple(without(op) for op in module.body))


def refuse(module):
    raise AffdslError("not today")


@pytest.fixture
def bad_passes(monkeypatch):
    monkeypatch.setitem(BY_NAME, "spoil", Pass("spoil", "Spoil", "any", "Break a rule", drop_the_constant))
    monkeypatch.setitem(BY_NAME, "refuse", Pass("refuse", "Refuse", "func", "Refuse", refuse))


@pytest.mark.usefixtures("bad_passes")
def test_a_pass_that_breaks_a_rule_is_named_with_the_place(cli):
    outcome = cli("opt", "-", "--pass-pipeline=builtin.module(spoil)", text=PLAIN)
    assert (outcome.status, outcome.out) == (1, "")
    first, line, *_, last = outcome.err.splitlines()
    assert first.startswith("<stdin>:5:")
    assert "is read before it is defined" in first
    assert line == "      affine.store %cst, %arg0[%arg1] : memref<8xf32>"
    assert last == "<stdin>:0:0: note: pass 'spoil' made IR that breaks a rule"
    unchecked = ["-", "--pass-pipeline=builtin.module(spoil)", "--verify-each=false"]
    assert cli("opt", *unchecked, text=PLAIN).status == 0


@pytest.mark.usefixtures("bad_passes")
def test_a_pass_that_refuses_is_named(cli):
    outcome = cli("opt", "-", "--pass-pipeline=builtin.module(func.func(refuse))", text=PLAIN)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.splitlines() == ["<stdin>: error: not today", "<stdin>: note: pass 'refuse' failed"]


@pytest.mark.usefixtures("bad_passes")
@pytest.mark.parametrize("flag", ["--mlir-print-ir-after-failure", "--mlir-print-ir-after-all"])
def test_the_ir_of_a_pass_that_failed_is_dumped_in_generic_form(cli, flag):
    error = cli("opt", "-", "--pass-pipeline=builtin.module(func.func(refuse))", flag, text=PLAIN).err
    assert error.startswith('// -----// IR Dump After Refuse Failed (refuse) //----- //\n"func.func"() <{')


@pytest.mark.usefixtures("bad_passes")
def test_a_failure_can_be_expected(cli):
    text = f"// expected-error @unknown {{{{not today}}}}\n{PLAIN}"
    flags = ["-", "--pass-pipeline=builtin.module(func.func(refuse))", "--verify-diagnostics"]
    outcome = cli("opt", *flags, text=text)
    assert (outcome.status, outcome.err) == (0, "")


def test_bytes_that_are_no_utf_8_are_an_error_with_a_place_or_pass_through(cli):
    outcome = cli("opt", text=b"func.func @f() { \xff }")
    assert outcome.status == 1
    assert outcome.err.startswith("<stdin>:1:18: error: ")
    assert cli("opt", text=b"// \xff\nmodule {}").out == "module {\n}\n\n"


FUSED = """func.func @f(%A: memref<8xf32>, %B: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %a = affine.load %A[%i] : memref<8xf32>
    affine.store %a, %B[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %b = affine.load %B[%i] : memref<8xf32>
    affine.store %b, %A[%i] : memref<8xf32>
  }
  return
}
"""


def test_a_pass_says_how_it_comes_to_what_it_does(cli):
    ours = cli("opt", "--affine-loop-fusion", "--debug-only=affine-loop-fusion", "-", text=FUSED)
    assert ours.status == 0
    assert "evaluating fusion profitability at depth : 1\n additional compute fraction: " in ours.err
    assert "Fused src loop 0 (%i) into dst loop 1 (%i) at depth 1" in ours.err
    assert ours.out == cli("opt", "--affine-loop-fusion", "-", text=FUSED).out
    assert cli("opt", "--cse", "--debug-only=cse", "-", text=FUSED).err == ""
    refused = cli("opt", "--cse", "--debug-only=csee", "-", text=FUSED)
    assert refused.status != 0
    assert "for the --debug-only option: there is no pass 'csee'" in refused.err
