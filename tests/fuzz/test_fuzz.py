"""Some random affine programs in each run of the suite: every way to run them gives what their reference says.

`python -m tests.fuzz.run` runs more of them, and makes one that fails small.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import cache

import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.mlir.readers import parse
from tests.effort import some
from tests.fuzz import check, judges
from tests.fuzz.affine import Division, Expr, name
from tests.fuzz.features import Features
from tests.fuzz.generator import generate
from tests.fuzz.judges import JUDGES, Item
from tests.fuzz.minimise import is_valid, minimise
from tests.fuzz.mlir import mlir
from tests.fuzz.program import Binary, Buffer, Carried, Cast, Constant, For, Load, Name, Program, Store, nodes
from tests.fuzz.reference import LIMIT, UnusableError, evaluate, placed, races
from tests.fuzz.run import main, shown
from tests.harness.limit import limited
from tests.oracles import mlir_opt

SEEDS = some(range(1, 61), 20)

ABSENT = Features(**{field.name: 0.0 for field in fields(Features)})


@cache
def program(seed: int) -> Program:
    return generate(seed)


@pytest.mark.parametrize("judge", JUDGES)
def test_programs_do_what_their_reference_says(judge):
    report = check.check([program(seed) for seed in SEEDS], [check.UNTOUCHED], [judge])
    assert report.judged[judge] == len(SEEDS)
    assert [(f.program.seed, f.said) for f in report.failures] == []


def test_programs_do_the_same_after_each_pass_and_after_all():
    chosen, seeds = check.pipelines(check.EVERY_PASS)[1:], some(SEEDS, 1)
    report = check.check([program(seed) for seed in seeds], chosen, ["interpreter"])
    assert report.judged["interpreter"] >= len(seeds)
    assert [(f.program.seed, f.pipeline, f.judge, f.said) for f in report.failures] == []


def test_compiled_programs_do_the_same_after_all_passes():
    pipeline = check.pipelines(check.EVERY_PASS)[-1]
    report = check.check([program(seed) for seed in some(SEEDS[:15], 1)], [pipeline], [*JUDGES])
    assert [(f.program.seed, f.judge, f.said) for f in report.failures] == []


def test_mlir_accepts_the_text_of_the_generator():
    mlir_opt("\n".join(mlir(program(seed)) for seed in SEEDS))


def test_a_seed_always_gives_the_same_program():
    assert generate(7) == program(7) != program(8)


def test_features_that_leave_no_program_are_refused():
    with pytest.raises(ValueError, match=r"no program of seed 1 with .* stores anything"):
        generate(1, replace(ABSENT, zerotrip=1.0))


def small(*body: object, element: str = "i32", size: int = 8, is_local: bool = False) -> Program:
    """A program over the buffers A, which is an argument, and B."""
    buffers = (Buffer("A", (size,), (False,), False), Buffer("B", (size,), (False,), is_local))
    return Program(1, element, buffers, (), ((),), tuple(body))  # type: ignore[arg-type]


def loop(*body: object, lower: int = 0, upper: int = 4) -> For:
    return For("i", (Expr(lower),), (Expr(upper),), 1, (), tuple(body))  # type: ignore[arg-type]


def at(shift: int) -> tuple[Expr, ...]:
    return (name("i").plus(shift),)


def test_the_reference_wraps_integers():
    doubled = Store("A", (Expr(0),), Binary("addi", Load("A", (Expr(0),)), Load("A", (Expr(0),))))
    start = Store("A", (Expr(0),), Constant(3))
    (result,) = evaluate(small(start, For("i", (Expr(0),), (Expr(31),), 1, (), (doubled,))))
    assert result["A"][0] == -(1 << 31)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (small(loop(Store("A", at(5), Constant(1)))), "out of bounds"),
        (small(loop(Store("A", at(-1), Constant(1)))), "out of bounds"),
        (small(Store("A", (Expr(0),), Load("B", (Expr(0),))), is_local=True), "nobody wrote"),
        (small(loop(Store("A", (Expr(0),), Constant(1)), upper=LIMIT + 1)), "too many"),
        (
            small(
                loop(Store("A", (Expr(1),), Binary("addf", Load("A", (Expr(1),)), Load("A", (Expr(1),)))), upper=60),
                element="f64",
            ),
            "not exact",
        ),
    ],
)
def test_the_reference_refuses_what_has_no_exact_meaning(made, says):
    with pytest.raises(UnusableError, match=says):
        evaluate(made)


def test_accesses_are_moved_into_bounds_together():
    moved = placed(small(loop(Store("A", at(-3), Load("A", at(-5))))))
    (stored,) = (node for node in nodes(moved.body) if isinstance(node, Store))
    assert (stored.index, stored.value) == (at(2), Load("A", at(0)))
    assert [b.shape for b in moved.buffers] == [(6,), (4,)]


@pytest.mark.parametrize(("shift", "carries"), [(0, False), (1, True), (-1, True), (4, False)])
def test_races_are_the_conflicts_between_iterations(shift, carries):
    assert races(small(loop(Store("A", at(0), Load("A", at(shift))))), "i") is carries


def test_a_value_that_is_squared_in_each_iteration_stays_short_where_only_places_are_looked_at():
    squared = Carried("c", Constant(3), Binary("muli", Name("c"), Name("c")))
    body = For("i", (Expr(0),), (Expr(200),), 1, (squared,), (Store("A", (Expr(0),), Name("c")),))
    program = small(body, Store("A", (Expr(1),), Name("cr")))
    with limited(20):
        assert races(program, "i")
        assert placed(program).body == program.body
        (result,) = evaluate(program)
    assert result["A"][0] == pow(3, 2**199, 1 << 32) - (1 << 32) * (pow(3, 2**199, 1 << 32) >= 1 << 31)


def test_a_loop_that_starts_anew_does_not_race_with_itself():
    outer = For("j", (Expr(0),), (Expr(3),), 1, (), (loop(Store("A", at(0), Constant(1))),))
    assert not races(small(outer), "i")
    assert races(small(outer), "j")


def test_divisions_round_as_mlir_says():
    def value(kind, dividend):
        expr = Expr(0, (), (Division(kind, Expr(dividend), 4),))
        return evaluate(small(Store("A", (Expr(0),), Cast(expr))))[0]["A"][0]

    assert [value("floordiv", n) for n in (-5, -4, 5)] == [-2, -1, 1]
    assert [value("ceildiv", n) for n in (-5, -4, 5)] == [-1, -1, 2]
    assert [value("mod", n) for n in (-5, -4, 5)] == [3, 0, 1]


def differences(module):
    """The module with each sum of integers a difference."""

    def changed(op: Op) -> Op | None:
        return with_fields(op, kind="subi") if isinstance(op, arith.Binary) and op.kind == "addi" else None

    return with_fields(module, body=tuple(rewrite(f, changed) for f in module.body))


def item(made: Program) -> Item:
    return Item(made, parse(mlir(made)), evaluate(made))


@pytest.mark.parametrize("judge", JUDGES)
def test_a_wrong_operation_is_noticed(judge):
    made = small(loop(Store("A", at(1), Binary("addi", Load("A", at(0)), Constant(2)))))
    right = item(made)
    wrong = replace(right, module=differences(right.module))
    assert JUDGES[judge]([right]) == [""]
    assert JUDGES[judge]([wrong])[0].startswith("mismatch: A[1] is ")


@pytest.mark.parametrize(("shift", "side"), [(6, "after"), (-2, "before")])
@pytest.mark.parametrize("judge", ["c", "mlir"])
def test_a_store_outside_of_a_buffer_is_noticed(judge, shift, side):
    made = small(loop(Store("A", at(0), Constant(2))))
    right = item(made)

    def moved(op: Op) -> Op | None:
        return with_fields(op, index=tuple(e + shift for e in op.index)) if isinstance(op, affine.Store) else None

    body = tuple(rewrite(f, moved) for f in right.module.body)
    wrong = replace(right, module=with_fields(right.module, body=body))
    assert JUDGES[judge]([wrong]) == [f"red zone: something was written {side} A"]
    refused = judges.by_interpreter([wrong])[0]
    assert re.match(r"refused: InterpreterError: .*out of bounds", refused), refused


@pytest.mark.parametrize("judge", ["c", "mlir"])
def test_a_crash_is_that_of_one_program(judge):
    right = item(small(loop(Store("A", at(0), Constant(2)))))

    def far(op: Op) -> Op | None:
        return with_fields(op, index=tuple(e + (1 << 40) for e in op.index)) if isinstance(op, affine.Store) else None

    body = tuple(rewrite(f, far) for f in right.module.body)
    wrong = replace(right, module=with_fields(right.module, body=body))
    first, second, third = JUDGES[judge]([right, wrong, right])
    assert (first, third) == ("", "")
    assert second == "crash: exit status -11"


def test_a_program_without_an_end_is_stopped():
    def endless():
        with limited(0.05):
            while True:
                pass

    with pytest.raises(TimeoutError, match=r"more than 0\.05 seconds"):
        endless()


def test_what_fails_is_made_small(monkeypatch):
    monkeypatch.setitem(
        JUDGES, "faulty", lambda items: judges.by_interpreter([replace(i, module=differences(i.module)) for i in items])
    )
    failure = next(
        f for f in check.check([program(s) for s in SEEDS], [check.UNTOUCHED], ["faulty"]).failures
        if len(mlir(f.program).splitlines()) > 40 and f.said.startswith("mismatch")
    )  # fmt: skip
    tiny = minimise(failure.program, lambda p: check.still_fails(failure, p))
    assert is_valid(tiny)
    assert check.still_fails(failure, tiny)
    assert len(mlir(tiny).splitlines()) < 12, mlir(tiny)


def test_a_parallel_loop_whose_iterations_meet_is_not_valid():
    for shift, is_fine in ((0, True), (1, False)):
        racing = replace(loop(Store("A", at(0), Load("A", at(shift)))), is_parallel=True)
        assert is_valid(small(racing)) is is_fine


def test_a_program_with_undefined_names_is_not_valid():
    store = Store("A", at(0), Name("v"))
    assert not is_valid(small(loop(store)))
    assert not is_valid(small(replace(store, value=Constant(1))))
    assert is_valid(small(loop(replace(store, value=Constant(1)))))


def test_the_pass_that_changed_a_program_is_blamed(monkeypatch):
    monkeypatch.setattr(check, "run_pipeline", lambda module, text: differences(module) if text == "wrong" else module)
    made = small(loop(Store("A", at(1), Binary("addi", Load("A", at(0)), Constant(2)))))
    same = small(loop(Store("A", at(1), Binary("subi", Load("A", at(0)), Constant(2)))))
    report = check.check([made, same], [check.UNTOUCHED, "idle", "wrong"], ["interpreter", "c"])
    assert report.judged == {"interpreter": 3, "c": 3}, "what a pass did not change is not judged again"
    assert report.changed == {"wrong": 1}
    assert [(f.program, f.pipeline, f.judge) for f in report.failures] == [
        (made, "wrong", "interpreter"),
        (made, "wrong", "c"),
    ]


def test_a_pass_that_raises_is_a_failure(monkeypatch):
    def broken(module, text):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(check, "run_pipeline", broken)
    (failure,) = check.check([program(1)], ["broken"], ["interpreter"]).failures
    assert (failure.pipeline, failure.judge, failure.said) == ("broken", "pass", "ZeroDivisionError: by nothing")


def test_the_command_writes_a_small_program_for_each_kind_of_failure(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(JUDGES, "never", lambda items: ["mismatch: always" for _ in items])
    command = ["--count", "3", "--judges", "never", "--output", str(tmp_path), "--minimise", "0"]
    assert main(command) == 1
    assert re.search(r"^ +3 no passes: never: mismatch$", capsys.readouterr().out, re.M)
    first, second = sorted(tmp_path.iterdir())
    assert "// says: mismatch: always\n// seed 1," in first.read_text()
    assert first.read_text().endswith(shown(program(1)) + "\n")
    assert "// seed 2," in second.read_text()
