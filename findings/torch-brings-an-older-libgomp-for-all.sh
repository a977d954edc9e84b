#!/usr/bin/env bash
# Whoever imports PyTorch 2.0 first runs all later OpenMP code of the process with PyTorch's older libgomp, or cannot load it.
#
# Tool: the wheel of torch 2.0.1 for CPython 3.11, which runs this, on x86-64 (libgomp up to OMP_4.5), and that of torch 2.14.1 (up to OMP_5.0); gcc.
# A good guess: a library inside of a wheel has a name of its own, as auditwheel gives it, and serves that wheel alone.
# Seen: the file of 2.0.1 is called libgomp-a34b3233.so.1, but its SONAME is libgomp.so.1. A library that gcc made later finds it by that name:
# one that calls omp_pause_resource_all, of gcc 9, is refused for want of the version OMP_5.0, though the system's libgomp has it.
# In 2.14.1 the SONAME is the same, and the library is newer: there it is loaded, and runs on PyTorch's libgomp.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
# The two alone, of some 600 MB each, without what they need: they are not imported.
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check --no-deps --target="$folder/2.0.1" torch==2.0.1
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check --no-deps --target="$folder/2.14.1" torch==2.14.1
cat >"$folder/program.c" <<'C'
#include <omp.h>

int threads(void)
{
    int found = 0;
#pragma omp parallel reduction(+ : found)
    found += 1;
    return omp_pause_resource_all(omp_pause_soft) == 0 && found > 0;
}
C
gcc -O2 -fopenmp -shared -fPIC "$folder/program.c" -o "$folder/program.so"

cat >"$folder/after.py" <<'PYTHON'
import ctypes
import glob
import sys

folder, version = sys.argv[1:]
if version != "none":
    ctypes.CDLL(*glob.glob(f"{folder}/{version}/torch/lib/libgomp*"))
try:
    print(version, "loaded", ctypes.CDLL(f"{folder}/program.so").threads())
except OSError as error:
    print(version, "refused", str(error).split(": ")[1].split(" (")[0])
PYTHON
for version in none 2.0.1 2.14.1; do
    "$folder/venv/bin/python" "$folder/after.py" "$folder" "$version"
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "torch-brings-an-older-libgomp-for-all: the output has changed" >&2; exit 1; }
none loaded 1
2.0.1 refused version `OMP_5.0' not found
2.14.1 loaded 1
SEEN
echo "torch-brings-an-older-libgomp-for-all: as described"
