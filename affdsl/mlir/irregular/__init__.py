"""Operations with a class whose custom form no row can say, by dialect: how each is read, and how it is printed."""

from affdsl.ir.core import Op
from affdsl.mlir.irregular import affine, arith, complex, func, gpu, memref, scf, transfers, vector
from affdsl.mlir.parser import Reader
from affdsl.mlir.printer import Writer

_ROWS = [
    (cls, *row)
    for dialect in (func, affine, arith, complex, memref, scf, transfers, vector)
    for cls, row in dialect.TABLE.items()
]
READERS: dict[str, Reader] = {cls.name: reader for cls, reader, _ in _ROWS if reader is not None}
READERS["vector.splat"] = vector.read_splat
OPAQUE_WRITERS = gpu.OPAQUE_WRITERS
WRITERS: dict[type[Op], Writer] = {cls: writer for cls, _, writer in _ROWS}
