"""The docstrings of affdsl as reStructuredText, which Sphinx reads.

They are written for `help()`: code stands between single backticks, or indented by itself, and nothing else is markup
but sections and lists. So `x * y`, `for_` and `*` mean themselves.
"""

import re
from collections.abc import Iterator, Sequence

from sphinx.application import Sphinx

CODE = re.compile(r"(`+)(.+?)\1", re.S)
SPECIAL = re.compile(r"\*(?=\S)|[|\\`]|_(?!\w)")
UNDERLINE = re.compile(r"-{3,}$")
NAMES = re.compile(r"\w+(, \w+)+$")


def restructured(lines: Sequence[str]) -> list[str]:
    """A docstring, as `inspect.getdoc` gives it, in reStructuredText with the sections of numpydoc.

    >>> restructured(["Swap `a` and b_.", "", "    for i: S", "", "Raises", "------", "ValueError", "    For `*`."])
    ['Swap ``a`` and b\\\\_.', '', '.. code-block:: text', '', '    for i: S', '', 'Raises', '------', 'ValueError', \
'    For ``*``.', '']
    """
    made: list[str] = []
    section = ""
    for paragraph in _paragraphs([*_one_by_one(lines)]):
        headed = len(paragraph) > 1 and UNDERLINE.match(paragraph[1])
        first = paragraph[0]
        section = first if headed else section
        if first.startswith(">>>") and section not in ("", "Examples"):
            section = "Examples"  # it is no part of what the section before is about
            made += [section, "-" * len(section)]
        if first.lstrip().startswith(">>>"):
            made += paragraph
        elif first.startswith("    ") and not section:
            made += [".. code-block:: text", "", *paragraph]
        else:
            made += [*paragraph[:2], *_escaped(paragraph[2:])] if headed else _escaped(paragraph)
        made.append("")
    return made


def _one_by_one(lines: Sequence[str]) -> Iterator[str]:
    """The lines, where attributes that share what is said of them have it each."""
    in_attributes, k = False, 0
    while k < len(lines):
        if k + 1 < len(lines) and UNDERLINE.match(lines[k + 1]):
            in_attributes = lines[k] == "Attributes"
        end = k + 1
        if in_attributes and NAMES.match(lines[k]):
            while end < len(lines) and lines[end].startswith(" "):
                end += 1
            for name in lines[k].split(", "):
                yield from (name, *lines[k + 1 : end])
        else:
            yield lines[k]
        k = end


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines between blank ones; an example begins a paragraph, too."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        begins = line.lstrip().startswith(">>>") and paragraph and ">>>" not in paragraph[0]
        if paragraph and (not line.strip() or begins):
            yield paragraph
            paragraph = []
        if line.strip():
            paragraph.append(line)


def _escaped(lines: Sequence[str]) -> list[str]:
    """Lines of prose with all that reStructuredText would take for markup escaped, but for code and lists."""
    text, made, end = "\n".join(lines), "", 0
    for code in CODE.finditer(text):
        made += SPECIAL.sub(r"\\\g<0>", text[end : code.start()])
        made += f"``{' '.join(code[2].split())}``"
        made += "\\ " if text[code.end() : code.end() + 1].isalnum() else ""
        end = code.end()
    return (made + SPECIAL.sub(r"\\\g<0>", text[end:])).split("\n")


def _process(_app: Sphinx, what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    # On the first line of an attribute's docstring, a colon would end its type; what kind of thing it is, is known.
    lines[:] = [""] * (what in ("attribute", "data", "property")) + restructured(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read docstrings in this way, before their sections are looked for."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True}
