func.func @complex_numbers(%z: complex<f64>, %w: complex<f64>) -> i1 {
  %angle = complex.angle %z : complex<f64>
  %conj = complex.conj %z : complex<f64>
  %cos = complex.cos %z : complex<f64>
  %expm1 = complex.expm1 %z : complex<f64>
  %log = complex.log %z : complex<f64>
  %log1p = complex.log1p %z : complex<f64>
  %neg = complex.neg %z : complex<f64>
  %rsqrt = complex.rsqrt %z : complex<f64>
  %sign = complex.sign %z : complex<f64>
  %sin = complex.sin %z : complex<f64>
  %sqrt = complex.sqrt %z : complex<f64>
  %tan = complex.tan %z : complex<f64>
  %tanh = complex.tanh %z : complex<f64>
  %atan2 = complex.atan2 %z, %w : complex<f64>
  %div = complex.div %z, %w : complex<f64>
  %pow = complex.pow %z, %w : complex<f64>
  %sub = complex.sub %z, %w : complex<f64>
  %bits = complex.bitcast %z : complex<f64> to i128
  %neq = complex.neq %z, %w : complex<f64>
  return %neq : i1
}
// -----
func.func @indices(%a: index, %b: index) {
  %and = index.and %a, %b
  %ceildivu = index.ceildivu %a, %b
  %divs = index.divs %a, %b
  %divu = index.divu %a, %b
  %floordivs = index.floordivs %a, %b
  %maxu = index.maxu %a, %b
  %mins = index.mins %a, %b
  %minu = index.minu %a, %b
  %or = index.or %a, %b
  %rems = index.rems %a, %b
  %remu = index.remu %a, %b
  %shl = index.shl %a, %b
  %shrs = index.shrs %a, %b
  %shru = index.shru %a, %b
  %sub = index.sub %a, %b
  %xor = index.xor %a, %b
  %size = index.sizeof
  return
}
// -----
func.func @machine(%a: i32, %b: i32, %x: f32, %y: f32, %p: !llvm.ptr) {
  %ashr = llvm.ashr %a, %b : i32
  %lshr = llvm.lshr %a, %b : i32
  %or = llvm.or %a, %b : i32
  %shl = llvm.shl %a, %b : i32
  %srem = llvm.srem %a, %b : i32
  %sub = llvm.sub %a, %b : i32
  %udiv = llvm.udiv %a, %b : i32
  %urem = llvm.urem %a, %b : i32
  %xor = llvm.xor %a, %b : i32
  %fdiv = llvm.fdiv %x, %y : f32
  %frem = llvm.frem %x, %y : f32
  %fsub = llvm.fsub %x, %y : f32
  %exact = llvm.lshr exact %a, %b : i32
  %disjoint = llvm.or disjoint %a, %b : i32
  %p3 = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<3>
  %bits = llvm.bitcast %x : f32 to i32
  %wide = llvm.fpext %x : f32 to f64
  %narrow = llvm.fptrunc %wide : f64 to f32
  %si = llvm.fptosi %x : f32 to i32
  %ui = llvm.fptoui %x : f32 to i32
  %frozen = llvm.freeze %a : i32
  %address = llvm.sext %a : i32 to i64
  %natural = llvm.zext nneg %a : i32 to i64
  %pointer = llvm.inttoptr %address : i64 to !llvm.ptr
  %poison = llvm.mlir.poison : i32
  %float = llvm.uitofp %ui : i32 to f32
  return
}
// -----
gpu.module @clusters {
  gpu.func @f(%n: index) kernel {
    %0 = gpu.cluster_id x
    %1 = gpu.cluster_dim y
    %2 = gpu.cluster_block_id z
    %3 = gpu.cluster_dim_blocks x
    %4 = gpu.num_subgroups : index
    %5 = gpu.subgroup_size : index
    %6 = gpu.lane_id upper_bound 32
    gpu.printf "%d\0A", %n : index
    gpu.printf "here"
    gpu.return
  }
}
// -----
func.func @tokens(%n: index, %t: !async.token) {
  %group = async.create_group %n : !async.group
  %number = async.add_to_group %t, %group : !async.token
  async.await %t : !async.token
  async.await_all %group
  return
}
// -----
func.func @shape(%t: tensor<?x4xf32>, %at: tensor<2x1xindex>, %rows: tensor<2x4xf32>, %d: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = shape.shape_of %t : tensor<?x4xf32> -> tensor<2xindex>
  %1 = tensor.scatter %rows into %d[%at] scatter_dims([0]) unique : (tensor<2x4xf32>, tensor<?x4xf32>, tensor<2x1xindex>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
// -----
func.func @waiting(%A: memref<4xf32>) {
  omp.parallel {
    omp.master {
      %0 = affine.load %A[0] : memref<4xf32>
      affine.store %0, %A[1] : memref<4xf32>
      omp.terminator
    }
    omp.taskyield
    omp.taskwait
    omp.terminator
  }
  return
}
// -----
func.func @elementwise(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %o: tensor<4x?xf32>, %c: tensor<4x?xi1>) -> tensor<4x?xf32> {
  %abs = linalg.abs ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %ceil = linalg.ceil ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %erf = linalg.erf ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %floor = linalg.floor ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %log = linalg.log ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %negf = linalg.negf ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %reciprocal = linalg.reciprocal ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %round = linalg.round ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %rsqrt = linalg.rsqrt ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %sqrt = linalg.sqrt ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %square = linalg.square ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %tanh = linalg.tanh ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %div = linalg.div ins(%a, %b : tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %max = linalg.max ins(%a, %b : tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %min = linalg.min ins(%a, %b : tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %mul = linalg.mul ins(%a, %b : tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %powf = linalg.powf ins(%a, %b : tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %sub = linalg.sub ins(%a, %b : tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %select = linalg.select ins(%c, %a, %b : tensor<4x?xi1>, tensor<4x?xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %exp = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %select : tensor<4x?xf32>
}
// -----
func.func @mapped(%a: memref<8xf32>, %b: memref<8xf32>, %o: memref<8xf32>) {
  linalg.map ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%o : memref<8xf32>)
    (%x: f32, %y: f32, %z: f32) {
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    }
  return
}
// -----
func.func @convolved(%a: memref<?xf32>, %w: memref<?xf32>, %o: memref<?xf32>, %A: memref<?x?xf32>, %W: memref<?x?xf32>, %O: memref<?x?xf32>) {
  linalg.conv_1d ins(%a, %w : memref<?xf32>, memref<?xf32>) outs(%o : memref<?xf32>)
  linalg.conv_2d ins(%A, %W : memref<?x?xf32>, memref<?x?xf32>) outs(%O : memref<?x?xf32>)
  return
}
// -----
func.func @images(%a: memref<1x3x10x10xf32>, %w: memref<8x3x3x3xf32>, %o: memref<1x8x8x8xf32>, %b: memref<1x10x10x3xf32>, %d: memref<3x3x3xf32>, %p: memref<1x8x8x3xf32>, %k: memref<3x3xf32>) {
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : memref<1x3x10x10xf32>, memref<8x3x3x3xf32>) outs(%o : memref<1x8x8x8xf32>)
  linalg.depthwise_conv_2d_nhwc_hwc ins(%b, %d : memref<1x10x10x3xf32>, memref<3x3x3xf32>) outs(%p : memref<1x8x8x3xf32>)
  linalg.pooling_nhwc_sum ins(%b, %k : memref<1x10x10x3xf32>, memref<3x3xf32>) outs(%p : memref<1x8x8x3xf32>)
  linalg.pooling_nhwc_min ins(%b, %k : memref<1x10x10x3xf32>, memref<3x3xf32>) outs(%p : memref<1x8x8x3xf32>)
  return
}
// -----
func.func @bounds() -> (index, index, i32) {
  %0 = test.value_with_bounds {max = 8 : index, min = -1 : index}
  %1 = test.with_bounds {smax = 5 : i32, smin = -2 : i32, umax = 9 : i32, umin = 0 : i32} : i32
  %2 = test.reflect_bounds %1 : i32
  %3 = test.reflect_bounds {smax = 8 : index, smin = 0 : index, umax = 8 : index, umin = 0 : index} %0 : index
  return %0, %3, %2 : index, index, i32
}
