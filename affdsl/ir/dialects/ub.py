"""The ub dialect: values that mean nothing."""

from __future__ import annotations

from affdsl.ir.core import Pure, Result


class Poison(Pure):
    """result = no particular value, which must not be looked at"""

    name = "ub.poison"
    result: Result
