"""The README is short, shows what comes, and claims what the page of results and other tests hold."""

import subprocess
import sys

import pytest

from tests.docs.claims import ROOT, Document, unheld
from tests.test_project import run_blocks

README = Document("README.md")
PRINTED = ("c", "mlir", "text")


def test_it_is_read_in_a_few_minutes():
    assert len(README.text.splitlines()) <= 130


def test_what_it_shows_is_what_comes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("printed", "w+", encoding="utf-8") as printed:
        monkeypatch.setattr(sys, "stdout", printed)
        run_blocks(README.text, "README.md")
        printed.seek(0)
        said = printed.read()
    assert {language for language, _ in README.blocks} == {"python", "sh", *PRINTED}
    assert [text for language, text in README.blocks if language in PRINTED and text not in said] == []


@pytest.mark.parametrize("command", [line for line in README.commands if line.startswith("make")])
def test_make_has_such_a_target(command):
    done = subprocess.run([*command.partition("#")[0].split(), "-n"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


CLAIMS = {
    "Write a loop nest in Python.": "examples/test_examples.py::test_compiled",
    "proved legal for all sizes, or refused with two iterations":
        "transformations/test_cases.py::test_what_is_not_legal_is_refused_with_two_iterations_that_change_places",
    "the same to the bit": "optimize/test_recipes.py::test_it_is_what_is_chosen_and_does_the_same",
    "![How many times as fast": "docs/test_results.py::test_the_page_the_readme_and_the_plots_are_those_of_the_data",
    "<!-- ": "docs/test_results.py::test_the_page_the_readme_and_the_plots_are_those_of_the_data",
    "| beside |": "docs/test_results.py::test_the_page_the_readme_and_the_plots_are_those_of_the_data",
    "How many times longer the peer takes": "docs/test_results.py::test_a_row_is_slower_where_it_says_so",
    "With Python 3.11 or newer": "docs/test_readme.py::test_the_version_of_python_is_that_of_the_package",
    "The body runs once": "lang/test_mistakes.py::test_mistake",
    "needs no run-time of ours": "codegen/c/test_names.py::test_hostile_arguments_loops_and_values_compile",
    "![The refusal with its two iterations": "docs/test_results.py::test_the_story_shows_the_refusal_that_is_raised",
    "* [Your first kernel]": "docs/test_links.py::test_links_lead_somewhere",
    "* [Fast without a hint]": "docs/test_links.py::test_links_lead_somewhere",
    "* [A library for others]": "docs/test_shipping.py::test_its_commands_build_and_run_what_it_says",
    "* [What is not supported]": "docs/test_not_supported.py::test_a_row",
    "* Coming from [numba]": "docs/test_links.py::test_links_lead_somewhere",
    "`make docs` builds all of it": "docs/test_site.py::test_a_site_that_is_not_whole_is_found",
}  # fmt: skip
"""What it says, in its words, and the test that holds it."""


def test_every_paragraph_says_something_that_a_test_holds():
    table = {line for line in README.paragraphs if line.startswith(("| ", "|-"))}
    assert len(table) >= 4, "the rows of the results, which docs/test_results.py holds"
    assert unheld([line for line in README.paragraphs if line not in table or "beside" in line], CLAIMS) == []


def test_the_version_of_python_is_that_of_the_package():
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
