"""What is counted beside mlir-opt is what was done, and on some random programs each pass does rightly, and no less."""

from __future__ import annotations

from functools import cache

import pytest

from affdsl.ir.dialects import func
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import run_pipeline
from tests.effort import some
from tests.fuzz import amounts, counts, trials
from tests.fuzz.affine import Expr, name
from tests.fuzz.check import pipelines
from tests.fuzz.counts import Tally, main
from tests.fuzz.program import Binary, Buffer, Constant, For, Load, Program, Store
from tests.fuzz.trials import ROWS, Made, Row, Trial, by_mlir_opt
from tests.soundness.programs import PROGRAMS

SEEDS = some([61, 65, 66, 67, *range(68, 80), 60, *range(62, 65)], 4)
"""The first ones are programs to which mlir-opt does something by most passes, and something wrong by two."""
THREE = "test-loop-permutation{permutation-map=1,2,0 check-validity=1}"
KNOWN = {row.title: row for row in ROWS if row.is_known}
SLOW = {title for title in KNOWN if "data" in title}
RARE = {THREE, *(t for t in KNOWN if t.startswith(("affine-pipeline-data-transfer", "affine-loop-fusion")))}
"""What mlir-opt does to few programs."""


@cache
def tally_of(title: str) -> Tally:
    (made,) = counts.tallies(range(60, 63) if title in SLOW else SEEDS, [KNOWN[title]])
    return made


@pytest.mark.parametrize("title", KNOWN)
def test_each_pass_is_right_and_does_no_less_than_mlir_opt(title: str) -> None:
    tally = tally_of(title)
    assert [(t.seed, t.ours.said) for t in tally.ours_wrong] == []
    assert len(tally.ours) >= len(tally.theirs)
    ours, theirs = tally.amounts
    assert ours >= theirs
    assert [t.seed for t in tally.only_theirs] == []


def test_there_is_something_to_count() -> None:
    found = {title: tally_of(title) for title in KNOWN}
    assert {title for title, tally in found.items() if not tally.theirs} <= RARE
    assert any(tally.theirs_wrong for tally in found.values())


SCAN = Program(0, "i64", (Buffer("A", (9,), (False,), is_local=False),), (), ((),), (
    For("i", (Expr(0),), (Expr(8),), 1, (), (
        Store("A", (name("i").plus(1),), Binary("addi", Load("A", (name("i"),)), Constant(2))),
    )),
))  # fmt: skip
"""Each iteration reads what the one before wrote."""


NEST = """func.func @k(%A: memref<8x8xi32>, %x: i32) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 6 {
      %y = arith.addi %x, %x : i32
      affine.store %y, %A[%i, %j] : memref<8x8xi32>
      %z = affine.load %A[%i, %j] : memref<8x8xi32>
      affine.store %z, %A[%i, %j] : memref<8x8xi32>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("step", "amount"),
    [
        ("affine-loop-tile", 2),
        ("affine-loop-unroll", 1),
        ("affine-loop-unroll{unroll-factor=-1}", 1),
        ("affine-loop-unroll-jam", 1),
        ("affine-loop-coalescing", 1),
        ("affine-parallelize", 2),
        ("affine-loop-invariant-code-motion", 2),
        ("affine-scalrep", 2),
        ("test-loop-permutation{permutation-map=1,0 check-validity=1}", 1),
        (THREE, 0),
    ],
)
def test_amounts(step: str, amount: int) -> None:
    before, row = parse(NEST), KNOWN[step]
    ours = run_pipeline(before, row.pipeline)
    assert row.amount(before, before) == 0
    assert row.amount(before, ours) == amount
    # mlir-opt does the same to a program as simple as this one.
    plain, theirs = (parse(by_mlir_opt([NEST], pipeline)[0]) for pipeline in ("", row.pipeline))
    assert row.amount(plain, theirs) == amount


@pytest.mark.parametrize(("uses", "buffers"), [("%x = affine.load %B[0] : memref<8xi32, 1>", 1), ("", 0)])
def test_other_amounts(uses: str, buffers: int) -> None:
    before = parse("func.func @k(%A: memref<8xi32>) {\n  return\n}")
    after = parse(f"""func.func @k(%A: memref<8xi32>) {{
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %B = memref.alloc() : memref<8xi32, 1>
      %tag = memref.alloc() : memref<1xi32>
      affine.dma_start %A[%c0], %B[%c0], %tag[%c0], %c8 : memref<8xi32>, memref<8xi32, 1>, memref<1xi32>
      {uses}
      return
    }}""")
    assert amounts.buffers_added(before, after) == buffers
    assert amounts.transfers_added(before, after) == 1


def test_a_program_on_which_mlir_opt_crashes_spares_the_others() -> None:
    step, crashes = "affine-scalrep", PROGRAMS["31-scalrep-erased-load-crash"].text
    (pipeline,) = pipelines([step])[1:]
    first, second, third = by_mlir_opt([NEST, crashes, NEST], pipeline)
    assert first == third
    assert print_op(parse(first)).count("affine.store") == 1
    assert second.startswith("refused: exit status -")


def test_a_program_on_which_mlir_opt_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "PATIENCE", -0.9999)
    (said,) = by_mlir_opt([NEST], "")
    assert said.startswith("endless: ")


def test_what_is_wrong_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Row("affine-scalrep", "accesses saved", amounts.accesses_removed)

    def without_stores(module: func.Module, pipeline: str) -> func.Module:
        return parse("\n".join(line for line in print_op(module).splitlines() if "affine.store" not in line))

    monkeypatch.setattr(trials, "run_pipeline", without_stores)
    (trial,) = trials.trials([1], [row])
    assert trial.ours.amount > 0
    assert trial.ours.said.startswith("mismatch: ")
    tally = Tally(row)
    tally.add(trial)
    assert (tally.ours, tally.ours_wrong) == ([], [trial])
    assert not tally.is_not_fewer


def test_a_race_is_wrong_though_it_does_no_harm_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def racing(module: func.Module, pipeline: str) -> func.Module:
        text = print_op(module)
        return parse(text.replace("affine.for %i = 0 to 8 {", "affine.parallel (%i) = (0) to (8) {"))

    monkeypatch.setattr(trials, "run_pipeline", racing)
    monkeypatch.setattr(trials, "generate", lambda seed, mix: SCAN)
    monkeypatch.setattr(trials, "by_mlir_opt", lambda texts, pipeline: texts)
    (trial,) = trials.trials([0], [KNOWN["affine-parallelize"]])
    assert trial.ours.amount == 1
    assert trial.ours.said.startswith("mismatch: ")
    assert (trial.theirs.is_changed, trial.theirs.is_right) == (False, True)


def test_fewer_programs_and_less_of_one_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    row = ROWS[0]
    tally = Tally(row)
    made = {n: Made(n, is_changed=True, said="") for n in range(4)}
    for seed, (ours, theirs) in enumerate([(0, 2), (1, 3), (3, 1), (0, 0)]):
        tally.add(Trial(seed, row, made[ours], made[theirs]))
    tally.add(Trial(9, row, made[1], Made(2, is_changed=True, said="crash: of course")))
    assert tally.cells == ("affine-loop-tile", "3", "0", "3", "1", "5", "6", "loops tiled", "1", "2", "0")
    assert not tally.is_not_fewer
    assert counts.details(tally).splitlines() == [
        "affine-loop-tile", "    theirs more: 0 (0 of 2), 1 (1 of 3)", "    theirs wrong: 9",
    ]  # fmt: skip


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "3", "--only", "coalescing"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["pass", "ours", "wrong"]
    assert lines[1].startswith("affine-loop-coalescing ")


def test_the_command_fails_where_ours_is_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "run_pipeline", lambda module, pipeline: module)
    assert main(["--count", "3", "--only", "affine-loop-unroll{unroll-factor=-1}"]) == 1
