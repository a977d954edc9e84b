#!/usr/bin/env bash
# A moving sum of scipy.ndimage or bottleneck is wrong for all windows behind a large number, and NaN behind an infinity.
#
# Tool: SciPy 1.17.1 and Bottleneck 1.6.0 with NumPy 2.4.6, beside pandas 3.1.1.
# A good guess: what a window gives depends on the numbers in it, and on others by a rounding of these numbers at most.
# Seen: both add what comes into the window to a sum, and subtract what leaves it. 1e17 takes along all that is less than its last digit:
# three ones behind it have the sum 0, up to the end of the row. An infinity leaves NaN, although the windows behind it hold ones alone.
# pandas, which does the same with a compensated sum, and starts anew behind what is not finite, gives 3.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check scipy==1.17.1 bottleneck==1.6.0 pandas==3.1.1 numpy==2.4.6

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import bottleneck
import numpy
import pandas
from scipy.ndimage import uniform_filter1d

for first in (1e17, numpy.inf):
    x = numpy.ones(9)
    x[2] = first
    print("scipy", *(f"{3 * v:g}" for v in uniform_filter1d(x, 3)[4:-1]))
    print("bottleneck", *(f"{v:g}" for v in bottleneck.move_sum(x, 3)[5:]))
    print("pandas", *(f"{v:g}" for v in pandas.Series(x).rolling(3).sum()[5:]))
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "scipy-and-bottleneck-windows-keep-what-has-left-them: the output has changed" >&2; exit 1; }
scipy 0 0 0 0
bottleneck 0 0 0 0
pandas 3 3 3 3
scipy nan nan nan nan
bottleneck nan nan nan nan
pandas 3 3 3 3
SEEN
echo "scipy-and-bottleneck-windows-keep-what-has-left-them: as described"
