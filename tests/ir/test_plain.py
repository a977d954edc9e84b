"""IR as plain data and back: the same to every name, place, and order of terms."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

import pytest

from affdsl.ir import dialects
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.location import Location
from affdsl.ir.plain import _builders, _name, files_of, plain, restored
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from examples.histogram import histogram
from examples.softmax import softmax
from tests.passes.program_files import FOLDER, program_file


def again(op, known=(), files=None):
    back = None if files is None else {name: file for file, name in files.items()}
    return restored(json.loads(json.dumps(plain(op, known, files))), known, back)


def difference(one: object, other: object) -> str:
    """Where two programs differ in anything but which objects they are; an empty text if nowhere."""
    pairs: dict[Value, Value] = {}

    def parts(x: object) -> Iterator[tuple[str, object]]:
        match x:
            case Value():
                yield from ((name, getattr(x, name)) for name in ("type", "hint", "location"))
            case Mapping():
                yield from ((str(k), (key, x[key])) for k, key in enumerate(x))
            case tuple():
                yield from ((str(k), each) for k, each in enumerate(x))
            case FloorDiv():
                yield from (("dividend", x.dividend), ("divisor", x.divisor))
            case Product():
                yield "factors", x.factors
            case _ if dataclasses.is_dataclass(x):
                yield from ((f.name, getattr(x, f.name)) for f in dataclasses.fields(x))

    def found(x: object, y: object, where: str) -> str:
        if isinstance(x, Value) and isinstance(y, Value):
            if x in pairs or x is y:
                return "" if pairs.get(x, x) is y else f"{where}: another value"
            pairs[x] = y
        if type(x) is not type(y):
            return f"{where}: {type(x)} and {type(y)}"
        own, others = [*parts(x)], [*parts(y)]
        if len(own) != len(others) or (not own and repr(x) != repr(y)):
            return f"{where}: {x!r} and {y!r}"
        each = (found(a, b, f"{where}.{name}") for (name, a), (_, b) in zip(own, others, strict=True))
        return next((text for text in each if text), "")

    different = found(one, other, "module")
    ages = [pairs[value].id for value in sorted((v for v in pairs if v.id >= 0), key=lambda value: value.id)]
    return different or ("" if ages == sorted(ages) else "values have other ages")


def test_programs_are_the_same_again():
    """Two of each pass."""
    programs = [each for file in FOLDER.glob("*.mlir") for each in [*program_file(file.stem).programs.values()][:2]]
    for program in programs:
        module = parse(program.text)
        assert difference(module, again(module)) == ""
    assert len(programs) > 20


@pytest.mark.parametrize("kernel", [softmax, histogram], ids=lambda each: each.name)
def test_kernels_are_the_same_again(kernel):
    made = again(kernel.module)
    assert difference(kernel.module, made) == ""
    assert str(made) == str(kernel.module)


def test_numbers_are_the_same_to_the_bit():
    """Also those that compare as equal, or as different from themselves."""
    floats = ("0.0", "-0.0", "0x7FF8000000000001", "0xFFF0000000000000", "0x7FF0000000000001", "5.0E-324")
    text = "\n".join(f"%{k} = arith.constant {number} : f64" for k, number in enumerate(floats))
    more = '"use"() {a = true, b = 1 : i64, c = 1.0 : f64, d = "1"} : () -> ()\n%t = arith.constant true'
    module = parse(f"func.func @f() {{\n{text}\n{more}\nreturn\n}}")
    assert str(again(module)) == str(module)
    assert difference(module, again(module)) == ""


def test_complex_numbers_are_told_apart():
    """Their parts are made when somebody asks for them, and may lie where those of another one lay."""
    lines = [f"%{k} = complex.constant [{k}.5, -{k}.25] : complex<f64>" for k in range(50)]
    module = parse("\n".join(["func.func @f() {", *lines, "return", "}"]))
    assert str(again(module)) == str(module)


def test_what_stands_in_an_expression_several_times_is_kept_once():
    """Written down as a tree, x mod n in x mod n in ... would be twice as long for each of them."""
    n, x = Value(INDEX, "n"), Value(INDEX, "x")
    expr = Affine.of(x)
    for k in range(60):
        expr = (expr % Affine.of(n)) + k
    loop = affine.For(Value(INDEX, "i"), (expr,), (Affine.of(n),), ())
    nodes = plain(loop)
    assert len(nodes) < 1000
    (lower,) = again(loop, (n, x)).lower
    assert lower == expr


def test_operations_that_are_equal_stay_several():
    yields = tuple(affine.Yield(()) for _ in range(2))
    made = again(Module(yields))
    assert isinstance(made, Module)
    assert made.body[0] is not made.body[1]


def test_what_whoever_reads_it_has_is_not_copied():
    module = parse("func.func @g(%x: index) { return } func.func @f(%x: index) { call @g(%x) : (index) -> () return }")
    callee, function = module.functions
    made = again(module, (*function.args, callee))
    assert isinstance(made, Module)
    assert made.functions[0] is callee
    assert made.functions[1].args == function.args
    assert made.functions[1] is not function
    assert difference(module, made) == ""


def test_files_have_the_names_that_they_are_given():
    module = softmax.module
    (file,) = files_of(module)
    nodes = plain(module, files={file: "cell 3"})
    assert "cell 3" in nodes
    assert file not in nodes
    there = restored(nodes, files={"cell 3": "/elsewhere"})
    assert isinstance(there, Op)
    assert files_of(there) == {"/elsewhere"}
    assert difference(module, again(module, files={file: "cell 3"})) == ""
    with pytest.raises(ValueError, match="a file without a name"):
        plain(module, files={})


def test_what_is_no_plain_data_is_refused():
    old, new = Value(INDEX, "old"), Value(INDEX, "new")
    loop = affine.For(old, (Affine.of(0),), (Affine.of(1),), ())
    with pytest.raises(ValueError, match="older than those that are known: %old"):
        plain(loop, (new,))
    with pytest.raises(ValueError, match="no plain data: object"):
        plain(with_fields(loop, attributes=(("a", object()),)))


def test_a_location_and_constraints_are_kept_too():
    module = parse("func.func @f(%x: index) { affine.if affine_set<(d0) : (d0 - 3 == 0)>(%x) { } return }", "a.mlir")
    conditions = [op for op in walk(again(module)) if isinstance(op, affine.If)]
    assert [type(c) for op in conditions for c in op.condition] == [Constraint]
    assert conditions[0].location == Location("a.mlir", 1, 27)


def test_every_class_of_operations_is_known():
    """Also one of a new dialect: its module has to be in the table."""
    modules = [import_module(f"affdsl.ir.dialects.{each.name}") for each in iter_modules(dialects.__path__)]
    classes = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    assert {_name(each) for each in classes if issubclass(each, Op)} <= _builders().keys()
