#!/usr/bin/env bash
# XLA divides an array by one number as a product with its reciprocal, which rounds twice; by an array of that number it divides.
#
# Tool: jaxlib 0.10.2 on a CPU, with its default options.
# A good guess: a division is rounded once, as IEEE 754 has it, unless fast mathematics is asked for; and broadcasting makes no difference.
# Seen: a third of x / 3.0 is off by one unit in the last place, in single and in double precision, also where 3.0 is an argument that the
# compiler does not know. The optimized HLO has "divide" of two scalars and "multiply" of the array. The same quotients are right where
# the divisor is an array, or where x is one number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import jax
import numpy

jax.config.update("jax_enable_x64", True)
divide = jax.jit(lambda x, y: x / y)
for kind in (numpy.float32, numpy.float64):
    x = numpy.linspace(1, 20, 1001, dtype=kind)
    three = kind(3)
    right = x / three
    print(kind.__name__, "by a number: wrong", int(numpy.sum(numpy.asarray(divide(x, three)) != right)), "of", x.size)
    print(kind.__name__, "by an array: wrong", int(numpy.sum(numpy.asarray(divide(x, numpy.full_like(x, three))) != right)))
    print(kind.__name__, "one by one: wrong", sum(divide(a, three) != b for a, b in zip(x[:100], right)))
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "xla-division-by-one-number-rounds-twice: the output has changed" >&2; exit 1; }
float32 by a number: wrong 329 of 1001
float32 by an array: wrong 0
float32 one by one: wrong 0
float64 by a number: wrong 340 of 1001
float64 by an array: wrong 0
float64 one by one: wrong 0
SEEN
echo "xla-division-by-one-number-rounds-twice: as described"
