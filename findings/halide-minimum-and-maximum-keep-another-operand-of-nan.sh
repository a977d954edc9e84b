#!/usr/bin/env bash
# Of two operands one of which is NaN, Halide's max gives the second and its min the first; with strict_float, min gives the second, too.
#
# Tool: Halide 21.0.0 on x86-64, the same for targets with and without AVX.
# A good guess: max and min have one rule for NaN, on one of the two sides or on both; and -max(-a, -b) is min(a, b).
# Seen: max(NaN, 1) is 1 and max(1, NaN) is NaN, min(NaN, 1) is NaN and min(1, NaN) is 1. strict_float turns the rule around for min and
# leaves it for max. Halide does not promise more than that NaN may be lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check halide==21.0.0 numpy==2.4.6

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import halide
import numpy

x = halide.Var("x")
nan = float("nan")
a = halide.Buffer(numpy.array([nan, 1, 2], numpy.float32))
b = halide.Buffer(numpy.array([1, nan, 3], numpy.float32))
for target in ("x86-64-linux", "x86-64-linux-sse41"):
    for strict in (False, True):
        for name in ("max", "min"):
            function = halide.Func()
            value = getattr(halide, name)(a[x], b[x])
            function[x] = halide.strict_float(value) if strict else value
            print(target, "strict_float" if strict else "", name, numpy.asarray(function.realize([3], halide.Target(target))))
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "halide-minimum-and-maximum-keep-another-operand-of-nan: the output has changed" >&2; exit 1; }
x86-64-linux  max [ 1. nan  3.]
x86-64-linux  min [nan  1.  2.]
x86-64-linux strict_float max [ 1. nan  3.]
x86-64-linux strict_float min [ 1. nan  2.]
x86-64-linux-sse41  max [ 1. nan  3.]
x86-64-linux-sse41  min [nan  1.  2.]
x86-64-linux-sse41 strict_float max [ 1. nan  3.]
x86-64-linux-sse41 strict_float min [ 1. nan  2.]
SEEN
echo "halide-minimum-and-maximum-keep-another-operand-of-nan: as described"
