#!/usr/bin/env bash
# In the text that isl reads, "i/2" is neither a floor nor a truncation: it leaves out every i that 2 does not divide.
#
# Tool: isl, by way of islpy 2026.2.2.
# A good guess: "{ [i] -> [i/2] }" maps each i, and rounds in some way, as "i/2" of integers does in C, and "i//2" in isl itself.
# Seen: the map has no image for odd i, and no error says so. In a condition, "i/2 <= 1" is exact rational arithmetic, so that it
# holds for i = 2 and not for i = 3, where both roundings of 3/2 would be 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check islpy==2026.2.2

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import islpy

box = islpy.Set("{ [i] : 0 <= i <= 3 }")
for text in ("{ [i] -> [i/2] }", "{ [i] -> [i//2] }", "{ [i] -> [floor(i/2)] }"):
    print(text, "has images of", islpy.Map(text).intersect_domain(box).domain().count_val())
for text in ("{ [i] : i/2 <= 1 and 0 <= i <= 3 }", "{ [i] : i//2 <= 1 and 0 <= i <= 3 }"):
    print(text, "has", islpy.Set(text).count_val())
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "isl-division-restricts-the-domain: the output has changed" >&2; exit 1; }
{ [i] -> [i/2] } has images of 2
{ [i] -> [i//2] } has images of 4
{ [i] -> [floor(i/2)] } has images of 4
{ [i] : i/2 <= 1 and 0 <= i <= 3 } has 3
{ [i] : i//2 <= 1 and 0 <= i <= 3 } has 4
SEEN
echo "isl-division-restricts-the-domain: as described"
