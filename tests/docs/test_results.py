"""The page of results, the README and the plots are those of the data; measuring goes on where it stopped."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from benchmarks.results import __main__ as command
from benchmarks.results import page, plots, story, worker
from benchmarks.results.rows import BEHIND, ROWS, Results, Row, combined

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    """What a picture says."""
    return ["".join(element.itertext()).strip() for element in ET.fromstring(svg).iter(f"{SVG}text")]


def made_up() -> Results:
    """Results of no machine."""
    rows = [
        Row(suite, f"{suite} {k}", row, "MEDIUM", {"peer": 0.5 + k, "other": 1.0 + k}, 2.0)
        for suite in page.TIMED
        for row in ROWS
        for k in range(3)
    ]
    rows += [Row("patterns", "a loop", row, vectorized={"affdsl": "in part", "gcc": "yes"}) for row in ROWS]
    rows += [replace(rows[0], name=story.PROGRAM, suite="polybench", row=row) for row in ROWS]
    return Results({"command": "python -m benchmarks.results", "date": "2000-01-01"}, rows)


def test_the_page_the_readme_and_the_plots_are_those_of_the_data():
    results = Results.load(command.DATA)
    assert command.PAGE.read_text("utf-8") == page.page(results)
    readme = command.README.read_text("utf-8")
    assert readme == page.with_table(readme, results)
    drawn = plots.drawn(results)
    assert {path.name for path in command.PLOTS.iterdir()} == drawn.keys()
    for name, svg in drawn.items():
        # Other versions of matplotlib draw the same text by other lines.
        assert texts((command.PLOTS / name).read_text("utf-8")) == texts(svg), "python -m benchmarks.results --write"


def test_a_row_is_slower_where_it_says_so():
    results = Results.load(command.DATA)
    behind = [row for row in results.rows if row.ratios and row.ratio < BEHIND]
    listed = page.page(results).partition("## Slower than peers")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\|.*\| 0\.\d\d \|", listed, re.M)) == len(behind)
    assert all(f": {row.name} |" in listed for row in behind)


def test_means_and_verdicts_are_counted():
    text = page.page(made_up())
    assert "| Everyday loops | numba | **1.23**, 0.50 to 2.50 | **1.23**, 0.50 to 2.50 | 1 of 3, 1 of 3 |" in text
    assert "| everyday 0 | *0.50* | peer (other 1.00) | *0.50* | peer (other 1.00) | 2 |" in text
    assert "| strict | 0 | 1 |" in text
    assert (
        "On vectors by a compiler, and not, or in part, by ours: a loop (strict); a loop (everything allowed)." in text
    )


def test_what_could_not_be_measured_is_said():
    results = made_up()
    failed = replace(results, rows=[*results.rows, Row("pipelines", "blur", "strict", note="it differs")])
    assert "Not measured: Images and layers, blur: it differs" in page.page(failed)


def test_passes_become_their_medians():
    first = [Row("matmul", "a", "strict", ratios={"gcc": 1.0, "clang": 4.0}, milliseconds=2.0)]
    first += [Row("patterns", "b", "strict")]
    second = [replace(first[0], ratios={"gcc": 3.0, "clang": 2.0}, milliseconds=4.0)]
    best = [[Row("polybench", "c", "strict", ratios={name: ratio})] for name, ratio in (("gcc", 2.0), ("clang", 1.0))]
    a, b, c = combined([[*first, *best[0]], [*second, *best[1]]])
    assert (a.ratios, a.milliseconds, a.spread, b) == ({"gcc": 2.0, "clang": 3.0}, 3.0, 2.0, first[1])
    assert (list(c.ratios.values()), c.spread) == ([1.5], 2.0)
    assert "differed by 100% or less in half of the rows" in page.noise(Results({}, [a, b, c]))
    assert "Each was measured once" in page.noise(Results({}, first))


def test_a_readme_without_a_place_is_refused():
    with pytest.raises(ValueError, match=r"README\.md has no place for the table"):
        page.with_table("# affdsl\n", made_up())


def test_rows_are_kept_as_they_are(tmp_path):
    results = made_up()
    results.save(tmp_path / "data.json")
    assert Results.load(tmp_path / "data.json") == results
    assert Row.of(results.rows[0].line()) == results.rows[0]


def test_the_story_shows_the_refusal_that_is_raised():
    (source, sink), advice = story.refusal()
    assert [b - a for a, b in zip(source[:2], sink[:2], strict=True)] == [1, -1]
    said = texts(story.drawn(made_up()))
    assert f"legal: {advice}" in said
    assert any(text.startswith("0.50 x peer") for text in said)


def test_plots_have_colours_for_dark_pages():
    for svg in plots.drawn(made_up()).values():
        assert "prefers-color-scheme: dark" in svg
        used = {f"{kind}: {colour}" for kind, colour in re.findall(r"(fill|stroke): (#\w{6})", svg)}
        assert {rule for rule in used if f'[style*="{rule}"]' not in svg} == set()


def test_measuring_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    asked = []

    def answers(suite, known, ends, *, quick):
        asked.append((suite, sorted(known)))
        yield ["a", "b", "c"]
        for name in [name for name in "abc" if name not in known][:2]:
            yield {"rows": [json.loads(Row(suite, name, "strict", ratios={"gcc": 2.0}).line())]}

    monkeypatch.setattr(command, "answers", answers)
    file = tmp_path / "new" / "known.jsonl"
    assert command.measured("everyday", file, 0.0, quick=True) == 1
    assert command.measured("everyday", file, 0.0, quick=True) == 0
    assert asked == [("everyday", []), ("everyday", ["a", "b"])]
    assert [row.name for row in command.read(file)] == ["a", "b", "c"]
    assert "everyday     3 of 3  c" in capsys.readouterr().out


def test_what_is_missing_is_said_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "KNOWN", tmp_path)
    monkeypatch.setattr(command, "DATA", tmp_path / "none.json")
    monkeypatch.setattr(command, "answers", lambda *_, **__: iter([["a"]]))
    assert command.main(["--quick", "--suites", "patterns"]) == 1
    assert capsys.readouterr().out == "1 programs are missing; the same command goes on with them\n"
    assert not (tmp_path / "none.json").exists()


def test_a_worker_asks_the_benchmark_of_its_suite(monkeypatch):
    monkeypatch.setattr("benchmarks.patterns.reports.compilers", tuple)
    suite = worker.SUITES["patterns"](quick=True)
    name = next(iter(suite.names))
    assert [(row.row, row.vectorized) for row in suite.measured(name)] == [(row, {"affdsl": "yes"}) for row in ROWS]
    assert set(worker.SUITES) == set(page.SUITES)
