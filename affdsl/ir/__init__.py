"""The affine IR: data, traversal, verifier, interpreter."""
