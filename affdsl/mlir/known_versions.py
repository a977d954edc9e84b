"""Which versions of MLIR a text can be made for."""

FIRST, LAST = 14, 22
"""The first and the last one."""
TRIED = (14, 15, 16, 19, 22)
"""Those whose mlir-opt reads and lowers what is printed; of those between, what is known of when things changed."""
