mlir-opt-22 vec_rfc_outer_roundtrip.in.mlir
