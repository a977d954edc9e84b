"""How each operation is printed in its custom form: one module for each dialect."""

from affdsl.mlir.writing import affine, arith, func, memref, scf, structured, transfers, vector, views

WRITERS = (
    func.WRITERS | affine.WRITERS | arith.WRITERS | memref.WRITERS | scf.WRITERS | vector.WRITERS
    | structured.WRITERS | transfers.WRITERS | views.WRITERS
)  # fmt: skip
