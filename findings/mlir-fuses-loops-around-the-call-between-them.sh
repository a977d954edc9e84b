#!/usr/bin/env bash
# MLIR's affine loop fusion moves a loop that reads an array in front of the call that fills it.
#
# Tool: mlir-opt and mlir-runner 22.1.8 of Debian 12.
# A good guess: a call that is given an array may read and write it, so it stays between the loop that stores the array and the loop that loads it.
# Seen: --affine-loop-fusion makes one loop of both, before the call. What the call stores is never read: 5 becomes 1. It is so with the function's
# body beside it and without one, and for arrays that are arguments.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq mlir-22-tools=1:22.1.8-1~deb12u1 libmlir-22=1:22.1.8-1~deb12u1 libllvm22=1:22.1.8-1~deb12u1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/llvm-22/lib:$folder/usr/lib/x86_64-linux-gnu"
bin="$folder/usr/lib/llvm-22/bin"

cat >"$folder/program.mlir" <<'MLIR'
func.func @fill(%A: memref<8xf32>) {
  %five = arith.constant 5.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %five, %A[%i] : memref<8xf32>
  }
  return
}
func.func @main() {
  %one = arith.constant 1.0 : f32
  %A = memref.alloc() : memref<8xf32>
  %B = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.store %one, %A[%i] : memref<8xf32>
  }
  call @fill(%A) : (memref<8xf32>) -> ()
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i] : memref<8xf32>
    affine.store %x, %B[%i] : memref<8xf32>
  }
  %seen = affine.load %B[3] : memref<8xf32>
  vector.print %seen : f32
  return
}
MLIR
lower=(--lower-affine --convert-scf-to-cf --convert-vector-to-llvm --expand-strided-metadata --convert-to-llvm --reconcile-unrealized-casts)
for first in --mlir-print-op-generic --affine-loop-fusion "--affine-loop-fusion=mode=producer" "--affine-loop-fusion=mode=sibling"; do
    echo "$first"
    "$bin/mlir-opt" "$first" "$folder/program.mlir" | "$bin/mlir-opt" "${lower[@]}" |
        "$bin/mlir-runner" -e main --entry-point-result=void --shared-libs="$folder/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1"
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "mlir-fuses-loops-around-the-call-between-them: the output has changed" >&2; exit 1; }
--mlir-print-op-generic
5
--affine-loop-fusion
1
--affine-loop-fusion=mode=producer
1
--affine-loop-fusion=mode=sibling
5
SEEN
echo "mlir-fuses-loops-around-the-call-between-them: as described"
