"""symbol-dce: next to mlir-opt's, with nested modules, global buffers and unknown operations."""

import functools

import pytest

from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from passes.cleanup.symbol_dce import symbol_dce
from tests.passes.compare import both

PROGRAMS = {
    "functions that only dead ones call": """
        func.func private @a()
        func.func private @b() { call @a() : () -> () return }
        func.func private @c() { return }
        func.func @main() { call @c() : () -> () return }""",
    "a function that calls itself": """
        func.func private @a() { call @a() : () -> () return }
        func.func private @b() { call @c() : () -> () return }
        func.func private @c() { call @b() : () -> () return }
        func.func @main() { return }""",
    "global buffers": """
        memref.global "private" @dead : memref<4xf32>
        memref.global "private" @read : memref<4xf32>
        memref.global @seen : memref<4xf32>
        func.func @main() { %0 = memref.get_global @read : memref<4xf32> return }""",
    "references of unknown operations": """
        func.func private @a() { return }
        func.func private @b() { return }
        func.func private @c() { return }
        func.func private @d() { return }
        func.func @main() {
          "test.one"() {to = @a} : () -> ()
          "test.two"() ({ "test.inside"() {list = [1, [@b]], of = {name = @c}} : () -> () }) : () -> ()
          return }""",
    "references of functions": """
        func.func private @a() { return }
        func.func @main() attributes {other = @a} { return }""",
    "modules inside": """
        module @named { func.func private @x() { return } func.func @y() { return } }
        module @hidden attributes {sym_visibility = "private"} { func.func @y() { return } }
        module @asked attributes {sym_visibility = "private"} {
          func.func private @x() { return } func.func private @z() { return } func.func @y() { return } }
        module { func.func private @x() { return } func.func @y() { return } }
        func.func @main() { "test.use"() {of = @asked::@x} : () -> () return }""",
    "nested visibility": """
        module @a { func.func nested @x() { return } func.func private @y() { return } }
        func.func nested @b() { return }""",
    "an unknown symbol": """
        "test.symbol"() {sym_name = "s", sym_visibility = "private"} : () -> ()
        func.func @main() { return }""",
    "nothing is public": """
        func.func private @a() { return }
        func.func private @b() { call @a() : () -> () return }""",
}  # fmt: skip


@functools.cache
def compared():
    texts = [*PROGRAMS.values()]
    made = [symbol_dce(parse(text)) for text in texts]
    return dict(zip(PROGRAMS, both(made, (), texts, ["--symbol-dce"]), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_mlir_opt(name):
    ours, theirs = compared()[name]
    assert ours == theirs


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
