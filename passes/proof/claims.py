"""What is said of two functions: that nodes of theirs are equal in pairs of instances, and the answer in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from affdsl.frozen import Frozen
from affdsl.passes.analysis.polyhedral import Map, Set, UnknownError, merged
from affdsl.passes.proof.nodes import Cases, FlowNode, Meaning

MOST_PARTS = 24
"""Of more parts it would take longer to make fewer than it helps."""


class Answer(Frozen):
    """Whether two functions leave the same values.

    Attributes
    ----------
    verdict
        "proved", "differs", "races" or "unknown".
    why
        What differs, or is not known.
    sizes
        Of a difference, and of what could not be proved: numbers for symbols with which to look for it.
    """

    verdict: Literal["proved", "differs", "races", "unknown"]
    why: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()


NOT_ASKED = Answer("unknown")


class Equality(Frozen):
    """That x before and y after are equal in pairs of instances.

    `is_exact` is whether this is needed for the result to be the same; `around` are the claims that rest on this one.
    """

    x: FlowNode
    y: FlowNode
    pairs: Map
    is_exact: bool = True
    around: Equality | None = None

    def rests_on_itself(self) -> bool:
        """Whether one of the claims that rest on this one is about the same nodes."""
        claim = self.around
        while claim is not None:
            if claim.x == self.x and claim.y == self.y:
                return True
            claim = claim.around
        return False


class DiffersError(Exception):
    """Two nodes are not equal in some pairs of instances."""

    def __init__(self, why: str, pairs: Map | None = None) -> None:
        super().__init__(why)
        self.pairs = pairs


def wider(pairs: Map, domain: Set | None, range: Set | None) -> Map:
    """All pairs in the affine hull, as far as there are such instances."""
    hull = Map.from_basic_map(pairs.affine_hull())
    if domain is not None:
        hull = hull.intersect_domain(domain)
    return hull if range is None else hull.intersect_range(range)


def simpler(pairs: Map) -> Map:
    """The same pairs in fewer parts, where these are not too many to look for them."""
    return merged(pairs) if pairs.n_basic_map() <= MOST_PARTS else pairs


def parts_of(node: FlowNode, step: Meaning, pairs: Map) -> Sequence[tuple[Map, FlowNode]]:
    """The nodes that a node is in the inputs of some pairs, each with a map to its instance. Raises UnknownError."""
    if not isinstance(step, Cases):
        return ((pairs.domain().identity(), node),)
    left = pairs.domain()
    for part, _ in step.parts:
        left = left.subtract(part.domain())
    if not left.is_empty():
        raise UnknownError("where a value comes from is not known in all cases")
    return step.parts


def require_among(pairs: Map, same: Map, why: str) -> None:
    """Raises DiffersError unless all pairs are among the same ones."""
    wrong = pairs.subtract(same)
    if not wrong.is_empty():
        raise DiffersError(why, wrong)
