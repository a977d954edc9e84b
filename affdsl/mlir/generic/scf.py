"""The scf dialect in generic form."""

from __future__ import annotations

from affdsl.ir.dialects import scf
from affdsl.mlir.form import YIELD
from affdsl.mlir.generic.rows import Inside, Row

ROWS = (
    Row(scf.For, regions=(Inside("body", scf.Yield, ("iv", "carried")),), inherent={"unsignedCmp": None}),
    Row(scf.If, regions=(Inside("then", scf.Yield), Inside("orelse", scf.Yield, optional=True))),
    Row(scf.Yield, YIELD),
)
