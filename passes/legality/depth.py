"""How deep loops and branches get by the steps of a schedule."""

from __future__ import annotations

from affdsl.ir.dialects.func import Func
from affdsl.ir.nesting import TOO_DEEP, is_too_deep
from affdsl.passes.legality.refusal import refusal


def require_shallow(after: Func, call: str) -> None:
    """Refuse a step after which more loops and branches are inside each other than anything else takes.

    Raises
    ------
    IllegalTransform
        With the number.
    """
    if is_too_deep(after):
        raise refusal(after, call, f"there would be {TOO_DEEP}")
