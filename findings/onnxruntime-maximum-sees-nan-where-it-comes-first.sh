#!/usr/bin/env bash
# ONNX Runtime's ReduceMax gives NaN if the first element is one, and passes over every other NaN.
#
# Tool: ONNX Runtime 1.32.0 on a CPU, beside the reference of onnx 1.23.2.
# A good guess: a maximum passes NaN on, as NumPy and the reference do, or passes over all of them; where it stands does not matter.
# Seen: of nine ones with one NaN, the maximum is NaN for the first place and 1 for the eight others, and so is the minimum. The operator Max of
# two tensors gives NaN on either side.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def model(operator, count):
    inputs = [helper.make_tensor_value_info(f"i{n}", TensorProto.FLOAT, None) for n in range(count)]
    output = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
    keep = {} if operator == "Max" else {"keepdims": 0}
    node = helper.make_node(operator, [each.name for each in inputs], ["o"], **keep)
    return helper.make_model(
        helper.make_graph([node], "g", inputs, [output]), opset_imports=[helper.make_opsetid("", 18)], ir_version=8
    )


def both(operator, *arrays):
    made = model(operator, len(arrays))
    given = {f"i{n}": array for n, array in enumerate(arrays)}
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return ReferenceEvaluator(made).run(None, given)[0], session.run(None, given)[0]


nan = numpy.float32("nan")
for operator in ("ReduceMax", "ReduceMin"):
    reference, seen = [], []
    for place in range(9):
        ones = numpy.ones(9, numpy.float32)
        ones[place] = nan
        for results, result in zip((reference, seen), both(operator, ones)):
            results.append(str(result))
    print(operator, "reference:", *reference)
    print(operator, "run-time: ", *seen)
one = numpy.ones(1, numpy.float32)
print("Max:", *both("Max", one, one * nan), *both("Max", one * nan, one))
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "onnxruntime-maximum-sees-nan-where-it-comes-first: the output has changed" >&2; exit 1; }
ReduceMax reference: nan nan nan nan nan nan nan nan nan
ReduceMax run-time:  nan 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0
ReduceMin reference: nan nan nan nan nan nan nan nan nan
ReduceMin run-time:  nan 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0
Max: [nan] [nan] [nan] [nan]
SEEN
echo "onnxruntime-maximum-sees-nan-where-it-comes-first: as described"
