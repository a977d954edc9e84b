"""Tests of bounds: what leaves an array is found with an example that really does, and what stays inside is proved."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.errors import ProgramIndexError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.messages import where
from affdsl.ir.numeric import dtype
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import IndexType, MemRefType
from affdsl.ir.verifier import verify
from affdsl.lang.trace import parameters_of, trace
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.bounds import Bounds, Finding, bounds
from affdsl.passes.analysis.dependence import AnalysisWarning
from tests.passes.analysis.bounds_texts import TEXTS

N = af.symbols("N")


@dataclass(frozen=True)
class Wrong:
    """A function, the line and the access that is wrong, and whether it is so for all sizes that matter."""

    function: Callable[..., None]
    line: int
    access: str
    is_error: bool


LEAVES = re.compile(r"  # (leaves|may leave): (.*)")


def programs():
    """Kernels of which one access leaves its array, as a comment beside it says, and look-alikes of which none does."""
    path = Path(__file__).with_name("bounds_programs.txt")
    text = path.read_text(encoding="utf-8")
    names = {"af": af, **dict(zip("MNK", af.symbols("M N K"), strict=True))}
    exec(compile(text, path, "exec"), names)
    marks = {n: found for n, line in enumerate(text.splitlines(), 1) if (found := LEAVES.search(line))}
    functions = [f for f in names.values() if hasattr(f, "__code__")]
    for function, following in zip(functions, [*functions[1:], None], strict=True):
        end = following.__code__.co_firstlineno if following else len(text)
        lines = [n for n in marks if function.__code__.co_firstlineno < n < end]
        yield function, [Wrong(function, n, marks[n][2], marks[n][1] == "leaves") for n in lines]


WRONG = [wrong for _, found in programs() for wrong in found]
RIGHT = [function for function, found in programs() if not found]


def traced(function):
    """The module of a kernel that is not refused."""
    program = trace(function, parameters_of(function, {}))
    return program.module


def confirm(finding: Finding, function: Func, module: Module) -> None:
    """Run the interpreter with the sizes of an example: it stops at this operation, because of a subscript."""
    example = finding.example
    given = []
    for value in function.args:
        match value.type:
            case MemRefType(element=element):
                given.append(np.zeros(example.shapes[value], dtype(element)))
            case IndexType():
                given.append(example.arguments[value])
            case _:
                given.append(0)
    with pytest.raises(InterpreterError) as caught:
        run(function, *given, module=module, uninitialised="poison")
    said = str(caught.value)
    assert said.startswith(where(finding.demand.op)), said
    assert any(words in said for words in ("out of bounds", "differ in shape")), said
    index = getattr(finding.demand.op, "index", None)
    env = {**example.arguments, **example.iteration}
    if index is not None and all(v in env for e in index for v in e.values()) and not example.demand.domain.locals:
        assert tuple(e.evaluate(env) for e in index) == example.index
        outside = [k for k, (i, n) in enumerate(zip(example.index, example.sizes, strict=True)) if not 0 <= i < n]
        assert example.claim.axis in outside


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row.function.__name__)
def test_what_leaves_its_array_is_found_with_an_example_that_does(row: Wrong):
    module = traced(row.function)
    found = Bounds(module.functions[-1], module)
    first = next(f for f in found.findings if f.verdict != "proved")
    assert (first.access, first.demand.op.location.line) == (row.access, row.line)
    assert first.verdict == ("violated" if row.is_error else "conditional")
    confirm(first, module.functions[-1], module)


@pytest.mark.parametrize("row", [r for r in WRONG if r.is_error], ids=lambda row: row.function.__name__)
def test_a_kernel_that_is_wrong_is_not_built(row: Wrong):
    with pytest.raises(ProgramIndexError) as caught:
        af.kernel(row.function)
    lines = str(caught.value).splitlines()
    assert f"bounds_programs.txt:{row.line}: " in lines[0]
    assert row.access in lines[0]
    assert len(lines) == 3


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_what_stays_inside_is_proved(function):
    assert af.kernel(function).check().are_proved


@pytest.mark.parametrize("name", TEXTS)
def test_views_vectors_and_copies(name):
    wrong, right = TEXTS[name]
    module = parse(wrong)
    verify(module)
    found = bounds(module.functions[0], module)
    (first, *_) = [f for f in found.findings if f.verdict != "proved"]
    assert first.verdict in ("violated", "conditional"), str(found)
    confirm(first, module.functions[0], module)
    module = parse(right)
    verify(module)
    found = bounds(module.functions[0], module)
    assert found.are_proved, str(found)


def test_a_view_that_lies_inside_for_some_sizes_only_is_wrong():
    """Of a symbolic size it is so for 2 and 3 alone; a size that is a number sets a limit by its nature."""
    text = """func.func @f(%A: memref<?xf32> {{affdsl.shape = affine_map<()[s0] -> ({size})>}}, %n: index) {{
        %o = affine.apply affine_map<()[s0] -> (s0 * 2 - 4)>()[%n]
        %v = memref.subview %A[%o] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
        return
    }}"""
    for size, verdict in (("s0", "violated"), ("3", "conditional")):
        module = parse(text.format(size=size))
        (found,) = bounds(module.functions[0], module).findings
        assert found.verdict == verdict


def test_there_are_enough_programs():
    assert len(WRONG) + len(TEXTS) >= 50
    assert len(RIGHT) + len(TEXTS) >= 50


NOT_PROVED = Path(__file__).with_name("bounds.mlir").read_text(encoding="utf-8").split("// ----- ")[1:]


@pytest.mark.parametrize("program", NOT_PROVED, ids=lambda program: program.partition("\n")[0])
def test_what_is_not_known_or_asked_for_is_said_at_its_line(program):
    """The comment in a line is what its findings begin with, one for each that is not proved."""
    _, _, text = program.partition("\n")
    marks = [(n, mark) for n, line in enumerate(text.splitlines(), 1) for mark in line.split(" // ")[1:]]
    module = parse(text)
    function = next(f for f in module.functions if f.symbol == "f")
    found = [f for f in bounds(function, module).findings if f.verdict != "proved"]
    for (line, mark), finding in zip(marks, found, strict=True):
        said = f"{finding.verdict}: {'; '.join(finding.unknown)}"
        if finding.verdict == "conditional":
            said = f"conditional on {finding.condition}: {finding.example.said()}"
        assert (finding.demand.op.location.line, said[: len(mark.strip())]) == (line, mark.strip())


def test_a_clipped_transfer_and_a_prefetch_may_reach_beyond():
    module = parse("""
    func.func @f(%A: memref<6xf32>, %x: f32) {
      affine.for %i = 0 to 2 {
        %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
        affine.prefetch %A[%i * 100], read, locality<3>, data : memref<6xf32>
        %v = vector.transfer_read %A[%at], %x : memref<6xf32>, vector<4xf32>
      }
      return
    }""")
    assert bounds(module.functions[0], module).are_proved


def test_an_assumption_that_is_not_affine_is_not_broken_by_an_example():
    module = parse("""
    func.func @f(%n: index, %A: memref<4xf32>) attributes {
      affdsl.assume = affine_set<()[s0] : (s0 * s0 - 9 == 0, s0 >= 0)>
    } {
      %a = affine.load %A[symbol(%n) + 2] : memref<4xf32>
      return
    }""")
    (finding,) = bounds(module.functions[0], module).findings
    assert finding.verdict in ("unknown", "conditional")


def test_a_spent_budget_is_a_warning_that_names_the_access_and_no_proof():
    module = traced(next(f for f in RIGHT if f.__name__ == "rows_of_three_that_fit"))
    assert Bounds(module.functions[-1], module).are_proved
    with pytest.warns(AnalysisWarning, match=r"isl needs more than 5 operations, for what writes A\[i // 3.* at .*:\d"):
        found = Bounds(with_fields(module.functions[-1], assumes=(Constraint(size_of(module) - 7),)), module, 5)
    assert {f.verdict for f in found.findings} == {"unknown"}


def size_of(module: Module) -> Affine:
    """The size of the last function."""
    return Affine.of(module.functions[-1].args[0])


def test_the_report_has_a_line_for_each_access():
    module = traced(next(r.function for r in WRONG if r.function.__name__ == "of_another_size"))
    lines = str(Bounds(module.functions[-1], module)).splitlines()
    assert lines[0] == "of_another_size: 1 proved, 1 inside for some sizes, which each call checks"
    assert lines[1].endswith("reads A[i]: proved")
    assert lines[2].endswith("writes B[i]: conditional: inside where M >= N")


def test_sizes_of_a_function_that_promises_nothing_are_numbers_of_their_own():
    module = parse("""
    func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
      return
    }""")
    (finding,) = bounds(module.functions[0], module).findings
    assert finding.condition == "A_size0 >= n"
    assert all(n >= 0 for n in finding.example.shapes[module.functions[0].args[0]])
    confirm(finding, module.functions[0], module)


def test_what_is_reinterpreted_from_one_element_is_not_proved():
    module = parse("""
    func.func @f(%A: memref<f32>) {
      %B = memref.reinterpret_cast %A to offset: [0], sizes: [4], strides: [1] : memref<f32> to memref<4xf32>
      %b = affine.load %B[3] : memref<4xf32>
      return
    }""")
    assert not bounds(module.functions[0], module).are_proved
