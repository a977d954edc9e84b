#!/usr/bin/env bash
# OpenVINO on a CPU computes int64 in 32 bits, sums and maxima of int32 in floats, and double in single precision; the results have the types asked for.
#
# Tool: OpenVINO 2026.4.1, CPU plugin, with its default options.
# A good guess: an operation on int64 tensors whose result is an int64 tensor is computed in 64 bits, and a maximum is one of its elements.
# Seen: 2**30 + 2**30 is -2**31, the maximum of 16777217 and 5 is 16777216, which is no element, and two thirds in double precision have the
# digits of a float. Bytes that are added saturate, as in no other of these: 200 + 200 is 255. Nothing is said of any of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check openvino==2026.4.1 numpy==2.4.6

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import numpy
import openvino
from openvino import opset13 as op

core = openvino.Core()


def run(function, array):
    parameter = op.parameter(list(array.shape), array.dtype)
    result = core.compile_model(openvino.Model([function(parameter)], [parameter]), "CPU")([array])[0]
    return f"{result.dtype} {result.tolist()}"


axis = op.constant(numpy.array([0], numpy.int64))
print("int64 2**30 + 2**30:", run(lambda x: op.add(x, x), numpy.array([2**30], numpy.int64)))
print("int32 maximum of 16777217 and 5:", run(lambda x: op.reduce_max(x, axis, False), numpy.array([16777217, 5], numpy.int32)))
print("int32 sum of 16777217 and 2:", run(lambda x: op.reduce_sum(x, axis, False), numpy.array([16777217, 2], numpy.int32)))
print("float64 1/3 + 1/3:", run(lambda x: op.add(x, x), numpy.array([1 / 3])))
print("uint8 200 + 200:", run(lambda x: op.add(x, x), numpy.array([200], numpy.uint8)))
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "openvino-computes-integers-as-floats: the output has changed" >&2; exit 1; }
int64 2**30 + 2**30: int64 [-2147483648]
int32 maximum of 16777217 and 5: int32 16777216
int32 sum of 16777217 and 2: int32 16777218
float64 1/3 + 1/3: float64 [0.6666666865348816]
uint8 200 + 200: uint8 [255]
SEEN
echo "openvino-computes-integers-as-floats: as described"
