"""prefetch: what it asks for, that nothing is computed in another way, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.prefetch import prefetch

M, N = af.symbols("M N")
EMPTY = "affine.for %i = 0 to 9 { }"
NUMBER = "%t = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%n]"
STORE = "affine.store %x, %A[{}] : memref<99xf32>"


@af.kernel
def centred(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i:
        mean = af.var(af.f32(0))
        with af.for_(N) as j:
            mean += x[i, j]
        mean.set(mean / af.f32(N))
        with af.for_(N) as j:
            y[i, j] = x[i, j] - mean


def asked(text, array, loop, of, distance=0):
    """The module of one function, and what it is after the step: the loops are numbered in the order of the text."""
    before = parse(text)
    function = before.functions[0]
    loops = [op for op in walk(function) if isinstance(op, affine.For)]
    buffer = next(a for a in function.args if a.hint == array)
    made = prefetch(function, buffer, loops[loop].iv, loops[of].iv, distance=distance, module=before)
    after = with_fields(before, body=(made,))
    verify(after)
    return before, after


def prefetches(module):
    return [str(op) for op in walk(module) if isinstance(op, affine.Prefetch)]


@pytest.mark.parametrize(
    ("step", "type", "per_line"), [(64, "f32", 16), (16, "f64", 8), (1, "f32", 16), (24, "i8", 64), (32, "index", 8)]
)
def test_there_is_one_for_each_line_of_an_iteration(step, type, per_line):
    text = f"""func.func @f(%A: memref<?x?x{type}>, %B: memref<?x?x{type}>, %n: index) {{
      affine.for %r = 0 to %n {{
        affine.for %i = 3 to %n step {step} {{ %a = affine.load %A[%r, %i] : memref<?x?x{type}> }}
        affine.for %j = 3 to %n {{
          %b = affine.load %A[%r, %j] : memref<?x?x{type}>
          affine.store %b, %B[%r, %j + 1] : memref<?x?x{type}>
        }}
      }}
      return
    }}"""
    _, after = asked(text, "B", 1, 2)
    places = [f"%i + {1 + k}" for k in range(0, step, per_line)]
    assert prefetches(after) == [
        f"affine.prefetch %B[%r, {place}], write, locality<3>, data : memref<?x?x{type}>" for place in places
    ]
    first = next(op for op in walk(after) if isinstance(op, affine.For) and op.iv.hint == "i").body[0]
    assert isinstance(first, affine.Prefetch)


def test_neighbours_in_a_line_are_asked_for_once_and_rows_and_columns_for_themselves():
    text = """func.func @f(%A: memref<9x99xf32>, %x: f32) {
      affine.for %i = 0 to 8 step 2 { affine.store %x, %A[0, %i] : memref<9x99xf32> }
      affine.for %j = 0 to 8 {
        %a = affine.load %A[%j, 1] : memref<9x99xf32>
        %b = affine.load %A[%j, 3] : memref<9x99xf32>
        %c = affine.load %A[%j + 1, 1] : memref<9x99xf32>
        %d = affine.load %A[5, %j + 40] : memref<9x99xf32>
      }
      return
    }"""
    _, after = asked(text, "A", 0, 1)
    places = ["%i, 1", "%i + 1, 1", "%i + 2, 1", "5, %i + 40"]
    assert prefetches(after) == [
        f"affine.prefetch %A[{place}], read, locality<3>, data : memref<9x99xf32>" for place in places
    ]


@pytest.mark.parametrize(
    ("index", "step", "distance", "places"),
    [
        ("%i", 16, 4, ["%i + 64"]),
        ("%i + 1", 32, 2, ["%i + 65", "%i + 81"]),
        ("%n - %i", 16, 8, ["%n - %i - 128"]),
        ("2 * %i", 16, 1, ["%i * 2 + 32", "%i * 2 + 48"]),
    ],
)
def test_a_loop_asks_for_what_it_touches_some_iterations_later(index, step, distance, places):
    text = f"""func.func @f(%A: memref<?xf32>, %n: index, %x: vector<16xf32>) {{
      affine.for %i = 0 to %n step {step} {{ affine.vector_store %x, %A[{index}] : memref<?xf32>, vector<16xf32> }}
      return
    }}"""
    _, after = asked(text, "A", 0, 0, distance)
    assert prefetches(after) == [f"affine.prefetch %A[{at}], write, locality<3>, data : memref<?xf32>" for at in places]


@pytest.mark.parametrize("n", [0, 7, 8, 100, 1000])
def test_asking_for_its_own_lines_changes_no_result(n):
    @af.kernel
    def scaled(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = 3.0 * x[i]

    asking = af.Schedule(scaled, validate=True).vectorize("i", 8, tail="overlapped")
    kernel = asking.prefetch("x", "i", "i", distance=8).prefetch("y", "i", "i", distance=8).kernel()
    assert kernel.c().count("affdsl_prefetch(y, i + 64, 1, 3)") == 1
    x, found = np.random.default_rng(n).normal(size=n), np.zeros(n)
    kernel(x, found)
    np.testing.assert_array_equal(found, 3.0 * x)


def test_a_distance_is_at_least_one_iteration():
    with pytest.raises(af.ScheduleError, match="how many iterations is a whole number of at least 1, got 0"):
        af.Schedule(centred).prefetch("y", "j#2", "j#2", distance=0)


def test_results_are_the_same_by_the_interpreter_and_in_c():
    plain = af.Schedule(centred).scalar_replace("j#1").vectorize("j#1", 32, tail="masked", reassociate=True)
    plain.vectorize("j#2", 16, tail="overlapped")
    asking = af.Schedule(centred, validate=True).scalar_replace("j#1")
    asking.vectorize("j#1", 32, tail="masked", reassociate=True).vectorize("j#2", 16, tail="overlapped")
    asking.prefetch("y", "j#1", "j#2")
    kernel, without = asking.kernel(), plain.kernel()
    assert kernel.mlir().count("affine.prefetch %y") == 2
    assert kernel.c().count("affdsl_prefetch(y, ") >= 2
    for m, n in ((3, 100), (1, 31), (2, 0), (0, 40)):
        x = np.random.default_rng(n).normal(size=(m, n)).astype(np.float32)
        found, wanted = np.zeros_like(x), np.zeros_like(x)
        kernel(x, found)
        without(x, wanted)
        np.testing.assert_array_equal(found, wanted)
        if n > 31:
            interpreted = np.zeros_like(x)
            kernel.interpret(x, interpreted)
            np.testing.assert_allclose(interpreted, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "array", "loops", "reason"),
    [
        (f"affine.for %i = 0 to 9 {{ affine.for %j = 0 to 9 {{ {STORE.format('%j')} }} }}", "A", (0, 1),
         "the loop j stands inside of i"),
        (f"affine.for %i = 0 to 9 {{ {STORE.format('%i')} }}", "A", (0, 0),
         "it touches that itself: ask for what it touches some iterations later, distance=8"),
        (f"{EMPTY} affine.for %j = 1 to 9 {{ {STORE.format('%j')} }}", "A", (0, 1),
         "the loops i and j start in different places"),
        (f"{EMPTY} affine.for %j = 0 to 9 {{ {STORE.format('%j')} }}", "B", (0, 1),
         "loop j loads and stores nothing of B at affine indices"),
        (f"{EMPTY} affine.for %j = 0 to 9 {{ affine.for %k = 0 to 9 {{ {STORE.format('%j + %k')} }} }}", "A", (0, 1),
         "its place depends on k, which loop i does not know"),
        (f"{EMPTY} {NUMBER} affine.for %j = 0 to 9 {{ {STORE.format('%j + symbol(%t)')} }}", "A", (0, 1),
         "its place depends on t, which loop i does not know"),
    ],
)  # fmt: skip
def test_what_is_refused(text, array, loops, reason):
    whole = f"func.func @f(%A: memref<99xf32>, %B: memref<99xf32>, %x: f32, %n: index) {{ {text} return }}"
    with pytest.raises(IllegalTransform) as caught:
        asked(whole, array, *loops)
    assert reason in str(caught.value)


def test_an_array_that_is_made_later_is_refused():
    before = parse("""func.func @f(%x: f32) {
      affine.for %i = 0 to 9 { }
      %A = memref.alloc() : memref<99xf32>
      affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<99xf32> }
      memref.dealloc %A : memref<99xf32>
      return
    }""")
    function = before.functions[0]
    loop, made, later = function.body[:3]
    with pytest.raises(IllegalTransform, match="A is made later than loop i runs"):
        prefetch(function, made.result, loop.iv, later.iv)
