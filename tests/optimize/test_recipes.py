"""Each row of `recipes/*.txt`: what is chosen is what is said there, and does what the loops as written do."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import affdsl as af
from affdsl.optimize.attempts import in_memory
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options, targets
from affdsl.optimize.unfit import UnfitError
from tests.effort import TRIES_ALL
from tests.harness.rows import missing
from tests.optimize.recipes import Row, rows

ROWS = [row for row in rows() if TRIES_ALL or not row.is_long]
LANES = 8


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "only"], ids=str)
def test_it_is_what_is_chosen(row: Row):
    fast = row.optimized()
    assert missing(row.expected, fast, fast.schedule) == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "runs"], ids=str)
def test_it_is_what_is_chosen_and_does_the_same(row: Row):
    fast = row.optimized()
    assert missing(row.expected, fast, fast.schedule) == []
    assert row.program.difference(fast, exact=not row.way.allowed, **row.fixed) == ""


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "unfit"], ids=str)
def test_the_recipe_is_not_for_it(row: Row):
    """Neither where the nest is the first one nor another, and no step is left behind."""
    room, file, function = (*row.recipe.split("."), "take")[:3]
    take = getattr(importlib.import_module(f"affdsl.optimize.{room}.{file}"), function)
    s = af.Schedule(row.program.kernel)
    names = [each.names[0] for each in s.loops()]
    in_memory(s, names)
    before = str(s)
    options = Options(targets()[row.way.target])
    asked = [each.name for each in inspect.signature(take).parameters.values() if each.default is each.empty]
    for nest in nests(s):
        given = {"s": s, "nest": nest, "root": names[0], "lanes": LANES, "options": options}
        with pytest.raises(UnfitError) as unfit:
            take(**{name: given[name] for name in asked})
        assert re.search(row.reason, str(unfit.value))
    assert str(s) == before
