#!/usr/bin/env bash
# In a kernel of Warp, "//" rounds down as in Python and "%" has the sign of the dividend as in C: they do not belong together.
#
# Tool: Warp 1.19.0 (warp-lang) on a CPU.
# A good guess: whichever rounding is taken, (a // b) * b + a % b is a.
# Seen: -7 // 2 is -4 and -7 % 2 is -1, which makes -9. It is so for integers and for floats. An index that is wrapped with "%" is negative
# in the kernel where it was not in Python.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check warp-lang==1.19.0 numpy==2.4.6

cat >"$folder/check.py" <<'PYTHON'
import numpy
import warp

warp.config.quiet = True


@warp.kernel
def divide(a: warp.array(dtype=int), b: warp.array(dtype=int), out: warp.array2d(dtype=int)):
    i = warp.tid()
    out[i, 0] = a[i] // b[i]
    out[i, 1] = a[i] % b[i]


a, b = numpy.array([-7, 7, -7, 7], numpy.int32), numpy.array([2, 2, -2, -2], numpy.int32)
out = warp.zeros((4, 2), dtype=int, device="cpu")
inputs = [warp.array(a, dtype=int, device="cpu"), warp.array(b, dtype=int, device="cpu"), out]
warp.launch(divide, dim=4, inputs=inputs, device="cpu")
for x, y, (quotient, remainder) in zip(a, b, out.numpy()):
    print(f"{x} // {y} = {quotient}, {x} % {y} = {remainder}, sum {quotient * y + remainder}; Python {x // y}, {x % y}")
PYTHON
WARP_CACHE_PATH="$folder/cache" "$folder/venv/bin/python" "$folder/check.py" | grep "; Python" >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "warp-quotient-floors-and-remainder-truncates: the output has changed" >&2; exit 1; }
-7 // 2 = -4, -7 % 2 = -1, sum -9; Python -4, 1
7 // 2 = 3, 7 % 2 = 1, sum 7; Python 3, 1
-7 // -2 = 3, -7 % -2 = -1, sum -7; Python 3, -1
7 // -2 = -4, 7 % -2 = 1, sum 9; Python -4, -1
SEEN
echo "warp-quotient-floors-and-remainder-truncates: as described"
