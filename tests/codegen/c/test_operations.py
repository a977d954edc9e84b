"""A target is the table of C output with some rows overridden."""

from affdsl.codegen.c.emit import emit
from affdsl.codegen.c.expressions import number
from affdsl.codegen.c.lanes import flat_lane, new_vector
from affdsl.codegen.c.operations import STRICT_C
from affdsl.ir.dialects import vector
from affdsl.mlir.readers import parse

FMA = """
func.func @f(%x: f32, %out: memref<4xf32>, %i: index) {
  %v = vector.broadcast %x : f32 to vector<4xf32>
  %w = vector.fma %v, %v, %v : vector<4xf32>
  vector.store %w, %out[%i] : memref<4xf32>, vector<4xf32>
  return
}
"""


def test_a_target_overrides_rows():
    def lane_by_lane(c, op):
        name = new_vector(c, op.result)
        for k in range(4):
            a, b, added = (flat_lane(c, v, number(k)) for v in (op.a, op.b, op.c))
            c.lines.add(f"{name}[{k}] = __builtin_fmaf({a}, {b}, {added});")

    module = parse(FMA)
    overridden = emit(module, "f", rows={**STRICT_C, vector.Fma: lane_by_lane}).source
    assert overridden.count("__builtin_fmaf(x, x, x)") == 4
    assert "__builtin_fmaf" not in emit(module, "f").source
