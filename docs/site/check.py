"""Whether the site is whole.

    python -m docs.site.check build/docs

says which public name is missing, which link leads nowhere, what is loaded from elsewhere, what the search should not
find, and where a signature shows what Sphinx calls things.
"""

import json
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docs.site.names import public_names
from docs.site.search import is_left_out

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser loads by itself, and where a tag says from."""
GENERATED = {"genindex.html", "search.html", "py-modindex.html", "404.html"}


class _Page(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what a tag says of these."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADED.get(tag, "") in given and given.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loaded.append(given[LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """What is wrong with the site in a folder, a line for each; nothing where it is whole."""
    # Four lines in words, then a line for each entry, which begins with its name.
    *_, entries = (site / "objects.inv").read_bytes().split(b"\n", 4)
    known = {line.split(" ", 1)[0] for line in zlib.decompress(entries).decode().splitlines()}
    for name in public_names():
        if f"affdsl.{name}" not in known:
            yield f"affdsl.{name} is not in the reference"
    yield from (f"the search finds {page}" for page in searched(site) if is_left_out(page))
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    for path, text in texts.items():
        if "TypeAliasForwardRef" in text:
            yield f"{path.relative_to(site)} has a TypeAliasForwardRef in a signature"
    pages = {path: _Page(text) for path, text in texts.items()}
    for path, page in pages.items():
        shown = path.relative_to(site)
        for link in page.loaded:
            if urlsplit(link).netloc:
                yield f"{shown} loads {link}: a reader may have no network"
        for link in () if path.name in GENERATED else page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            there = pages.get(target) or pages.get(site.resolve() / target.relative_to(site.resolve()))
            if not target.exists():
                yield f"{shown} links to {link}, which is not there"
            elif parts.fragment and there is not None and unquote(parts.fragment) not in there.anchors:
                yield f"{shown} links to {link}: that page has no such anchor"


def searched(site: Path) -> list[str]:
    """The pages that the search finds: those with a title in its index."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return [page for page, title in zip(index["docnames"], index["titles"], strict=True) if title]


def main(arguments: list[str]) -> int:
    """Print what is wrong; the exit status."""
    if len(arguments) != 1:
        print("usage: python -m docs.site.check FOLDER", file=sys.stderr)
        return 2
    found = list(problems(Path(arguments[0]).resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    if not found:
        print(f"docs: {Path(arguments[0]) / 'index.html'}: every name is there, every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
