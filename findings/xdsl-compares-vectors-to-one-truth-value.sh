#!/usr/bin/env bash
# `arith.cmpi eq, %a, %b : vector<4xi32>` gives four truth values in MLIR and one in xDSL, with the same text.
#
# Tool: xDSL 0.75.0, and iree-opt of IREE 3.13.0, which is built with MLIR.
# A good guess: xDSL's arith is MLIR's, so that what one prints the other reads, and means the same by it. It takes vectors in arith.addi, and
# vectors of i1 in vector.create_mask and vector.maskedload.
# Seen: its verifier wants one i1 of a comparison of vectors, and refuses the vector<4xi1> that MLIR has; MLIR refuses the one. The custom form
# does not say the type of the result, so each reads the other's line as its own. No mask can be computed by a comparison, and arith.select takes none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check xdsl==0.75.0 iree-base-compiler==3.13.0
xdsl() { "$folder/venv/bin/xdsl-opt" 2>&1; }
mlir() { "$folder/venv/bin/iree-opt" 2>&1; }

program() {
    cat <<MLIR
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4xi32>, vector<4xi32>) -> $1, sym_name = "f"}> ({
  ^bb0(%a: vector<4xi32>, %b: vector<4xi32>):
    %c = "arith.cmpi"(%a, %b) <{predicate = 0 : i64}> : (vector<4xi32>, vector<4xi32>) -> $1
    "func.return"(%c) : ($1) -> ()
  }) : () -> ()
}) : () -> ()
MLIR
}
shown() { grep -oE "arith.cmpi eq.*|Expected attribute i1.*|failed to verify.*|func.func @f.*-> [^{]*" | sed -E 's/%arg0/%a/; s/%arg1/%b/; s/func.func.*-> /gives /; s/ $//' | uniq; }
for type in i1 "vector<4xi1>"; do
    for tool in xdsl mlir; do
        echo "$tool, $type"
        program "$type" | { "$tool" || true; } | shown
    done
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "xdsl-compares-vectors-to-one-truth-value: the output has changed" >&2; exit 1; }
xdsl, i1
gives i1
arith.cmpi eq, %a, %b : vector<4xi32>
mlir, i1
failed to verify that result type has i1 element type and same shape as operands
xdsl, vector<4xi1>
Expected attribute i1 but got vector<4xi1>
mlir, vector<4xi1>
gives vector<4xi1>
arith.cmpi eq, %a, %b : vector<4xi32>
SEEN
echo "xdsl-compares-vectors-to-one-truth-value: as described"
