// vector.extract, insert, from_elements, to_elements, step, vscale, constant_mask, create_mask, print, type_cast.
func.func @extract(%v: vector<4xf32>, %w: vector<4x8x16xf32>, %r: vector<f32>, %s: vector<2x[4]xf32>, %i: index) {
  %0 = vector.extract %v[1] : f32 from vector<4xf32>
  %1 = vector.extract %v[%i] : f32 from vector<4xf32>
  %2 = vector.extract %w[3] : vector<8x16xf32> from vector<4x8x16xf32>
  %3 = vector.extract %w[0, %i] : vector<16xf32> from vector<4x8x16xf32>
  %4 = vector.extract %w[%i, 7, %i] {note = "kept"} : f32 from vector<4x8x16xf32>
  %5 = vector.extract %r[] : f32 from vector<f32>
  %6 = vector.extract %w[] : vector<4x8x16xf32> from vector<4x8x16xf32>
  %7 = vector.extract %s[1] : vector<[4]xf32> from vector<2x[4]xf32>
  return
}

func.func @insert(%x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %r: vector<f32>, %i: index) {
  %0 = vector.insert %x, %v[0] : f32 into vector<4xf32>
  %1 = vector.insert %x, %v[%i] : f32 into vector<4xf32>
  %2 = vector.insert %v, %w[1] : vector<4xf32> into vector<2x4xf32>
  %3 = vector.insert %x, %w[%i, 3] {note = "kept"} : f32 into vector<2x4xf32>
  %4 = vector.insert %x, %r[] : f32 into vector<f32>
  return
}

func.func @elements(%x: f32, %y: f32, %v: vector<2x2xi32>) {
  %0 = vector.from_elements %x, %y : vector<2xf32>
  %1 = vector.from_elements %x, %y, %y, %x {note = "kept"} : vector<2x2xf32>
  %2 = vector.from_elements %x : vector<f32>
  %3:4 = vector.to_elements %v : vector<2x2xi32>
  return
}

func.func @masks(%n: index, %m: index) {
  %0 = vector.create_mask %n : vector<8xi1>
  %1 = vector.create_mask %n, %m {note = "kept"} : vector<4x[8]xi1>
  %2 = vector.constant_mask [3] : vector<8xi1>
  %3 = vector.constant_mask [0, 0] : vector<4x4xi1>
  %4 = vector.constant_mask [1] : vector<i1>
  %5 = vector.constant_mask [4] : vector<[4]xi1>
  return
}

func.func @rest(%A: memref<4x4xf32>, %v: vector<4xi32>, %x: f32, %i: index) -> index {
  %0 = vector.step : vector<8xindex>
  %1 = vector.step {note = "kept"} : vector<[4]xindex>
  %2 = vector.vscale
  %3 = vector.type_cast %A : memref<4x4xf32> to memref<vector<4x4xf32>>
  vector.print %v : vector<4xi32>
  vector.print %x : f32 punctuation <no_punctuation>
  vector.print punctuation <comma>
  vector.print str "text"
  return %2 : index
}
