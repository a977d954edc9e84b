"""Every class of operations that a dialect declares, without those that others are made of."""

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, opaque, scf, ub, vector
from affdsl.ir.dialects import complex as complex_

DIALECTS = (affine, arith, complex_, func, math, memref, opaque, scf, ub, vector)
OPERATIONS = tuple(
    cls
    for dialect in DIALECTS
    for cls in vars(dialect).values()
    if isinstance(cls, type) and issubclass(cls, Op) and cls.__module__ == dialect.__name__ and not cls.__subclasses__()
)
