#!/usr/bin/env bash
# mlir-opt --math-expand-ops makes NaN of (-2) ** 3, and 1 of 0.49999997 rounded to a whole number.
#
# Tool: mlir-opt and mlir-runner 22.1.8 of Debian 12.
# A good guess: a pass that says an operation in terms of others keeps what it computes, or asks for fastmath flags where it does not.
# Seen: math.powf becomes exp(b * log(a)), which is NaN for every negative a, also where b is a whole number. math.round and
# math.roundeven of the largest float below one half become 1, since half is added first, and that sum is rounded. The folders of the same
# operations, and the functions of the C library to which they are lowered otherwise, give -8, 0 and 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq mlir-22-tools=1:22.1.8-1~deb12u1 libmlir-22=1:22.1.8-1~deb12u1 libllvm22=1:22.1.8-1~deb12u1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/llvm-22/lib:$folder/usr/lib/x86_64-linux-gnu"
bin="$folder/usr/lib/llvm-22/bin"

cat >"$folder/program.mlir" <<'MLIR'
func.func @compute(%a: f32, %b: f32, %c: f32) {
  %0 = math.powf %a, %b : f32
  %1 = math.round %c : f32
  %2 = math.roundeven %c : f32
  vector.print %0 : f32
  vector.print %1 : f32
  vector.print %2 : f32
  return
}
func.func @main() {
  %a = arith.constant -2.0 : f32
  %b = arith.constant 3.0 : f32
  %c = arith.constant 0.49999997 : f32
  call @compute(%a, %b, %c) : (f32, f32, f32) -> ()
  return
}
MLIR
for first in --mlir-print-op-generic --math-expand-ops; do
    echo "$first"
    "$bin/mlir-opt" "$first" "$folder/program.mlir" |
        "$bin/mlir-opt" --convert-vector-to-llvm --convert-math-to-llvm --convert-math-to-libm --convert-to-llvm --reconcile-unrealized-casts |
        "$bin/mlir-runner" -e main --entry-point-result=void --shared-libs="$folder/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1"
done | sed 's/^-nan$/nan/' >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "mlir-expanded-powers-of-negative-numbers-are-nan: the output has changed" >&2; exit 1; }
--mlir-print-op-generic
-8
0
0
--math-expand-ops
nan
1
1
SEEN
echo "mlir-expanded-powers-of-negative-numbers-are-nan: as described"
