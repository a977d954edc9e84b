"""From affine IR to machines: MLIR, C, the compiler, the cache and the call."""
