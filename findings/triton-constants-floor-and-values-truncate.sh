#!/usr/bin/env bash
# In one kernel of Triton, -7 // 2 is -4 where -7 is a constant of the kernel, and -3 where it is a value of the same type that is loaded.
#
# Tool: Triton 3.9.0, compiling for sm_80; no GPU is needed.
# A good guess: to turn an argument into a tl.constexpr makes the code faster and leaves its results.
# Seen: constants are divided by Python, which rounds down, and values by arith.divsi and arith.remsi, which round to zero; so the remainder
# of the division by 4 is 1 for the constant and -3 for the value.
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
def divide(number, out, CONSTANT: tl.constexpr):
    value = tl.load(number)
    tl.store(out, CONSTANT // 2)
    tl.store(out, CONSTANT % 4)
    tl.store(out, value // 2)
    tl.store(out, value % 4)


signature = {"number": "*i32", "out": "*i32", "CONSTANT": "constexpr"}
source = ASTSource(divide, signature=signature, constexprs={"CONSTANT": -7})
text = triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["ttir"]
defined = dict(re.findall(r"(%[\w-]+) = (arith\.\w+ .*?) : i32", text))
for stored in re.findall(r"tt\.store %[\w-]+, (%[\w-]+) :", text):
    operation = defined[stored]
    print("stored:", " ".join(defined.get(word.rstrip(","), word).removeprefix("arith.constant ") for word in operation.split()))
PYTHON
TRITON_CACHE_DIR="$folder/cache" "$folder/venv/bin/python" "$folder/check.py" >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "triton-constants-floor-and-values-truncate: the output has changed" >&2; exit 1; }
stored: arith.constant -4
stored: arith.constant 1
stored: arith.divsi %value, 2
stored: arith.remsi %value, 4
SEEN
echo "triton-constants-floor-and-values-truncate: as described"
