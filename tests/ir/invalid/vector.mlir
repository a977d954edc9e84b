func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xf32>}} {{vector<8xf32>}}
  %0 = vector.broadcast %v : vector<4xf32> to vector<8xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{f32}} {{f64}}
  %0 = vector.broadcast %x : f32 to vector<4xf64>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  %0 = vector.broadcast %w : vector<2x4xf32> to vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{4}}
  %0 = vector.extract %v[4] : f32 from vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  %0 = vector.extract %v[0, 0] : f32 from vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xf32>}} {{f32}}
  %0 = vector.extract %w[0] : f32 from vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{-2}}
  %0 = vector.extract %v[-2] : f32 from vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{4}}
  %0 = vector.insert %x, %v[4] : f32 into vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  %0 = vector.insert %x, %w[1] : f32 into vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  %0 = vector.insert %x, %v[1, 0] : f32 into vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{3}} {{4}}
  %0 = vector.from_elements %x, %x, %x : vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{8}}
  %0 = vector.shuffle %v, %v [0, 8] : vector<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xf32>}} {{vector<2x4xf32>}}
  %0 = vector.shuffle %v, %w [0, 1] : vector<4xf32>, vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{[0, 0]}}
  %0 = vector.transpose %w, [0, 0] : vector<2x4xf32> to vector<2x2xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  %0 = vector.transpose %w, [0] : vector<2x4xf32> to vector<4x2xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<2x4xf32>}} {{vector<4x2xf32>}}
  %0 = vector.transpose %w, [1, 0] : vector<2x4xf32> to vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{8}} {{6}}
  %0 = vector.shape_cast %w : vector<2x4xf32> to vector<6xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{f32}} {{f64}}
  %0 = vector.shape_cast %w : vector<2x4xf32> to vector<8xf64>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xf32>}} {{vector<4xf64>}}
  %0 = vector.bitcast %v : vector<4xf32> to vector<4xf64>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{i32}} {{vector<4xf32>}}
  %0 = vector.reduction <add>, %v : vector<4xf32> into i32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{minsi}} {{f32}}
  %0 = vector.reduction <minsi>, %v : vector<4xf32> into f32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<2x4xf32>}}
  %0 = vector.reduction <add>, %w : vector<2x4xf32> into f32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{average}}
  %0 = vector.reduction <average>, %v : vector<4xf32> into f32
  return
}
// -----
func.func @f(%v: vector<4xi32>) {
  // error @+1 {{minimumf}} {{i32}}
  %0 = vector.reduction <minimumf>, %v : vector<4xi32> into i32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<2xf32>}} {{vector<4xf32>}}
  %0 = vector.multi_reduction <add>, %w, %v [1] : vector<2x4xf32> to vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  %0 = vector.create_mask %i, %i : vector<4xi1>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xf32>}}
  %0 = vector.create_mask %i : vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{5}} {{4}}
  %0 = vector.constant_mask [5] : vector<4xi1>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{vector<4x4xi1>}}
  %0 = vector.constant_mask [2] : vector<4x4xi1>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{0}}
  %0 = vector.constant_mask [2, 0] : vector<4x4xi1>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xi32>}}
  %0 = vector.step : vector<4xi32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<2x4xindex>}}
  %0 = vector.step : vector<2x4xindex>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{%v}} {{vector<4xf32>}} {{vector<8xf32>}}
  %0 = vector.fma %v, %v, %v : vector<8xf32>
  return
}
// -----
func.func @f(%v: vector<4xi32>) {
  // error @+1 {{i32}}
  %0 = vector.fma %v, %v, %v : vector<4xi32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{6}} {{4}}
  %0 = vector.extract_strided_slice %v {offsets = [2], sizes = [4], strides = [1]} : vector<4xf32> to vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}}
  %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [2]} : vector<4xf32> to vector<2xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<2xf32>}} {{vector<3xf32>}}
  %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<3xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}}
  %0 = vector.insert_strided_slice %v, %w {offsets = [2, 0], strides = [1]} : vector<4xf32> into vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4x4xf32>}} {{vector<2x4xf32>}}
  %0 = vector.outerproduct %v, %v, %w : vector<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{3}} {{2}}
  %0 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["reduction"], kind = #vector.kind<add>} %v, %v, %x : vector<4xf32>, vector<4xf32> into f32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  %0 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction", "parallel"], kind = #vector.kind<add>} %v, %v, %x : vector<4xf32>, vector<4xf32> into f32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{window}}
  %0 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["window"], kind = #vector.kind<add>} %v, %v, %x : vector<4xf32>, vector<4xf32> into f32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  %u = arith.constant dense<0.0> : vector<2xf32>
  // error @+1 {{4}} {{2}}
  %0 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %v, %u, %x : vector<4xf32>, vector<2xf32> into f32
  return
}
