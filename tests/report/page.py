"""A page, read as a browser reads it: its elements, their ids, and what leads out of it."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr", "path", "rect"}


@dataclass
class Page(HTMLParser):
    """What the text of a page has."""

    text: str
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    lit: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    metas: dict[str, str] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self._column = self._loop = self._inside = ""
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in VOID:
            self.opened.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        self.links += [given["href"]] if "href" in given else []
        self.links += [given["xlink:href"]] if "xlink:href" in given else []
        self.sources += [given[name] for name in ("src", "srcset", "data", "action") if name in given]
        if given.get("class") == "column":
            self._column = given["id"].removeprefix("column-")
        if given.get("class") == "line":
            self.lit.setdefault(self._column, []).append(tuple(given.get("data-l", "").split()))
        if given.get("class") == "loop":
            self._loop = given["id"]
        self._inside = given.get("class", "") if tag == "p" else self._inside
        if tag == "meta" and "name" in given:
            self.metas[given["name"]] = given["content"]

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.opened[-1:] == [tag], f"</{tag}> ends {self.opened[-3:]}"
        self.opened.pop()

    def handle_data(self, data):
        if self._inside == "verdict" and self.opened[-1] == "p":
            self.verdicts[self._loop] = self.verdicts.get(self._loop, "") + data
