"""The page that `kernel.report` writes: what stands in it, where its links lead, and that it needs nothing else."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.report import packages
from affdsl.report.loops import source_loops
from affdsl.report.subject import subject
from affdsl.report.times import times
from tests.report.kernels import arguments, divided, flat, repeated, seidel, summed
from tests.report.page import Page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """That of a kernel of a schedule with a refusal; nothing is tried."""
    s = af.Schedule(seidel)
    with pytest.raises(af.IllegalTransform):
        s.tile(("t", "i"), (2, 4))
    tiled = s.skew("t", "i", 1).tile(("t", "i"), (2, 4)).kernel()
    path = tmp_path_factory.mktemp("report") / "page.html"
    assert tiled.report(path, N=9, seconds=0.0) == path
    return Page(path.read_text())


def test_every_loop_of_the_source_has_a_verdict_and_a_time(page):
    loops = source_loops(seidel.module)
    assert [loop.name for loop in loops] == ["t", "i", "j"]
    assert {loop.key for loop in loops} == {key for key, said in page.verdicts.items() if said.strip()}
    assert page.text.count("% of the call") == 3
    assert "(by the model)" in page.text
    assert "N = 9, steps = 16" in page.text


def test_links_lead_to_what_is_there_and_ids_are_only_one_thing(page):
    assert len({*page.ids}) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= {*page.ids}
    python = {key for keys in page.lit["python"] for key in keys}
    assert len(python) == len([keys for keys in page.lit["python"] if keys])
    for column in ("ir", "c", "assembly"):
        linked = {key for keys in page.lit[column] for key in keys}
        assert linked
        assert linked <= python
    assert not page.opened


def test_the_file_needs_no_other_one_and_no_network(page):
    assert not page.sources
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"https?://|@import|url\((?!#)", re.sub(r'xmlns(:\w+)?="[^"]*"', "", page.text))
    assert len(page.text) < 300_000


def test_phones_dark_pages_and_keyboards_are_thought_of(page):
    assert page.metas["viewport"] == "width=device-width, initial-scale=1"
    assert page.metas["color-scheme"] == "light dark"
    assert "prefers-color-scheme: dark" in page.text
    assert page.text.count('tabindex="0"') > 4
    assert '<html lang="en">' in page.text


def test_a_refusal_is_shown_with_its_counterexample_drawn(page):
    refused = page.text[page.text.index('<li class="refused"') :].partition("</li>")[0]
    assert "tile((&#34;t&#34;, &#34;i&#34;), (2, 4))" in refused
    assert "e.g. (t, i, j) = " in refused
    assert "<svg" in refused
    taken = page.text[page.text.index('<li class="taken"') :]
    assert "skew(" in taken
    assert "t = 0 to steps" in taken


def test_with_arguments_it_is_measured_and_what_they_hold_stays(tmp_path):
    given = arguments(summed)
    before = [x.copy() for x in given]
    text = summed.report(tmp_path / "page.html", *given, seconds=0.0).read_text()
    assert "(measured)" in text
    assert "M = 24, N = 24" in text
    assert "not tried: out of time" in text
    assert all(np.array_equal(x, y) for x, y in zip(given, before, strict=True))


def test_what_is_wrong_is_said(tmp_path, monkeypatch):
    with pytest.raises(af.ProgramError, match="cannot report on summed: it has no size K"):
        summed.report(tmp_path / "page.html", K=3)
    with pytest.raises(TypeError, match="a report is written to a file, got 3"):
        summed.report(3)
    with pytest.raises(TypeError, match="seconds is 'long'\\n    it is how long things are tried"):
        summed.report(tmp_path / "page.html", seconds="long")
    with pytest.raises(af.ProgramError, match=r"cannot write the report to .*No such file"):
        divided.report(tmp_path / "nowhere" / "page.html", N=9, seconds=0.0)
    with pytest.raises(TypeError, match="y"):
        summed.report(tmp_path / "page.html", *arguments(summed)[:1])

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(packages, "importlib", type("importlib", (), {"import_module": staticmethod(missing)}))
    with pytest.raises(af.ProgramError, match=r"(?s)a report needs jinja2, which is not installed.*affdsl\[report\]"):
        summed.report(tmp_path / "page.html")


def test_sizes_that_are_arguments():
    assert subject(flat, (), {"M": 3, "N": 4}).call.values[0].shape == (12,)
    of = subject(flat, (), {})
    assert of.sizes == {"M": 1000, "N": 1000}
    assert of.assumed == ("M", "N")


def test_loops_inside_of_a_sequential_one_are_measured_by_themselves():
    random = np.random.default_rng(3)
    of = subject(repeated, (random.random((60, 60)), random.random((60, 60)), 4), {})
    sources = source_loops(repeated.module)
    found = times(of, sources)
    by_name = {loop.name: found.loops[loop.key] for loop in sources}
    assert not by_name["t"].is_split
    assert not by_name["i#1"].is_split
    assert not by_name["i#2"].is_split
    assert by_name["j#2"].seconds == pytest.approx(by_name["i#2"].seconds, rel=0.05)
