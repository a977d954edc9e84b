"""Drawings of dependence graphs: their words, that nothing covers anything else, and the files they become."""

import re
import sys
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from random import Random

import pytest

from affdsl.mlir.naming import names_of
from affdsl.mlir.readers import parse
from affdsl.passes.drawing.diagram import Arrow, Box, Diagram
from affdsl.passes.drawing.dot import dot
from affdsl.passes.drawing.graph import drawn_graph
from affdsl.passes.drawing.layers import MOST_IN_LAYER, Vertex, isotonic, place, ranks
from affdsl.passes.drawing.layout import DrawingError, layout
from affdsl.passes.drawing.picture import ADVANCE, FONTS, Curve, Picture, Rectangle, Text, Triangle
from affdsl.passes.drawing.png import png
from affdsl.passes.drawing.style import STYLES
from affdsl.passes.drawing.summary import MOST_LINES, WIDEST, OpSummaries, wrap
from affdsl.passes.drawing.svg import svg
from tests.effort import some
from tests.passes.analysis.graph_oracle import blocks_of
from tests.passes.analysis.programs import generate
from tests.passes.analysis.test_graph import NESTS, PRODUCTS, STENCIL


def of(text, loop=None, file="kernel.mlir"):
    module = parse(text, file)
    function = next(f for f in module.functions if f.symbol == "f")
    return drawn_graph(function, module, loop)


TWENTY = "func.func @f({}) {{\n{}\nreturn\n}}"


def twenty(seed=4):
    """Twenty nests over eight buffers."""
    random, nests = Random(seed), []
    for _ in range(20):
        a, b, c = random.sample("ABCDEFGH", 3)
        nests.append(f"""affine.for %i = 0 to 63 {{ affine.for %j = 0 to 63 {{
            %x = affine.load %{a}[%i + {random.choice((0, 0, 1))}, %j] : memref<64x64xf32>
            %y = affine.load %{b}[%j, %i] : memref<64x64xf32>
            %z = arith.mulf %x, %y : f32
            affine.store %z, %{c}[%i, %j] : memref<64x64xf32>
        }} }}""")
    return TWENTY.format(", ".join(f"%{c}: memref<64x64xf32>" for c in "ABCDEFGH"), "\n".join(nests))


ALL = """
#inside = affine_set<(d0) : (d0 - 1 >= 0, 7 - d0 >= 0)>
func.func private @unseen(memref<9xf32>)
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index) -> f32 {
  %t = memref.alloc() : memref<9xf32>
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 9 {
    affine.if #inside(%i) {
      %a = affine.load %A[%i - 1] : memref<9xf32>
      %m = arith.maximumf %a, %zero : f32
      affine.store %m, %t[%i] : memref<9xf32>
    } else {
      affine.store %zero, %t[%i] : memref<9xf32>
    }
  }
  call @unseen(%B) : (memref<9xf32>) -> ()
  %s = affine.for %j = 0 to 9 iter_args(%acc = %zero) -> (f32) {
    %a = affine.load %t[%j] : memref<9xf32>
    %r = math.sqrt %a : f32
    %n1 = arith.addf %acc, %r : f32
    affine.yield %n1 : f32
  }
  affine.for %k = 0 to 9 {
    %b = affine.load %B[%k] : memref<9xf32>
    %d = arith.divf %b, %s : f32
    affine.store %d, %B[%k] : memref<9xf32>
  }
  memref.dealloc %t : memref<9xf32>
  call @unseen(%A) : (memref<9xf32>) -> ()
  return %s : f32
}"""

PICTURES = {"products": (PRODUCTS, None), "stencil": (STENCIL, "t"), "all": (ALL, None)}


@pytest.mark.parametrize("name", PICTURES)
def test_golden(name, golden):
    graph = of(*PICTURES[name], f"{name}.mlir")
    golden(graph.to_dot(), f"{name}.dot")
    golden(graph.to_svg(), f"{name}.svg")


def overlap(a, b):
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def extent(text):
    """The rectangle that a text fills."""
    width = len(text.text) * text.size * ADVANCE
    left = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    return Rectangle(left, text.y - 0.75 * text.size, width, 0.95 * text.size, "")


def points(curve):
    """Points on a curve, close to each other."""
    at = curve.start
    for piece in curve.pieces:
        ends = (at, at, piece[0], piece[0]) if len(piece) == 1 else (at, *piece)
        for step in range(21):
            t = step / 20
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield tuple(sum(w * p[axis] for w, p in zip(weights, ends, strict=True)) for axis in (0, 1))
        at = piece[-1]


def check(picture):
    boxes = [s for s in picture.shapes if isinstance(s, Rectangle) and s.stroke]
    labels = [s for s in picture.shapes if isinstance(s, Rectangle) and not s.stroke]
    texts = [extent(s) for s in picture.shapes if isinstance(s, Text)]
    curves = [s for s in picture.shapes if isinstance(s, Curve)]
    for a, b in combinations(boxes + labels, 2):
        assert not overlap(a, b), (a, b)
    for a, b in combinations(texts, 2):
        assert not overlap(a, b), (a, b)
    for text in texts:
        assert text.x >= 0
        assert text.y >= 0
        assert text.x + text.width <= picture.width + 0.01
        assert text.y + text.height <= picture.height
        for box in boxes:
            inside = box.x <= text.x and text.x + text.width <= box.x + box.width + 0.01
            assert inside or not overlap(text, box), (text, box)
    for curve in curves:
        for x, y in points(curve):
            assert not any(b.x + 1 < x < b.x + b.width - 1 and b.y + 1 < y < b.y + b.height - 1 for b in boxes)


@pytest.mark.parametrize(("text", "loop"), [*PICTURES.values(), (NESTS, None), (twenty(), None), (twenty(5), None)])
def test_boxes_words_and_arrows_are_apart(text, loop):
    graph = of(text, loop)
    for complete in (False, True):
        check(layout(graph.diagram(complete=complete)))


@pytest.mark.parametrize("seed", some(range(30), 8))
def test_boxes_words_and_arrows_of_random_programs_are_apart(seed):
    program = generate(seed)
    graph = drawn_graph(program.function, program.module)
    check(layout(graph.diagram(complete=True)))
    ET.fromstring(graph.to_svg())
    for block in list(blocks_of(program.function))[:3]:
        check(layout(type(graph)(graph.dependences, block).diagram()))


def test_every_arrow_has_a_line_a_head_and_its_words():
    graph = of(STENCIL, "t")
    diagram = graph.diagram()
    assert len(diagram.arrows) == len(graph.edges) == 12
    shapes = layout(diagram).shapes
    legend = len({a.kind for a in diagram.arrows})
    assert sum(isinstance(s, Curve) for s in shapes) == len(diagram.arrows) + legend
    assert sum(isinstance(s, Triangle) for s in shapes) == len(diagram.arrows) + legend
    words = [s.text for s in shapes if isinstance(s, Text)]
    for arrow in diagram.arrows:
        assert all(line in words for line in arrow.lines)


def test_kinds_differ_in_colour_and_in_dashes():
    assert len({style.colour for style in STYLES.values()}) == len(STYLES)
    assert len({style.dashes for style in STYLES.values()}) == len(STYLES)


def test_drawings_are_the_same_each_time():
    first, second = of(twenty()), of(twenty())
    assert first.to_svg() == second.to_svg()
    assert first.to_dot() == second.to_dot()


def test_an_empty_function_has_a_drawing():
    graph = of("func.func @f() {\n return\n}")
    assert graph.nodes == ()
    check(layout(graph.diagram()))
    assert "dependences of @f" in graph.to_svg()


def test_arrows_that_follow_from_others_are_left_out_and_counted():
    graph = of(twenty())
    full, short = graph.diagram(complete=True), graph.diagram()
    left_out = set(full.arrows) - set(short.arrows)
    assert {arrow.kind for arrow in left_out} == {"anti", "output"}
    assert short.note == f"not shown: {len(left_out)} arrows that follow from others"
    assert full.note == ""

    def reach(arrows):
        pairs = {(a.source, a.sink) for a in arrows}
        for middle in range(20):
            pairs |= {(a, d) for a, b in pairs for c, d in pairs if b == c == middle}
        return pairs

    assert reach(full.arrows) == reach(short.arrows)


def test_many_nests_on_one_buffer_have_few_arrows_or_none():
    nest = (
        "affine.for %i = 0 to 9 {\n%a = affine.load %A[%i] : memref<9xf32>\naffine.store %a, %A[%i] : memref<9xf32>\n}"
    )
    graph = of("func.func @f(%A: memref<9xf32>) {\n" + "\n".join([nest] * 40) + "\nreturn\n}")
    assert len(graph.edges) == 3 * 40 * 39 / 2
    assert len(graph.diagram().arrows) == 3 * 39
    check(layout(graph.diagram()))
    with pytest.raises(DrawingError, match=r"a drawing of 2340 arrows cannot be read: leave out those that follow"):
        graph.to_svg(complete=True)
    assert graph.to_dot(complete=True).count(" -> ") == 2340


def test_what_only_makes_buffers_is_left_out_and_counted():
    graph = of(NESTS)
    short, full = graph.diagram(), graph.diagram(complete=True)
    assert [b.id for b in short.boxes] == [1, 2, 3, 4, 5]
    assert [b.id for b in full.boxes] == [0, 1, 2, 3, 4, 5]
    assert short.note.startswith("not shown: 1 operation that only makes a buffer or value")
    assert short.note in [s.text for s in layout(short).shapes if isinstance(s, Text)]


def test_values_are_called_as_in_the_text():
    for seed in range(20):
        function = generate(seed).function
        names = set(names_of(function).values())
        mentioned = set(re.findall(r"%([\w.$]+)", str(function)))
        assert mentioned <= names | {"cst", "c0"} | {n for n in mentioned if re.match(r"c(st)?[-_\d]", n)}


STATEMENTS = {
    "affine.store %x, %A[%i, %i * 2] : memref<9x9xf32>": "A[i, i * 2] = x",
    "%a = affine.load %A[%i, 0] : memref<9x9xf32>\n%b = arith.addf %x, %a : f32\n"
    "affine.store %b, %A[%i, 0] : memref<9x9xf32>": "A[i, 0] += x",
    "%a = affine.load %A[%i, 0] : memref<9x9xf32>\n%b = arith.subf %x, %a : f32\n"
    "affine.store %b, %A[%i, 0] : memref<9x9xf32>": "A[i, 0] = x - A[i, 0]",
    "%a = affine.load %A[%i, 0] : memref<9x9xf32>\n%b = arith.addf %x, %a : f32\n%c = arith.mulf %b, %a : f32\n"
    "affine.store %c, %A[0, 0] : memref<9x9xf32>": "A[0, 0] = (x + A[i, 0]) * A[i, 0]",
    "%a = arith.subf %x, %x : f32\n%b = arith.subf %x, %a : f32\n"
    "affine.store %b, %A[0, 0] : memref<9x9xf32>": "A[0, 0] = x - (x - x)",
    "%a = math.exp %x : f32\n%b = arith.negf %a : f32\n"
    "affine.store %b, %A[0, 0] : memref<9x9xf32>": "A[0, 0] = -exp(x)",
    "%a = arith.cmpf olt, %x, %x : f32\n%b = arith.select %a, %x, %x : f32\n"
    "affine.store %b, %A[0, 0] : memref<9x9xf32>": "A[0, 0] = select(x < x, x, x)",
    "affine.for %j = 0 to 9 {\naffine.store %x, %A[%i, %j] : memref<9x9xf32>\n}": "A[i, j] = x",
    "%c = arith.constant 2.5 : f32\n%v = vector.broadcast %c : f32 to vector<4xf32>\n"
    "affine.vector_store %v, %A[%i, 4] : memref<9x9xf32>, vector<4xf32>": "A[i, 4] = v",
    "memref.copy %A, %A : memref<9x9xf32> to memref<9x9xf32>": "copy A to A",
    "%k = arith.index_cast %i : index to i32": None,
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement):
    text = f"func.func @f(%A: memref<9x9xf32>, %x: f32) {{\naffine.for %i = 0 to 4 {{\n{statement}\n}}\nreturn\n}}"
    (function,) = parse(text).functions
    title, lines = OpSummaries(function).of(function.body[0])
    assert title == ("for i, j" if "%j =" in statement else "for i")
    assert lines == ((STATEMENTS[statement],) if STATEMENTS[statement] else ())


def test_nests_with_conditions_calls_and_carried_values():
    boxes = {box.id: (box.title, *box.lines, *box.touches) for box in of(ALL).diagram().boxes}
    assert boxes[2] == (
        "for i", "if i - 1 >= 0 and 7 - i >= 0:", "  t[i] = max(A[i - 1], 0)", "else:", "  t[i] = 0", "reads A",
        "writes t",
    )  # fmt: skip
    assert boxes[4] == ("for j with acc", "acc = acc + sqrt(t[j])", "reads t")
    assert boxes[5] == ("for k", "B[k] = B[k] / acc", "reads B", "writes B")
    assert boxes[6] == ("free t", "frees t")
    assert boxes[7] == ("call unseen(A)", "reads A, B", "writes A, B", "what @unseen does is not known")


def test_long_nests_are_cut():
    store = "affine.store %x, %A[%i] : memref<9xf32>\n"
    (function,) = parse(f"func.func @f(%A: memref<9xf32>, %x: f32) {{\naffine.for %i = 0 to 4 {{\n{store * 9}}}\n"
                        "return\n}").functions  # fmt: skip
    lines = OpSummaries(function).of(function.body[0])[1]
    assert lines == (*["A[i] = x"] * (MOST_LINES - 1), "... 4 more lines")


def test_lines_are_broken_where_a_reader_expects_it():
    assert wrap("short") == ["short"]
    assert wrap("B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i + 1, j])", 33) == [
        "B[i, j] = 0.2 * (A[i, j]", "    + A[i, j - 1] + A[i + 1, j])"
    ]  # fmt: skip
    random = Random(1)
    for _ in range(200):
        line = " " * random.randrange(4) + "".join(random.choice("ab [],+") for _ in range(random.randrange(1, 150)))
        parts = wrap(line)
        assert all(len(part) <= WIDEST for part in parts)
        assert "".join("".join(parts).split()) == "".join(line.split())


def test_isotonic_numbers_are_the_closest():
    """Against the formula that looks at all stretches: the largest of the smallest means."""
    random = Random(3)
    for _ in range(300):
        count = random.randint(1, 9)
        wanted = [random.uniform(-5, 5) for _ in range(count)]
        weights = [random.choice((0.5, 1.0, 3.0)) for _ in range(count)]

        def mean(a, b, wanted=wanted, weights=weights):
            return sum(w * x for w, x in zip(weights[a:b], wanted[a:b], strict=True)) / sum(weights[a:b])

        best = [max(min(mean(a, b + 1) for b in range(k, count)) for a in range(k + 1)) for k in range(count)]
        assert isotonic(wanted, weights) == pytest.approx(best)


def test_ranks_go_down_and_are_not_wide():
    random = Random(7)
    for _ in range(50):
        count = random.randint(1, 30)
        edges = (
            [tuple(sorted(random.sample(range(count), 2))) for _ in range(random.randint(0, 40))] if count > 1 else []
        )
        found = ranks(count, edges)
        assert all(found[a] < found[b] for a, b in edges)
        assert all(found.count(rank) <= MOST_IN_LAYER for rank in found)
    assert ranks(6, []) == [0, 0, 0, 0, 1, 1]


def test_places_keep_the_gap():
    random = Random(2)
    vertices = [Vertex(random.uniform(1, 40), random.uniform(1, 40), 10, layer, is_box=True)
                for layer in range(4) for _ in range(random.randint(1, 6))]  # fmt: skip
    for a in vertices:
        for b in vertices:
            if b.layer == a.layer + 1 and random.random() < 0.5:
                a.below.append(b)
                b.above.append(a)
    for layer in place(vertices, 5):
        for a, b in pairwise(layer):
            assert b.x - b.left - (a.x + a.right) >= 5 - 1e-6


HOSTILE = Diagram(
    'a "name" <&>\\',
    (Box(0, 'for "i"', ('A["\\"] = <b> & $c$',), ("reads A\x07",), "x.mlir:1"), Box(1, "for j", (), ())),
    (Arrow(0, 1, "flow", ('flow "A" <->',), is_exact=False),),
    "note: ]]>",
)


def test_svg_is_xml_whatever_the_names_are():
    root = ET.fromstring(svg(layout(HOSTILE)))
    words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert 'A["\\"] = <b> & $c$' in words
    assert "reads A\ufffd" in words
    assert 'dependences of @a "name" <&>\\' in words
    assert "?: may be there, which counts as a dependence" in words


def test_dot_quotes_every_name():
    text = dot(HOSTILE)
    assert text.startswith('digraph "a \\"name\\" <&>\\\\" {')
    assert '0 [label="0  for \\"i\\"  x.mlir:1\\lA[\\"\\\\\\"] = <b> & $c$\\lreads A\ufffd\\l"];' in text
    for line in text.splitlines():
        outside = re.sub(r'"(\\.|[^"\\])*"', "", line)
        assert '"' not in outside
        assert "\\" not in outside


def test_png_has_the_size_of_the_drawing():
    pytest.importorskip("matplotlib")
    picture = layout(HOSTILE)
    data = png(picture)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    size = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    assert size == pytest.approx((2 * picture.width, 2 * picture.height), abs=2)
    assert png(picture) == data
    assert of(PRODUCTS).to_png()[:4] == b"\x89PNG"


def test_huge_drawings_have_fewer_pixels():
    pytest.importorskip("matplotlib")
    data = png(Picture("wide", 40_000, 10, ()))
    assert int.from_bytes(data[16:20]) <= 30_000


def test_characters_are_as_wide_as_the_layout_thinks():
    fonts = pytest.importorskip("matplotlib.font_manager")
    paths = pytest.importorskip("matplotlib.textpath")
    font = fonts.FontProperties(family=FONTS[0], size=100)
    assert 48 * 100 * ADVANCE < paths.TextPath((0, 0), "m" * 50, prop=font).get_extents().width <= 50 * 100 * ADVANCE


def test_png_without_matplotlib_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        DrawingError, match=r"a PNG needs matplotlib, which is not installed: pip install 'affdsl\[draw\]'"
    ):
        of(PRODUCTS).to_png()


def test_boxes_have_titles_and_places():
    graph = of(NESTS)
    assert [box.title for box in graph.diagram().boxes] == ["for i", "for j", "for k", "for l", "free t"]
    assert graph.diagram().boxes[0].place == "kernel.mlir:4"
