#!/usr/bin/env bash
# In the text that isl reads, "%" binds tighter than "*" and than the sign in front.
#
# Tool: isl, by way of islpy 2026.2.2.
# A good guess: "2*i % 3" and "-i % 3" are what they are in C, in Python and in MLIR's affine maps: (2*i) % 3 and (-i) % 3.
# Seen: they are 2*(i % 3) and -(i % 3). So the first has odd values for no i, and the second is never above 0.
# "mod" reads the same. No warning is given; parentheses say what is meant.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check islpy==2026.2.2

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import islpy

for text in ("2*i % 3", "(2*i) % 3", "-i % 3", "(-i) % 3", "2*i mod 3"):
    values = []
    for i in range(6):
        image = islpy.Set(f"{{ [{i}] }}").apply(islpy.Map(f"{{ [i] -> [{text}] }}"))
        values.append(image.sample_point().get_coordinate_val(islpy.dim_type.set, 0).to_python())
    print(text, values)
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "isl-modulo-before-multiplication: the output has changed" >&2; exit 1; }
2*i % 3 [0, 2, 4, 0, 2, 4]
(2*i) % 3 [0, 2, 1, 0, 2, 1]
-i % 3 [0, -1, -2, 0, -1, -2]
(-i) % 3 [0, 2, 1, 0, 2, 1]
2*i mod 3 [0, 2, 4, 0, 2, 4]
SEEN
echo "isl-modulo-before-multiplication: as described"
