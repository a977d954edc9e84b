#!/usr/bin/env bash
# MLIR's super-vectorizer reads x[2*i], of four iterations, as four neighbours.
#
# Tool: mlir-opt and mlir-runner 22.1.8 of Debian 12.
# A good guess: it makes a vector of a load whose elements lie side by side, and leaves strided ones alone, or gathers them.
# Seen: it asks whether one subscript varies with the loop, and not by how much. Of x[2*i] it takes x[0], x[1], x[2], x[3], and of x[i floordiv 2] four
# different elements where two are read twice. All of it is inside of the array.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq mlir-22-tools=1:22.1.8-1~deb12u1 libmlir-22=1:22.1.8-1~deb12u1 libllvm22=1:22.1.8-1~deb12u1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/llvm-22/lib:$folder/usr/lib/x86_64-linux-gnu"
bin="$folder/usr/lib/llvm-22/bin"

cat >"$folder/program.mlir" <<'MLIR'
memref.global "private" constant @numbers : memref<16xf32> = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>
func.func @main() {
  %x = memref.get_global @numbers : memref<16xf32>
  %even = memref.alloc() : memref<8xf32>
  %pairs = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {
    %a = affine.load %x[2 * %i] : memref<16xf32>
    affine.store %a, %even[%i] : memref<8xf32>
    %b = affine.load %x[%i floordiv 2] : memref<16xf32>
    affine.store %b, %pairs[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 2 {
    %a = affine.vector_load %even[4 * %i] : memref<8xf32>, vector<4xf32>
    vector.print %a : vector<4xf32>
    %b = affine.vector_load %pairs[4 * %i] : memref<8xf32>, vector<4xf32>
    vector.print %b : vector<4xf32>
  }
  return
}
MLIR
lower=(--lower-affine --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --expand-strided-metadata --convert-to-llvm --reconcile-unrealized-casts)
for first in --mlir-print-op-generic --affine-super-vectorize=virtual-vector-size=4; do
    echo "$first"
    "$bin/mlir-opt" "$first" "$folder/program.mlir" | "$bin/mlir-opt" "${lower[@]}" |
        "$bin/mlir-runner" -e main --entry-point-result=void --shared-libs="$folder/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1"
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "mlir-takes-strided-elements-for-neighbours: the output has changed" >&2; exit 1; }
--mlir-print-op-generic
( 0, 2, 4, 6 )
( 0, 0, 1, 1 )
( 8, 10, 12, 14 )
( 2, 2, 3, 3 )
--affine-super-vectorize=virtual-vector-size=4
( 0, 1, 2, 3 )
( 0, 1, 2, 3 )
( 8, 9, 10, 11 )
( 2, 3, 4, 5 )
SEEN
echo "mlir-takes-strided-elements-for-neighbours: as described"
