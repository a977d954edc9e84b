#!/usr/bin/env bash
# In xDSL `-1 mod 4` of an affine map is 3, and -1 once its own pass has lowered it.
#
# Tool: xDSL 0.75.0.
# A good guess: lower-affine keeps what the program computes. Affine's mod is never negative, in MLIR and in xDSL's documentation alike, and its
# floordiv becomes arith.floordivsi, which rounds down.
# Seen: mod becomes arith.remsi, whose sign is that of the dividend. xDSL's interpreter gives 3 for the program, and -1 for what the pass makes of
# it; an index like (i - 1) mod n, as of a ring buffer, leaves its array.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check xdsl==0.75.0

cat >"$folder/program.mlir" <<'MLIR'
func.func @main() -> (index, index) {
  %i = arith.constant -1 : index
  %mod = affine.apply affine_map<(d0) -> (d0 mod 4)>(%i)
  %floordiv = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)
  func.return %mod, %floordiv : index, index
}
MLIR
run() { "$folder/venv/bin/xdsl-run" --verbose "$1" | tr -d '\n'; echo; }
"$folder/venv/bin/xdsl-opt" -p lower-affine "$folder/program.mlir" >"$folder/lowered.mlir"
{
    run "$folder/program.mlir"
    run "$folder/lowered.mlir"
    grep -o "arith.*si" "$folder/lowered.mlir"
} >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "xdsl-lowers-mod-to-a-signed-remainder: the output has changed" >&2; exit 1; }
result: (    3 : i64,    -1 : i64)
result: (    -1 : i64,    -1 : i64)
arith.remsi
arith.floordivsi
SEEN
echo "xdsl-lowers-mod-to-a-signed-remainder: as described"
