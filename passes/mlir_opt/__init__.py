"""The passes of mlir-opt that choose where a transformation is done: one file for each."""
