#!/usr/bin/env bash
# numpy.min of an array that holds NaN is NaN in a function of numba, and a number when the function has parallel=True.
#
# Tool: numba 0.68.1 with NumPy 2.4.6.
# A good guess: parallel=True changes how a result is computed and, for sums of floats, its rounding. A minimum rounds nothing, so it stays.
# Seen: without parallel=True the minimum is NaN wherever the NaN stands, as in NumPy. With it, NaN is passed over. numpy.argmin
# still finds the NaN, so that a[argmin(a)] and min(a) differ in one function.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check numba==0.68.1 numpy==2.4.6

NUMBA_NUM_THREADS=2 "$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import numba
import numpy


def minimum(a):
    return numpy.min(a), a[numpy.argmin(a)]


alone, parallel = numba.njit(minimum), numba.njit(parallel=True)(minimum)
for place in range(3):
    a = numpy.array([3.0, 1.0, 2.0])
    a[place] = numpy.nan
    print(a, alone(a), parallel(a))
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "numba-parallel-minimum-drops-nan: the output has changed" >&2; exit 1; }
[nan  1.  2.] (nan, nan) (1.0, nan)
[ 3. nan  2.] (nan, nan) (2.0, nan)
[ 3.  1. nan] (nan, nan) (1.0, nan)
SEEN
echo "numba-parallel-minimum-drops-nan: as described"
