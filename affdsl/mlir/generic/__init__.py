"""The generic form of each operation, `"name"(operands) <{properties}> ({regions}) : types`: a module per dialect."""

from affdsl.mlir.generic import affine, arith, func, memref, scf, transfers, vector, views
from affdsl.mlir.generic.rows import forms, generic_form, is_known, register, row_of, typed_form

register(
    (
        *func.ROWS,
        *affine.ROWS,
        *arith.ROWS,
        *memref.ROWS,
        *scf.ROWS,
        *vector.ROWS,
        *transfers.ROWS,
        *views.ROWS,
    )
)

__all__ = ["forms", "generic_form", "is_known", "row_of", "typed_form"]
