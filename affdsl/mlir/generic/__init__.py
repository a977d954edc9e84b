"""The text of each operation: its generic form, `"name"(operands) <{properties}> ({regions}) : types`, and its custom
form where a row can say it; a module for each dialect."""

from affdsl.mlir.generic import affine, arith, complex, func, memref, scf, transfers, vector, views
from affdsl.mlir.generic.rows import forms, generic_form, is_known, register, row_of, typed_form

register(
    (
        *func.ROWS,
        *affine.ROWS,
        *arith.ROWS,
        *complex.ROWS,
        *memref.ROWS,
        *scf.ROWS,
        *vector.ROWS,
        *transfers.ROWS,
        *views.ROWS,
    )
)

__all__ = ["forms", "generic_form", "is_known", "row_of", "typed_form"]
