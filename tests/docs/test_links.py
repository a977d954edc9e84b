"""Links between the pages lead somewhere, each page can be reached, and the reference has each public name."""

import re
from pathlib import Path

import pytest

import affdsl
from docs.site.names import fences, is_error, named, public_names
from tests.docs.pages import DOCS, FENCE, ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """What headings of a page are called in links: as on the site, and where the repository is read."""
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in HEADING.findall(prose(path))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def wrong_links(path: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for link in LINK.findall(prose(path)):
        file, _, anchor = link.partition("#")
        if "://" in file:
            continue
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path):
    assert wrong_links(path) == []


def test_a_wrong_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `b` c\n[x](#a-b-c) [y](#d) [z](page.md#e) [v](none.md) [w](page.md)\n", encoding="utf-8")
    assert wrong_links(page) == ["#d", "page.md#e", "none.md"]


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for path in DOCS.rglob("*.md"):
        for entries in re.findall(r"^```\{toctree\}\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S):
            for entry in filter(None, entries.splitlines()):
                if not entry.startswith(":"):
                    file = re.sub(r".* <(.*)>", r"\1", entry)
                    listed |= set(path.parent.glob(f"{file}.md"))
    assert {name(path) for path in DOCS.rglob("*.md") if path not in listed} == {"docs/index.md"}


def test_the_reference_has_every_public_name_once():
    shown = [each for fence in fences() for each in named(fence)]
    assert sorted(shown) == sorted(affdsl.__all__)


def test_names_are_in_the_reference_by_what_they_are(monkeypatch):
    assert [each for each in named("errors") if not is_error(each)] == []
    assert "for_" in named("lang.control")
    # A new module is shown although no page names it.
    monkeypatch.setattr("docs.site.names.public_names", lambda: {**public_names(), "sqrt": "lang.roots"})
    assert "sqrt" in named("others")
    assert "sqrt" not in named("lang.elementary")
