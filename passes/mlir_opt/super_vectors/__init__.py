"""Vectors as mlir-opt's vectorizer makes them: which loops it takes, what they become, and whether that is right."""
