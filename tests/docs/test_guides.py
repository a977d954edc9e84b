"""Guides show what they promise: each step of a schedule with an example and a refusal."""

import inspect
import re

import pytest

import affdsl
from tests.docs.pages import DOCS, blocks

STEPS = sorted(
    name
    for name, method in inspect.getmembers(affdsl.Schedule, inspect.isfunction)
    if not name.startswith("_") and inspect.signature(method).return_annotation == "Schedule"
)
PAGE = (DOCS / "guides" / "schedules.md").read_text(encoding="utf-8")
CODE = "\n".join(block.code for block in blocks(PAGE) if block.kind == "python")


def test_steps_are_those_of_the_class():
    assert {"tile", "skew", "register_tile", "vectorize"} <= set(STEPS)
    assert not {"undo", "loops", "kernel", "explain"} & set(STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_has_an_example_and_stands_in_a_heading(step):
    assert f".{step}(" in CODE
    assert re.search(rf"^### .*\b{step}\b", PAGE, re.M)
