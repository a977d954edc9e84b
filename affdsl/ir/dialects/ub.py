"""The ub dialect: values that mean nothing."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.core import Op, Result


@dataclass(frozen=True, eq=False)
class Poison(Op):
    """result = no particular value, which must not be looked at"""

    name = "ub.poison"
    result: Result
