"""Verdicts name what makes each of the slow kernels slow, at its line; what is fast has nothing in its way."""

import pytest

from affdsl.codegen.native import native_target
from affdsl.optimize.machine import usual
from affdsl.optimize.options import Options
from affdsl.report.considered import considered
from affdsl.report.loops import Origin, source_loops
from affdsl.report.ranking import ranked
from affdsl.report.subject import subject
from affdsl.report.times import times
from affdsl.report.trials import Outcome, Tried
from affdsl.report.tries import tries
from affdsl.report.verdicts import instructions_of, verdicts
from tests.report import kernels
from tests.report.kernels import arguments

SLOW = {
    "clamped": ("clamp", "optimize()"),
    "limited": ("extreme", "af.select instead of af.min and af.max"),
    "summed": ("sum", "allow reassociate"),
    "mixed": ("mixed", "only af.f32"),
    "by_columns": ("columns", "keep A transposed"),
    "divided": ("division", "allow reciprocal"),
    "looked_up": ("gather", "optimize()"),
}


def said_of(kernel, *given):
    of = subject(kernel, given, {})
    sources = source_loops(kernel.written.module)
    return verdicts(of, times(of, sources), sources, instructions_of(of)[0])


@pytest.mark.parametrize("name", SLOW)
def test_the_cause_is_named_and_something_is_tried_against_it(name):
    kernel = getattr(kernels, name)
    kind, title = SLOW[name]
    said = said_of(kernel)
    [innermost] = [each for each in said if each.loop.is_innermost]
    assert kind in [cause.kind for cause in innermost.causes]
    assert title in [each.title for each in tries(kernel, said)]
    assert all((innermost.tags, innermost.sentences))


def test_what_is_fast_has_nothing_in_its_way():
    [said] = said_of(kernels.plain)
    assert not said.causes
    assert said.tags[0] in ("vectors of 4", "vectors of 8", "vectors of 16")  # as wide as the machine's
    assert [each.title for each in tries(kernels.plain, [said]) if each.kind == "permission"] == []


def test_a_recurrence_says_which_line_needs_which():
    [said] = said_of(kernels.limited)
    assert "waits for itself" in said.tags
    line = said.causes[0].location.line + 1
    assert f"Line {line} writes elements of y that line {line} reads in a later iteration." in said.causes[0].why


def test_loops_that_steps_made_are_of_loops_of_the_source():
    fast = kernels.summed.optimize(threads=1)
    said = said_of(fast, *arguments(kernels.summed, 64))
    assert [each.loop.name for each in said] == ["i", "j"]
    assert any(tag.startswith(("vectors of", "in order, on vectors")) for each in said for tag in each.tags)
    sources = source_loops(kernels.summed.module)
    origin = Origin(sources)
    assert [origin.of(each.op, each.iv) for each in sources] == [*sources]


def test_what_gains_most_comes_first_and_optimize_before_all():
    said = said_of(kernels.divided)
    of = {each.title: each for each in tries(kernels.divided, said)}
    seconds = {"optimize()": 8.0, "allow reciprocal": 4.0, "af.f32 instead of af.f64": 2.0}
    came = Outcome(10.0, tuple(Tried(each, seconds.get(title), "too long") for title, each in of.items()))
    good, rest = ranked(came, said)
    assert [each.title for each in good] == ["optimize()", "af.f32 instead of af.f64", "allow reciprocal"]
    assert good[2].gain == "2.50 times as fast, 2.00 times as fast as optimize() alone"
    assert good[2].loops == (("loop-1", "i"),)
    assert all(each.time == "too long" for each in rest)


def test_what_the_search_considers_is_told_with_times():
    options = Options(native_target())
    [nest] = considered(kernels.divided, {"N": 1000}, options, usual(options.target), 60.0)
    assert nest.rows[0].name == "the loops as written"
    assert [row.name for row in nest.rows if row.taken] == ["vectors: inner loops on vectors"]
    assert all(row.said for row in nest.rows[1:])
