"""What code prints is shown as one with the code: a block of text right behind a block of Python or of commands."""

from itertools import pairwise

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

RUN = ("python", "sh")
PRINTED = ("text", "c", "mlir")


class Outputs(SphinxTransform):
    """Mark the blocks that are outputs, for the style of the site."""

    default_priority = 410

    def apply(self, **_: object) -> None:
        """Change the blocks of this page."""
        for parent in self.document.findall(nodes.Element):
            for before, block in pairwise(parent.children):
                if _is(before, RUN) and _is(block, PRINTED):
                    block["classes"].append("output")


def _is(node: nodes.Node, languages: tuple[str, ...]) -> bool:
    return isinstance(node, nodes.literal_block) and node.get("language") in languages


def setup(app: Sphinx) -> dict[str, bool]:
    """Let outputs be marked."""
    app.add_transform(Outputs)
    return {"parallel_read_safe": True}
