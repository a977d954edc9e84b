"""Regions against the elements that programs touch when they run, and by hand where sizes are symbolic."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.boxes import NO_BOX
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.analysis.polyhedral import Dim, Map
from affdsl.passes.analysis.region import Region, extents, region_of
from affdsl.passes.analysis.relations import fixed
from affdsl.passes.analysis.storage import Buffer
from tests.effort import some
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.touched import origin
from tests.passes.analysis.traced import Trace

SLOW = {11}
"""Seeds with hundreds of questions that isl does not answer within its budget, a second each."""
Point = tuple[int, ...]
Touched = dict[Point, set[Point]]
"""For each iteration of the outer loops, the elements touched in it."""


def regions(of: Accesses, root: Op | None = None, depth: int = 0) -> list[Region]:
    """Those of each buffer that is read, or written, in an operation, or in the whole function."""
    grouped: dict[tuple[Buffer, str], list[Access]] = defaultdict(list)
    for access in of.all if root is None else of.inside(root):
        if not isinstance(access.op, memref.Dealloc):
            grouped[access.buffer, access.kind].append(access)
    return [region_of(of, group, depth) for group in grouped.values()]


@pytest.mark.filterwarnings(
    "ignore::affdsl.passes.analysis.dependence.AnalysisWarning"
)  # then less is said, and nothing false
@pytest.mark.parametrize("seed", some([seed for seed in range(20) if seed not in SLOW], 5))
def test_regions_are_what_is_touched(seed: int) -> None:
    program = generate(seed)
    check(program, program.trace())


def check(program: Program, found: Trace) -> dict[str, int]:
    """Compare all regions of a program with what it touches; how many there were of each sort."""
    counts: dict[str, int] = defaultdict(int)
    of = Accesses(program.function, program.module)
    for root, depth in places(of):
        seen = touched(found, of, root, depth)
        told = regions(of, root, depth)
        sizes = numbers(program, of)
        for region in told:
            expected = seen.pop((region.buffer.root, region.kind), {})
            counts["exact" if not region.unknown else "not exact"] += 1
            may, must = points(region.may, sizes), points(region.must, sizes)
            if may is None or must is None:
                counts["not bounded"] += 1
                continue
            if not region.unknown:
                assert may == must == expected, f"{region} at {depth}"
            else:
                for key, elements in must.items():
                    assert elements <= expected[key]
                for key, elements in expected.items():
                    assert elements <= may[key]
            check_box(region, may, sizes, counts)
        assert not any(seen.values())
    return counts


@pytest.mark.filterwarnings("ignore::affdsl.passes.analysis.dependence.AnalysisWarning")
def test_extents_are_those_of_footprints() -> None:
    grids = 0
    for seed in some(range(30, 90), 20):
        program = generate(seed)
        of = Accesses(program.function, program.module)
        for root in program.function.body:
            if of.inside(root):
                told = {region.buffer: region.box.extents for region in whole(of, root)}
                assert extents(of, root) == told, seed
                grids += all(a.is_exact and a.relation.grid is not None for a in of.inside(root))
    assert grids > 5


def whole(of: Accesses, root: Op) -> list[Region]:
    """The regions of what is read or written."""
    groups: dict[Buffer, list[Access]] = defaultdict(list)
    for access in of.inside(root):
        if not isinstance(access.op, memref.Dealloc):
            groups[access.buffer].append(access)
    return [region_of(of, group, len(of.domains[root].ivs)) for group in groups.values()]


def test_extents_of_grids_inside_of_a_loop() -> None:
    body = """affine.for %i = 0 to 10 {
        %T = memref.alloc() : memref<8xf32>
        affine.for %j = 1 to 6 step 2 { affine.store %x, %T[%j] : memref<8xf32> }
        %y = affine.load %T[7] : memref<8xf32>
    }"""
    of = accesses_of(body, "%x: f32")
    loop = of.function.body[0]
    assert list(extents(of, loop).values()) == [(7,)]
    assert [region.box.extents for region in whole(of, loop)] == [(7,)]
    inner = loop.body[1]
    assert list(extents(of, inner).values()) == [(5,)]


def check_box(region: Region, may: Touched, sizes: Mapping[Value, int], counts: dict[str, int]) -> None:
    start = region.buffer.loops
    inside = {key: {element[start:] for element in elements} for key, elements in may.items()}
    axes = range(region.buffer.rank)
    extents = [0 for _ in axes]
    for key, elements in inside.items():
        env = {**sizes, **dict(zip(region.ivs, key, strict=True))}
        spans = [(min(e[k] for e in elements), max(e[k] for e in elements) + 1) for k in axes]
        for k, (low, high) in enumerate(spans):
            lower, upper = region.box.lower[k], region.box.upper[k]
            if lower is None or upper is None:
                counts["sides not known"] += 1
                continue
            if lower.is_tight:
                assert lower.evaluate(env) == low
            if upper.is_tight:
                assert upper.evaluate(env) == high
            assert lower.evaluate(env) <= low
            assert upper.evaluate(env) >= high
            counts["sides"] += 2
            counts["tight"] += lower.is_tight + upper.is_tight
            extents[k] = max(extents[k], high - low)
    if region.params or None in region.box.extents:
        assert all(have is None or have >= seen for have, seen in zip(region.box.extents, extents, strict=True))
    else:
        assert region.box.extents == tuple(extents)


def places(of: Accesses) -> Iterator[tuple[Op, int]]:
    """Every operation that has accesses in it, with each depth that its loops allow."""
    for root in walk(of.function):
        inside = set(walk(root))
        around = [a.ivs for a in of.all if a.op in inside and not isinstance(a.op, memref.Dealloc)]
        if around and (root is of.function or isinstance(root, affine.For | affine.Parallel | scf.For) or not
                       any(root.blocks())):  # fmt: skip
            common = 0
            while all(len(ivs) > common and ivs[common] is around[0][common] for ivs in around):
                common += 1
            yield from ((root, depth) for depth in range(common + 1))


def touched(found: Trace, of: Accesses, root: Op, depth: int) -> dict[tuple[Value, str], Touched]:
    inside = set(walk(root))
    result: dict[tuple[Value, str], Touched] = defaultdict(lambda: defaultdict(set))
    buffers = {origin(b.root, of.scope.makers): b for b in of.storage.buffers}
    for instance in found.instances:
        if instance.op in inside:
            buffer = buffers[instance.buffer.origin]
            made_in = instance.ivs[: buffer.loops]
            result[buffer.root, instance.role][instance.ivs[:depth]] |= {(*made_in, *e) for e in instance.elements}
    return result


def numbers(program: Program, of: Accesses) -> dict[Value, int]:
    """The numbers of the symbols of a program in its run."""
    given = program.arguments()
    found = {v: int(a) for v, a in zip(program.function.args, given, strict=True) if isinstance(a, int)}
    shapes = {v: a.shape for v, a in zip(program.function.args, given, strict=True) if not isinstance(a, int)}
    return found | {symbol: shapes[buffer][axis] for (buffer, axis), symbol in of.scope.sizes.items()}


def points(relation: Map, sizes: Mapping[Value, int]) -> Touched | None:
    """The elements of each iteration, for sizes; None if there are infinitely many."""
    relation = fixed(relation, sizes)
    relation = relation.project_out(Dim.param, 0, relation.dim(Dim.param))
    if not relation.wrap().is_bounded():
        return None
    split, found = relation.dim(Dim.in_), defaultdict(set)

    def add(point: object) -> None:
        at = [point.get_coordinate_val(Dim.set, k).to_python() for k in range(split + relation.dim(Dim.out))]
        found[tuple(at[:split])].add(tuple(at[split:]))

    relation.wrap().foreach_point(add)
    return dict(found)


def accesses_of(body: str, arguments: str) -> Accesses:
    module = parse(f"func.func @f({arguments}) {{ {body} return }}")
    return Accesses(module.functions[0], module)


def only(body: str, arguments: str, depth: int = 0, root: int | None = None) -> Region:
    """The one region of a function, or of one of its operations."""
    of = accesses_of(body, arguments)
    (found,) = regions(of, None if root is None else of.function.body[root], depth)
    return found


NEST = "affine.for %i = 0 to {} {{ affine.for %j = {} to {} {{ {} }} }}"


def store(index: str, type: str = "memref<?x?xf32>") -> str:
    return f"affine.store %x, %A[{index}] : {type}"


FLAT, SQUARE, X = "%A: memref<?xf32>, %x: f32", "%A: memref<?x?xf32>, %x: f32", ", %n: index, %m: index"


@pytest.mark.parametrize(
    ("region", "box", "extents"),
    [
        # A tile, whose place is known by the outer loops and whose size by nobody else.
        (only(NEST.format("%n", 0, 4, store("%i * 8 + %j", "memref<?xf32>")), FLAT + X, 1),
         "[i * 8, i * 8 + 4)", (4,)),
        # The same over all i: the box has holes.
        (only(NEST.format(16, 0, 4, store("%i * 8 + %j", "memref<?xf32>")), FLAT + X),
         "[0, 124)", (124,)),
        # A row of unknown length has no constant extent, but ends.
        (only(NEST.format("%n", 0, "%m", store("%i, %j + 1")), SQUARE + X, 1),
         "[i, i + 1) x [1, m + 1)", (1, None)),
        # A triangle: half of its box, and as a row as long as the longest.
        (only(NEST.format(10, 0, "%i", store("%i, %j")), SQUARE),
         "[1, 10) x [0, 9)", (9, 9)),
        (only(NEST.format(10, 0, "%i", store("%i, %j")), SQUARE, 1),
         "[i, i + 1) x [0, i)", (1, 9)),
        # Steps leave holes, which are known.
        (only("affine.for %i = 1 to 1000000 step 3 { affine.store %x, %A[%i] : memref<?xf32> }", FLAT),
         "[1, 999998)", (999997,)),
        # Both dimensions move together: a diagonal.
        (only("affine.for %i = 0 to 10 { affine.store %x, %A[%i, %i] : memref<?x?xf32> }", SQUARE),
         "[0, 10) x [0, 10)", (10, 10)),
        # Two dimensions grow, the one against the other: 4 * 5 and 5 * 4 of at most 8 * 8.
        (only("""affine.for %i = 1 to 9 { affine.for %j = 0 to %i {
                   affine.for %k = %i to 9 { affine.store %x, %A[%j, %k] : memref<?x?xf32> } } }""", SQUARE, 1),
         "[0, i) x [i, 9)", (8, 8)),
        # Where the sides depend on which of two loops reaches further.
        (only("""affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0, s1)>()[%n, %m] {
                   affine.store %x, %A[%i] : memref<?xf32> }""", FLAT + X),
         "[0, min(n, m))", (None,)),
        (only("affine.for %i = 0 to 4 { affine.vector_store %v, %A[%i * 4] : memref<?xf32>, vector<4xf32> }",
              "%A: memref<?xf32>, %v: vector<4xf32>"), "[0, 16)", (16,)),
        # A scalar has no dimensions.
        (only("affine.store %x, %A[] : memref<f32>", "%A: memref<f32>, %x: f32"), "[]", ()),
        # What is never reached.
        (only("affine.for %i = 4 to 2 { affine.store %x, %A[%i] : memref<?xf32> }", FLAT),
         "[0, 0)", (0,)),
    ],
)  # fmt: skip
def test_boxes_by_hand(region: Region, box: str, extents: tuple[int | None, ...]) -> None:
    assert str(region.box) == box
    assert region.sides == (region.box.lower, region.box.upper)
    assert region.box.extents == extents
    assert not region.unknown


def test_the_box_of_a_stencil() -> None:
    body = """affine.for %i = 1 to %n { affine.for %j = 1 to %m {
        %a = affine.load %A[%i, %j] : memref<?x?xf64>      %b = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        %c = affine.load %A[%i + 1, %j] : memref<?x?xf64>  %d = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        %e = affine.load %A[%i, %j + 1] : memref<?x?xf64>
        affine.store %a, %A[%i, %j] : memref<?x?xf64>
    } }"""
    of = accesses_of(body, "%A: memref<?x?xf64>, %n: index, %m: index")
    read, written = regions(of, depth=2)
    assert str(read.box) == "[i - 1, i + 2) x [j - 1, j + 2)"
    assert str(written.box) == "[i, i + 1) x [j, j + 1)"
    assert region_of(of, of.all, 2).kind == "access"
    row = regions(of, depth=1)[0]
    assert str(row.box) == "[i - 1, i + 2) x [0, m + 1)"
    assert row.box.extents == (3, None)


def test_one_array_for_each_iteration_is_no_larger_than_one() -> None:
    body = """affine.for %i = 0 to 10 {
        %T = memref.alloc() : memref<8xf32>
        affine.for %j = 0 to 8 { affine.store %x, %T[%j] : memref<8xf32> }
    }"""
    inside, outside = only(body, "%x: f32", 1), only(body, "%x: f32", 0)
    assert str(inside.box) == str(outside.box) == "[0, 8)"


def test_what_may_be_touched_is_not_certain() -> None:
    body = """affine.for %i = 0 to 8 {
        affine.store %x, %A[%i] : memref<16xf32>
        %k = affine.load %I[%i] : memref<8xindex>
        memref.store %x, %A[%k] : memref<16xf32>
    }"""
    of = accesses_of(body, "%A: memref<16xf32>, %I: memref<8xindex>, %x: f32")
    written = next(r for r in regions(of) if r.kind == "write")
    assert written.unknown == ("%k is not affine",)
    assert str(written.box) == "[0, 16)"
    assert written.must.range().count_val().to_python() == 8


def test_nothing_is_known_of_a_buffer_without_a_rank() -> None:
    of = accesses_of("func.call @g(%A) : (memref<*xf32>) -> ()", "%A: memref<*xf32>")
    for region in regions(of):
        assert (region.box, region.sides) == (NO_BOX, ((), ()))


def test_a_copy_touches_all_there_is() -> None:
    of = accesses_of("memref.copy %A, %T : memref<?xf32> to memref<?xf32>", "%A: memref<?xf32>, %T: memref<?xf32>")
    read, written = regions(of)
    assert (str(read.box), str(written.box)) == ("[0, A_size0)", "[0, T_size0)")
    assert not read.unknown


@pytest.mark.parametrize("budget", [1, 30])
def test_isl_out_of_its_budget_is_unknown(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("affdsl.passes.analysis.boxes.BUDGET", budget)
    monkeypatch.setattr("affdsl.passes.analysis.region.BUDGET", budget)
    body = f"affine.for %i = 0 to {20 + budget} {{ affine.store %x, %A[(%i * 7) floordiv 5] : memref<?xf32> }}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        region = only(body, FLAT)
        box = region.box
    said = [str(warning.message) for warning in caught if warning.category is AnalysisWarning]
    assert len(said) == len(caught) > 0
    assert all(re.match(f"isl needs more than {budget} operations, for .* A", message) for message in said)
    assert None in (*box.lower, *box.upper, *box.extents)


def test_depths_that_there_are_not_are_refused() -> None:
    body = f"affine.store %x, %A[0] : memref<?xf32> {NEST.format(4, 0, 4, store('%i', 'memref<?xf32>'))}"
    of = accesses_of(body, FLAT)
    with pytest.raises(ValueError, match=r"the write of A at .* has 0 loops around, so there is no region at depth 1"):
        regions(of, depth=1)
    twice = 2 * "affine.for %i = 0 to 4 { affine.store %x, %A[%i] : memref<?xf32> } "
    of = accesses_of(twice, FLAT)
    with pytest.raises(ValueError, match=r"the write of A at .* and .* do not stand in the same loops down to depth 1"):
        regions(of, depth=1)
    of = accesses_of("affine.store %x, %A[0] : memref<?xf32> affine.store %x, %B[0] : memref<?xf32>",
                     f"{FLAT}, %B: memref<?xf32>")  # fmt: skip
    with pytest.raises(ValueError, match="a region is one of one buffer, not of A and B"):
        region_of(of, of.all, 0)
