"""symbol-dce: next to mlir-opt's, with nested modules, global buffers and unknown operations."""

from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.symbol_dce import symbol_dce


def test_a_module_where_all_is_live_is_returned():
    module = parse("func.func private @a() { return } func.func @b() { call @a() : () -> () return }")
    assert symbol_dce(module) is module


def test_what_stays_is_not_touched():
    text = """
    func.func private @a() {
      "test.op"() {x = 1 : i64} : () -> () loc("f":1:1)
      return
    }
    func.func @b() { call @a() : () -> () return }
    func.func private @dead() { return }"""
    printed = print_op(symbol_dce(parse(text)), locations=True)
    assert 'loc("f":1:1)' in printed
    assert "x = 1" in printed
    assert "@dead" not in printed
