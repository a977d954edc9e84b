"""The parts that make the site: docstrings, links, drawings, colours, and the check of what came out."""

import doctest
import importlib
import importlib.util
import json
import re
import zlib

import pytest

import affdsl
from docs.site.names import public_names
from tests.oracles import missing


@pytest.fixture(autouse=True)
def sphinx():
    """Sphinx is an extra: without it, tests of this file are skipped and counted."""
    if importlib.util.find_spec("sphinx") is None or importlib.util.find_spec("myst_parser") is None:
        missing("Sphinx (pip install 'affdsl[docs]')")


def part(name: str):
    return importlib.import_module(f"docs.site.{name}")


@pytest.mark.parametrize("name", ["commands", "diagrams", "docstrings", "links", "names", "reference", "search"])
def test_examples_in_the_parts_run(name):
    tried = doctest.testmod(part(name))
    assert tried.attempted
    assert not tried.failed


def html(docstring: str) -> str:
    publish_parts = importlib.import_module("docutils.core").publish_parts
    text = "\n".join(part("docstrings").restructured(docstring.split("\n")))
    settings = {"report_level": 1, "halt_level": 1, "syntax_highlight": "none"}
    return publish_parts(text, writer="html5", settings_overrides=settings)["body"]


@pytest.mark.parametrize(
    ("docstring", "shown"),
    [
        ("x * y, *args, for_ and |a|.", "<p>x * y, *args, for_ and |a|.</p>"),
        ("Code: `a * b_`, `i\n#1`s.", 'literal">a * b_</'),
        ("A `c` that\n\n    for i: S   ->   T\n\nmore", '<pre class="code text literal-block">'),
        ("* one `a_`\n* two\n  lines", "<li><p>two\nlines</p></li>"),
        ("A back`tick.", "<p>A back`tick.</p>"),
        (">>> 1 * 2\n2", "doctest"),
    ],
)
def test_docstrings_mean_what_they_say(docstring, shown):
    assert shown in html(docstring)


def test_an_example_behind_a_section_is_none_of_its_items():
    lines = ["Raises", "------", "ValueError", "    Always.", "", ">>> f()", "1"]
    made = part("docstrings").restructured(lines)
    assert made == [*lines[:5], "Examples", "--------", ">>> f()", "1", ""]


def test_attributes_that_share_what_is_said_have_it_each():
    lines = ["Attributes", "----------", "a, b", "    Of both.", "c", "    Of one, two."]
    made = part("docstrings").restructured(lines)
    assert made == [*lines[:2], "a", "    Of both.", "b", "    Of both.", *lines[4:], ""]


def test_every_name_has_an_entry_and_one_sentence():
    reference = part("reference")
    for name in affdsl.__all__:
        entry = "\n".join(reference.entry(name))
        assert f":: affdsl.{name}" in entry or (f":: {name}" in entry and ":module: affdsl" in entry), name
        sentence = reference.summary(name)
        assert re.fullmatch(r".{3,}\w.*\.", sentence), name


def test_what_is_overloaded_for_type_checkers_has_one_signature():
    reference = part("reference")
    (head, *said) = reference.entry("kernel")
    assert head.startswith(".. py:function:: kernel(function: Callable[..., object] | None = None, /, *, boundscheck: ")
    assert any("**boundscheck**" in line or "boundscheck:" in line for line in said)
    assert next(iter(reference.entry("for_"))).startswith(".. autoclass:: affdsl.for_(*bounds: Operand")


@pytest.mark.parametrize(
    ("code", "target"),
    [
        ("af.for_", "affdsl.for_"),
        ("af.strided(af.f32[M, N])", "affdsl.strided"),
        ("af.Schedule.tile", "affdsl.Schedule.tile"),
        ("af.f32[M, N]", "affdsl.f32"),
        ("@af.kernel", "affdsl.kernel"),
        ("kernel.save_c(folder)", "affdsl.Kernel.save_c"),
        ('s.tile(("i", "j"), 32)', "affdsl.Schedule.tile"),
        ("af.nothing", None),
        ("x + af.f32(1)", None),
    ],
)
def test_code_that_is_a_name_leads_to_it(code, target):
    assert part("links").target_of(code, public_names()) == target


def test_colours_of_mlir_lose_no_character():
    error = importlib.import_module("pygments.token").Error
    text = 'func.func @f(%A: memref<?x4xf32, strided<[?, 1]>>) {\n  affine.for %i = 0 to 8 { "a.b"() } // c\n}\n'
    tokens = list(part("mlir").MlirLexer().get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    assert error not in {kind for kind, _ in tokens}


def inventory(folder, names, title=""):
    """The files in which Sphinx lists what a site has, and what the search finds."""
    entries = "".join(f"{name} py:function 1 index.html#$ -\n" for name in names)
    index = {"docnames": ["index", "decisions/0001"], "titles": ["affdsl", title]}
    (folder / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})", encoding="utf-8")
    head = b"# Sphinx inventory version 2\n# Project: p\n# Version: 1\n# The rest is compressed using zlib.\n"
    (folder / "objects.inv").write_bytes(head + zlib.compress(entries.encode()))


def test_a_site_that_is_not_whole_is_found(tmp_path, capsys):
    check = part("check")
    inventory(tmp_path, [f"affdsl.{name}" for name in public_names() if name != "sqrt"], "1. A decision")
    page = '<h1 id="a"><a href="#a">x</a><a href="#b">x</a><a href="none.html">x</a><a href="https://x.org/">x</a>'
    (tmp_path / "index.html").write_text(
        page + '<script src="https://x.org/a.js"></script>n: TypeAliasForwardRef', "utf-8"
    )
    assert check.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "affdsl.sqrt is not in the reference",
        "the search finds decisions/0001",
        "index.html has a TypeAliasForwardRef in a signature",
        "index.html loads https://x.org/a.js: a reader may have no network",
        "index.html links to #b: that page has no such anchor",
        "index.html links to none.html, which is not there",
    ]
    inventory(tmp_path, [f"affdsl.{name}" for name in public_names()])
    (tmp_path / "index.html").write_text('<h1 id="a"><a href="index.html#a">x</a>', encoding="utf-8")
    assert check.main([str(tmp_path)]) == 0
    assert check.main([]) == 2
    assert "usage: python -m docs.site.check FOLDER" in capsys.readouterr().err
