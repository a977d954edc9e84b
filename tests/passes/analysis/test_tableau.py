"""Tableaux of the examples that explain MLIR's dependence checks, and of what those leave out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from affdsl.ir.dialects import func
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import Access, accesses
from affdsl.passes.analysis.dependence import Dependence, dependences
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.tableau import (
    Tableau,
    composition_tableau,
    dependence_tableau,
    distance_tableau,
    domain_tableau,
    inverse_tableau,
    relation_tableau,
)
from affdsl.passes.mlir_opt.relations import AccessRelation

ORACLES = Path(__file__).parents[2] / "mlir" / "oracles"
APPLIED, SUCCINCT, SKEWED = (
    (ORACLES / f"memdep_{name}.in.mlir").read_text(encoding="utf-8") for name in ("apply", "succinct", "nontrivial")
)

STORED = """Domain: 0, Range: 4, Symbols: 0, Locals: 0
6 constraints
(Value Value None None const)
1 0 -1 0 0 = 0
0 1 0 -1 0 = 0
1 0 0 0 0 >= 0
-1 0 0 0 8 >= 0
0 1 0 0 0 >= 0
0 -1 0 0 8 >= 0"""
LOADED = STORED.replace("1 0 -1 0 0 = 0", "1 0 -1 0 -2 = 0", 1)
STORED_DOMAIN = STORED.replace("Range: 4", "Range: 2").replace("Locals: 0", "Locals: 2").replace("None", "Local")
LOADED_DOMAIN = LOADED.replace("Range: 4", "Range: 2").replace("Locals: 0", "Locals: 2").replace("None", "Local")
INVERSE = """Domain: 0, Range: 4, Symbols: 0, Locals: 0
6 constraints
(None None Value Value const)
-1 0 1 0 -2 = 0
0 -1 0 1 0 = 0
0 0 1 0 0 >= 0
0 0 -1 0 8 >= 0
0 0 0 1 0 >= 0
0 0 0 -1 8 >= 0"""
COMPOSED = """Domain: 0, Range: 4, Symbols: 0, Locals: 0
10 constraints
(Value Value Value Value const)
-1 0 1 0 -2 = 0
0 -1 0 1 0 = 0
1 0 0 0 0 >= 0
-1 0 0 0 8 >= 0
0 1 0 0 0 >= 0
0 -1 0 0 8 >= 0
0 0 1 0 0 >= 0
0 0 -1 0 8 >= 0
0 0 0 1 0 >= 0
0 0 0 -1 8 >= 0"""
POLYHEDRON = """Domain: 0, Range: 2, Symbols: 0, Locals: 0
2 constraints
(None None const)
1 0 -2 = 0
0 1 0 = 0"""


def function(text: str) -> func.Func:
    return parse(text).functions[0]


def pair(text: str) -> tuple[Access, Access]:
    first, second = accesses(function(text))
    return first, second


@pytest.mark.parametrize("text", [APPLIED, SUCCINCT])
def test_a_row_stored_two_iterations_ago(text: str) -> None:
    store, load = pair(text)
    assert relation_tableau(store).mlir() == STORED
    assert relation_tableau(load).mlir() == LOADED
    assert domain_tableau(store).mlir() == STORED_DOMAIN
    assert domain_tableau(load).mlir() == LOADED_DOMAIN
    assert inverse_tableau(load).mlir() == INVERSE
    assert composition_tableau(store, load).mlir() == COMPOSED
    (flow,) = dependences(function(text)).all()
    assert distance_tableau(flow).mlir() == POLYHEDRON


def test_a_skewed_store_and_load() -> None:
    store, load = pair(SKEWED)
    assert (
        relation_tableau(load).mlir()
        == """Domain: 0, Range: 4, Symbols: 0, Locals: 0
6 constraints
(Value Value None None const)
1 1 -1 0 0 = 0
1 2 0 -1 3 = 0
1 0 0 0 0 >= 0
-1 0 0 0 9 >= 0
0 1 0 0 0 >= 0
0 -1 0 0 6 >= 0"""
    )
    assert relation_tableau(store).mlir().split("\n")[3:5] == ["1 3 -1 0 0 = 0", "4 5 0 -1 0 = 0"]
    assert (
        composition_tableau(load, store).mlir()
        == """Domain: 0, Range: 4, Symbols: 0, Locals: 0
10 constraints
(Value Value Value Value const)
-1 -1 1 3 0 = 0
-1 -2 4 5 -3 = 0
1 0 0 0 0 >= 0
-1 0 0 0 9 >= 0
0 1 0 0 0 >= 0
0 -1 0 0 6 >= 0
0 0 1 0 0 >= 0
0 0 -1 0 9 >= 0
0 0 0 1 0 >= 0
0 0 0 -1 6 >= 0"""
    )


def test_the_order_of_iterations_at_each_depth() -> None:
    """%i' >= %i + 1 at depth 1; %i' = %i and %j' >= %j + 1 at depth 2; both equal at depth 3."""
    store, load = pair(SUCCINCT)
    at = [dependence_tableau(Dependence(store, load, depth, ((), ()))) for depth in (1, 2, 3)]  # type: ignore[arg-type]
    before = {str(row) for row in composition_tableau(store, load).systems[0]}
    added = [[str(row) for row in tableau.systems[0] if str(row) not in before] for tableau in at]
    assert added == [
        ["-1 0 1 0 -1 >= 0"],
        ["-1 0 1 0 0 = 0", "0 -1 0 1 -1 >= 0"],
        ["-1 0 1 0 0 = 0"],  # 0 -1 0 1 0 = 0 is said already: both touch column j
    ]


def test_symbols_and_divisions_have_columns() -> None:
    (load,) = accesses(
        function("""
        func.func @f(%A: memref<?xf32>, %n: index) {
          affine.for %i = 0 to %n step 2 {
            %a = affine.load %A[%i floordiv 3 + symbol(%n)] : memref<?xf32>
          }
          return
        }""")
    )
    shown = relation_tableau(load).mlir()
    assert shown.startswith("Domain: 0, Range: 2, Symbols: 1, Locals: 2\n8 constraints\n(Value None Value Local Local ")
    assert "0 -1 1 1 0 0 = 0" in shown  # m = n + i floordiv 3
    assert "1 0 0 -3 0 0 >= 0\n-1 0 0 3 0 2 >= 0" in shown  # 0 <= i - 3q <= 2


BRANCHES = """
func.func @f(%A: memref<40xf32>) {
  affine.for %i = -2 to 9 step 2 {
    affine.for %j = 0 to min affine_map<(d0) -> (d0 + 3, 5)>(%i) {
      affine.if affine_set<(d0, d1) : (d0 - d1 - 1 >= 0, d0 mod 4 == 0)>(%i, %j) {
      } else {
        %a = affine.load %A[(%i + 2) floordiv 3 + 4 * (%j mod 2)] : memref<40xf32>
      }
    }
  }
  return
}"""


def holds(tableau: Tableau, point: tuple[int, ...]) -> bool:
    """Whether a point is in a tableau without symbols: the locals are tried one by one."""
    box = [range(-1, 6)] * tableau.locals
    return any(
        all(
            (total == 0 if row.equality else total >= 0)
            for row in rows
            for total in [sum(a * b for a, b in zip(row.numbers, (*point, *rest, 1), strict=True))]
        )
        for rows in tableau.systems
        for rest in product(*box)
    )


def test_a_branch_has_a_system_for_each_alternative() -> None:
    (load,) = accesses(function(BRANCHES))
    tableau = relation_tableau(load)
    assert "\nor\n" in tableau.mlir()
    runs = {
        (i, j, (i + 2) // 3 + 4 * (j % 2))
        for i in range(-2, 9, 2)
        for j in range(min(i + 3, 5))
        if not (i - j - 1 >= 0 and i % 4 == 0)
    }
    used = {k for rows in tableau.systems for row in rows for k, n in enumerate(row.numbers[3:-1]) if n}
    assert used == set(range(tableau.locals))
    near = {(i, j, m + d) for i, j, m in runs for d in (-1, 0, 1)} | {(i, j, 0) for i in range(-3, 4) for j in (0, 1)}
    assert {p for p in near if holds(tableau, p)} == runs


def test_what_never_runs_has_no_points() -> None:
    (load,) = accesses(
        function("""
        func.func @f(%A: memref<4xf32>) {
          affine.if affine_set<() : (0 == 0)>() {
          } else {
            %a = affine.load %A[0] : memref<4xf32>
          }
          return
        }""")
    )
    assert holds(relation_tableau(load), (0,)) is False


def test_two_buffers_have_no_tableau_together() -> None:
    first, second = pair("""
        func.func @f(%A: memref<4xf32>, %B: memref<4xf32>) {
          %a = affine.load %A[0] : memref<4xf32>
          affine.store %a, %B[0] : memref<4xf32>
          return
        }""")
    with pytest.raises(ValueError, match="A and B are two buffers: which of their elements may be one is not known"):
        composition_tableau(first, second)
    with pytest.raises(ValueError, match="ask for two accesses to one buffer"):
        distance_tableau(Dependence(first, second, 1, ()))


def test_distances_of_a_symbolic_nest_have_their_symbol() -> None:
    of = dependences(
        function("""
        func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
          affine.for %i = 0 to %n {
            affine.store %x, %A[%i] : memref<?xf32>
            %a = affine.load %A[symbol(%n) - 1 - %i] : memref<?xf32>
          }
          return
        }""")
    )
    store, load = of.compared
    carried = of.at(store, load, 1)
    assert carried is not None
    assert str(carried) == "flow dependence of A at depth 1: [1, +inf]"
    # i' = n - 1 - i with 0 <= i < i' < n: the distance has the parity of n - 1, and is at most n - 1.
    tableau = distance_tableau(carried)
    assert (tableau.symbols, len(tableau.systems)) == (1, 1)
    points = {(d, n) for n in range(5) for i in range(n) for d in [n - 1 - 2 * i] if d >= 1}
    assert {p for p in product(range(-2, 7), range(5)) if holds(tableau, p)} == points


def test_a_tableau_of_too_many_systems_is_refused_and_what_prints_it_says_so() -> None:
    branches = "".join(
        f"affine.if affine_set<(d0, d1) : (d0 - {k} >= 0, d1 - d0 - {k} >= 0)>(%i, %j) {{ }} else {{ "
        for k in range(11)
    )
    text = f"""func.func @f(%A: memref<40xf32>) {{ affine.for %i = 0 to 30 {{ affine.for %j = 0 to 30 {{
      {branches} %a = affine.load %A[%i] : memref<40xf32> {"}" * 11} }} }} return }}"""
    (load,) = accesses(function(text))
    said = "it has 2048 systems of constraints, and at most 1000 are shown"
    with pytest.raises(UnknownError, match=said):
        relation_tableau(load)
    assert str(AccessRelation(load)).endswith(said)
