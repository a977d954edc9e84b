"""Reuse of nests that are well known, by hand, and of random programs by counting what they touch."""

from __future__ import annotations

import pytest

from affdsl.ir.dialects import affine
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reuse import Reuse, reuse
from tests.passes.analysis.programs import generate

MATMUL = """
func.func @matmul(%A: memref<100x300xf32>, %B: memref<300x200xf32>, %C: memref<100x200xf32>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to 200 {
      affine.for %k = 0 to 300 {
        %a = affine.load %A[%i, %k] : memref<100x300xf32>
        %b = affine.load %B[%k, %j] : memref<300x200xf32>
        %c = affine.load %C[%i, %j] : memref<100x200xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<100x200xf32>
      }
    }
  }
  return
}"""


def of_text(text: str, line: int = 64) -> Reuse:
    function = parse(text).functions[0]
    return reuse(Dependences(function), next(op for op in function.body if isinstance(op, affine.For)), line)


def in_loops(body: str, arguments: str, line: int = 64) -> Reuse:
    return of_text(f"func.func @f({arguments}) {{ {body} return }}", line)


def test_matmul() -> None:
    found = of_text(MATMUL)
    assert (
        str(found)
        == """\
reuse, lines of 64 bytes  i           j         k
read A[i, k]              stride 300  temporal  spatial
read B[k, j]              temporal    spatial   stride 200
read C[i, j]              stride 200  spatial   temporal
write C[i, j]             stride 200  spatial   temporal

C[i, j] touches what C[i, j] touched (0, 0, 0) before

bytes touched in  the nest  one i   one j  one k
A                 120000    1200    1200   4
B                 240000    240000  1200   4
C                 80000     800     4      4
all               440000    242000  2404   12"""
    )
    i, j, k = found.loops
    assert [[row.by[iv] for iv in (i, j, k)] for row in found.accesses] == [
        ["none", "temporal", "spatial"], ["temporal", "spatial", "none"],
        ["none", "spatial", "temporal"], ["none", "spatial", "temporal"],
    ]  # fmt: skip
    (group,) = found.groups
    assert (group.carried_by, group.dependence.kind, group.distances) == (None, "anti", (0, 0, 0))
    assert found.footprint(j).bytes == 2404
    assert found.footprint().bytes == 440000


def test_a_longer_line_makes_more_strides_small() -> None:
    body = "affine.for %i = 0 to 8 {{ %a = affine.load %A[%i * {}] : memref<?xf64> }}"
    reuses = [
        in_loops(body.format(stride), "%A: memref<?xf64>", line).accesses[0].by.values()
        for stride, line in ((7, 64), (8, 64), (8, 128), (-7, 64))
    ]
    assert [list(found) for found in reuses] == [["spatial"], ["none"], ["spatial"], ["spatial"]]


def test_a_stencil_reuses_what_its_neighbours_touched() -> None:
    found = in_loops(
        """affine.for %t = 0 to %n { affine.for %i = 1 to 99 {
             %a = affine.load %A[%i - 1] : memref<100xf32>
             %c = affine.load %A[%i + 1] : memref<100xf32>
             affine.store %a, %B[%i] : memref<100xf32>
           } }""",
        "%A: memref<100xf32>, %B: memref<100xf32>, %n: index",
    )
    # In the next time step each element is touched again anyway: that is the reuse of each access by itself.
    (group,) = found.groups
    assert str(group) == "A[i - 1] touches what A[i + 1] touched (0, 2) before"
    t, i = found.loops
    assert group.carried_by is i
    assert found.accesses[0].by == {t: "temporal", i: "spatial"}
    assert found.footprint().bytes == 400 + 98 * 4


def test_what_is_not_known_is_said() -> None:
    found = in_loops(
        """affine.for %i = 0 to 8 {
             %k = affine.load %I[%i] : memref<8xindex>
             %a = memref.load %A[%k] : memref<?xf32>
             %b = affine.load %A[%i floordiv 2] : memref<?xf32>
             %c = affine.load %B[0, %i] : memref<4x?xf32, strided<[?, ?]>>
           }""",
        "%I: memref<8xindex>, %A: memref<?xf32>, %B: memref<4x?xf32, strided<[?, ?]>>",
    )
    (i,) = found.loops
    assert [row.by[i] for row in found.accesses] == ["spatial", "unknown", "none", "unknown"]
    assert found.groups == ()
    assert found.footprint().bytes is None
    assert "?" in str(found).splitlines()[-1]


def test_a_band_has_a_row_for_each_loop() -> None:
    found = in_loops(
        "affine.for %t = 0 to 2 { affine.parallel (%i, %j) = (0, 0) to (4, 8) "
        "{ %a = affine.load %A[%i, %j] : memref<4x8xf32> } }",
        "%A: memref<4x8xf32>",
    )
    assert [f.bytes for f in found.footprints] == [128, 128, 32, 4]


def test_another_loop_is_refused() -> None:
    first, second = of_text(MATMUL), of_text(MATMUL)
    with pytest.raises(KeyError, match="%k is no loop of the nest"):
        first.footprint(second.loops[2])


@pytest.mark.filterwarnings(
    "ignore::affdsl.passes.analysis.dependence.AnalysisWarning"
)  # then less is said, and nothing false
@pytest.mark.parametrize("seed", range(10))
def test_footprints_hold_what_is_touched(seed: int) -> None:
    """No iteration touches more bytes of a buffer than is said, and one touches as many where that is exact."""
    program = generate(seed)
    dependences, trace = Dependences(program.function, program.module), program.trace()
    for nest in program.function.body:
        if not isinstance(nest, affine.For | affine.Parallel):
            continue
        found = reuse(dependences, nest)
        assert str(found)
        inside = {row.access.op for row in found.accesses}
        for footprint in found.footprints:
            for buffer, size in footprint.sizes.items():
                touched: dict[tuple[int, ...], set[object]] = {}
                for instance in trace.instances:
                    around = trace.loops[instance.op]
                    if instance.op not in inside or root_of(instance.buffer.origin, dependences) is not buffer:
                        continue
                    if footprint.iv is None or footprint.iv in around:
                        depth = 0 if footprint.iv is None else around.index(footprint.iv) + 1
                        elements = {(instance.buffer.number, *e) for e in instance.elements}
                        touched.setdefault(instance.ivs[:depth], set()).update(elements)
                most = 4 * max(map(len, touched.values()), default=0)
                if str(buffer.type).endswith(("xf32>", "xf32, 1>")):
                    assert size.at_most is None or size.at_most >= most
                    assert size.exact is None or size.exact >= most
                    if size.exact is not None and not program.symbols and "?" not in program.text:
                        assert size.exact == most


def root_of(origin: object, dependences: Dependences) -> object:
    for buffer in dependences.accesses.storage.buffers:
        if buffer.root is origin or buffer.name == f"@{origin}":
            return buffer
    raise AssertionError
