"""What the search of the site finds: pages that say how something is done, not the records of why it came to be so."""

from sphinx.application import Sphinx

LEFT_OUT = ("decisions/",)
"""Folders whose pages are read from links, and not found by the search: they are about affdsl, not about using it."""


def is_left_out(page: str) -> bool:
    """Whether the search does not look into a page.

    >>> is_left_out("decisions/0001-record-decisions"), is_left_out("guides/recipes")
    (True, False)
    """
    return page.startswith(LEFT_OUT)


def _mark(app: Sphinx, _doctree: object) -> None:
    page = app.env.docname
    if is_left_out(page):
        app.env.metadata[page]["nosearch"] = "true"


def setup(app: Sphinx) -> dict[str, bool]:
    """Leave pages out of the index."""
    app.connect("doctree-read", _mark, priority=900)  # behind what collects the metadata of a page
    return {"parallel_read_safe": True}
