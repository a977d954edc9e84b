"""The operations, one module for each MLIR dialect."""
