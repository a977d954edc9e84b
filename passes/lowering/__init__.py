"""The affine dialect in terms of those below it."""
