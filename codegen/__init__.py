"""From affine IR to machines: MLIR, C, the compiler, the cache and the call."""

if __name__ != "affdsl.codegen":
    raise ImportError(f"{__name__} is a part of affdsl: import affdsl.codegen, and give pytest affdsl/codegen")
