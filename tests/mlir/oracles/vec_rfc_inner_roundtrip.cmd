mlir-opt-22 vec_rfc_inner_roundtrip.in.mlir
