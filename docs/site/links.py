"""Code like `af.for_` in any page leads to the reference."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from docs.site.names import public_names

NAME = re.compile(r"(?:af|affdsl)\.(\w+)(\.\w+)?(?:\(.*\)|\[.*\])?|@af\.kernel(?:\(.*\))?", re.S)
MEMBER = re.compile(r"(?:kernel|matmul)\.(\w+)\(.*\)|(?:s|schedule)\.(\w+)\(.*\)", re.S)


class Links(SphinxTransform):
    """A span of code that is a public name, called or not, becomes a link to what the reference says of it."""

    default_priority = 600

    def apply(self, **_: object) -> None:
        """Change the spans of this page."""
        names = public_names()
        for literal in list(self.document.findall(nodes.literal)):
            target = target_of(literal.astext(), names)
            if target is None or any(isinstance(above, nodes.reference | nodes.title) for above in _above(literal)):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=False,
                refdoc=self.env.docname,
            )  # fmt: skip
            literal.replace_self(link)
            link += literal


def target_of(text: str, names: dict[str, str]) -> str | None:
    """What a span of code is about, as the reference calls it; None where that is nothing with a name.

    >>> target_of("af.for_(M)", {"for_": "lang.control"})
    'affdsl.for_'
    """
    if (found := NAME.fullmatch(text)) is not None:
        name = found[1] or "kernel"
        return f"affdsl.{name}{found[2] or ''}" if name in names else None
    if (found := MEMBER.fullmatch(text)) is not None:
        return f"affdsl.Kernel.{found[1]}" if found[1] else f"affdsl.Schedule.{found[2]}"
    return None


def _above(node: nodes.Node) -> list[nodes.Node]:
    found: list[nodes.Node] = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx make these links."""
    app.add_transform(Links)
    return {"parallel_read_safe": True}
