"""MLIR text as IR: everything that is printed is read back (see also test_printer), and mistakes are shown in place."""

import random
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.interpreter import run
from affdsl.ir.nesting import DEEPEST
from affdsl.ir.types import INDEX, MemRefType, StridedLayout
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from affdsl.mlir.writers import print_op
from tests.oracles import mlir_opt

GOLDEN = sorted((Path(__file__).parent.parent / "golden" / "lang").rglob("*.mlir"))

M, N = af.symbols("M N")


@af.kernel
def smooth(x: af.f64[N + 2], y: af.f64[N], steps: af.index):
    af.assume(N >= 2)
    with af.for_(steps):
        with af.for_(N) as i:
            y[i] = (x[i] + x[i + 1] + x[i + 2]) / 3
        with af.for_(1, af.min(N, 1000), 2) as i, af.if_((i % 3 == 0) & (i < N - 1)):
            x[i] = y[i - 1]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_programs_of_the_language_are_read_back(path):
    text = path.read_text()
    module = parse(text, str(path))
    verify(module)
    assert print_op(module) == text.rstrip("\n")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_mlir_opt_prints_is_read(path):
    canonical = mlir_opt(path.read_text())
    module = parse(canonical)
    verify(module)
    assert mlir_opt(print_op(parse(print_op(module)))) == mlir_opt(print_op(module))


def test_a_program_that_was_read_computes_the_same():
    read = parse(smooth.mlir()).functions[0]
    for n, steps in [(2, 1), (7, 3)]:
        rng = np.random.default_rng(n)
        x, y = rng.integers(0, 9, n + 2).astype(float), np.zeros(n)
        x2, y2 = x.copy(), y.copy()
        smooth.interpret(x, y, steps)
        run(read, n, x2, y2, steps)
        np.testing.assert_array_equal(x, x2)
        np.testing.assert_array_equal(y, y2)


def test_the_contract_is_read():
    function = parse(smooth.mlir()).functions[0]
    n, _, _, steps = function.args
    assert [a.type for a in (n, steps)] == [INDEX, INDEX]
    assert function.shapes == (None, (n + 2,), (Affine.of(n),), None)
    assert function.assumes == (Constraint(n - 2),)


def test_names_and_places_are_kept():
    loop = parse("func.func @f() {\n  affine.for %row = 0 to 8 {\n  }\n  return\n}", "f.mlir").functions[0].body[0]
    assert loop.iv.hint == "row"
    assert str(loop.location) == "f.mlir:2"


def test_types_are_read():
    text = "memref<4x?xf32, strided<[?, 1], offset: 3>, 2>"
    function = parse(f"func.func @f(%A: {text}, %v: memref<0xf32>) {{ return }}").functions[0]
    assert function.args[0].type == MemRefType((4, None), af.f32.type, StridedLayout((None, 1), 3), 2)
    assert function.args[1].type == MemRefType((0,), af.f32.type)
    assert str(function.args[0].type) == text


def test_deep_nests_are_read():
    text = "func.func @f() {" + "affine.for %i = 0 to 1 {" * DEEPEST + "}" * DEEPEST + "return }"
    with pytest.raises(ParseError, match="%i is defined already"):
        parse(text)
    loops = "".join(f"affine.for %i{n} = 0 to 1 {{" for n in range(DEEPEST))
    verify(parse("func.func @f() {" + loops + "}" * DEEPEST + "return }"))
    with pytest.raises(ParseError, match="but the text ends"):
        parse("func.func @f() {" + "".join(f"affine.for %i{n} = 0 to 1 {{" for n in range(20_000)))
    with pytest.raises(ParseError, match="nested too deeply"):
        parse("func.func @f() { affine.if affine_set<() : (" + "(" * 100_000)


F = "func.func @f(%n: index, %x: f32, %A: memref<8xf32>) {\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("hello", 1, 1, "the operation hello is not known here"),
        ("module {", 1, 9, "expected '}', but the text ends"),
        ("func.func f() {}", 1, 11, "expected a symbol, like @name"),
        ("func.func @f() {}", 1, 11, "the body of @f must end with a terminator"),
        ("func.func @f(%x: i99999999999) {}", 1, 18, "the widest integers have 16777215 bits"),
        ("func.func @f(%x: float) {}", 1, 18, "expected a type"),
        ("func.func @f(%x: memref<4x?>) {}", 1, 27, "expected a type"),
        ("func.func @f(%x: f32, %x: f32) {}", 1, 23, "%x is defined already"),
        ("func.func @f(%x: f32 {a.b, a.b}) {}", 1, 22, "an attribute stands twice in this dictionary"),
        ("func.func @f(f32) { return }", 1, 1, "@f has a body, so its arguments have names"),
        (F + "%y = arith.addf %x, %z : f32", 2, 21, "%z is not defined"),
        (F + "%y = arith.addf %x, %n : f32", 2, 21, "%n has the type index, but f32 is needed"),
        (F + "%y = arith.add %x, %x : f32", 2, 6, "the operation arith.add is not known"),
        (F + "%y = arith.addf %x %x : f32", 2, 20, "expected ','"),
        (F + "%y:2 = arith.addf %x, %x : f32", 2, 8, "arith.addf has 1 results, but 2 names"),
        (F + "%y = arith.constant 1 : f32", 2, 21, "a number of type f32 needs a decimal point"),
        (F + "%y = arith.constant 300 : i8", 2, 21, "300 does not fit into i8"),
        (F + "%y = arith.constant 1.0 : i8", 2, 21, "1.0 is no number of type i8"),
        (F + "%y = arith.cmpi less, %n, %n : index", 2, 17, "expected a predicate: eq, ne"),
        (F + "affine.for %i = 0 to #map(%n) {}", 2, 22, "#map is not defined"),
        (F + "affine.for %i = 0 to affine_map<(d0) -> (d1)>(%n) {}", 2, 42, "'d1' is neither a dimension nor a symbol"),
        (F + "affine.for %i = 0 to affine_map<(d0) -> (d0)>(%n, %n) {}", 2, 22,
         "this takes 1 dimensions and 0 symbols, got 2 and 0"),
        (F + "affine.for %i = 0 to affine_map<(d0) -> (d0 mod 0)>(%n) {}", 2, 45,
         "the right side of mod must be positive"),
        (F + "affine.for %i = 0 to affine_map<(d0, d0) -> (d0)>(%n, %n) {}", 2, 42, "d0 stands twice"),
        (F + "affine.for %i = 0 to affine_map<(d0) -> (d0, 8)>(%n) {}", 2, 22, "a bound with 2 results needs 'min'"),
        (F + "affine.for %i = 0 to 8 step x {}", 2, 29, "expected an integer"),
        (F + "affine.for %i = 0 to 8 {\n} {tag = }\nreturn }", 3, 10, "expected an attribute"),
        (F + "affine.for %i = 0 to 8 {\n}\n%y = affine.load %A[%i] : memref<8xf32>", 4, 21, "%i is not defined"),
        (F + "affine.if affine_set<(d0) : (d0 > 0)>(%n) {}", 2, 33, "expected '==', '>=' or '<='"),
        (F + "affine.if affine_map<(d0) -> (d0)>(%n) {}", 2, 11, "expected an integer set, but this is a map"),
        (F + "return\nreturn", 2, 1, "func.return must be the last operation of its block"),
        (F + "affine.store %x, %A[%n] : f32", 2, 27, "affine.store needs a memref"),
        (F + "affine.store %x, %A[%n] : memref<9xf32>", 2, 18, "%A has the type memref<8xf32>, but memref<9xf32>"),
        (F + "affine.parallel (%i, %j) = (0) to (8) {}", 2, 1, "the numbers of variables, bounds and steps differ"),
        (F + "call @g(%x) : f32", 2, 15, "expected the type of a function"),
        (F + "call @g(%x) : () -> ()", 2, 1, "1 values, but 0 types"),
        (F + "%y = affine.load %A[" + "9" * 2000 + "] : memref<8xf32>", 2, 21, "a number of too many digits"),
    ],
)  # fmt: skip
def test_mistakes_are_shown_in_place(text, line, column, message):
    with pytest.raises(ParseError) as caught:
        parse(text, "f.mlir")
    shown = str(caught.value).split("\n")
    assert shown[0].startswith(f"f.mlir:{line}:{column}: {message}"[:40]), shown[0]
    assert message in shown[0]
    assert shown[1:] == [text.split("\n")[line - 1], " " * (column - 1) + "^"]


def test_any_text_is_read_or_refused():
    """Mutated programs end in IR or in a ParseError, never in another exception."""
    rng = random.Random(3)
    corpus = [path.read_text() for path in GOLDEN]
    pieces = [
        "%i",
        "#map",
        "(",
        ")",
        "{",
        "}",
        "->",
        ":",
        "affine_map<",
        "0x",
        "-",
        '"',
        "\\",
        "\0",
        "é",
        "9" * 30,
        "#0",
    ]
    read = 0
    for _ in range(3000):
        text = rng.choice(corpus)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            length = rng.choice([0, 1, 1, 3, 20])
            text = text[:place] + rng.choice([*pieces, text[place : place + 5], ""]) + text[place + length :]
        try:
            parse(text)
            read += 1
        except ParseError as error:
            assert "\n" in str(error)  # noqa: PT017 - most are refused
    assert 0 < read < 3000


def test_aliases_that_double_are_refused_before_they_fill_the_memory():
    doubling = "\n".join(f"#a{n + 1} = [#a{n}, #a{n}]" for n in range(40))
    with pytest.raises(ParseError, match="stands for too much text, more than 100000 words"):
        parse(f"#a0 = [1, 2]\n{doubling}\nfunc.func @f() attributes {{test.a = #a40}} {{ return }}")


@pytest.mark.parametrize("type", ["tensor<1xi32>", "vector<1xi32>"])
def test_the_groups_of_a_parallel_loop_may_be_a_vector(type):
    text = f"""
      func.func @f(%n: index) {{
        "affine.parallel"(%n) <{{lowerBoundsMap = affine_map<() -> (0)>, lowerBoundsGroups = dense<1> : {type},
            upperBoundsMap = affine_map<()[s0] -> (s0)>, upperBoundsGroups = dense<1> : {type},
            steps = [1 : i64], reductions = []}}> ({{
        ^bb0(%i: index):
          "affine.yield"() : () -> ()
        }}) : (index) -> ()
        return
      }}
    """
    assert "affine.parallel (%i) = (0) to (symbol(%n))" in print_op(parse(text))
