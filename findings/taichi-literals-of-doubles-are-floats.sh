#!/usr/bin/env bash
# In a kernel of Taichi, x * 0.1 with x in double precision multiplies by the float that is next to 0.1.
#
# Tool: Taichi 1.7.4 on a CPU.
# A good guess: in an expression of doubles a literal is a double, as in Python, C and Fortran's 0.1d0, or the loss of digits is reported.
# Seen: literals have the type default_fp, which is f32, before anything is known of the other operand; so one tenth has eight right digits.
# A variable that starts as 0.0 stays a float, and 1 / 3 of integers is one. ti.cast(0.1, ti.f64) is a float, too, that was
# widened; ti.init(default_fp=ti.f64) is what helps.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check taichi==1.7.4 numpy==2.4.6

cat >"$folder/check.py" <<'PYTHON'
import taichi as ti


@ti.kernel
def times(x: ti.f64) -> ti.f64:
    return x * 0.1


@ti.kernel
def converted(x: ti.f64) -> ti.f64:
    return x * ti.cast(0.1, ti.f64)


@ti.kernel
def variable(x: ti.f64) -> ti.f64:
    s = 0.0
    s += x
    return s


@ti.kernel
def quotient(n: ti.i32) -> ti.f64:
    return n / 3


for name in ("f32", "f64"):
    ti.init(arch=ti.cpu, log_level=ti.ERROR, default_fp=getattr(ti, name))
    print("default_fp", name, times(1.0), converted(1.0), variable(0.1), quotient(1))
PYTHON
"$folder/venv/bin/python" "$folder/check.py" | grep default_fp >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "taichi-literals-of-doubles-are-floats: the output has changed" >&2; exit 1; }
default_fp f32 0.10000000149011612 0.10000000149011612 0.10000000149011612 0.3333333432674408
default_fp f64 0.1 0.1 0.1 0.3333333333333333
SEEN
echo "taichi-literals-of-doubles-are-floats: as described"
