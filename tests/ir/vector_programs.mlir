// The bodies of the programs of vector_programs.py, by name; those on memory begin with their arguments.
// --- transfer_read, padded
// %m: memref<4x6xf32>, %r: memref<4x8xf32>
  %p = arith.constant 9.0 : f32
  %v = vector.transfer_read %m[%c2, %c3], %p : memref<4x6xf32>, vector<4x8xf32>
  vector.transfer_write %v, %r[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<4x8xf32>
// --- transfer_read, transposed and padded
// %m: memref<4x6xf32>, %r: memref<8x4xf32>
  %p = arith.constant 9.0 : f32
  %v = vector.transfer_read %m[%c1, %c3], %p {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<4x6xf32>, vector<8x4xf32>
  vector.transfer_write %v, %r[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, memref<8x4xf32>
// --- transfer_read, a column, broadcast
// %m: memref<4x6xf32>, %r: memref<3x4xf32>
  %p = arith.constant 9.0 : f32
  %v = vector.transfer_read %m[%c1, %c3], %p {permutation_map = affine_map<(i, j) -> (0, i)>} : memref<4x6xf32>, vector<3x4xf32>
  vector.transfer_write %v, %r[%c0, %c0] {in_bounds = [true, true]} : vector<3x4xf32>, memref<3x4xf32>
// --- transfer_read, masked
// %m: memref<16xf32>, %k: memref<8xi8>, %r: memref<8xf32>
  %p = arith.constant 9.0 : f32
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %v = vector.transfer_read %m[%c2], %p, %mask : memref<16xf32>, vector<8xf32>
  vector.transfer_write %v, %r[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
// --- transfer_read, mask in the order of memory
// %m: memref<4x6xf32>, %k: memref<4x3xi8>, %r: memref<3x4xf32>
  %p = arith.constant 9.0 : f32
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<4x3xi8>
  %bytes = vector.transfer_read %k[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x3xi8>, vector<4x3xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<4x3xi8>
  %v = vector.transfer_read %m[%c0, %c1], %p, %mask {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<4x6xf32>, vector<3x4xf32>
  vector.transfer_write %v, %r[%c0, %c0] {in_bounds = [true, true]} : vector<3x4xf32>, memref<3x4xf32>
// --- transfer_write, partly outside
// %m: memref<4x9xf32>, %a: memref<4x8xf32>
  %p = arith.constant 9.0 : f32
  %c5 = arith.constant 5 : index
  %v = vector.transfer_read %a[%c0, %c0], %p {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
  vector.transfer_write %v, %m[%c2, %c5] : vector<4x8xf32>, memref<4x9xf32>
// --- transfer_write, masked, a column
// %m: memref<8x3xf32>, %k: memref<8xi8>, %a: memref<8xf32>
  %p = arith.constant 9.0 : f32
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %v = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  vector.transfer_write %v, %m[%c0, %c1], %mask {permutation_map = affine_map<(i, j) -> (i)>} : vector<8xf32>, memref<8x3xf32>
// --- load and store
// %m: memref<4x8xf32>, %r: memref<4x8xf32>
  %v = vector.load %m[%c1, %c3] : memref<4x8xf32>, vector<4xf32>
  vector.store %v, %r[%c2, %c2] : memref<4x8xf32>, vector<4xf32>
// --- load and store of two dimensions
// %m: memref<4x8xf64>, %r: memref<4x8xf64>
  %v = vector.load %m[%c1, %c3] : memref<4x8xf64>, vector<2x4xf64>
  vector.store %v, %r[%c2, %c2] : memref<4x8xf64>, vector<2x4xf64>
// --- maskedload
// %m: memref<12xf32>, %k: memref<8xi8>, %a: memref<8xf32>
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %p = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  %v = vector.maskedload %m[%c3], %mask, %p : memref<12xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.store %v, %a[%c0] : memref<8xf32>, vector<8xf32>
// --- maskedstore
// %m: memref<12xf32>, %k: memref<8xi8>, %a: memref<8xf32>
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %v = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  vector.maskedstore %m[%c3], %mask, %v : memref<12xf32>, vector<8xi1>, vector<8xf32>
// --- gather
// %m: memref<4x8xf32>, %o: memref<8xi32>, %k: memref<8xi8>, %a: memref<8xf32>
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %at = vector.load %o[%c0] : memref<8xi32>, vector<8xi32>
  %p = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  %v = vector.gather %m[%c1, %c2] [%at], %mask, %p : memref<4x8xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.store %v, %a[%c0] : memref<8xf32>, vector<8xf32>
// --- scatter
// %m: memref<16xf32>, %o: memref<8xi64>, %k: memref<8xi8>, %a: memref<8xf32>
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %at = vector.load %o[%c0] : memref<8xi64>, vector<8xi64>
  %v = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  vector.scatter %m[%c2] [%at], %mask, %v : memref<16xf32>, vector<8xi64>, vector<8xi1>, vector<8xf32>
// --- expandload
// %m: memref<16xf32>, %k: memref<8xi8>, %a: memref<8xf32>
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %p = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  %v = vector.expandload %m[%c1], %mask, %p : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.store %v, %a[%c0] : memref<8xf32>, vector<8xf32>
// --- compressstore
// %m: memref<16xf32>, %k: memref<8xi8>, %a: memref<8xf32>
  %z = arith.constant 0 : i8
  %zs = vector.broadcast %z : i8 to vector<8xi8>
  %bytes = vector.transfer_read %k[%c0], %z {in_bounds = [true]} : memref<8xi8>, vector<8xi8>
  %mask = arith.cmpi ne, %bytes, %zs : vector<8xi8>
  %v = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
  vector.compressstore %m[%c1], %mask, %v : memref<16xf32>, vector<8xi1>, vector<8xf32>
// --- addf
  %v = arith.addf %x, %y : vector<4x8xf32>
// --- muli
  %v = arith.muli %x, %y : vector<8xi32>
// --- negf
  %v = arith.negf %x : vector<8xf32>
// --- sqrt
  %w = math.absf %x : vector<8xf32>
  %v = math.sqrt %w : vector<8xf32>
// --- cmpf
  %v = arith.cmpf olt, %x, %y : vector<8xf32>
// --- select
  %c = arith.cmpi sgt, %x, %y : vector<8xi32>
  %v = arith.select %c, %x, %y : vector<8xi1>, vector<8xi32>
// --- select of whole vectors
  %c = arith.cmpi sgt, %c2, %c1 : index
  %v = arith.select %c, %x, %y : vector<8xi32>
// --- sitofp
  %v = arith.sitofp %x : vector<8xi32> to vector<8xf64>
// --- trunci
  %v = arith.trunci %x : vector<8xi32> to vector<8xi8>
// --- extui
  %c = arith.cmpf oge, %x, %y : vector<8xf32>
  %v = arith.extui %c : vector<8xi1> to vector<8xi32>
// --- mulsi_extended
  %l, %v = arith.mulsi_extended %x, %y : vector<8xi32>
// --- addui_extended
  %v, %c = arith.addui_extended %x, %y : vector<8xi32>, vector<8xi1>
// --- fma of math
  %v = math.fma %x, %y, %x : vector<8xf32>
// --- constants
  %k = arith.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : vector<2x2xf32>
  %s = arith.constant dense<0.5> : vector<2x2xf32>
  %u = arith.mulf %k, %s : vector<2x2xf32>
  %v = arith.addf %u, %x : vector<2x2xf32>
// --- constant masks
  %k = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %v = arith.select %k, %x, %y : vector<4xi1>, vector<4xf32>
// --- fma
  %v = vector.fma %x, %y, %z : vector<8xf32>
// --- reduction of floats, from the left
  %h = arith.constant 0.5 : f32
  %v = vector.reduction <add>, %x, %h : vector<8xf32> into f32
// --- reduction without a start
  %v = vector.reduction <mul>, %x : vector<4xf32> into f32
// --- reduction maxui
  %v = vector.reduction <maxui>, %x : vector<8xi32> into i32
// --- reduction minui
  %v = vector.reduction <minui>, %x : vector<8xi32> into i32
// --- reduction minimumf
  %v = vector.reduction <minimumf>, %x : vector<8xf32> into f32
// --- reduction maxnumf
  %v = vector.reduction <maxnumf>, %x : vector<8xf32> into f32
// --- multi_reduction of columns
  %v = vector.multi_reduction <add>, %x, %y [0] : vector<4x8xf32> to vector<8xf32>
// --- multi_reduction of rows
  %v = vector.multi_reduction <maxsi>, %x, %y [1] : vector<4x8xi32> to vector<4xi32>
// --- multi_reduction of the middle
  %v = vector.multi_reduction <add>, %x, %y [1] : vector<2x3x4xf32> to vector<2x4xf32>
// --- multi_reduction of all
  %h = arith.constant 5 : i32
  %v = vector.multi_reduction <add>, %x, %h [0, 1] : vector<4x8xi32> to i32
// --- contract, a product of matrices
  %v = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %z : vector<4x3xf32>, vector<3x2xf32> into vector<4x2xf32>
// --- contract to wider lanes
  %v = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %z : vector<4x3xi8>, vector<3x2xi8> into vector<4x2xi32>
// --- contract to a scalar
  %h = arith.constant 5.0 : f32
  %v = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %x, %y, %h : vector<8xf32>, vector<8xf32> into f32
// --- contract, the largest product
  %h = arith.constant -99.0 : f32
  %v = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<maximumf>} %x, %y, %h : vector<8xf32>, vector<8xf32> into f32
// --- contract, a vector by a transposed matrix
  %v = vector.contract {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %z : vector<4x8xf32>, vector<4xf32> into vector<8xf32>
// --- outerproduct
  %v = vector.outerproduct %x, %y : vector<4xf32>, vector<8xf32>
// --- outerproduct with a start
  %v = vector.outerproduct %x, %y, %z {kind = #vector.kind<add>} : vector<4xf32>, vector<8xf32>
// --- outerproduct, the largest
  %v = vector.outerproduct %x, %y, %z {kind = #vector.kind<maxsi>} : vector<4xi32>, vector<8xi32>
// --- outerproduct with a scalar
  %h = arith.constant 5.0 : f32
  %v = vector.outerproduct %x, %h : vector<8xf32>, f32
// --- broadcast of a scalar
  %h = arith.constant 5.0 : f32
  %v = vector.broadcast %h : f32 to vector<4x8xf32>
// --- broadcast of a row
  %v = vector.broadcast %x : vector<8xf32> to vector<4x8xf32>
// --- broadcast of a column
  %v = vector.broadcast %x : vector<4x1xf32> to vector<4x8xf32>
// --- extract a scalar
  %v = vector.extract %x[2, 3] : f32 from vector<4x8xf32>
// --- extract a row
  %v = vector.extract %x[2] : vector<8xf32> from vector<4x8xf32>
// --- extract at a value
  %v = vector.extract %x[%c6] : f32 from vector<8xf32>
// --- insert a scalar
  %h = arith.constant 5.0 : f32
  %v = vector.insert %h, %x [2, 3] : f32 into vector<4x8xf32>
// --- insert a row
  %v = vector.insert %y, %x [2] : vector<8xf32> into vector<4x8xf32>
// --- insert at a value
  %h = arith.constant 5.0 : f32
  %v = vector.insert %h, %x [%c6] : f32 into vector<8xf32>
// --- extract_strided_slice
  %v = vector.extract_strided_slice %x {offsets = [1, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
// --- extract_strided_slice of rows
  %v = vector.extract_strided_slice %x {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32>
// --- insert_strided_slice
  %v = vector.insert_strided_slice %y, %x {offsets = [1, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
// --- insert_strided_slice of a row
  %v = vector.insert_strided_slice %y, %x {offsets = [3, 2], strides = [1]} : vector<4xf32> into vector<4x8xf32>
// --- shuffle
  %v = vector.shuffle %x, %y [0, 9, 2, 11, 7] : vector<8xf32>, vector<8xf32>
// --- shuffle of rows
  %v = vector.shuffle %x, %y [4, 1, 5] : vector<4x8xf32>, vector<2x8xf32>
// --- transpose
  %v = vector.transpose %x, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
// --- transpose of three dimensions
  %v = vector.transpose %x, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>
// --- shape_cast
  %v = vector.shape_cast %x : vector<4x8xf32> to vector<2x16xf32>
// --- bitcast to integers
  %v = vector.bitcast %x : vector<8xf32> to vector<8xi32>
// --- bitcast to wider lanes
  %v = vector.bitcast %x : vector<8xf32> to vector<4xf64>
// --- bitcast to narrower lanes
  %v = vector.bitcast %x : vector<4x8xi32> to vector<4x32xi8>
// --- bitcast to bits
  %v = vector.bitcast %x : vector<8xi8> to vector<64xi1>
// --- from_elements
  %h = vector.extract %x[1] : f32 from vector<8xf32>
  %u = vector.extract %x[6] : f32 from vector<8xf32>
  %v = vector.from_elements %u, %h, %h, %u : vector<2x2xf32>
// --- to_elements
  %e:4 = vector.to_elements %x : vector<4xf32>
  %v = vector.from_elements %e#3, %e#0 : vector<2xf32>
// --- step
  %s = vector.step : vector<8xindex>
  %v = arith.index_cast %s : vector<8xindex> to vector<8xi64>
// --- create_mask
  %v = vector.create_mask %c3 : vector<8xi1>
// --- create_mask of two dimensions
  %v = vector.create_mask %c3, %c6 : vector<4x8xi1>
// --- create_mask beyond the ends
  %n = arith.subi %c0, %c3 : index
  %l = vector.create_mask %n : vector<4xi1>
  %c9 = arith.constant 99 : index
  %h = vector.create_mask %c9 : vector<4xi1>
  %v = arith.xori %l, %h : vector<4xi1>
// --- constant_mask
  %v = vector.constant_mask [2, 5] : vector<4x8xi1>
// --- constant_mask of none
  %v = vector.constant_mask [0] : vector<8xi1>
// --- a loop that carries vectors
  %v, %u = affine.for %i = 0 to 3 iter_args(%a = %x, %b = %y) -> (vector<8xf32>, vector<8xf32>) {
    %s = arith.addf %a, %b : vector<8xf32>
    affine.yield %b, %s : vector<8xf32>, vector<8xf32>
  }
// --- a condition that gives a vector
  %c = arith.cmpi sgt, %c2, %c1 : index
  %v = scf.if %c -> (vector<8xf32>) {
    %s = arith.addf %x, %y : vector<8xf32>
    scf.yield %s : vector<8xf32>
  } else {
    scf.yield %y : vector<8xf32>
  }
// --- reduction add
  %h = arith.constant 5 : i32
  %v = vector.reduction <add>, %x, %h : vector<8xi32> into i32
// --- reduction mul
  %h = arith.constant 5 : i32
  %v = vector.reduction <mul>, %x, %h : vector<8xi32> into i32
// --- reduction and
  %h = arith.constant 5 : i32
  %v = vector.reduction <and>, %x, %h : vector<8xi32> into i32
// --- reduction or
  %h = arith.constant 5 : i32
  %v = vector.reduction <or>, %x, %h : vector<8xi32> into i32
// --- reduction xor
  %h = arith.constant 5 : i32
  %v = vector.reduction <xor>, %x, %h : vector<8xi32> into i32
// --- reduction minsi
  %h = arith.constant 5 : i32
  %v = vector.reduction <minsi>, %x, %h : vector<8xi32> into i32
// --- reduction maxsi
  %h = arith.constant 5 : i32
  %v = vector.reduction <maxsi>, %x, %h : vector<8xi32> into i32
