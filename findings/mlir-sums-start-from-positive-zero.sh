#!/usr/bin/env bash
# In MLIR a sum of nothing but -0.0 is 0.0 once it is a vector.reduction or a loop with reduce ("addf"), and -0.0 as a loop.
#
# Tool: mlir-opt and mlir-runner 22.1.8 of Debian 12.
# A good guess: reductions start from the neutral element of addition, which for floats is -0.0, as LLVM's own llvm.vector.reduce.fadd has it.
# Seen: the lowering of vector.reduction <add>, that of affine.parallel reduce ("addf"), and --affine-super-vectorize with
# vectorize-reductions start from 0.0, and (-0.0) + 0.0 is 0.0. --affine-parallelize with parallel-reductions turns the loop that
# gives -0.0 into one that gives 0.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq mlir-22-tools=1:22.1.8-1~deb12u1 libmlir-22=1:22.1.8-1~deb12u1 libllvm22=1:22.1.8-1~deb12u1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/llvm-22/lib:$folder/usr/lib/x86_64-linux-gnu"
bin="$folder/usr/lib/llvm-22/bin"

cat >"$folder/program.mlir" <<'MLIR'
memref.global "private" constant @zeros : memref<8xf32> = dense<-0.0>
func.func @main() {
  %zeros = memref.get_global @zeros : memref<8xf32>
  %first = arith.constant -0.0 : f32
  %loop = affine.for %i = 0 to 8 iter_args(%sum = %first) -> f32 {
    %x = affine.load %zeros[%i] : memref<8xf32>
    %next = arith.addf %sum, %x : f32
    affine.yield %next : f32
  }
  vector.print %loop : f32
  %parallel = affine.parallel (%i) = (0) to (8) reduce ("addf") -> f32 {
    %x = affine.load %zeros[%i] : memref<8xf32>
    affine.yield %x : f32
  }
  vector.print %parallel : f32
  %vector = arith.constant dense<-0.0> : vector<4xf32>
  %lanes = vector.reduction <add>, %vector : vector<4xf32> into f32
  vector.print %lanes : f32
  return
}
MLIR
lower=(--lower-affine --convert-scf-to-cf --convert-vector-to-llvm --expand-strided-metadata --convert-to-llvm --reconcile-unrealized-casts)
for first in --mlir-print-op-generic --affine-parallelize=parallel-reductions "--affine-super-vectorize=virtual-vector-size=4 vectorize-reductions"; do
    echo "$first"
    "$bin/mlir-opt" "$first" "$folder/program.mlir" | "$bin/mlir-opt" "${lower[@]}" |
        "$bin/mlir-runner" -e main --entry-point-result=void --shared-libs="$folder/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1"
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "mlir-sums-start-from-positive-zero: the output has changed" >&2; exit 1; }
--mlir-print-op-generic
-0
0
0
--affine-parallelize=parallel-reductions
0
0
0
--affine-super-vectorize=virtual-vector-size=4 vectorize-reductions
0
0
0
SEEN
echo "mlir-sums-start-from-positive-zero: as described"
