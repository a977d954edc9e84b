"""Operations with a class whose custom form no row can say, by dialect: how each is read, and how it is printed."""

from affdsl.ir.core import Op
from affdsl.mlir.irregular import affine, arith, complex, func, gpu, memref, scf, transfers, vector
from affdsl.mlir.parser import Reader
from affdsl.mlir.printer import Writer

_DIALECTS = (func, affine, arith, complex, memref, scf, transfers, vector)

READERS: dict[str, Reader] = {name: reader for dialect in _DIALECTS for name, reader in dialect.READERS.items()}
OPAQUE_WRITERS = gpu.OPAQUE_WRITERS
WRITERS: dict[type[Op], Writer] = {cls: writer for dialect in _DIALECTS for cls, writer in dialect.WRITERS.items()}
