func.func @launched(%A: memref<?x?xf32>, %n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    affine.store %x, %A[symbol(%bx), symbol(%tx)] : memref<?x?xf32>
    gpu.terminator
  }
  return
}
// -----
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%A: memref<64xf32>, %f: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %b = gpu.block_id  y upper_bound 4
      %d = gpu.block_dim z
      %0 = memref.load %A[%i] : memref<64xf32>
      %1 = arith.mulf %0, %f : f32
      memref.store %1, %A[%i] : memref<64xf32>
      gpu.barrier
      gpu.return
    }
  }
  func.func @main(%A: memref<64xf32>, %f: f32) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%A : memref<64xf32>, %f : f32)
    return
  }
}
// -----
gpu.module @shared {
  gpu.func @stage(%A: memref<256xf32>) workgroup(%w: memref<32xf32, 3>) private(%p: memref<1xf32, 5>) kernel {
    %t = gpu.thread_id x
    %g = gpu.grid_dim x
    %k = gpu.global_id x
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i * 32] : memref<256xf32>
      affine.store %0, %w[%i] : memref<32xf32, 3>
    }
    gpu.return
  }
}
// -----
gpu.module @device {
  func.func @inner(%A: memref<8xf32>) {
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i] : memref<8xf32>
      affine.store %0, %A[7 - %i] : memref<8xf32>
    }
    return
  }
  gpu.func @helper(%x: f32) -> f32 {
    gpu.return %x : f32
  }
}
// -----
func.func @with_memory(%A: memref<64xf32>, %bytes: i32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c64, %k = %c1, %l = %c1)
      dynamic_shared_memory_size %bytes workgroup(%w : memref<64xf32, 3>) private(%p : memref<2xf32, 5>) {
    %x = memref.load %A[%g] : memref<64xf32>
    memref.store %x, %w[%g] : memref<64xf32, 3>
    gpu.barrier
    gpu.terminator
  } {note = "staged"}
  return
}
// -----
func.func @shuffled(%x: f32, %m: memref<*xf32>) -> f32 {
  %c1 = arith.constant 1 : i32
  %w = arith.constant 32 : i32
  %s, %valid = gpu.shuffle xor %x, %c1, %w : f32
  %lane = gpu.lane_id
  %id = gpu.subgroup_id : index
  gpu.host_register %m : memref<*xf32>
  return %s : f32
}
// -----
func.func @reduced(%x: i32, %A: memref<8xi32>) {
  affine.for %i = 0 to 8 {
    %0 = gpu.subgroup_reduce add %x : (i32) -> i32
    %1 = gpu.subgroup_reduce maxsi %0 uniform : (i32) -> i32
    affine.store %1, %A[%i] : memref<8xi32>
  }
  return
}
// -----
func.func @waits(%n: index, %f: f32) {
  %0 = gpu.wait async
  %1, %2 = gpu.alloc async [%0] (%n) : memref<?xf32, 1>
  %3 = gpu.alloc () : memref<8xf32, 1>
  %4 = gpu.alloc host_shared () : memref<8xf32>
  %5 = gpu.memcpy async [%2] %3, %3 : memref<8xf32, 1>, memref<8xf32, 1>
  gpu.memcpy %3, %4 : memref<8xf32, 1>, memref<8xf32>
  %6 = gpu.memset async [%5, %0] %3, %f : memref<8xf32, 1>, f32
  gpu.memset %3, %f : memref<8xf32, 1>, f32
  affine.for %i = 0 to 8 {
    affine.store %f, %4[%i] : memref<8xf32>
  }
  %7 = gpu.dealloc async [%6] %1 : memref<?xf32, 1>
  gpu.dealloc %3 : memref<8xf32, 1>
  gpu.wait [%7]
  return
}
// -----
gpu.module @m attributes {x = 1 : i32} {
  gpu.func @f(%a: memref<4xf32> {llvm.noalias}, %n: index) workgroup(%w: memref<4xf32, 3>) private(%p: memref<1xf32, 5>) kernel attributes {known_block_size = array<i32: 8,1,1>, foo} {
    gpu.return
  }
  gpu.func @g() -> (f32) { %x = arith.constant 1.0 : f32
    gpu.return %x : f32 }
  gpu.func @h() { cf.br ^bb1
   ^bb1:
    gpu.return  }
}
gpu.module @e {}
// -----
gpu.module @sizes {
  gpu.func @no_such_dimension(%A: memref<?x?xf32>, %C: memref<?xindex>) kernel {
    %c3 = arith.constant 3 : index
    %d = memref.dim %A, %c3 : memref<?x?xf32>
    affine.for %i = 0 to %d {
      %t = gpu.thread_id x upper_bound 64
      memref.store %t, %C[%i] : memref<?xindex>
    }
    gpu.return
  }
}
