#!/usr/bin/env bash
# MLIR simplifies ((m*k) floordiv 2 + (n*k) floordiv 2) floordiv k to m floordiv 2 + n floordiv 2: of 1 it makes 0.
#
# Tool: mlir-opt 22.1.8 of Debian 12.
# A good guess: an affine expression is simplified to one that is equal for all numbers. For one rounded term the step is right:
# ((m*k) floordiv 2) floordiv k is m floordiv 2.
# Seen: of a sum each term is divided by itself, and what each was rounded by is lost twice. For m = n = 1 and k = 2 it is (1 + 1) floordiv 2 = 1 before,
# and 0 + 0 behind. --canonicalize and --affine-simplify-structures do it, and whichever pass composes maps.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq mlir-22-tools=1:22.1.8-1~deb12u1 libmlir-22=1:22.1.8-1~deb12u1 libllvm22=1:22.1.8-1~deb12u1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/llvm-22/lib:$folder/usr/lib/x86_64-linux-gnu"
bin="$folder/usr/lib/llvm-22/bin"

cat >"$folder/program.mlir" <<'MLIR'
func.func @f(%m: index, %k: index, %n: index) -> index {
  %sum = affine.apply affine_map<()[s0, s1, s2] -> (((s0 * s1) floordiv 2 + (s2 * s1) floordiv 2) floordiv s1)>()[%m, %k, %n]
  return %sum : index
}
func.func @main() {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %sum = call @f(%one, %two, %one) : (index, index, index) -> index
  vector.print %sum : index
  return
}
MLIR
for pass in --mlir-print-op-generic --affine-simplify-structures --canonicalize; do
    echo "$pass"
    "$bin/mlir-opt" "$pass" "$folder/program.mlir" | tee "$folder/simplified.mlir" | grep -oE "affine_map<.*floordiv.*>" | head -1
    "$bin/mlir-opt" --lower-affine --convert-scf-to-cf --convert-vector-to-llvm --convert-to-llvm --reconcile-unrealized-casts "$folder/simplified.mlir" |
        "$bin/mlir-runner" -e main --entry-point-result=void --shared-libs="$folder/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1"
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "mlir-divides-rounded-terms-one-by-one: the output has changed" >&2; exit 1; }
--mlir-print-op-generic
affine_map<()[s0, s1, s2] -> (((s0 * s1) floordiv 2 + (s1 * s2) floordiv 2) floordiv s1)>
1
--affine-simplify-structures
affine_map<()[s0, s1] -> (s0 floordiv 2 + s1 floordiv 2)>
0
--canonicalize
affine_map<()[s0, s1] -> (s0 floordiv 2 + s1 floordiv 2)>
0
SEEN
echo "mlir-divides-rounded-terms-one-by-one: as described"
