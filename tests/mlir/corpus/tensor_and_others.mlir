// Operations of registered dialects that are kept as they are, through their generic form, with what surrounds them.
// Of the operations on tensors we read the generic form only.
func.func @tensors(%t: tensor<4x?xf32>, %i: index, %x: f32) -> f32 {
  %0 = "tensor.extract"(%t, %i, %i) : (tensor<4x?xf32>, index, index) -> f32
  %1 = "tensor.dim"(%t, %i) : (tensor<4x?xf32>, index) -> index
  %2 = "tensor.generate"(%1) ({
  ^bb0(%k: index):
    "tensor.yield"(%x) : (f32) -> ()
  }) : (index) -> tensor<?xf32>
  return %0 : f32
}

func.func @index(%i: index, %j: index) -> index {
  %0 = "index.add"(%i, %j) : (index, index) -> index
  %1 = "index.constant"() <{value = 3 : index}> : () -> index
  %2 = "index.cmp"(%0, %1) <{pred = #index<cmp_predicate slt>}> : (index, index) -> i1
  return %0 : index
}

func.func @complex(%x: f64) -> f64 {
  %0 = "complex.create"(%x, %x) : (f64, f64) -> complex<f64>
  %1 = "complex.re"(%0) : (complex<f64>) -> f64
  return %1 : f64
}

"llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void (i32)>, linkage = #llvm.linkage<external>, sym_name = "outside", visibility_ = 0 : i64}> ({
}) : () -> ()
