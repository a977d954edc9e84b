"""The scf dialect in generic form."""

from __future__ import annotations

from affdsl.ir.dialects import scf
from affdsl.mlir.generic.rows import Inside, Row, many, one

ROWS = (
    Row(
        scf.For, (one("lower"), one("upper"), one("step"), many("inits")), (many("results"),),
        regions=(Inside("body", scf.Yield, (one("iv"), many("carried"))),), inherent={"unsignedCmp": None},
    ),
    Row(
        scf.If, (one("condition"),), (many("results"),),
        regions=(Inside("then", scf.Yield), Inside("orelse", scf.Yield, optional=True)),
    ),
    Row(scf.Yield, (many("values"),)),
)  # fmt: skip
