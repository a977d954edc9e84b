"""MLIR's assembly text."""
