"""Guides show what they promise: names that there are, and each step of a schedule with an example and a refusal."""

import inspect
import re

import pytest

import affdsl
from tests.docs.pages import DOCS, FENCE, blocks

STEPS = sorted(
    name
    for name, method in inspect.getmembers(affdsl.Schedule, inspect.isfunction)
    if not name.startswith("_") and inspect.signature(method).return_annotation == "Self"
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


TRIED = re.compile(r"^\| `.*Error: .*$", re.M)
"""Rows of what is refused, which tests of their own try."""
SPANS = {
    path: re.findall(r"`([^`]+)`", TRIED.sub("", FENCE.sub("", path.read_text(encoding="utf-8"))))
    for path in [
        DOCS.parent / "README.md",
        *(DOCS / f"{name}.md" for name in ("index", "other-words", "stability", "tour")),
        *sorted((DOCS / "guides").glob("*.md")),
    ]
}
VARIABLE = {"set"}
"""What `s` has where it is a variable."""
ABOUT = {r"\baf\.(\w+)": affdsl, r"\bs\.(\w+)": affdsl.Schedule, r"\bkernel\.(\w+)": affdsl.Kernel}


@pytest.mark.parametrize("path", SPANS, ids=lambda path: path.name)
def test_code_in_the_text_has_names_that_there_are(path):
    for pattern, owner in ABOUT.items():
        named = {name for span in SPANS[path] for name in re.findall(pattern, span)}
        assert {name for name in named if not hasattr(owner, name)} - VARIABLE == set()
