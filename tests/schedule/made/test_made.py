"""Programs that are made for a verb: what is accepted is right, and what is refused says why, and truly."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.effort import TRIES_ALL, some
from tests.schedule.made.check import FORCED, MAKERS, Report, check
from tests.schedule.made.run import main
from tests.transformations.primitives import unasked

EVERYDAY = 6
"""Programs of so many seeds for each verb, in every second one of which something is planted."""


@cache
def found() -> Report:
    return check([(verb, seed) for seed in some(range(1, 401), EVERYDAY) for verb in MAKERS])


@pytest.mark.parametrize("verb", MAKERS)
def test_what_is_accepted_is_right_and_what_is_refused_says_why(verb: str):
    row = found().row(verb)
    assert not row.wrong, "\n\n".join(said for _, said in row.wrong)
    assert row.compiled == row.accepted >= EVERYDAY // 4
    assert sum(row.refused.values()) + row.accepted == row.programs
    assert len(row.refused) >= (len(set(MAKERS[verb].refusals.values())) if TRIES_ALL else 1)


@pytest.mark.parametrize(
    ("verb", "planted"),
    [
        ("load_ahead", "stored"),
        ("splice", "stored"),
        ("sink", "written inside"),
        ("precompute", "written"),
        ("pipeline", "written late"),
        ("pipeline", "not brought"),
    ],
)
def test_a_verb_that_does_not_ask_is_noticed(verb: str, planted: str):
    kinds = list(MAKERS[verb].refusals)
    seeds = [2 * (kinds.index(planted) + k * len(kinds)) + 1 for k in range(4)]
    assert {MAKERS[verb].made(seed).planted for seed in seeds} == {planted}
    with unasked(*FORCED[verb]):
        row = check([(verb, seed) for seed in seeds], compiled=False).row(verb)
    assert row.wrong
    assert all("instead of" in said or said.startswith("raised InterpreterError") for _, said in row.wrong)


def test_a_refusal_that_is_not_true_or_names_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch):
    said = {"elements": "it is late", "other array": "it stores no vector to [BC]", "other loop": "it is early"}
    monkeypatch.setitem(MAKERS, "stream", replace(MAKERS["stream"], refusals=said))
    wrong = [text for _, text in check([("stream", seed) for seed in (1, 3, 5)], compiled=False).row("stream").wrong]
    assert [text.partition(":\n")[0] for text in wrong] == [
        "not what was planted: elements",
        "not what was planted: other loop",
    ]


def test_what_the_command_prints(capsys: pytest.CaptureFixture[str]):
    assert main(["--count", "2", "--verbs", "stream", "--no-c"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "stream: 2 programs, 1 accepted, 0 of them compiled and 1 validated; 1 refused, 0 of them forced"
    )
    assert "1 refused: it stores no vector to" in said
    with pytest.raises(SystemExit):
        main(["--verbs", "streams"])
