// Operations of vector that rearrange: broadcast, shape_cast, transpose, shuffle, interleave, slices, bitcast.
func.func @broadcast(%x: f32, %v: vector<4xf32>, %w: vector<2x1xf32>, %r: vector<f32>, %s: vector<[4]xf32>) {
  %0 = vector.broadcast %x : f32 to vector<4xf32>
  %1 = vector.broadcast %v : vector<4xf32> to vector<3x4xf32>
  %2 = vector.broadcast %w : vector<2x1xf32> to vector<2x8xf32>
  %3 = vector.broadcast %r {note = "kept"} : vector<f32> to vector<2xf32>
  %4 = vector.broadcast %s : vector<[4]xf32> to vector<2x[4]xf32>
  return
}

func.func @reshape(%v: vector<8xf32>, %w: vector<2x4xf32>, %t: vector<2x3x4xf32>, %s: vector<[4]x2xf32>) {
  %0 = vector.shape_cast %v : vector<8xf32> to vector<2x4xf32>
  %1 = vector.transpose %w, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %2 = vector.transpose %t, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>
  %3 = vector.transpose %s, [1, 0] {note = "kept"} : vector<[4]x2xf32> to vector<2x[4]xf32>
  %4 = vector.bitcast %v : vector<8xf32> to vector<4xf64>
  return
}

func.func @shuffle(%a: vector<2xf32>, %b: vector<4xf32>, %m: vector<2x3xf32>, %n: vector<1x3xf32>, %r: vector<f32>, %s: vector<[4]xi32>) {
  %0 = vector.shuffle %a, %b [0, 1, 5, 2] : vector<2xf32>, vector<4xf32>
  %1 = vector.shuffle %m, %n [2, 0] {note = "kept"} : vector<2x3xf32>, vector<1x3xf32>
  %2 = vector.shuffle %r, %r [0, 1] : vector<f32>, vector<f32>
  %3 = vector.shuffle %a, %a [-1, 3] : vector<2xf32>, vector<2xf32>
  %4 = vector.interleave %b, %b : vector<4xf32> -> vector<8xf32>
  %5, %6 = vector.deinterleave %b : vector<4xf32> -> vector<2xf32>
  %7 = vector.interleave %s, %s : vector<[4]xi32> -> vector<[8]xi32>
  return
}

func.func @slices(%v: vector<8xf32>, %w: vector<4x8xf32>, %small: vector<2x2xf32>, %s: vector<[16]xf32>, %f: vector<4xf32>) {
  %0 = vector.extract_strided_slice %v {offsets = [2], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  %1 = vector.extract_strided_slice %w {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32>
  %2 = vector.insert_strided_slice %small, %w {offsets = [1, 2], strides = [1, 1]} : vector<2x2xf32> into vector<4x8xf32>
  %3 = vector.insert_strided_slice %f, %w {offsets = [3, 4], strides = [1]} : vector<4xf32> into vector<4x8xf32>
  %4 = vector.scalable.insert %f, %s[8] : vector<4xf32> into vector<[16]xf32>
  %5 = vector.scalable.extract %s[4] : vector<4xf32> from vector<[16]xf32>
  return
}
