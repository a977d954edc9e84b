"""Reports of several programs as one."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any


class Counts:
    """A dataclass of numbers, counters, lists, and tables of such dataclasses, which are added up field by field."""

    def add(self, other: Any) -> None:
        """Count what another one counted."""
        for name in (field.name for field in fields(self)):  # type: ignore[arg-type]
            mine, more = getattr(self, name), getattr(other, name)
            if isinstance(mine, dict) and not isinstance(mine, Counter):
                for key, row in more.items():
                    mine.setdefault(key, type(row)()).add(row)
            else:
                setattr(self, name, mine + more)
