"""Long, wide and deep MLIR text is read and printed, or refused at a place; what is shown of it stays short."""

import pytest

from affdsl.ir.nesting import DEEPEST, TOO_DEEP
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from affdsl.mlir.writers import print_op
from tests.effort import some

HEAD = "func.func @f(%n: index, %A: memref<8xf32>) {\n"
END = "return\n}"


def nest(depth):
    loops = [f"affine.for %i{n} = 0 to 8 {{\n" for n in range(depth)]
    return f"{HEAD}{''.join(loops)}%x = affine.load %A[%i0] : memref<8xf32>\n{'}' * depth}\n{END}"


def refused(text):
    with pytest.raises(ParseError) as caught:
        parse(text)
    return caught.value


def comes_through(text):
    module = parse(text)
    verify(module)
    for generic in (False, True):
        assert print_op(parse(print_op(module, generic=generic))) == print_op(module)
    return module


def test_loops_may_be_as_deep_as_is_said():
    comes_through(nest(DEEPEST))
    error = refused(nest(DEEPEST + 1))
    assert (error.line, error.column) == (DEEPEST + 2, 1)
    assert error.problem == TOO_DEEP


@pytest.mark.parametrize("depth", some([2_000, 50_000], 1))
def test_deeper_loops_are_refused_in_place(depth):
    assert refused(nest(depth)).line == DEEPEST + 2
    generic = '"a.b"() ({\n' * depth + "}) : () -> ()\n" * depth
    assert refused(generic).line == DEEPEST + 1  # no function is around them


@pytest.mark.parametrize("count", some([20_000, 100_000], 1))
def test_many_lines(count):
    lines = [f"    %x{n} = affine.load %A[{n % 8}] : memref<8xf32>" for n in range(count)]
    text = "\n".join(["module {", f"  {HEAD.rstrip()}", *lines, "    return", "  }", "}"])
    module = parse(text)
    assert module.functions[0].body[-1].location.line == count + 2
    assert print_op(module) == text


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}%x = affine.load %A[{' + '.join(['%n * 2'] * 195)}] : memref<8xf32>\n{END}",
        f"{HEAD}%x = affine.load %A[%n{' floordiv 3 + 1' * 75}] : memref<8xf32>\n{END}",
        f"{HEAD}%x = affine.apply affine_map<(d0)[s0] -> (d0{' floordiv s0' * 75})>(%n)[%n]\n{END}",
        f"{HEAD}%x = affine.apply affine_map<(d0) -> ({'(' * 75}d0{' * 2 + 1) mod 7' * 75})>(%n)\n{END}".replace(
            "* 2 ", ""
        ),
        "func.func @f({}, %A: memref<8xf32>) {{\n%x = affine.load %A[{}] : memref<8xf32>\nreturn }}".format(
            ", ".join(f"%n{n}: index" for n in range(350)), " + ".join(f"%n{n}" for n in range(350))
        ),
    ],
    ids=["terms", "divisions", "divisions by symbols", "remainders", "values"],
)
def test_long_expressions_come_through(text):
    comes_through(text)


@pytest.mark.parametrize("count", [500, 5_000, 100_000])
@pytest.mark.parametrize("between", [" + %n * ", " - ", " floordiv 3 + ", " mod symbol(%n) + ", " * 3 + ("])
def test_longer_expressions_are_refused_in_place(between, count):
    end = ")" * count if between.endswith("(") else ""
    terms = between.join([str(n) if between.endswith("* ") else "%n" for n in range(1, count)])
    error = refused(f"{HEAD}%x = affine.load %A[{terms}{end}] : memref<8xf32>\n{END}")
    assert error.line == 2


@pytest.mark.parametrize("count", [150, 10_000])
@pytest.mark.parametrize(
    ("opening", "inside", "closing"),
    [
        ("[", "1", "]"),
        ("{a = ", "1", "}"),
        ("tuple<", "f32", ">"),
        ("vector<4x", "f32", ">"),
        ("memref<4x", "f32", ">"),
        ("(", "f32", ") -> ()"),
        ("() -> ", "f32", ""),
        ("affine_map<(d0) -> (", "d0", ")>"),
        ("loc(fused[", '"a"', "])"),
    ],
)
def test_deep_attributes_are_refused_in_place(opening, inside, closing, count):
    error = refused(f'\n"a.b"() {{x = {opening * count}{inside}{closing * count}}} : () -> ()')
    assert error.line == 2


def test_places_that_stand_for_ever_more_places_are_refused():
    lines = ['#l0 = loc("a")', *[f"#l{n + 1} = loc(callsite(#l{n} at #l{n}))" for n in range(40)]]
    assert "too much text" in refused("\n".join([*lines, '"a.b"() : () -> () loc(#l40)'])).problem


def test_of_a_long_line_the_part_round_the_mistake_is_shown():
    filler = '"a.b"() : () -> () ' * 10_000
    error = refused(f"{filler}oops {filler}\n")
    header, shown, caret = str(error).split("\n")
    assert header.startswith(f"<mlir>:1:{len(filler) + 1}: the operation oops is not known here")
    assert len(shown) < 400
    assert shown[caret.index("^") :].startswith("oops ")
    assert shown.startswith("...")
    assert shown.endswith("...")


def test_what_a_message_quotes_is_cut():
    name = "x" * 1_000_000
    error = refused(f"func.func @f() {{ {name} }}")
    assert len(str(error)) < 1_000
    assert error.column == 18


@pytest.mark.parametrize(
    "text",
    [
        "affine_map<(d0) " * 50_000,
        '"' * 200_000,
        '"a.b"() {x = ' + "[1, " * 50_000,
        "memref<" * 100_000,
        "#a = " * 100_000,
        "%x, " * 100_000,
        '"a.b"() : () -> () ' * 20_000 + "(",
        "func.func @f(" + "%x: memref<?x?xf32> " * 50_000,
    ],
    ids=lambda text: text[:16],
)
def test_much_that_is_wrong_is_refused_at_once(text):
    refused(text)
