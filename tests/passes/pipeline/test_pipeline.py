"""Pipelines of passes: their language next to mlir-opt's, where passes run, and what happens when one fails."""

import inspect
import re

import pytest

from affdsl.errors import AffdslError, VerificationError
from affdsl.ir.dialects.affine import Yield
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import with_fields
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.mlir_opt.options import Option, OptionError, print_options, read_options
from affdsl.passes.pipeline.language import dump_pipeline, nested, parse_pipeline, pass_step, run_pipeline
from affdsl.passes.pipeline.manager import Event, PassError, PassStep, Pipeline, PipelineError
from affdsl.passes.pipeline.registry import BY_NAME, OURS, PASSES, Pass
from tests.cli.tools import mlir_opt

OPTIONS = (
    Option("count", "int", 10, "How often"),
    Option("limit", "uint", 4),
    Option("all", "bool", False),
    Option("mode", "choice", "normal", choices=("normal", "aggressive")),
    Option("then", "text", "canonicalize"),
    Option("only", "list", ()),
    Option("rewrites", "int", -1, fixed=True),
)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", {}),
        ("  count=3   all  ", {"count": 3, "all": True}),
        ("count=-0x10 count=7", {"count": 7}),
        ("all=false limit=0x3", {"limit": 3}),
        ("all=1 mode=aggressive", {"all": True, "mode": "aggressive"}),
        ("then={a{b=1 c=2},d} only=x,y", {"then": "a{b=1 c=2},d", "only": ("x", "y")}),
        ("then='a b' only={x}", {"then": "a b", "only": ("x",)}),
        ('then="a b"', {"then": "a b"}),
        ("then=", {"then": ""}),
        ("then=func.func(cse, x) all", {"then": "func.func(cse, x)", "all": True}),
        ("rewrites=-1", {}),
    ],
)
def test_options_are_read(text, changed):
    defaults = {option.name: option.default for option in OPTIONS}
    assert read_options(OPTIONS, text, "p") == defaults | changed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("counts=3", "p: no such option counts; it takes count, limit, all, mode, then, only, rewrites; did you mean"),
        ("count", "p: for the option count: requires a value! Write count=..."),
        ("count=x", "p: for the option count: 'x' is not an integer"),
        ("limit=-1", "p: for the option limit: -1 does not lie between 0 and 4294967295"),
        ("count=9223372036854775808", "does not lie between"),
        ("all=maybe", "p: for the option all: 'maybe' is invalid value for boolean argument! Try 0 or 1"),
        ("mode=norma", "'norma' is none of normal, aggressive; did you mean 'normal'?"),
        ("then={a", "p: '}' is missing after '{a'"),
        ("rewrites=3", "p: option rewrites is '-1' here and nothing else, got '3'; leave it out"),
        ("=3", "p: no such option"),
    ],
)
def test_options_that_mean_nothing_are_refused(text, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        read_options(OPTIONS, text, "p")


def test_printed_options_read_back():
    values = read_options(OPTIONS, "count=3 then={a b} only=x,y all", "p")
    text = print_options(OPTIONS, values)
    assert text == "{all=true count=3 limit=4 mode=normal only={x,y} rewrites=-1 then=a b}"
    assert read_options(OPTIONS, text[1:-1].replace("a b", "{a b}"), "p") == values


THEIRS = [row for row in PASSES if row.name not in OURS]


@pytest.mark.parametrize("row", PASSES, ids=lambda row: row.name)
def test_every_option_is_an_argument_of_the_pass_with_its_default(row):
    taken = inspect.signature(row.run).parameters
    wanted = {option.keyword: option.default for option in row.options if not option.fixed}
    if row.sees_around:
        wanted["context"] = None
    first, *others = taken.values()
    assert first.name == "module"
    assert {p.name: p.default for p in others} == wanted
    assert row.summary[0].isupper() == (not row.summary.endswith("."))


SCRIPT = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) { transform.yield }
}"""


def test_every_pass_is_shown_as_mlir_opt_shows_it():
    on_functions = ("func", "function interface")
    inner = [f"func.func({row.name})" if row.anchor in on_functions else row.name for row in THEIRS]
    text = f"builtin.module({','.join(inner)})"
    theirs = mlir_opt("-", f"--pass-pipeline={text}", "--dump-pass-pipeline", text=SCRIPT)
    assert f"{dump_pipeline(parse_pipeline(text))}\n" == theirs.err


ANCHORS = ("builtin.module", "func.func", "any")


def placed(row, anchor):
    return row.name if anchor == "builtin.module" else f"{anchor}({row.name})"


def is_taken(inner):
    """Whether a pass, or passes at an anchor, can be read and run in a module."""
    try:
        parse_pipeline(f"builtin.module({inner})").run(Module((Func("f", (), ()),)))
    except (PipelineError, PassError):
        return False
    return True


def outcome(*inner):
    """What mlir-opt says of passes in a module."""
    return mlir_opt("-", f"--pass-pipeline=builtin.module({','.join(inner)})", text="func.func @f() { return }")


@pytest.mark.parametrize("row", THEIRS, ids=lambda row: row.name)
@pytest.mark.parametrize("anchor", ANCHORS)
def test_where_a_pass_is_refused_mlir_opt_refuses_it(row, anchor):
    inner = placed(row, anchor)
    assert is_taken(inner) or outcome(inner).status == 1


def test_where_passes_are_taken_mlir_opt_takes_them():
    taken = [inner for row in THEIRS for anchor in ANCHORS if is_taken(inner := placed(row, anchor))]
    assert len(taken) > len(THEIRS)
    theirs = outcome(*taken)
    assert theirs.status == 0, theirs.err


TEXTS = [
    "builtin.module()",
    "builtin.module(strip-debuginfo)",
    " builtin.module ( func.func( strip-debuginfo , strip-debuginfo{  } ) , strip-debuginfo ) ",
    "any(strip-debuginfo)",
    "func.func(strip-debuginfo)",
    "builtin.module(builtin.module(func.func(strip-debuginfo)),any(any(strip-debuginfo)))",
    "builtin.module(func.func(any(strip-debuginfo)),func.func(strip-debuginfo))",
]


@pytest.mark.parametrize("text", TEXTS)
def test_pipelines_are_read_and_shown_as_by_mlir_opt(text):
    pipeline = parse_pipeline(text)
    assert parse_pipeline(str(pipeline)) == pipeline
    function = ["--no-implicit-module"] if text.startswith("func") else []
    theirs = mlir_opt("-", f"--pass-pipeline={text}", "--dump-pass-pipeline", *function, text="func.func private @f()")
    assert theirs.status == 0
    assert f"{dump_pipeline(pipeline)}\n" == theirs.err


WRONG = [
    ("", 1, "expected pass pipeline to be wrapped with the anchor operation type"),
    ("strip-debuginfo", 1, "expected pass pipeline to be wrapped with the anchor operation type"),
    ("builtin.modul(strip-debuginfo)", 1, "did you mean 'builtin.module'?"),
    ("builtin.module(func.func(strip))", 26, "'strip' does not refer to a registered pass or pass pipeline"),
    ("builtin.module(func.func(strip-debuginfo)", 15, "encountered unbalanced parentheses while parsing pipeline"),
    ("builtin.module(func.func(strip-debuginfo)))", 43, "encountered extra closing ')' creating unbalanced"),
    ("builtin.module(strip-debuginfo,)", 32, "'' does not refer to a registered pass"),
    ("builtin.module(,strip-debuginfo)", 16, "'' does not refer to a registered pass"),
    ("builtin.module(func.func())", 26, "'' does not refer to a registered pass"),
    ("builtin.module(strip-debuginfo{x=3)", 31, "missing closing '}' while processing pass options"),
    ("builtin.module(strip-debuginfo{x=3})", 16, "no such option x"),
    ("builtin.module(strip-debuginfo{}x)", 33, "expected ',' after parsing pipeline"),
    ("builtin.module(strip-debuginfo strip-debuginfo)", 16, "does not refer to a registered pass"),
    ("builtin.module(strip-debuginfo())", 31, "'strip-debuginfo' is a pass, which holds no pipeline"),
    ("builtin.module(func.func{x=3})", 16, "'func.func' does not refer to a registered pass"),
]


@pytest.mark.parametrize(("text", "column", "message"), WRONG)
def test_a_wrong_pipeline_shows_the_place(text, column, message):
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    head, shown, caret = str(caught.value).split("\n")
    assert head.startswith(f"<pass-pipeline>:1:{column}: error: ")
    assert message in head
    assert (shown, caret) == (text, " " * (column - 1) + "^")
    assert mlir_opt("-", f"--pass-pipeline={text}", text="func.func private @f()").status == 1


def test_anchors_that_no_operation_has_are_refused():
    with pytest.raises(PipelineError, match=r"'func\.fun' is no anchor for passes: .*did you mean 'func\.func'\?"):
        parse_pipeline("builtin.module(func.fun(strip-debuginfo))")
    with pytest.raises(PipelineError, match=r"a function holds no operation 'func\.func'"):
        parse_pipeline("builtin.module(func.func(func.func(strip-debuginfo)))")


OF_OTHER_DIALECTS = """
module attributes {gpu.container_module} {
  gpu.module @k {
    "gpu.func"() <{function_type = (i32) -> (), workgroup_attributions = 0 : i64}> ({
    ^bb0(%x: i32):
      %c = arith.constant 1 : i32
      "gpu.return"() : () -> ()
    }) {sym_name = "f"} : () -> ()
    func.func @inside(%x: i32) -> i32 {
      %a = arith.addi %x, %x : i32
      %b = arith.addi %x, %x : i32
      %c = arith.addi %a, %b : i32
      return %c : i32
    }
  }
  "llvm.func"() <{function_type = !llvm.func<void (i32)>, sym_name = "l", linkage = #llvm.linkage<external>}> ({
  ^bb0(%x: i32):
    %a = "llvm.mlir.constant"() <{value = 1 : i32}> : () -> i32
    %c = arith.constant 1 : i32
    "llvm.return"() : () -> ()
  }) : () -> ()
  func.func @g() { %c = arith.constant 1 : i32 return }
}
"""


@pytest.mark.parametrize(
    "pipeline",
    [
        "builtin.module(gpu.module(gpu.func(canonicalize)))",
        "builtin.module(gpu.module(func.func(cse)))",
        "builtin.module(gpu.module(canonicalize))",
        "builtin.module(gpu.module(cse,strip-debuginfo),func.func(canonicalize))",
        "builtin.module(gpu.module(gpu.func(cse),func.func(canonicalize)))",
        "builtin.module(spirv.func(canonicalize))",
        "builtin.module(spirv.module(spirv.func(cse)))",
        "builtin.module(func.func(cse),gpu.func(cse))",
    ],
)
def test_pipelines_run_on_operations_of_other_dialects_where_they_are(pipeline):
    made = run_pipeline(parse(OF_OTHER_DIALECTS), pipeline)
    theirs = mlir_opt("-", f"--pass-pipeline={pipeline}", text=OF_OTHER_DIALECTS)
    ours = mlir_opt("-", text=print_op(made))
    assert theirs.status == ours.status == 0
    assert ours.out == theirs.out


LOOPS_OF_A_DEVICE = """
gpu.module @k {
  gpu.func @f(%A: memref<8x4xf32>, %x: f32) kernel {
    affine.for %i = 0 to 8 { affine.for %j = 0 to 4 { affine.store %x, %A[%i, %j] : memref<8x4xf32> } }
    gpu.return
  }
}
"""


@pytest.mark.parametrize("step", ["affine-loop-unroll{unroll-factor=2}", "affine-loop-unroll-jam{unroll-jam-factor=2}"])
def test_passes_for_all_functions_see_those_of_other_dialects(step):
    pipeline = f"builtin.module(gpu.module(gpu.func({step})))"
    made = run_pipeline(parse(LOOPS_OF_A_DEVICE), pipeline)
    theirs = mlir_opt("-", f"--pass-pipeline={pipeline}", text=LOOPS_OF_A_DEVICE)
    ours = mlir_opt("-", text=print_op(made))
    assert theirs.status == ours.status == 0
    assert ours.out == theirs.out
    assert "step 2" in ours.out


@pytest.mark.parametrize("pipeline", ["builtin.module(llvm.func(canonicalize))", "builtin.module(any(canonicalize))"])
def test_a_pipeline_on_an_opaque_function_changes_it_alone(pipeline):
    made = run_pipeline(parse(OF_OTHER_DIALECTS), pipeline)
    text = print_op(made)
    assert text.count("arith.constant") == (2 if "llvm" in pipeline else 0)
    assert mlir_opt("-", text=text).status == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(gpu.func(affine-scalrep))", "restricted to 'func.func' on a pass manager intended to run on"),
        ("builtin.module(gpu.module(normalize-memrefs))", "restricted to 'builtin.module'"),
        ("builtin.module(llvm.func(inline))", "needs a symbol table, and here builtin.module alone has one"),
    ],
)
def test_passes_that_cannot_run_on_other_dialects_are_refused(text, message):
    with pytest.raises(PipelineError, match=message):
        parse_pipeline(text)


def test_a_pipeline_over_several_lines_shows_the_line():
    with pytest.raises(PipelineError, match=r"<pass-pipeline>:2:3: error: 'x' .*\n  x\)\n  \^"):
        parse_pipeline("builtin.module(\n  x)")


@pytest.mark.parametrize(
    ("anchor", "inside", "message"),
    [
        ("func", "builtin.module", "did you intend to nest? Write func.func(p)"),
        ("function interface", "builtin.module", "unable to schedule pass 'p'"),
        ("module", "func.func", "did you intend to nest? Write builtin.module(p)"),
        ("symbol table", "func.func", "pass 'p' needs a symbol table"),
    ],
)
def test_a_pass_in_the_wrong_place_is_refused(monkeypatch, anchor, inside, message):
    monkeypatch.setitem(BY_NAME, "p", Pass("p", "P", anchor, "Nothing", lambda module: module))
    text = "builtin.module(p)" if inside == "builtin.module" else f"builtin.module({inside}(p))"
    with pytest.raises(PipelineError, match=re.escape(message)):
        parse_pipeline(text)


def test_a_flag_puts_a_pass_on_functions_where_it_runs():
    def kind(anchor):
        return nested("builtin.module", PassStep(Pass("p", "P", anchor, "Nothing", lambda module: module)))

    assert [str(kind(a)) for a in ("any", "module", "func", "function interface")] == [
        "p", "p", "func.func(p)", "func.func(p)",
    ]  # fmt: skip


# Where passes run


def function(symbol):
    return Func(symbol, (), ())


def recording(log, name="p", anchor="any"):
    def run(module):
        log.append((name, [op.symbol for op in module.body]))
        return with_fields(module, body=module.body)

    return PassStep(Pass(name, name.upper(), anchor, "Write down what is there", run))


INNER = Module((function("c"),))
OUTER = Module((function("a"), INNER, function("b")))


def test_passes_on_functions_run_one_after_the_other_on_each():
    log = []
    items = (Pipeline("func.func", (recording(log, "p"), recording(log, "q"))), recording(log, "r"))
    Pipeline("builtin.module", items).run(Module((function("a"), function("b"))))
    assert log == [("p", ["a"]), ("q", ["a"]), ("p", ["b"]), ("q", ["b"]), ("r", ["a", "b"])]


def test_neighbouring_pipelines_take_each_function_in_turn():
    log = []
    items = tuple(Pipeline("func.func", (recording(log, name),)) for name in "pq")
    Pipeline("builtin.module", items).run(Module((function("a"), function("b"))))
    assert log == [("p", ["a"]), ("q", ["a"]), ("p", ["b"]), ("q", ["b"])]


@pytest.mark.parametrize(
    ("anchor", "seen"), [("builtin.module", [["c"]]), ("func.func", [["a"], ["b"]]), ("any", [["a"], ["c"], ["b"]])]
)
def test_anchors_are_operations_directly_inside(anchor, seen):
    log = []
    nested_pipeline = Pipeline(anchor, (recording(log),))
    Pipeline("builtin.module", (nested_pipeline,)).run(OUTER, verify_each=False)
    assert [found for _, found in log] == seen


def test_any_leaves_out_what_its_passes_cannot_run_on():
    for anchor, seen in (("func", [["a"], ["b"]]), ("module", [["c"]])):
        log = []
        inner = Pipeline("any", (recording(log, anchor=anchor),))
        Pipeline("builtin.module", (inner,)).run(OUTER, verify_each=False)
        assert [found for _, found in log] == seen


def test_a_pipeline_runs_on_its_anchor_only():
    with pytest.raises(PipelineError, match=r"can't run 'func\.func' pass manager on 'builtin\.module' op"):
        Pipeline("func.func").run(Module(()))
    assert Pipeline("any").run(f := function("f")) is f


def test_what_does_not_change_stays_the_same_object():
    same = PassStep(Pass("p", "P", "any", "Nothing", lambda module: module))
    module = Module((function("a"), function("b")))
    assert Pipeline("builtin.module", (same, Pipeline("func.func", (same,)))).run(module) is module


def test_the_observer_sees_the_whole_at_each_step():
    def rename(module):
        return with_fields(module, body=tuple(with_fields(f, symbol=f.symbol + "_") for f in module.body))

    step = PassStep(Pass("p", "P", "any", "Rename", rename))
    seen = []

    def observe(event: Event):
        seen.append((event.when, event.op.symbol, [f.symbol for f in event.root().body]))

    Pipeline("builtin.module", (Pipeline("func.func", (step,)),)).run(
        Module((function("a"), function("b"))), observe=observe
    )
    assert seen == [
        ("before", "a", ["a", "b"]),
        ("after", "a_", ["a_", "b"]),
        ("before", "b", ["a_", "b"]),
        ("after", "b_", ["a_", "b_"]),
    ]


# When a pass fails


def test_ir_that_breaks_a_rule_names_the_pass():
    def spoil(module):
        return with_fields(module, body=tuple(with_fields(f, body=(Yield(()),)) for f in module.body))

    step = PassStep(Pass("spoil", "Spoil", "any", "Break a rule", spoil))
    pipeline = Pipeline("builtin.module", (step,))
    seen = []
    with pytest.raises(PassError, match="pass 'spoil' made IR that breaks a rule") as caught:
        pipeline.run(Module((function("f"),)), observe=lambda event: seen.append(event.when))
    assert isinstance(caught.value.__cause__, VerificationError)
    assert seen == ["before", "failed"]
    assert pipeline.run(Module((function("f"),)), verify_each=False).body[0].body


def test_a_pass_that_refuses_is_named():
    def refuse(module):
        raise AffdslError("no reason")

    step = PassStep(Pass("refuse", "Refuse", "any", "Refuse", refuse))
    with pytest.raises(PassError, match="pass 'refuse' failed: no reason"):
        Pipeline("builtin.module", (step,)).run(Module(()))


def test_a_pass_on_a_function_may_not_change_how_many_there_are():
    step = PassStep(Pass("p", "P", "any", "Drop all", lambda module: Module(())))
    with pytest.raises(PassError, match="pass 'p' failed: made 0 operations of one function"):
        Pipeline("builtin.module", (Pipeline("func.func", (step,)),)).run(Module((function("f"),)))


def test_a_pass_that_needs_symbols_fails_on_a_function():
    step = PassStep(Pass("p", "P", "symbol table", "Nothing", lambda module: module))
    with pytest.raises(PassError, match="it needs a symbol table, which @f does not define"):
        Pipeline("builtin.module", (Pipeline("any", (step,)),)).run(Module((function("f"),)))


def test_a_text_runs_at_once():
    module = Module((function("f"),))
    assert run_pipeline(module, "builtin.module(func.func(strip-debuginfo))").functions[0].symbol == "f"
    with pytest.raises(PipelineError, match="'strip' does not refer to a registered pass"):
        pass_step("strip")
