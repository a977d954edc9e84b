"""What a report says as the text of a page, by Jinja2: one file, with its styles and its script in it."""

from __future__ import annotations

from importlib.resources import files

from affdsl.report.highlighting import styles
from affdsl.report.packages import package


def rendered(report: object) -> str:
    """The page of what a report says, which has the names that `files/page.html` reads."""
    jinja2 = package("jinja2")
    folder = files("affdsl.report") / "files"
    page, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", "script.js")
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=False)
    safe = package("markupsafe").Markup
    template = environment.from_string(page)
    return str(template.render(report=report, style=safe(style + styles()), script=safe(script)))
