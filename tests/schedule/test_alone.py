"""A step that looks at its nest alone does the same as one that looks at the whole function."""

import re

import pytest

import affdsl as af
from affdsl.ir.traverse import with_fields
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.optimize.functions import affdsl_optimize
from affdsl.schedule import steps
from affdsl.schedule.alone import alone, restored, way_to
from tests.effort import some
from tests.schedule.random_schedules import random_schedule

K, N = af.symbols("K N")


@af.kernel
def factors(A: af.f64[N, N]):
    with af.for_(N) as i:
        with af.for_(i) as j:
            with af.for_(j) as k:
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        with af.for_(i, N) as j, af.for_(i) as k:
            A[i, j] -= A[i, k] * A[k, j]


@af.kernel
def between(A: af.f64[N], B: af.f64[N, N], x: af.f64[2]):
    """Loads around nests that store what they load: none of them may serve for the others."""
    with af.for_(N) as t:
        x[0] = A[t]
        with af.for_(N) as i:
            A[i] += B[t, i]
        x[1] = A[t]
        with af.for_(N) as i, af.for_(N) as j:
            B[i, j] += A[t] * x[1]
        with af.for_(N) as i, af.if_(i > t):
            A[i] -= x[0]
        with af.for_(N, iter_args=af.f64(0)) as (j, s):
            af.yield_(s + A[j])
        x[0] = s


@af.kernel
def chain(A: af.f64[N, K], B: af.f64[N, K], C: af.f64[N, K]):
    with af.for_(N) as i, af.for_(K) as j:
        B[i, j] = A[i, j] * 2.0
    with af.for_(N) as i, af.for_(1, K - 1) as j:
        C[i, j] = B[i, j - 1] + B[i, j + 1]
    with af.for_(N) as i, af.for_(K) as j:
        A[i, j] += C[i, j] / 3.0


@af.kernel
def branches(A: af.f64[N, K], B: af.f64[N, K]):
    with af.if_(N > 4 * K):
        with af.for_(N) as i, af.for_(K) as j:
            B[i, j] = A[i, j] * 2.0
        with af.for_(1, N) as i, af.for_(K) as j:
            A[i, j] += B[i - 1, j]
    with af.else_():
        with af.if_(K > 3):
            with af.for_(1, K) as j, af.for_(N) as i:
                A[i, j] += A[i, j - 1] * B[i, j]
        with af.else_(), af.for_(N) as i, af.for_(K) as j:
            B[i, j] -= A[i, j]


@pytest.mark.parametrize("kernel", [factors, between, chain, branches], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", some(range(24), 2))
def test_random_steps_are_the_same(kernel, seed, monkeypatch):
    ours = random_schedule(kernel, seed, steps=8)
    monkeypatch.setattr(steps, "path_to", lambda function, step: ())
    assert _said(random_schedule(kernel, seed, steps=8)) == _said(ours)


def _said(s):
    return str(s), str(s.module)


def test_nests_beside_are_left_out():
    s = af.Schedule(chain)
    for row in (row for row in s.loops() if row.depth == 1):
        path = way_to(s.function, {row.iv})
        small = alone(path)
        assert len(small.body) == 1
        assert str(restored(path, small, small)) == str(s.function)


@pytest.mark.parametrize(
    "step",
    [
        lambda s: s.copy("A", "i#1"),
        lambda s: s.tile(("i#1", "j#1"), 8),
        lambda s: s.vectorize("j#1", 8),
        lambda s: s.specialize("i#1", N >= 100),
        lambda s: s.parallel("i#1"),
    ],
)
def test_nests_beside_stay_the_same_objects(step):
    s = af.Schedule(chain)
    _, *others = s.function.body
    step(s)
    assert [op for op in s.function.body if op in others] == others


def test_what_runs_where_the_nest_does_not_is_left_out():
    s = af.Schedule(branches)
    rows = [row for row in s.loops() if row.names[0].startswith("i")]
    for row in rows:
        path = way_to(s.function, {row.iv})
        small = alone(path)
        assert str(small).count("affine.for") == 2 or row.names[0] in ("i#1", "i#2")
        assert str(small).count("affine.for") < str(s.function).count("affine.for")
        assert str(restored(path, small, small)) == str(s.function)


def test_where_something_touches_memory_the_block_stays():
    s = af.Schedule(between)
    path = way_to(s.function, {next(row.iv for row in s.loops() if row.names[0] == "i#1")})
    assert len(alone(path).body[0].body) == len(s.function.body[0].body)


def test_a_step_that_changes_more_than_its_nest_is_not_put_back():
    s = af.Schedule(chain)
    path = way_to(s.function, {next(iter(s.loops())).iv})
    small = alone(path)
    assert restored(path, small, with_fields(small, args=small.args[1:])) is None
    assert restored(path, small, with_fields(small, body=(*s.function.body[1:], *small.body))) is not None
    path = way_to(s.function, {list(s.loops())[1].iv})
    assert restored(path, alone(path), s.function) is None


M = af.symbols("M")


@af.kernel
def copied(x: af.f64[N + 1, M], F: af.f64[N + 2, M], tag: af.i32[N + 1], y: af.f64[N + 1, M]):
    with af.for_(N + 1) as k:
        af.dma_start(x, (k, 0), F, (k + 1, 0), tag, k, M)
    with af.for_(N + 1) as i:
        af.dma_wait(tag, i, M)
        with af.for_(M) as j:
            y[i, j] = F[i, j]


@pytest.mark.parametrize("verb", ["parallel", "reverse", "distribute"])
def test_a_nest_that_begins_copies_stays_for_one_that_waits(verb):
    s = af.Schedule(copied)
    with pytest.raises(af.IllegalTransform, match=r"affine\.dma_wait"):
        getattr(s, verb)("i")


def test_a_nest_that_waits_for_copies_of_another_stays_on_one_thread():
    fast = copied.optimize("avx2", threads=2, validate=True)
    assert not any(row.is_parallel for row in fast.schedule.loops())


HANDED_ON = """
func.func private @keep(memref<?xf32>)
func.func private @kept() -> memref<?xf32>
func.func @f(%n: index, %t: index, %u: index) {
  %A = memref.alloc(%n) : memref<?xf32>
  affine.for %s = 0 to %t {
    PLACE
    affine.for %r = 0 to %u {
      %B = func.call @kept() : () -> memref<?xf32>
      affine.for %i = 0 to %n {
        %x = affine.load %A[%i] : memref<?xf32>
        affine.store %x, %B[%i + 1] : memref<?xf32>
      }
    }
    END
  }
  return
}
"""
KEEP = "func.call @keep(%A) : (memref<?xf32>) -> ()"
IN_A_NEST = HANDED_ON.replace("PLACE", f"affine.for %k = 0 to 1 {{ {KEEP} }}").replace("END", "")
IN_AN_ELSE = HANDED_ON.replace("PLACE", "affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%s) {").replace(
    "END", f"}} else {{ {KEEP} }}"
)
IN_MEMORY = (
    IN_A_NEST.replace(
        "func.call @keep(%A) : (memref<?xf32>) -> ()", "memref.store %A, %P[%k] : memref<1xmemref<?xf32>>"
    )
    .replace("@f(", "@f(%P: memref<1xmemref<?xf32>>, ")
    .replace("func.call @kept() : () -> memref<?xf32>", "memref.load %P[%zero] : memref<1xmemref<?xf32>>")
    .replace("%A = memref.alloc", "%zero = arith.constant 0 : index\n  %A = memref.alloc")
)


@pytest.mark.parametrize("text", [IN_A_NEST, IN_AN_ELSE, IN_MEMORY], ids=["a nest", "an else", "memory"])
def test_what_hands_on_a_buffer_stays_for_one_that_gets_it_back(text):
    """%A and %B may be one buffer: each iteration of %i stores what the next one loads."""
    made = print_op(affdsl_optimize(parse(text), target="avx2", threads=2))
    assert re.search(r"affine\.for %i = 0 to %n \{\n +%x = affine\.load %A\[%i\]", made)
    assert not {"vector", "parallel"} & set(re.findall(r"\w+", made))
