"""Drawings of iteration spaces: their points and arrows against runs, and that they can be read."""

import functools
import math
import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations, pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest

from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.mlir.naming import names_of
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.nodes import ivs_of
from affdsl.passes.drawing.iteration_space import iteration_space
from affdsl.passes.drawing.layout import DrawingError
from affdsl.passes.drawing.picture import ADVANCE, Curve, Picture, Rectangle, Text, Triangle
from affdsl.passes.drawing.space_layout import RADIUS, space_layout
from affdsl.passes.drawing.space_view import Arrow, View, direct
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.skew import skew
from affdsl.passes.transforms.tile import tile
from tests.effort import some
from tests.harness.reading import iv
from tests.passes.analysis.programs import generate
from tests.passes.analysis.traced import loops_around, trace


def one(text):
    (function,) = parse(text).functions
    return function


SEIDEL = """
func.func @seidel(%A: memref<?x?xf64>, %N: index, %T: index) {
  affine.for %t = 0 to %T {
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%N] {
      affine.for %j = 1 to affine_map<()[n] -> (n - 1)>()[%N] {
        %a = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        %b = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        %c = affine.load %A[%i, %j + 1] : memref<?x?xf64>
        %d = affine.load %A[%i + 1, %j] : memref<?x?xf64>
        %ab = arith.addf %a, %b : f64
        %cd = arith.addf %c, %d : f64
        %e = arith.addf %ab, %cd : f64
        affine.store %e, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}"""


@cache
def wavefront():
    """Gauss-Seidel, skewed, tiled, and its tiles run in wavefronts."""
    function = one(SEIDEL)
    function = skew(function, iv(function, "t"), iv(function, "i"), 1)
    function = tile(function, [iv(function, "t"), iv(function, "i")], [3, 3], names=["tt", "w"])
    function = skew(function, iv(function, "tt"), iv(function, "w"), 1)
    function = interchange(function, iv(function, "tt"), iv(function, "w"))
    return parallelize(function, iv(function, "tt"))


NESTS = {
    "seidel": (SEIDEL, {"N": 6, "T": 4}),
    "triangle with steps": (
        """func.func @f(%A: memref<?x?xf32>, %n: index) {
          affine.for %i = 4 to %n step 3 {
            affine.for %j = affine_map<(i) -> (i - 2)>(%i) to affine_map<(i)[n] -> (i + 5, n)>(%i)[%n] step 2 {
              %a = affine.load %A[%i - 3, %j + 2] : memref<?x?xf32>
              affine.store %a, %A[%i, %j + 1] : memref<?x?xf32>
            }
          }
          return
        }""".replace("to affine_map", "to min affine_map"),
        {"n": 15},
    ),
    "a condition, and statements between": (
        """#odd = affine_set<(i) : (i mod 2 - 1 == 0)>
        func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index) {
          affine.for %i = 1 to %n {
            %a = affine.load %A[%i] : memref<?xf32>
            affine.if #odd(%i) {
              affine.for %j = 0 to affine_map<(d) -> (d)>(%i) {
                %b = affine.load %A[%j] : memref<?xf32>
                affine.for %k = 0 to 2 { affine.store %b, %A[%i + %j + %k] : memref<?xf32> }
                affine.store %a, %B[%j] : memref<?xf32>
              }
            }
          }
          return
        }""",
        {"n": 7},
    ),
    "parallel": (
        """func.func @f(%A: memref<?x?xf32>, %n: index) {
          affine.for %t = 0 to 3 {
            affine.parallel (%i, %j) = (0, 1) to (%n, %n) step (2, 1) {
              %a = affine.load %A[%i + 1, %j] : memref<?x?xf32>
              affine.store %a, %A[%i, %j] : memref<?x?xf32>
            }
          }
          return
        }""",
        {"n": 6},
    ),
}


def probed(function, inner):
    """The function with a store of its own at the start of the body of a loop, and that store."""
    probe = memref.Alloca(Value(MemRefType((1,), INDEX), "probe"))
    store = affine.Store(inner, probe.result, (Affine.of(0),))

    def rule(op):
        if inner in ivs_of(op):
            return with_fields(op, body=(store, *op.body))
        return None

    found = rewrite(function, rule)
    return with_fields(found, body=(probe, *found.body)), store


def brute(function, outer, inner, arguments, at=None, **keywords):
    """The iterations of all loops around the body of `inner`, and the arrows, as a run shows them."""
    with_probe, store = probed(function, inner)
    ran = trace(with_probe, *arguments, **keywords)
    held = {} if at is None else at
    loops = ran.loops

    def is_shown(instance):
        return all(held.get(v, n) == n for v, n in zip(loops[instance.op], instance.ivs, strict=True))

    runs = [i.ivs for i in ran.instances if i.op is store and is_shown(i)]
    arrows = set()
    inside = [i for i in ran.instances if inner in loops[i.op] and i.op is not store and is_shown(i)]
    for a, b in combinations(inside, 2):
        if a.buffer != b.buffer or a.execution == b.execution or "write" not in (a.role, b.role):
            continue
        if not a.elements & b.elements:
            continue
        source, sink = (
            tuple(each.ivs[loops[each.op].index(v)] for v in (outer, inner)) for each in (a, b)
        )  # fmt: skip
        if source != sink:
            kind = {("write", "read"): "flow", ("read", "write"): "anti", ("write", "write"): "output"}[a.role, b.role]
            arrows.add(Arrow(kind, source, sink))
    return runs, arrows, ran.symbols


def pairs_of_loops(function):
    """Every two loops of which the one is inside of the other."""
    found = []
    for op, around in loops_around(function).items():
        for inner in ivs_of(op):
            own = [*around, *ivs_of(op)[: ivs_of(op).index(inner)]]
            found += [(outer, inner) for outer in own]
    return found


def arguments_of(function, sizes):
    names = names_of(function)
    for value in function.args:
        if isinstance(value.type, MemRefType):
            yield np.zeros((40,) * value.type.rank, {"f32": "f4", "f64": "f8"}[str(value.type.element)])
        else:
            yield sizes[names[value]]


@pytest.mark.parametrize("name", [*NESTS, "wavefront"])
def test_points_and_arrows_are_those_of_a_run(name):
    function, sizes = (wavefront(), {"N": 7, "T": 4}) if name == "wavefront" else (one(NESTS[name][0]), NESTS[name][1])
    names = names_of(function)
    pairs = pairs_of_loops(function)[:: 3 if name == "wavefront" else 1]
    assert pairs
    some = 0
    for outer, inner in pairs:
        space = iteration_space(Dependences(function), names[outer], names[inner], sizes)
        runs, arrows, _ = brute(function, outer, inner, arguments_of(function, sizes))
        assert list(space.runs) == runs
        assert set(space.arrows) == arrows
        assert len(space.arrows) == len(arrows)
        some += bool(runs) and bool(arrows)
    assert some


@pytest.mark.parametrize("number", [0, 2, 3, 9])
def test_another_loop_held_at_one_iteration(number):
    function = one(SEIDEL)
    t, i, j = (iv(function, name) for name in "tij")
    sizes = {"N": 6, "T": 4}
    space = iteration_space(Dependences(function), i, j, sizes, at={"t": number})
    runs, arrows, _ = brute(function, i, j, arguments_of(function, sizes), at={t: number})
    assert (list(space.runs), set(space.arrows)) == (runs, arrows)
    assert bool(runs) == (number < 4)
    inside = iteration_space(Dependences(function), t, i, sizes, at={"j": number})
    runs, arrows, _ = brute(function, t, i, arguments_of(function, sizes), at={j: number})
    assert set(inside.arrows) == arrows


@pytest.mark.parametrize("start", some(range(0, 60, 20), 1))
def test_random_programs(start):
    """Where all is known, what is drawn is what ran; elsewhere it is not less."""
    exact = with_arrows = 0
    for seed in range(start, start + 20):
        program = generate(seed)
        names = names_of(program.function)
        dependences = Dependences(program.function, program.module)
        keywords = {"module": program.module, "externals": program.externals}
        for outer, inner in pairs_of_loops(program.function)[:4]:
            runs, arrows, symbols = brute(program.function, outer, inner, program.arguments(), **keywords)
            sizes = {names[v]: n for v, n in symbols.items() if v in names}
            space = iteration_space(dependences, outer, inner, sizes)
            assert set(runs) <= set(space.runs), (seed, outer, inner)
            if not any("one buffer" in note for note in space.notes):
                assert arrows <= set(space.arrows), (seed, outer, inner)
            if not any("may" in note for note in space.notes):
                assert list(space.runs) == runs, (seed, outer, inner)
                assert set(space.arrows) == arrows, (seed, outer, inner)
                exact += 1
                with_arrows += bool(arrows)
    assert exact > 20
    assert with_arrows > 5


@pytest.mark.parametrize("seed", range(20))
def test_arrows_that_follow_from_others(seed):
    random = Random(seed)
    places = [(0, k) for k in range(random.randint(2, 12))]
    ends = [e for e in combinations(places, 2) if random.random() < 0.5]
    random.shuffle(places)
    arrows = tuple(Arrow(random.choice(("flow", "anti")), *e) for e in ends)
    kept = {(a.source, a.sink) for a in direct(places, arrows)}
    assert kept == set(nx.transitive_reduction(nx.DiGraph(ends)).edges)


def test_arrows_in_a_circle_are_all_shown():
    a, b, c = (0, 0), (0, 1), (0, 2)
    arrows = tuple(Arrow("flow", *ends) for ends in ((a, b), (b, c), (a, c), (c, a)))
    assert direct((a, b, c), arrows) == arrows


def test_the_wavefronts_of_tiles():
    """Boxes are tiles, and every arrow between two boxes leads to a later step."""
    space = iteration_space(Dependences(wavefront()), "t", "i", {"N": 8, "T": 6})
    view = space.view(order=True)
    tile_of = {place: k for k, each in enumerate(view.tiles) for place in each}
    assert tile_of.keys() == set(space.points) == set(view.numbers)
    assert {(t // 3, (i - 1) // 3) for t, i in space.points} == {
        (t // 3, (i - 1) // 3) for t, i in (each[0] for each in view.tiles)
    }  # fmt: skip
    for arrow in space.arrows:
        if tile_of[arrow.source] != tile_of[arrow.sink]:
            assert view.numbers[arrow.source] < view.numbers[arrow.sink]
        else:
            assert view.numbers[arrow.source] == view.numbers[arrow.sink]
    steps = [
        [tile_of[place] for place in view.numbers if view.numbers[place] == k]
        for k in range(max(view.numbers.values()) + 1)
    ]
    assert any(len(set(step)) > 1 for step in steps), "two tiles run at once"
    # A line goes from tile to tile where the one must wait for the other, and ends where they may run at once.
    assert [place for path in view.paths for place in path] == list(space.points)
    cuts = [(path[-1], after[0]) for path, after in pairwise(view.paths)]
    assert cuts
    for last, first in cuts:
        assert view.numbers[last] == view.numbers[first]
        assert tile_of[last] != tile_of[first]


def test_the_words():
    function = wavefront()
    view = iteration_space(Dependences(function), "t", "i", {"N": 8, "T": 6}).view()
    assert view.title == "iterations of t and i in @seidel, N = 8, T = 6"
    left_out = view.notes[-1]
    assert view.notes == (
        "number and colour: the iteration of w, counted from 0", "box: one iteration of w and tt",
        "a point stands for the whole of j", left_out,
    )  # fmt: skip
    assert re.fullmatch(r"\d+ arrows that follow from others not shown", left_out)
    view = iteration_space(Dependences(function), "i", "j", {"N": 6, "T": 3}, at={"t": 1}).view(colour="tt")
    assert view.title.endswith("N = 6, T = 3, t = 1")
    assert view.notes[0] == "number and colour: the iteration of tt, counted from 0"
    assert not any("whole" in note for note in view.notes)
    view = iteration_space(Dependences(one(SEIDEL)), "t", "i", {"N": 6, "T": 3}, at={"j": 2}).view()
    assert not any("whole" in note for note in view.notes)
    view = iteration_space(Dependences(one(SEIDEL)), "i", "j", {"N": 6, "T": 3}).view()
    assert "a point stands for all iterations of t, and has the number of the first" in view.notes
    assert repr(iteration_space(Dependences(one(SEIDEL)), "i", "j", {"N": 4, "T": 1})) == (
        "<iterations of i and j: 4 points, 8 arrows>"
    )


def test_what_is_not_known_is_said():
    text = """
    func.func @f(%A: memref<?xf32>, %p: memref<?xindex>, %c: f32) -> f32 {
      %B = memref.subview %A[0][4][1] : memref<?xf32> to memref<4xf32, strided<[1]>>
      %r = affine.for %i = 0 to 3 iter_args(%x = %c) -> f32 {
        affine.for %j = 0 to 3 {
          %k = affine.load %p[%j] : memref<?xindex>
          memref.store %x, %A[%k] : memref<?xf32>
        }
        affine.yield %x : f32
      }
      return %r : f32
    }"""
    space = iteration_space(Dependences(one(text)), "i", "j", {})
    assert [note.partition(":")[0] for note in space.notes] == [
        "some of this may not be there",
        "i hands values to its next iteration (iter_args), which has no arrows",
    ]
    assert len(space.arrows) == 9 * 8 / 2


def sampled(curve):
    """Points along a line."""
    x, y = curve.start
    for piece in curve.pieces:
        for k in range(21):
            s = k / 20
            if len(piece) == 1:
                ends = (x, y), piece[0]
                yield tuple((1 - s) * a + s * b for a, b in zip(*ends, strict=True))
            else:
                (a, b), (c, d), (e, f) = piece
                weights = (1 - s) ** 3, 3 * (1 - s) ** 2 * s, 3 * (1 - s) * s**2, s**3
                yield tuple(sum(w * p for w, p in zip(weights, ps, strict=True)) for ps in ((x, a, c, e), (y, b, d, f)))
        x, y = piece[-1]


def parts(picture: Picture):
    circles = [s for s in picture.shapes if isinstance(s, Rectangle)]
    arrows = [s for s in picture.shapes if isinstance(s, Curve) and s.width == 1.4]
    return circles, arrows, [s for s in picture.shapes if isinstance(s, Text)]


def random_view(seed):
    """Points of a jagged grid with arrows of all lengths and kinds."""
    random = Random(seed)
    down, across = random.choice((1, 4)), random.choice((1, 3))
    places = sorted({(down * random.randint(-2, 5), across * random.randint(0, 8)) for _ in range(40)})
    arrows = []
    for source, sink in combinations(places, 2):
        for kind in ("flow", "anti", "output"):
            arrows += [Arrow(kind, *ends) for ends in ((source, sink), (sink, source)) if random.random() < 0.04]
    numbers = {place: random.randint(0, 120) for place in places}
    paths = (tuple(places),) if seed % 2 else ()
    return View(
        "iterations", ("t", "i"), numbers, (tuple(places[:6]),), tuple(arrows), paths, ("a long note " * 20,)
    )  # fmt: skip


def wavefront_view(complete):
    return iteration_space(Dependences(wavefront()), "t", "i", {"N": 8, "T": 6}).view(complete=complete)


VIEWS = [
    *(functools.partial(random_view, seed) for seed in range(12)),
    *(functools.partial(wavefront_view, complete) for complete in (False, True)),
]


@pytest.mark.parametrize("made", VIEWS, ids=range(len(VIEWS)))
def test_a_drawing_can_be_read(made):
    view = made()
    picture = space_layout(view)
    circles, arrows, texts = parts(picture)
    assert len(circles) == len(view.numbers)
    assert len(arrows) == len(view.arrows)
    kinds = {arrow.kind for arrow in view.arrows}
    assert len([s for s in picture.shapes if isinstance(s, Triangle)]) == len(view.arrows) + 2 + len(kinds)
    written = [t for t in texts if t.anchor == "middle" and any(math.dist((t.x, t.y), middle(c)) < 5 for c in circles)]
    assert [t.text for t in written] == [str(number) for number in view.numbers.values()]
    labels = [t for t in texts if t not in written]
    boxes = [box(t) for t in labels]
    for a, b in combinations([*boxes, *((c.x, c.y, c.x + c.width, c.y + c.height) for c in circles)], 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "nothing stands on something else"
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= picture.width
        assert bottom <= picture.height
    for arrow in arrows:
        line = list(sampled(arrow))
        for left, top, right, bottom in boxes:
            assert not any(left < x < right and top < y < bottom for x, y in line), "no arrow runs over a label"


def test_arrows_begin_and_end_at_their_points_and_go_around_others():
    view = View("v", ("t", "i"), {(0, k): k for k in range(5)}, arrows=(Arrow("flow", (0, 0), (0, 3)),))
    circles, (arrow,), _ = parts(space_layout(view))
    line = list(sampled(arrow))
    assert math.dist(line[0], middle(circles[0])) == pytest.approx(RADIUS + 1)
    assert RADIUS < math.dist(line[-1], middle(circles[3])) < RADIUS + 10
    assert all(math.dist(point, middle(circle)) > RADIUS for circle in circles for point in line)


def test_arrows_between_the_same_points_stand_beside_each_other():
    kinds = ("flow", "anti", "output")
    ends = ((0, 0), (1, 0)), ((1, 0), (0, 0)), ((0, 0), (2, 0)), ((2, 0), (0, 0))
    arrows = tuple(Arrow(kind, *each) for kind in kinds for each in ends)
    view = View("v", ("t", "i"), {(k, 0): k for k in range(3)}, arrows=arrows)
    _, lines, _ = parts(space_layout(view))
    middles = sorted((round(y), x) for x, y in (list(sampled(line))[10] for line in lines))
    assert len(middles) == 12
    apart = [b[1] - a[1] for a, b in pairwise(middles) if a[0] == b[0]]
    assert len(apart) >= 8
    assert min(apart) > 2


def test_boxes_hold_their_points_and_no_others():
    view = wavefront_view(True)
    picture = space_layout(view)
    circles, *_ = parts(picture)
    outlines = [s for s in picture.shapes if isinstance(s, Curve) and s.width == 1.5 and s.pieces[-1] == (s.start,)]
    assert len(outlines) == len(view.tiles) > 3
    places = list(view.numbers)
    for outline, tile_ in zip(outlines, view.tiles, strict=True):
        corners = [outline.start, *(piece[0] for piece in outline.pieces)]
        held = {place for place, circle in zip(places, circles, strict=True) if is_inside(middle(circle), corners)}
        assert held == set(tile_)


def middle(circle):
    return circle.x + circle.width / 2, circle.y + circle.height / 2


def box(text):
    width = len(text.text) * text.size * ADVANCE
    left = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    return left, text.y - text.size * 0.75, left + width, text.y + text.size * 0.2


def is_inside(point, corners):
    turns = [(b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) for a, b in pairwise(corners)]
    return all(turn > 0 for turn in turns) or all(turn < 0 for turn in turns)


def test_the_files(tmp_path):
    space = iteration_space(Dependences(wavefront()), "t", "i", {"N": 6, "T": 4})
    text = space.to_svg(order=True)
    assert text == iteration_space(Dependences(wavefront()), "t", "i", {"N": 6, "T": 4}).to_svg(order=True)
    root = ET.fromstring(text)
    circles = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("rx")]
    assert len(circles) == len(space.points) == 16
    assert root.find("{http://www.w3.org/2000/svg}title").text == "iterations of t and i in @seidel, N = 6, T = 4"
    space.save(tmp_path / "x.svg", order=True)
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == text
    assert space._repr_svg_() == space.to_svg() != text
    pytest.importorskip("matplotlib")
    space.save(str(tmp_path / "x.png"))
    assert (tmp_path / "x.png").read_bytes() == space.to_png()
    assert space.to_png().startswith(b"\x89PNG")


def test_a_space_without_iterations():
    space = iteration_space(Dependences(one(SEIDEL)), "t", "i", {"N": 2, "T": 5})
    assert (space.points, space.arrows) == ({}, ())
    assert "<rect" in space.to_svg(order=True)


def test_refusals(tmp_path, monkeypatch):
    function = one(SEIDEL)
    found = Dependences(function)

    def message(call):
        with pytest.raises(DrawingError) as caught:
            call()
        return str(caught.value).removeprefix("cannot draw loops of @seidel: ")

    sizes = {"N": 6, "T": 4}
    assert message(lambda: iteration_space(found, "i", "t", sizes)) == (
        "t is not inside of i; name the outer of two loops first"
    )
    assert message(lambda: iteration_space(found, "i", "i", sizes)) == (
        "i is not inside of i; name the outer of two loops first"
    )
    assert message(lambda: iteration_space(found, "i", "jj", sizes)) == (
        "none is called jj; did you mean 'j'?; its loops are t, i, j"
    )
    assert message(lambda: iteration_space(found, "t", "i", {"M": 6, "T": 4})) == (
        "no size is called M; its sizes are N, T"
    )
    assert message(lambda: iteration_space(found, "t", "i", {"T": 4})) == "give a number for N among the sizes"
    assert message(lambda: iteration_space(found, "t", "i", sizes, at={"i": 4})) == (
        "a loop that is drawn cannot be held at one iteration"
    )
    assert message(lambda: iteration_space(found, "i", "j", {"N": 100, "T": 4})) == (
        "there are more than 20000 iterations; take smaller sizes"
    )
    assert message(iteration_space(found, "i", "j", {"N": 30, "T": 1}).to_svg) == (
        "a drawing of 784 points cannot be read: take sizes with at most 500"
    )
    assert message(iteration_space(found, "t", "i", {"N": 4, "T": 80}).to_svg) == (
        "a drawing with 80 places for t cannot be read: take sizes with at most 61"
    )
    small = iteration_space(found, "t", "i", {"N": 12, "T": 12})
    assert message(lambda: small.to_svg(complete=True)) == (
        f"a drawing of {len(small.arrows)} arrows cannot be read: leave out those that follow from others, hold other "
        "loops at one iteration, or take smaller sizes"
    )
    assert message(lambda: small.to_svg(colour="w")) == "no loop around the points is called w: it is t, i"
    assert message(lambda: small.save(tmp_path / "x.jpg")).endswith("x.jpg: the name must end in .svg or .png")
    monkeypatch.setattr("affdsl.passes.drawing.space_question.MOST_PAIRS", 20)
    assert message(lambda: iteration_space(found, "t", "i", sizes)) == (
        "there are more than 20 arrows; take smaller sizes"
    )
    monkeypatch.setattr("affdsl.passes.drawing.space_question.BUDGET", 20)
    assert message(lambda: iteration_space(Dependences(wavefront()), "t", "i", sizes)) == (
        "isl needs more than 20 operations; take smaller sizes"
    )


def test_two_loops_of_one_name():
    function = one("""func.func @f(%A: memref<9x9xf32>, %x: f32) {
      affine.for %i = 0 to 3 { affine.for %j = 0 to 3 { affine.store %x, %A[%i, %j] : memref<9x9xf32> } }
      affine.for %i = 1 to 3 { affine.for %j = 0 to 3 { affine.store %x, %A[%i, %j] : memref<9x9xf32> } }
      return
    }""")
    first, second = function.body[0], function.body[1]
    with pytest.raises(DrawingError, match=r"2 are called i; write i#1 or i#2, as the text has them$"):
        iteration_space(Dependences(function), "i", "j", {})
    with pytest.raises(DrawingError, match=r"none is called i#3; .*its loops are i#1, j#1, i#2, j#2$"):
        iteration_space(Dependences(function), "i#3", "j#1", {})
    with pytest.raises(DrawingError, match=r"j is not inside of i; name the outer of two loops first$"):
        iteration_space(Dependences(function), "i#1", "j#2", {})
    for number, loop in enumerate((first, second), 1):
        wanted = [(i, j) for i in range(number - 1, 3) for j in range(3)]
        assert list(iteration_space(Dependences(function), loop.iv, loop.body[0].iv, {}).points) == wanted
        assert list(iteration_space(Dependences(function), f"i#{number}", f"j#{number}", {}).points) == wanted


@pytest.mark.parametrize(
    ("sizes", "at", "words"),
    [
        ({"n": "8"}, None, "n is a whole number, got '8'"),
        ({"n": 8.0}, None, "n is a whole number, got 8.0"),
        ({"n": True}, None, "n is a whole number, got True"),
        ({3: 8}, None, "no size is called 3; its sizes are n"),
        ([8], None, 'numbers are given by name, as {"N": 8}; got [8]'),
        ({"n": 8}, {"t": "0"}, "the loop t is a whole number, got '0'"),
        ({"n": 8}, 0, 'numbers are given by name, as {"t": 0}; got 0'),
    ],
)
def test_what_are_no_numbers(sizes, at, words):
    function = one("""func.func @f(%A: memref<9x9xf32>, %x: f32, %n: index) {
      affine.for %t = 0 to 2 {
        affine.for %i = 0 to %n { affine.for %j = 0 to 3 { affine.store %x, %A[%i, %j] : memref<9x9xf32> } }
      }
      return
    }""")
    with pytest.raises(DrawingError) as refused:
        iteration_space(Dependences(function), "i", "j", sizes, at=at)
    assert str(refused.value) == f"cannot draw loops of @f: {words}"
    space = iteration_space(Dependences(function), "i", "j", {"n": np.int64(2)}, at={"t": np.int8(1)})
    assert (space.sizes, space.at, len(space.points)) == ({"n": 2}, {"t": 1}, 6)
