#!/usr/bin/env bash
# Two tools that both say they are built with LLVM 24.0.0git do not read each other's memref.alloc.
#
# Tool: iree-opt of IREE 3.13.0, and torch-mlir-opt of torch-mlir 20261001.
# A good guess: text of MLIR is a matter of its version, so tools of the same one exchange it.
# Seen: the one prints and reads `memref.alloc() alignment = 64`, and refuses `memref.alloc() {alignment = 64 : i64}`; the other prints and reads that, and
# refuses the first. Both are 24.0.0git: the form changed before a release. The generic form is read by both.
# And torch-mlir-opt registers neither affine nor arith nor vector nor math.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check --no-deps iree-base-compiler==3.13.0 torch-mlir==20261001

program() { printf 'func.func @f() -> memref<8xf32> {\n  %%0 = %s\n  return %%0 : memref<8xf32>\n}\n' "$1"; }
for tool in iree-opt torch-mlir-opt; do
    bin="$folder/venv/bin/$tool"
    echo "$tool $("$bin" --version | grep -oE "LLVM version \S+")"
    for form in 'memref.alloc() {alignment = 64 : i64} : memref<8xf32>' 'memref.alloc() alignment = 64 : memref<8xf32>' \
        '"memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xf32>'; do
        if program "$form" | "$bin" - >"$folder/out" 2>"$folder/err"; then
            grep -o "= memref.alloc.*" "$folder/out"
        else
            grep -o "error: .*" "$folder/err" | cut -c1-94
        fi
    done
    "$bin" --show-dialects | { grep -owE "affine|arith|vector|math" || echo none; } | sort -u | tr '\n' ' '
    echo "of affine, arith, math, vector"
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "iree-and-torch-mlir-of-one-version-read-other-allocations: the output has changed" >&2; exit 1; }
iree-opt LLVM version 24.0.0git
error: custom op 'memref.alloc' inherent attribute 'alignment' cannot be parsed from attr-dict
= memref.alloc() alignment = 64 : memref<8xf32>
= memref.alloc() alignment = 64 : memref<8xf32>
affine arith math vector of affine, arith, math, vector
torch-mlir-opt LLVM version 24.0.0git
= memref.alloc() {alignment = 64 : i64} : memref<8xf32>
error: expected ':'
= memref.alloc() {alignment = 64 : i64} : memref<8xf32>
none of affine, arith, math, vector
SEEN
echo "iree-and-torch-mlir-of-one-version-read-other-allocations: as described"
