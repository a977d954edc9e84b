#!/usr/bin/env bash
# In a kernel of Triton, "/" of floats is a division of up to 2 ulp, and sqrt an approximation that takes subnormal numbers for zero.
#
# Tool: Triton 3.9.0, compiling for sm_80; no GPU is needed.
# A good guess: without an option for fast mathematics, "/" and sqrt are the operations of IEEE 754, as CUDA's compiler has them by default.
# Seen: the PTX has div.full.f32 and sqrt.approx.ftz.f32, also where the fusion of products and sums is turned off. The rounded
# ones have names of their own, div_rn and sqrt_rn.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check triton==3.9.0

cat >"$folder/check.py" <<'PYTHON'
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def compute(x, y, out):
    a = tl.load(x)
    b = tl.load(y)
    tl.store(out, a / b)
    tl.store(out, tl.sqrt(a))
    tl.store(out, tl.math.div_rn(a, b))
    tl.store(out, tl.math.sqrt_rn(a))


source = ASTSource(compute, signature={"x": "*fp32", "y": "*fp32", "out": "*fp32"}, constexprs={})
text = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"enable_fp_fusion": False}).asm["ptx"]
print(*re.findall(r"^\s*((?:div|sqrt)\.\S+)", text, re.M), sep="\n")
PYTHON
TRITON_CACHE_DIR="$folder/cache" "$folder/venv/bin/python" "$folder/check.py" >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "triton-divides-and-takes-roots-approximately: the output has changed" >&2; exit 1; }
div.full.f32
sqrt.approx.ftz.f32
div.rn.f32
sqrt.rn.f32
SEEN
echo "triton-divides-and-takes-roots-approximately: as described"
