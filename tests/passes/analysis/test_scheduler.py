"""What isl's scheduler is said to find keeps all dependences, and what it is not asked about is told."""

from __future__ import annotations

from random import Random

import pytest

from affdsl.ir.dialects import affine
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import scheduler
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.scheduler import Band, UnscheduledError, schedule_of
from tests.effort import TRIES_ALL

LETTERS = "ijk"


def stencil(distances: list[tuple[int, ...]]) -> str:
    """A function that stores in each iteration what it computes of elements of iterations so far before it."""
    rank = len(distances[0])
    loops = [f"affine.for %{v} = 4 to %n {{" for v in LETTERS[:rank]]
    here = ", ".join(f"%{v}" for v in LETTERS[:rank])
    type_ = f"memref<{'x'.join('?' * rank)}xf32>"
    body = []
    for k, distance in enumerate(distances):
        there = ", ".join(f"%{v} + {-d}" for v, d in zip(LETTERS, distance, strict=False))
        body.append(f"%v{k} = affine.load %A[{there}] : {type_}")
        body.append(f"%s{k} = arith.addf %v{k}, %{f's{k - 1}' if k else 'x'} : f32")
    body.append(f"affine.store %s{len(distances) - 1}, %A[{here}] : {type_}")
    return "\n".join([f"func.func @f(%A: {type_}, %n: index, %x: f32) {{", *loops, *body, "}" * rank, "return }"])


def found_for(text: str) -> tuple[Band, list[object]]:
    """What isl finds for the first loop of a function, and the counters of its loops."""
    (f,) = parse(text).functions
    outer = f.body[0]
    assert isinstance(outer, affine.For)
    found = schedule_of(Dependences(f), outer)
    assert isinstance(found, Band)
    loops = [outer]
    while isinstance(loops[-1].body[0], affine.For):
        loops.append(loops[-1].body[0])
    return found, [loop.iv for loop in loops]


@pytest.mark.parametrize("seed", range(400 if TRIES_ALL else 25))
def test_rows_keep_the_dependences_of_stencils(seed):
    random = Random(seed)
    rank, distances = random.choice((2, 2, 3)), []
    while len(distances) < random.randint(1, 3):
        distance = tuple(random.randint(-2, 2) for _ in range(rank))
        if distance > (0,) * rank and distance not in distances:
            distances.append(distance)
    band, ivs = found_for(stencil(distances))
    waiting = distances
    while isinstance(band, Band):
        apart = []
        for row in band.rows:
            (time,) = row.times.values()
            factors = [dict(time.terms).get(iv, 0) for iv in ivs]
            apart.append([sum(f * d for f, d in zip(factors, each, strict=True)) for each in waiting])
            if row.is_parallel:
                assert not any(apart[-1]), "what is parallel waits for nothing"
        for of in zip(*apart, strict=True):
            assert of >= (0,) * len(of), "in the order of the rows"
            assert not band.is_permutable or min(of) >= 0, "and in any other order of them"
        waiting = [d for d, of in zip(waiting, zip(*apart, strict=True), strict=True) if not any(of)]
        band = band.inside
    assert not waiting, "each dependence is in some row"


REFUSED = {
    "loop %i carries values from each iteration to the next": """
        %s = affine.for %i = 0 to 9 iter_args(%t = %x) -> f32 {
          affine.store %t, %A[%i] : memref<?xf32>
          affine.yield %x : f32
        }""",
    "a loop uses a number that is made beside it": """
        affine.for %i = 0 to 9 {
          %v = affine.load %A[%i] : memref<?xf32>
          affine.for %j = 0 to 9 { affine.store %v, %A[%j] : memref<?xf32> }
        }""",
    "A and B may be one buffer": """
        affine.for %i = 0 to 9 {
          %v = affine.load %A[%i] : memref<?xf32>
          affine.store %v, %B[%i + 1] : memref<?xf32>
        }""",
    "isl's scheduler is not asked about affine.if": """
        affine.for %i = 0 to 9 {
          affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
            affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<?xf32> }
          }
        }""",
    "isl's scheduler is not asked about 7 statements with 7 accesses": f"""
        affine.for %i = 0 to 9 {{ {"affine.store %x, %A[%i] : memref<?xf32>" * 7} }}""",
    "isl's scheduler finds no order: each statement runs once at most": """
        affine.for %i = 3 to 4 {
          affine.for %j = 0 to 0 { affine.store %x, %A[%i] : memref<?xf32> }
        }""",
    "nothing in it touches memory": "affine.for %i = 0 to 9 { %y = arith.addf %x, %x : f32 }",
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_isl_is_not_asked_about_is_told(why):
    module = parse(f"""
      func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %x: f32) {{ {REFUSED[why]} return }}
      func.func @g(%A: memref<?xf32>, %x: f32) {{
        func.call @f(%A, %A, %x) : (memref<?xf32>, memref<?xf32>, f32) -> ()
        return
      }}""")
    f = module.functions[0]
    with pytest.raises(UnscheduledError) as found:
        schedule_of(Dependences(f, module), f.body[0])
    assert str(found.value) == why


def test_the_loops_around_are_in_one_iteration():
    (f,) = parse("""func.func @f(%A: memref<?x?xf32>, %n: index) {
      affine.for %t = 0 to %n { affine.for %i = 1 to %n { affine.for %j = 1 to %t {
        %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
        affine.store %a, %A[%i, %j] : memref<?x?xf32>
      } } }
      return
    }""").functions
    dependences = Dependences(f)
    assert str(schedule_of(dependences, f.body[0].body[0])) == "loops i + j (parallel) and i, which may be tiled"
    assert str(schedule_of(dependences, f.body[0])) == "loops i + j (parallel), t and t + i, which may be tiled"


def test_an_order_with_large_numbers_is_not_taken():
    """Rows that wait for those 12 columns further on may be tiled where they are moved by 12 each, and no less."""
    (f,) = parse(stencil([(1, -12), (0, 1)]).replace("= 4 to %n", "= 16 to %n")).functions
    with pytest.raises(UnscheduledError, match="the order that isl finds for it has numbers above 8"):
        schedule_of(Dependences(f), f.body[0])


def test_isl_is_not_asked_about_pairs_in_many_parts(monkeypatch):
    text = stencil([(1, 0), (0, 1), (1, 1)])
    assert len(found_for(text)[0].rows) == 2
    monkeypatch.setattr(scheduler, "MOST_PARTS", 3)
    with pytest.raises(UnscheduledError, match="is not asked about pairs in 3 parts"):
        found_for(text)
