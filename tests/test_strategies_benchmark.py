"""`python -m benchmarks.strategies` tells which strategies take steps of a schedule, and what changed since."""

from benchmarks import strategies
from benchmarks.idioms.kernels import layout
from benchmarks.strategies import Cost, Taken, cost, table, taken


def test_a_strategy_takes_a_kernel_where_a_step_of_it_is_left():
    (transposed,) = [each for each in layout.IDIOMS if each.name == "transposed"]
    found = taken(transposed.kernel, "idioms/transposed", "strict-avx2-1")
    assert "order/transposes" in found.strategies
    assert "fuse/row_strips" not in found.strategies
    assert any(step.startswith("tile(") for step in found.steps)
    [line] = [line for line in table([found]).splitlines() if line.startswith("order/transposes")]
    assert line.split()[1:3] == ["1", "1"]
    assert line.endswith("idioms/transposed")


def test_other_steps_and_other_words_are_told(tmp_path, capsys):
    (name,) = [name for name in strategies.kernels(["reductions"]) if name.endswith("/sum of doubles")]
    file = tmp_path / "kept.jsonl"
    given = ["reductions", "--only", "sum of doubles", "--rows", "strict-avx2-1"]
    assert strategies.main([*given, "--save", str(file)]) == 0
    file.write_text(file.read_text(encoding="utf-8").replace('"notes": [', '"notes": ["other", '), encoding="utf-8")
    assert strategies.main([*given, "--against", str(file)]) == 1
    said = capsys.readouterr().out
    assert f"{name}, strict-avx2-1: other words\n    - other" in said


def test_what_fails_is_a_row():
    found = taken(None, "nothing", "strict-avx2-1")  # type: ignore[arg-type] - no kernel
    assert isinstance(found, Taken)
    assert "ScheduleError" in found.notes[0]


def test_costs_are_counted_in_the_text():
    text = "FEW = 4\nFAR, NEAR = 2, 1.5\nTABLE = {1: 2}\nNAME = 'x'\ndef f(s):\n    return s.loops(), names_in(s, 'i')"
    assert cost(text) == Cost(lines=6, numbers=4, look_ups=2)
