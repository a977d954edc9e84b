"""How operations are read and printed, by their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.mlir.parser import Reader
from affdsl.mlir.printer import Writer

Table: TypeAlias = Mapping[type[Op], tuple[Reader | None, Writer]]
"""For each class what reads it, by its name, and what prints it; None where a form says how it is read."""
