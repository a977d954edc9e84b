"""MLIR's assembly text. Where this package is imported, operations print as that text."""

from affdsl.mlir import printer

__all__ = ["printer"]
