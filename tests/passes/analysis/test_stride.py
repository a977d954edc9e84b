"""Strides against the elements that programs touch in one iteration after the other, and by hand."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from affdsl.ir.dialects import affine, scf, vector
from affdsl.ir.layouts import strided
from affdsl.ir.types import MemRefType
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.analysis.stride import Stride, stride, strides, supposed
from tests.effort import some
from tests.oracles import mlir_opt
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.touched import origin
from tests.passes.analysis.traced import Trace

Point = tuple[int, ...]


@pytest.mark.parametrize("seed", some(range(40), 15))
def test_strides_are_what_is_seen(seed: int) -> None:
    program = generate(seed)
    check(program, program.trace())


def check(program: Program, found: Trace) -> dict[str, int]:
    """Compare all strides of a program with the elements it touches; how many there were of each sort."""
    counts: dict[str, int] = defaultdict(int)
    of = Accesses(program.function, program.module)
    for access in of.all:
        at = origin(access.buffer.root, of.scope.makers)
        runs: dict[tuple[int, ...], frozenset[tuple[int, ...]]] = defaultdict(frozenset)
        for i in found.instances:  # a call touches some elements one after the other
            if (i.op, i.role, i.buffer.origin) == (access.op, access.kind, at):
                runs[i.ivs] |= i.elements
        if isinstance(access.op, vector.MaskedLoad | vector.MaskedStore):
            continue  # the mask may be another one in each iteration
        most = max(map(len, runs.values()), default=0)
        whole = {ivs for ivs, elements in runs.items() if len(elements) == most}
        for axis, (iv, told) in enumerate(strides(access, of.scope).items()):
            step = step_of(access, axis)
            pairs = [(p, q) for p, q in apart(runs, axis) if {p, q} <= whole]
            counts[told.motion] += 1
            if told.vector is not None:
                counts["pairs"] += len(pairs)
                for p, q in pairs:
                    times = (q[axis] - p[axis]) // step
                    moved = {tuple(a + times * n for a, n in zip(e, told.vector, strict=True)) for e in runs[p]}
                    assert moved == runs[q], f"{told} of {access} with {iv}"
            elif (
                told.motion == "varying"
                and not access.relation.params
                and len(whole) == len(runs)
                and pairs
                and access.buffer.loops <= axis
            ):
                assert not any(is_even(runs, pairs, axis, step)), f"{access} with {iv}"
                counts["varying, seen"] += 1
            elif told.motion == "unknown":
                assert told.reason
            check_memory(access, told)
    return counts


def is_even(
    runs: dict[Point, frozenset[Point]], pairs: list[tuple[Point, Point]], axis: int, step: int
) -> Iterator[bool]:
    """Whether one vector explains all pairs."""
    p, q = pairs[0]
    times = (q[axis] - p[axis]) // step
    moved = [b - a for a, b in zip(min(runs[p]), min(runs[q]), strict=True)]
    step_by = [n // times for n in moved]
    yield all(
        {tuple(a + (q[axis] - p[axis]) // step * n for a, n in zip(e, step_by, strict=True)) for e in runs[p]}
        == runs[q]
        for p, q in pairs
    )


def check_memory(access: Access, told: Stride) -> None:
    type = access.buffer.type
    layout = strided(type) if isinstance(type, MemRefType) else None
    if told.vector is None or layout is None or told.elements is None:
        return
    assert told.elements == sum(n * s for n, s in zip(told.vector, layout.strides, strict=True) if n)
    assert told.motion == {0: "invariant", 1: "contiguous", -1: "reversed"}.get(told.elements, "strided")


def apart(runs: dict[Point, frozenset[Point]], axis: int) -> Iterator[tuple[Point, Point]]:
    """Pairs of iterations that are the same but for one loop, of which the second is later."""
    groups: dict[Point, list[Point]] = defaultdict(list)
    for ivs in sorted(runs):
        groups[(*ivs[:axis], *ivs[axis + 1 :])].append(ivs)
    for group in groups.values():
        yield from ((p, q) for k, p in enumerate(group) for q in group[k + 1 :])


def step_of(access: Access, axis: int) -> int:
    match access.domain.loops[axis]:
        case affine.For(step=step):
            return step
        case affine.Parallel() as loop:
            return loop.steps[loop.ivs.index(access.ivs[axis])]
        case scf.For() as loop:
            return {"one": 1, "two": 2}[loop.step.hint]
    raise AssertionError


def of_text(body: str, arguments: str) -> Accesses:
    module = parse(f"func.func @f({arguments}) {{ {body} return }}")
    return Accesses(module.functions[0], module)


def shown(body: str, arguments: str) -> list[str]:
    """The strides of the first access, by the loops around it."""
    of = of_text(body, arguments)
    return [str(told) for told in strides(of.all[0], of.scope).values()]


def loops(head: str, body: str) -> str:
    """A statement in loops %i and %j."""
    return f"affine.for %i = 0 to 8 {{ {head} {{ {body} }} }}"


@pytest.mark.parametrize(
    ("head", "body", "arguments", "expected"),
    [
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%i, %j] : memref<?x?xf32>", "%A: memref<?x?xf32>",
         ["stride (1, 0)", "contiguous"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%j, %i] : memref<?x16xf32>", "%A: memref<?x16xf32>",
         ["contiguous", "stride 16"]),
        ("affine.for %j = 0 to 8 step 2", "%a = affine.load %A[%j floordiv 2] : memref<8xf32>", "%A: memref<8xf32>",
         ["invariant", "contiguous"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%j floordiv 2] : memref<8xf32>", "%A: memref<8xf32>",
         ["invariant", "varying"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%j floordiv 8] : memref<8xf32>", "%A: memref<8xf32>",
         ["invariant", "invariant"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%j mod 16] : memref<8xf32>", "%A: memref<8xf32>",
         ["invariant", "contiguous"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[-%j + 7] : memref<8xf32>", "%A: memref<8xf32>",
         ["invariant", "reversed"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%i, %j] : memref<8x8xf32, strided<[1, 8]>>",
         "%A: memref<8x8xf32, strided<[1, 8]>>", ["contiguous", "stride 8"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%i, %j] : memref<8x8xf32, strided<[?, 2]>>",
         "%A: memref<8x8xf32, strided<[?, 2]>>", ["stride (1, 0)", "stride 2"]),
        ("affine.for %j = 0 to 8", "%a = affine.load %A[%i, %j] : memref<8x8xf32, affine_map<(d0, d1) -> (d1, d0)>>",
         "%A: memref<8x8xf32, affine_map<(d0, d1) -> (d1, d0)>>", ["stride (1, 0)", "stride (0, 1)"]),
        ("affine.for %j = 0 to 2", "%a = affine.vector_load %A[%i, %j * 4] : memref<8x8xf32>, vector<4xf32>",
         "%A: memref<8x8xf32>", ["stride 8", "stride 4"]),
        ("affine.for %j = 0 to 8",
         "%m = affine.min affine_map<(d0) -> (d0, 100)>(%j) %a = memref.load %A[%m] : memref<8xf32>",
         "%A: memref<8xf32>", ["invariant", "contiguous"]),
        ("affine.for %j = 0 to 8",
         "%m = affine.min affine_map<(d0) -> (d0, 3)>(%j) %a = memref.load %A[%m] : memref<8xf32>",
         "%A: memref<8xf32>", ["invariant", "varying"]),
        # Never twice in neighbouring iterations: it moves by half an element in each.
        ("affine.for %j = 0 to 8",
         "affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%j) { %a = affine.load %A[%j floordiv 2] : memref<8xf32> }",
         "%A: memref<8xf32>", ["invariant", "varying"]),
        # Even in the iterations in which it runs.
        ("affine.for %j = 0 to 8",
         "affine.if affine_set<(d0) : (3 - d0 >= 0)>(%j) { %a = affine.load %A[%j floordiv 4] : memref<8xf32> }",
         "%A: memref<8xf32>", ["invariant", "invariant"]),
    ],
)  # fmt: skip
def test_strides_by_hand(head: str, body: str, arguments: str, expected: list[str]) -> None:
    assert shown(loops(head, body), arguments) == expected


def test_a_view_moves_in_its_buffer() -> None:
    body = """
        %s = memref.subview %A[0, 1] [4, 4] [2, 3] : memref<8x16xf32> to memref<4x4xf32, strided<[32, 3], offset: 1>>
        affine.for %i = 0 to 4 { affine.for %j = 0 to 4 {
          %a = affine.load %s[%i, %j] : memref<4x4xf32, strided<[32, 3], offset: 1>>
        } }"""
    assert shown(body, "%A: memref<8x16xf32>") == ["stride 32", "stride 3"]


def test_what_is_not_known_says_why() -> None:
    of = of_text(
        """affine.for %i = 0 to 8 {
             %k = affine.load %I[%i] : memref<8xindex>
             %a = memref.load %A[%k] : memref<8xf32>
           }""",
        "%A: memref<8xf32>, %I: memref<8xindex>",
    )
    told = stride(of.all[1], of.all[1].ivs[0], of.scope)
    assert (told.motion, told.reason) == ("unknown", "%k is not affine")
    of = of_text(
        "affine.for %i = 0 to 8 { %a = memref.load %A[] : memref<f32>  func.call @g(%A) : (memref<f32>) -> () }",
        "%A: memref<f32>",
    )
    assert [str(stride(a, a.ivs[0], of.scope)) for a in of.all] == ["invariant", "unknown", "unknown"]
    assert stride(of.all[1], of.all[1].ivs[0], of.scope).reason == "which elements of A it touches is not known"


def test_rows_are_supposed_where_the_layout_does_not_say() -> None:
    of = of_text(
        """affine.for %i = 0 to 4 { affine.for %j = 0 to 2 {
             %a = affine.load %A[%i, 3 - 2 * %j] : memref<4x4xf32, strided<[?, ?], offset: ?>>
             %b = affine.load %B[%i, %j] : memref<4x4xf32, strided<[8, 2]>>
           } }""",
        "%A: memref<4x4xf32, strided<[?, ?], offset: ?>>, %B: memref<4x4xf32, strided<[8, 2]>>",
    )
    told = [[(each, supposed(each, a)) for each in strides(a, of.scope).values()] for a in of.all]
    assert [(str(a), str(b)) for a, b in told[0]] == [
        ("stride (1, 0)", "stride (1, 0)"),
        ("stride (0, -2)", "stride -2"),
    ]
    assert all(a is b for a, b in told[1])


def test_a_step_known_at_run_time_is_not_guessed() -> None:
    loop = "scf.for %i = %n to %m step %s {{ %a = memref.load %A[{}] : memref<?xf32> }}"
    arguments = "%A: memref<?xf32>, %n: index, %m: index, %s: index"
    of = of_text(loop.format("%i"), arguments)
    told = stride(of.all[0], of.all[0].ivs[0], of.scope)
    assert (told.motion, told.reason) == ("unknown", "the step is known only at run time")
    assert shown(loop.format("%n"), arguments) == ["invariant"]


def test_an_allocation_in_a_loop_is_another_array_each_time() -> None:
    of = of_text(
        """affine.for %i = 0 to 8 {
             %T = memref.alloc() : memref<8xf32>
             affine.for %j = 0 to 8 { affine.store %x, %T[%j] : memref<8xf32> }
           }""",
        "%x: f32",
    )
    i, j = of.all[0].ivs
    assert stride(of.all[0], i, of.scope).reason == "each iteration of %i makes another T"
    assert stride(of.all[0], j, of.scope) == Stride("contiguous", (1,), 1)


def test_a_loop_elsewhere_is_refused() -> None:
    of = of_text(
        """affine.for %i = 0 to 8 { %a = affine.load %A[%i] : memref<8xf32> }
           affine.for %j = 0 to 8 { %b = affine.load %A[%j] : memref<8xf32> }""",
        "%A: memref<8xf32>",
    )
    with pytest.raises(ValueError, match="%j is no loop around the read of A"):
        stride(of.all[0], of.all[1].ivs[0], of.scope)


def test_isl_out_of_its_budget_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("affdsl.passes.analysis.boxes.BUDGET", 10)
    of = of_text("affine.for %i = 0 to 77 { %a = affine.load %A[%i floordiv 79] : memref<8xf32> }", "%A: memref<8xf32>")
    with pytest.warns(AnalysisWarning, match="isl needs more than 10 operations, for the read of A"):
        told = stride(of.all[0], of.all[0].ivs[0], of.scope)
    assert told.motion == "unknown"
    assert told.reason.startswith("isl needs too long for the read of A")


LAYOUTS = {
    "memref<3x4x5xf32>": "", "memref<3x?x5xf32>": "(%n)", "memref<?x?xf32>": "(%n, %n)",
    "memref<3x4xf32, strided<[1, 3]>>": "", "memref<3x4xf32, strided<[?, 1], offset: ?>>": "()[%n, %n]",
    "memref<3x4xf32, affine_map<(d0, d1) -> (d0 * 8 + d1 * 2 + 1)>>": "",
    "memref<3x4xf32, affine_map<(d0, d1) -> (d1, d0)>>": "",
}  # fmt: skip
"""Types, and what an allocation of them is given."""


def test_strides_of_layouts_are_those_of_mlir_opt() -> None:
    """The step in memory of a loop over each dimension, and what mlir-opt calls the strides of the type."""
    allocations = "".join(
        f"%m{k} = memref.alloc{given or '()'} : {t}\n" for k, (t, given) in enumerate(LAYOUTS.items())
    )
    text = f"func.func @f(%n: index) {{ {allocations} return }}"
    said = mlir_opt(
        text, "--pass-pipeline=builtin.module(func.func(test-memref-stride-calculation))", "-o", "/dev/null"
    )
    lines = re.findall(r"strides: (.*)|(cannot be converted)", said)
    assert len(lines) == len(LAYOUTS)
    for type, (numbers, failed) in zip(LAYOUTS, lines, strict=True):
        rank = type.count("x")
        expected = [None] * rank if failed else [None if n == "?" else int(n) for n in numbers.split(", ")]
        seen = []
        for axis in range(rank):
            index = ", ".join("%i" if k == axis else "0" for k in range(rank))
            of = of_text(f"affine.for %i = 0 to 3 {{ %a = affine.load %A[{index}] : {type} }}", f"%A: {type}")
            seen.append(stride(of.all[0], of.all[0].ivs[0], of.scope).elements)
        assert seen == expected, type
