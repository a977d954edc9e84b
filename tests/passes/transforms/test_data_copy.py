"""data_copy: what it makes, what it refuses, and that programs do the same with the copies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import Order, run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.data_copy import candidates, data_copy, plan
from affdsl.passes.transforms.data_copy.candidates import CopyCandidates, CopyInOut
from affdsl.passes.transforms.data_copy.nests import Copied, arranged
from affdsl.passes.transforms.data_copy.plan import _Operations
from affdsl.passes.transforms.data_copy.point import CopyPoint
from affdsl.passes.transforms.data_copy.request import CopyRequest
from tests.codegen.c.compare import check
from tests.effort import TRIES_ALL
from tests.harness.judges import alike
from tests.harness.reading import by_name, function, loops
from tests.passes.transforms.data_copy_programs import CASES, PRODUCT, Case

SIZES = {1: (0, 1, 2, 3, 4, 5, 7, 17, 40), 2: (0, 1, 2, 3, 7, 10)}
"""Which sizes are tried, by the number of dimensions of the arrays."""
WAYS: dict[str, dict[str, object]] = {
    "loops": {},
    "another space": {"space": 1},
    "private": {"private": True},
    "dma": {"space": 1, "dma": True},
}


def touched(root: Op) -> list[Value]:
    """The memrefs that affine accesses inside of an operation name."""
    found = (op.memref for op in walk(root) if isinstance(op, affine.Load | affine.Store | affine.VectorLoad))
    return list(dict.fromkeys(found))


@functools.cache
def copies(name: str, way: str) -> tuple[func.Func, list[func.Func]]:
    """A program, and it with one buffer copied for one loop: all that are legal."""
    before, found = function(CASES[name].text), []
    for loop in loops(before):
        for buffer in touched(loop):
            try:
                made = data_copy(before, buffer, loop.iv, **WAYS[way])
            except IllegalTransform:
                continue
            verify(made)
            found.append(made)
    return before, found


def assert_same(before: func.Func, after: func.Func, case: Case, n: int, order: Order = "forward") -> None:
    assert alike(case.arguments(n), before, after, order=order), f"n = {n}\n{after}"


IN_TURN = [
    (name, way)
    for k, name in enumerate(CASES)
    for way in (WAYS if TRIES_ALL else (("loops", "another space", "private")[k // 2 % 3], "dma"))
]
"""Unless all is tried, programs, which come in pairs, take turns at what makes the same loops."""


@pytest.mark.parametrize(("name", "way"), IN_TURN)
def test_programs_do_the_same(name: str, way: str) -> None:
    case = CASES[name]
    before, found = copies(name, way)
    for after in found:
        for n in SIZES[len(case.shapes[0])]:
            assert_same(before, after, case, n)


@pytest.mark.parametrize("name", ["cholesky, static", "sweep in tiles, static", "holes, dynamic", "guard, static"])
def test_c_does_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for k, after in enumerate(copies(name, "another space")[1]):
        check(func.Module((after,)), "f", case.arguments(7), tmp_path / str(k))


def test_packed_panels(golden: Callable[[str, str], None]) -> None:
    """A tile of each operand of a product, in panels as inner kernels read them."""
    tile = "affine_map<(d) -> (d)>(%{0}t) to min affine_map<(d)[n] -> (d + {1}, n)>(%{0}t)[%n]"
    text = f"""func.func @f(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>, %n: index) {{
      affine.for %kt = 0 to %n step 16 {{ affine.for %it = 0 to %n step 8 {{
        affine.for %i = {tile.format("i", 8)} {{ affine.for %j = 0 to %n {{ affine.for %k = {tile.format("k", 16)} {{
          {PRODUCT.replace("TYPE", "memref<?x?xf64>")}
      }} }} }} }} }}
      return
    }}"""
    before = f = function(text)
    a, b, c, _ = f.args
    f = data_copy(f, b, by_name(f, "it"), layout=(1, 0), panels={1: 4}, name="B_panels")
    f = data_copy(f, a, by_name(f, "i"), panels={0: 4}, name="A_panels")
    f = data_copy(f, c, by_name(f, "i"), layout=(1, 0))
    verify(f)
    golden(str(f), "panels.mlir")
    for n in (0, 1, 3, 4, 7, 8, 11, 17):
        assert_same(before, f, Case(text, ((0, 0),) * 3), n)


def test_only_what_is_written_is_taken_back(golden: Callable[[str, str], None]) -> None:
    text = """func.func @f(%A: memref<64xf32>, %x: f32) {
      affine.for %i = 0 to 8 { affine.store %x, %A[%i * 3 + 5] : memref<64xf32> }
      affine.for %j = 0 to 99 {
        affine.if affine_set<(d) : (d - 7 >= 0, 12 - d >= 0)>(%j) { affine.store %x, %A[%j] : memref<64xf32> }
      }
      return
    }"""
    f = function(text)
    f = data_copy(f, f.args[0], by_name(f, "i"))
    golden(str(data_copy(f, f.args[0], by_name(f, "j"))), "only_what_is_written.mlir")


def test_a_dma_with_a_stride(golden: Callable[[str, str], None]) -> None:
    text = """func.func @f(%A: memref<40x64xf32>, %B: memref<40x64xf32>) {
      affine.for %t = 0 to 40 step 8 {
        affine.for %i = affine_map<(d) -> (d)>(%t) to affine_map<(d) -> (d + 8)>(%t) { affine.for %j = 3 to 19 {
          %x = affine.load %A[%i, %j] : memref<40x64xf32>
          affine.store %x, %B[%i, %j] : memref<40x64xf32>
        } }
      }
      return
    }"""
    f = function(text)
    a, b = f.args
    f = data_copy(f, a, by_name(f, "i"), space=1, dma=True, tag_space=2)
    golden(str(data_copy(f, b, by_name(f, "t"), space=1, dma=True)), "dma.mlir")


def test_a_box_of_symbolic_size_that_may_be_empty() -> None:
    f = function("""func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %m: index, %n: index) {
      affine.for %i = %m to %n {
        %x = affine.load %A[%i] : memref<?xf32>
        affine.store %x, %B[%i - symbol(%m)] : memref<?xf32>
      }
      return
    }""")
    for buffer in f.args[:2]:
        made = data_copy(f, buffer, f.body[0].iv)
        for m, n in ((0, 0), (5, 2), (2, 5), (0, 9), (9, 0)):
            a, b = np.arange(9, dtype=np.float32), np.zeros(9, np.float32)
            run(made, a, b, m, n)
            np.testing.assert_array_equal(b[: max(n - m, 0)], a[m:n])
            assert not b[max(n - m, 0) :].any()


LOCAL = """func.func @f(%A: memref<16xf32>, %x: f32) {{
  %T = memref.alloc() : memref<16xf32>
  {before}
  affine.for %i = 0 to 8 {{
    {inside}
    affine.store %t, %A[%i] : memref<16xf32>
  }}
  memref.dealloc %T : memref<16xf32>
  return
}}"""
LOAD = "%t = affine.load %T[%i * 2] : memref<16xf32>"
STORE = "affine.store %x, %T[%i * 2] : memref<16xf32>"
FILL = "affine.for %k = 0 to 16 { affine.store %x, %T[%k] : memref<16xf32> }"
HALF = "affine.for %k = 0 to 8 { affine.store %x, %T[%k * 2] : memref<16xf32> }"


@pytest.mark.parametrize(
    ("before", "inside"), [(FILL, LOAD), (HALF, LOAD), ("", STORE + LOAD), (HALF, LOAD + STORE)],
    ids=["all filled", "half filled", "filled inside", "read and written"],
)  # fmt: skip
def test_nothing_is_read_that_holds_no_value(before: str, inside: str) -> None:
    """Reading a new buffer before it is written is an error of the interpreter, as it is when C is checked."""
    f = function(LOCAL.format(before=before, inside=inside))
    made = data_copy(f, f.body[0].result, by_name(f, "i"))
    verify(made)
    assert alike([np.zeros(16, np.float32), 3.0], f, made)


def test_iterations_that_run_together_take_back_only_what_they_wrote() -> None:
    """What lies between their elements belongs to others: to write it back would undo what those wrote."""
    f = function("""func.func @f(%A: memref<32xf32>, %x: f32) {
      affine.parallel (%p) = (0) to (4) {
        affine.for %i = 0 to 8 { affine.store %x, %A[%i * 4 + %p] : memref<32xf32> }
      }
      return
    }""")
    made = data_copy(f, f.args[0], by_name(f, "i"))
    stores = [op for op in walk(made) if isinstance(op, affine.Store) and op.memref is f.args[0]]
    loads = [op for op in walk(made) if isinstance(op, affine.Load) and op.memref is f.args[0]]
    assert (len(stores), len(loads)) == (1, 0)
    for order in ("forward", "reverse", "random"):
        array = np.zeros(32, np.float32)
        run(made, array, 2.0, order=order)
        assert (array == 2).all()


def made_and_same(text: str, way: str, *sizes: int) -> func.Func:
    """The copy of %A for the loop over %i, after runs with A and B of so many elements, which end as before."""
    f = function(text)
    value = next(v for v in values_of(f) if v.hint == "A")
    made = data_copy(f, value, by_name(f, "i"), **WAYS[way])
    verify(made)
    for n in sizes:
        assert alike([np.arange(n, dtype=np.float64) + k for k in range(len(f.args))], f, made)
    return made


def values_of(f: func.Func) -> list[Value]:
    return [*f.args, *(v for op in walk(f) for v in op.defines())]


BESIDE = """func.func @f(%A: memref<64xf64>, %B: memref<64xf64>) {{
  %c = arith.constant 40 : index
  affine.for %i = 0 to 8 {{
    %j = affine.apply affine_map<(d) -> (d * 2 + 1)>(%i)
    %x = affine.load %B[%i] : memref<64xf64>
    {0}
    affine.store %x, %A[%i * 2] : memref<64xf64>
    %y = affine.load %A[%i * 2] : memref<64xf64>
    affine.store %y, %B[%i + 8] : memref<64xf64>
  }}
  return
}}"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at", ["%c", "%j"])
def test_reads_beside_the_fast_buffer_of_what_is_never_written(at: str, way: str) -> None:
    text = BESIDE.format(f"%z = memref.load %A[{at}] : memref<64xf64> memref.store %z, %B[{at}] : memref<64xf64>")
    made = made_and_same(text, way, 64)
    assert sum(isinstance(op, memref.Load) for op in walk(made)) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at", ["%c", "%j"])
def test_nothing_is_taken_back_to_what_is_written_beside_the_fast_buffer(at: str, way: str) -> None:
    text = BESIDE.format(f"memref.store %x, %A[{at}] : memref<64xf64>")
    if (at, way) == ("%j", "dma"):  # that lies in between: a box would overwrite it
        with pytest.raises(IllegalTransform, match="a DMA copies boxes"):
            made_and_same(text, way)
        return
    made_and_same(text, way, 64)


def test_a_read_beside_of_what_one_iteration_writes_is_refused() -> None:
    text = BESIDE.format("%k = arith.constant 6 : index %z = memref.load %A[%k] : memref<64xf64>")
    with pytest.raises(IllegalTransform, match=r"memref\.load reads A beside the fast buffer"):
        made_and_same(text, "loops")


def test_a_dma_takes_elements_without_a_value_along() -> None:
    text = """func.func @f(%B: memref<64xf64>) {
      %A = memref.alloc() : memref<9xf64>
      affine.for %k = 0 to 4 {
        %x = affine.load %B[%k] : memref<64xf64>
        affine.store %x, %A[%k * 2] : memref<9xf64>
      }
      affine.for %i = 0 to 4 {
        %x = affine.load %A[%i * 2] : memref<9xf64>
        %y = arith.addf %x, %x : f64
        affine.store %y, %A[%i * 2] : memref<9xf64>
      }
      affine.for %k = 0 to 4 {
        %x = affine.load %A[%k * 2] : memref<9xf64>
        affine.store %x, %B[%k] : memref<64xf64>
      }
      return
    }"""
    assert [op.step for op in walk(made_and_same(text, "loops", 64)) if isinstance(op, affine.For)].count(2) == 2
    made = made_and_same(text, "dma", 64)
    assert sum(isinstance(op, affine.DmaStart) for op in walk(made)) == 2


@pytest.mark.parametrize("way", WAYS)
def test_what_lies_between_elements_that_are_surely_touched_exists(way: str) -> None:
    text = """func.func @f(%A: memref<?xf64>, %B: memref<?xf64>) {
      affine.for %i = 0 to 4 {
        %x = affine.load %A[%i * 3 + 2] : memref<?xf64>
        affine.store %x, %A[%i * 3 + 1] : memref<?xf64>
      }
      return
    }"""
    made = made_and_same(text, way, 12, 17)
    (allocated,) = (op for op in walk(made) if isinstance(op, memref.Alloc) and op.result.hint == "A_fast")
    assert str(allocated.result.type).startswith("memref<11xf64")
    far = "affine.if affine_set<(d) : (d - 9 >= 0)>(%i) { affine.store %x, %A[50] : memref<?xf64> }"
    unsure = text.replace("affine.load %A[%i * 3 + 2] : memref<?xf64>", f"arith.constant 1.0 : f64 {far}")
    made_and_same(unsure, "loops", 12)


ONE = "func.func @f(%A: memref<64xf32>, %B: memref<64xf32>, %n: index, %x: f32, %y: i1) {{ {0} return }}"
LOOP = "affine.for %i = 0 to 8 {{ affine.store %x, %A[%i] : memref<64xf32> {0} }}"
REFUSED: dict[str, tuple[str, dict[str, object], str]] = {
    "an access of another dialect": (
        ONE.format(LOOP.format("memref.store %x, %A[%i] : memref<64xf32>")), {},
        "memref.store writes A beside the fast buffer, which may then hold other values",
    ),
    "a call": (
        "func.func private @g(memref<64xf32>)" + ONE.format(LOOP.format("func.call @g(%A) : (memref<64xf32>) -> ()")),
        {}, "func.call reads A beside the fast buffer",
    ),
    "a view": (
        ONE.format(LOOP.format("%v = memref.cast %A : memref<64xf32> to memref<?xf32> "
                               "%l = affine.load %v[0] : memref<?xf32>")),
        {}, "affine.load reads A beside the fast buffer",
    ),
    "no access": (ONE.format("affine.for %i = 0 to 8 { affine.store %x, %B[%i] : memref<64xf32> }"), {},
                  "no affine access inside touches A"),
    "never touched": (ONE.format("affine.for %i = 8 to 8 { affine.store %x, %A[%i] : memref<64xf32> }"), {},
                      "nothing of A is ever touched"),
    "a DMA of what is not sure": (
        ONE.format("affine.for %i = 0 to 8 { affine.store %x, %A[%i + symbol(%n)] : memref<64xf32> }")
        .replace("%i = 0 to 8", "%i = 0 to %n").replace("memref<64xf32>", "memref<?xf32>"),
        {"space": 1, "dma": True}, "a box of constant size holds more than what the program certainly touches of A",
    ),
    "a DMA in one space": (
        ONE.format("affine.for %i = 0 to 8 { affine.store %x, %A[%i] : memref<64xf32> }")
        .replace("memref<64xf32>", "memref<8x64xf32>").replace("%A[%i]", "%A[%i, 3]"),
        {"dma": True}, "that in the memory space of the lower number, but A lies in the space 0, the fast buffer in 0",
    ),
    "a DMA of two strides": (
        ONE.format("affine.for %i = 0 to 4 { affine.for %j = 0 to 4 { affine.store %x, %A[%i, %j, %j] : memref<64xf32> "
                   "affine.store %x, %A[%i, %i, %j] : memref<64xf32> } }")
        .replace("memref<64xf32>", "memref<8x8x8xf32>"),
        {"space": 1, "dma": True}, "a DMA has one stride, but the box needs several",
    ),
    "a DMA by layout": (
        ONE.format(LOOP.format("")), {"space": 1, "dma": True, "panels": {0: 4}},
        "a DMA copies elements in the order in which they lie",
    ),
    "a DMA of rows of late size": (
        ONE.format("affine.for %i = 0 to 4 { %l = affine.load %A[%i, 1] : memref<64xf32> }")
        .replace("memref<64xf32>", "memref<?x?xf32>"),
        {"space": 1, "dma": True}, "lie apart is known only at run time",
    ),
    "vectors in panels": (
        ONE.format("affine.for %i = 0 to 4 { affine.vector_store %v, %A[%i * 4] : memref<64xf32>, vector<4xf32> }")
        .replace("{ affine.for", "{ %v = vector.broadcast %x : f32 to vector<4xf32> affine.for"),
        {"panels": {0: 8}}, "the elements of a vector would lie apart in this layout",
    ),
    "an unknown condition on new memory": (
        ONE.format("%T = memref.alloc() : memref<64xf32> affine.for %i = 0 to 8 { scf.if %y { "
                   "affine.store %x, %T[%i] : memref<64xf32> } }").replace("%A:", "%A0:").replace("%T", "%A"),
        {}, "which elements of A are written is not known exactly .*and the others may hold no value yet",
    ),
    "an unknown condition in parallel": (
        ONE.format("affine.parallel (%p) = (0) to (4) { affine.for %i = 0 to 8 { scf.if %y { "
                   "affine.store %x, %A[%i * 4 + %p] : memref<64xf32> } } }"),
        {}, "another iteration may use the others",
    ),
    "made inside": (
        ONE.format("affine.for %i = 0 to 8 { %A = memref.alloc() : memref<64xf32> "
                   "affine.store %x, %A[%i] : memref<64xf32> }").replace("(%A:", "(%A0:"),
        {}, "A does not exist yet where it would be copied",
    ),
    "a constant": (
        'memref.global "private" constant @g : memref<64xf32> = dense<1.0> '
        + ONE.format("%A = memref.get_global @g : memref<64xf32> " + LOOP.format("")).replace("(%A:", "(%A0:"),
        {}, "@g may be constant",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    text, options, reason = REFUSED[name]
    module = parse(text)
    verify(module)
    f = next(f for f in module.functions if f.symbol == "f")
    (buffer,) = {v for op in walk(f) for v in (*op.binds(), *op.defines()) if v.hint == "A"}
    with pytest.raises(IllegalTransform, match=reason) as refusal:
        data_copy(f, buffer, by_name(f, "i"), module=module, **options)
    assert "cannot copy A for loop i" in str(refusal.value)


def test_arguments_that_a_call_shows_to_be_one() -> None:
    module = parse("""func.func @f(%A: memref<64xf32>, %B: memref<64xf32>) {
      affine.for %i = 0 to 8 {
        %x = affine.load %A[%i] : memref<64xf32>
        affine.store %x, %B[%i + 1] : memref<64xf32>
      }
      return
    }
    func.func @main(%C: memref<64xf32>) {
      func.call @f(%C, %C) : (memref<64xf32>, memref<64xf32>) -> ()
      return
    }""")
    f = module.functions[0]
    made = data_copy(f, f.args[0], by_name(f, "i"))
    verify(made)
    with pytest.raises(IllegalTransform, match=r"affine.store writes B, which may be the same buffer as A,"):
        data_copy(f, f.args[0], by_name(f, "i"), module=module)


@pytest.mark.parametrize(
    ("type", "body", "options", "reason"),
    [
        ("memref<*xf32>", "affine.store %x, %B[%i] : memref<64xf32>", {}, "the number of dimensions of A is not known"),
        ("memref<8xf32, strided<[0]>>", "affine.store %x, %A[%i] : T", {}, "several indices of A may be one element"),
        (
            "memref<8xf32, strided<[2]>>",
            "affine.store %x, %A[%i] : T",
            {"space": 1, "dma": True},
            r"a DMA copies neighbours, but A has the layout strided<\[2\]>",
        ),
        ("memref<?xf32>", "%y = affine.load %A[%i mod symbol(%n)] : T", {}, ""),
    ],
)
def test_arrays_of_other_types(type: str, body: str, options: dict[str, object], reason: str) -> None:
    f = function(f"""func.func @f(%A: {type}, %B: memref<64xf32>, %n: index, %x: f32) {{
      affine.for %i = 0 to 8 {{ {body.replace(": T", f": {type}")} }}
      return
    }}""")
    if not reason:  # an index that nobody knows: the whole array
        assert "memref.alloc(%A_size0)" in str(data_copy(f, f.args[0], by_name(f, "i"), **options))
        return
    with pytest.raises(IllegalTransform, match=reason):
        data_copy(f, f.args[0], by_name(f, "i"), **options)


def test_bounds_that_others_imply_are_left_out_also_where_sizes_are_one_of_several_sets() -> None:
    """Panels start where the box does: two bounds on that side would leave no loop over whole panels."""
    f = function("""func.func @f(%n: index, %m: index,
        %A: memref<?xf32> {affdsl.shape = affine_map<()[n, m] -> (n)>},
        %B: memref<?xf32> {affdsl.shape = affine_map<()[n, m] -> (m)>}) {
      affine.if affine_set<(d0, d1) : (8 - d0 >= 0, d1 - 4 >= 0)>(%m, %n) {
      } else {
        affine.for %t = 0 to %n step 32 {
          affine.for %i = 0 to %m {
            affine.for %j = affine_map<(d0) -> (d0)>(%t) to min affine_map<(d0)[s0] -> (d0 + 32, s0)>(%t)[%n] {
              %x = affine.load %A[%j] : memref<?xf32>
              affine.store %x, %B[%i] : memref<?xf32>
            }
          }
        }
      }
      return
    }""")
    made = str(data_copy(f, f.args[2], by_name(f, "i"), panels={0: 4}))
    assert "affine.for %A0_panel = " in made
    assert "max" not in made


def test_a_size_that_is_not_known_before_the_loop() -> None:
    f = function("""func.func @f(%n: index) {
      affine.for %o = 1 to 8 {
        %A = memref.alloc(%o) : memref<?xf32>
        affine.for %i = 0 to 8 { %y = affine.load %A[%i mod symbol(%n)] : memref<?xf32> }
        memref.dealloc %A : memref<?xf32>
      }
      return
    }""")
    with pytest.raises(IllegalTransform, match="the size of A along dimension 0 is not known before the loop"):
        data_copy(f, f.body[0].body[0].result, by_name(f, "i"))


def test_sets_that_isl_needs_too_long_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "BUDGET", 1)
    f = function(CASES["stencil in tiles, static"].text)
    with pytest.raises(IllegalTransform, match="what is touched of A cannot be said: isl needs more than 1 operations"):
        data_copy(f, f.args[0], by_name(f, "i"))


def test_what_is_a_view_is_named() -> None:
    f = function(ONE.format("%v = memref.cast %A : memref<64xf32> to memref<?xf32> affine.for %i = 0 to 8 { "
                            "affine.store %x, %v[%i] : memref<?xf32> }"))  # fmt: skip
    with pytest.raises(IllegalTransform, match=r"v is a view of A(.|\n)*legal: affine-fold-memref-alias-ops first"):
        data_copy(f, f.body[0].result, by_name(f, "i"))


@pytest.mark.parametrize("options", [{"layout": (1,)}, {"layout": (0, 0)}, {"panels": {1: 4}}, {"panels": {0: 0}}])
def test_layouts_that_are_none(options: dict[str, object]) -> None:
    f = function(ONE.format(LOOP.format("")))
    with pytest.raises(ValueError, match=r"layout of 1 dimensions|panels give dimensions below 1"):
        data_copy(f, f.args[0], f.body[0].iv, **options)


UNSURE = """func.func @f(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) {
  %T = memref.alloc() : memref<4xf64>
  %z = arith.constant 0.0 : f64
  affine.for %k = 0 to 2 { affine.store %z, %T[%k] : memref<4xf64> }
  affine.parallel (%p) = (0) to (2) {
    affine.for %i = 0 to %n {
      %x = affine.load %A[%i] : memref<?xf64>
      %c = arith.cmpf ogt, %x, %z : f64
      scf.if %c { affine.store %x, %B[%i] : memref<?xf64> }
    }
    affine.for %i = 0 to 1 {
      %x = affine.load %A[0] : memref<?xf64>
      affine.store %x, %B[%p * 2] : memref<?xf64>
      affine.store %x, %B[%p * 2 + 3] : memref<?xf64>
    }
  }
  affine.for %k = 0 to 1 {
    affine.for %i = 0 to 2 { affine.store %z, %T[%i] : memref<4xf64> }
    %x = affine.load %T[1] : memref<4xf64>
    %j = arith.index_cast %n : index to i64
    %y = arith.sitofp %j : i64 to f64
    %c = arith.cmpf ogt, %x, %y : f64
    scf.if %c { affine.store %y, %T[3] : memref<4xf64> }
    affine.store %x, %A[0] : memref<?xf64>
    memref.store %y, %A[%k] : memref<?xf64>
  }
  memref.dealloc %T : memref<4xf64>
  return
}"""
LATE = """func.func @f(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) {
  %one = arith.constant 1 : index
  affine.for %i = 0 to %n {
    %c = arith.cmpi sge, %i, %one : index
    %x = affine.load %B[%i floordiv 2] : memref<?xf64>
    scf.if %c { affine.store %x, %A[%i - 1] : memref<?xf64> }
  }
  return
}"""
BEHIND = """func.func @f(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) {
  affine.for %i = 10 to %n { affine.for %j = 30 to 40 {
    %x = affine.load %B[%j] : memref<?xf64>
    affine.store %x, %A[%j] : memref<?xf64>
  } }
  return
}"""
MIXED = """func.func @f(%A: memref<64xf64>, %B: memref<64xf64>, %n: index) {
  affine.for %i = 0 to 8 {
    %j = affine.apply affine_map<(d) -> (d * 2 + 1)>(%i)
    %k = affine.apply affine_map<(d) -> (-d + 8)>(%i)
    %x = affine.load %B[%i] : memref<64xf64>
    memref.store %x, %B[%j] : memref<64xf64>
    affine.store %x, %A[%i] : memref<64xf64>
    %y = memref.load %A[%k] : memref<64xf64>
    affine.store %y, %A[%i + 16] : memref<64xf64>
  }
  affine.for %i = 0 to 8 {
    %j = affine.apply affine_map<(d) -> (d * 2 + 1)>(%i)
    %x = affine.load %A[%i * 2] : memref<64xf64>
    memref.store %x, %A[%j] : memref<64xf64>
    affine.store %x, %A[%i * 2] : memref<64xf64>
  }
  return
}"""
HARD = {"unsure": Case(UNSURE, ((0,), (8,))), "mixed": Case(MIXED, ((64,), (64,)))}
HARD |= {"late": Case(LATE, ((0,), (0,))), "behind the array, but never": Case(BEHIND, ((0,), (0,)))}
HARD |= {
    name: CASES[name]
    for name in (
        "holes, static",
        "written then read, dynamic",
        "else, dynamic",
        "read ahead, static",
        "zero trips with sure elements, dynamic",
        "stencil in tiles, static",
    )
}


def failures() -> Iterator[str]:
    """The copies of a few hard programs that do something else, or break a rule."""
    for name, case in HARD.items():
        f = function(case.text)
        for way, options in WAYS.items():
            for loop in loops(f):
                for buffer in touched(loop):
                    try:
                        made = data_copy(f, buffer, loop.iv, **options)
                    except IllegalTransform:
                        continue
                    try:
                        verify(made)
                        for n, order in ((1, "forward"), (4, "reverse"), (6, "forward")):
                            assert_same(f, made, case, n, order)
                    except (AssertionError, AffdslError) as problem:
                        yield f"{name}, {way}, {buffer.hint} for {loop.iv.hint}: {problem}"


def nothing(place: CopyPoint, *_: object) -> tuple[object, object]:
    return place.nothing(), place.nothing()


def both_as_the_first(place: CopyPoint, *given: object) -> tuple[object, object]:
    may, _ = ORIGINAL[CopyPoint, "touched"](place, *given)
    return may, may


def one_less(candidates: CopyCandidates, *given: object) -> tuple[Affine, Affine]:
    offset, size = ORIGINAL[CopyCandidates, "_extent"](candidates, *given)
    return offset, size - 1


def without_way_back(operations: _Operations, found: CopyInOut) -> object:
    return ORIGINAL[_Operations, "plan"](operations, replace(found, back=None))


def without_offsets(copied: Copied, index: tuple[Affine, ...], _: object = None) -> tuple[Affine, ...]:
    return arranged(index, copied.layout, copied.panels)


FAULTS: dict[str, tuple[object, str, object]] = {
    "nothing is brought": (CopyPoint, "exposed", nothing),
    "all that may be touched is touched": (CopyPoint, "touched", both_as_the_first),
    "all elements exist": (CopyPoint, "inside", lambda place: place.all_of(())),
    "new buffers hold values": (CopyPoint, "initialised", CopyPoint.inside),
    "other accesses do not count": (CopyRequest, "_require_own", lambda request, *_: request.place.nothing()),
    "other accesses are all apart": (CopyRequest, "_is_apart", lambda *_: True),
    "what lies behind what is touched exists": (CopyPoint, "up_to", lambda place, _: place.all_of(())),
    "the buffer is too small": (CopyCandidates, "_extent", one_less),
    "nothing is taken back": (_Operations, "plan", without_way_back),
    "the box starts at zero": (Copied, "place", without_offsets),
    "rows lie behind each other": (plan, "chunks", lambda sizes, extents: [(prod(extents), 1)]),
}
ORIGINAL = {(where, name): getattr(where, name) for where, name, _ in FAULTS.values()}


def test_the_hard_programs_do_the_same() -> None:
    assert [*failures()] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, wrong = FAULTS[fault]
    monkeypatch.setattr(where, name, wrong)
    assert next(failures(), "")


@pytest.mark.parametrize("around", ["for %j = 0 to 1", "for %j = 0 to %i", "if affine_set<(d0) : (d0 - 1 >= 0)>(%i)"])
def test_a_number_that_is_perhaps_not_written_is_not_copied_back(around):
    text = f"""func.func @f(%B: memref<f32>, %n: index, %x: f32) {{
      affine.for %i = 0 to %n {{ affine.{around} {{ affine.store %x, %B[] : memref<f32> }} }}
      return
    }}"""
    function = parse(text).functions[0]
    made = data_copy(function, function.args[0], function.body[0].iv)
    for n in (-1, 0, 1, 2, 3):
        assert alike([np.array(7, np.float32), n, np.float32(2)], function, made)


def test_what_is_taken_back_of_a_private_copy_depends_on_affine_loops_alone() -> None:
    """The counter of scf.for is nothing that affine.if may ask."""
    function = parse("""
    func.func @f(%p: memref<8xf32>, %x: memref<8xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      affine.for %t = 0 to 5 {
        scf.for %u = %c0 to %n step %c1 {
          affine.for %j = 0 to 8 {
            %v = affine.load %x[%j] : memref<8xf32>
            affine.store %v, %p[%j] : memref<8xf32>
          }
        }
      }
      return
    }""").functions[0]
    (inner,) = (op for op in walk(function) if isinstance(op, affine.For) and op.iv.hint == "j")
    made = data_copy(function, function.args[0], inner.iv, private=True)
    verify(made)
    assert "affine_set<(d0) : (d0 - 4 == 0)>(%t)" in str(made)
