"""Names: valid, readable, unique and harmless, whatever the user called things."""

from pathlib import Path

import pytest

from affdsl.codegen.c.emit import emit
from affdsl.codegen.c.names import CALLED, KEYWORDS, LIBRARY, MACROS, Scope, comment, function_identifier, identifier
from affdsl.ir.types import F32
from tests.codegen.c.build import Builder, module
from tests.codegen.c.compare import check_compiles

HOSTILE = [
    "café", "变量", "x'", "i.1", "__asm__", "_Bool", "_Atomic", "1st", "a b", "%", "", "\n", "*/", "/*", "//", "\\",
    '"; system("x");', "x\n#include </etc/passwd>", "??/", "a\\\nb", "printf(%s)", "x" * 500, "é" * 50, "\u202e",
    "a\x00b",
    "int", "class", "exp", "expf", "I", "min_i64", "add_i32", "stdin", "errno", "main", "linux", "unix", "NULL", "free",
    "new_buffer", "affdsl_entry", "int64_t", "bool", "true", "signgam", "restrict", "NAN", "j1", "y0", "status",
    "t", "-",
    "omp_out", "total", "mod_i64", "INT64_MAX", "kernel_h", "EOF", "assert", "complex", "sizeof", "KERNEL_RESTRICT",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_identifiers_are_plain(text):
    name = identifier(text)
    assert name == "" or (name.isascii() and name.isidentifier())
    assert name not in KEYWORDS | MACROS | CALLED
    assert "__" not in name
    assert not name.startswith("_")
    assert len(name) <= 62
    assert function_identifier(text) not in LIBRARY | KEYWORDS | MACROS | CALLED | {""}


def test_readable_names_stay():
    for name in ("i", "N", "total", "alpha_2", "j0", "block_size", "A"):
        assert identifier(name) == name


def test_functions_and_macros_of_ours_keep_their_names():
    for name in ("add_i32", "near_exp_f64x8", "exp_f32x16", "ALL_f64x8", "MULTIPLY_ADD_f64x2"):
        assert identifier(name) == f"{name}_"


def test_comments_cannot_be_left():
    for text in (*HOSTILE, "*/*/", "**//", "/*/", "*\\\n/", "???/"):
        shown = comment(text)
        for bad in ("*/", "/*", "\n", "\\\n", "??"):
            assert bad not in shown
        assert shown.isascii()
        assert shown.isprintable()


def test_names_that_become_the_same_stay_apart():
    scope = Scope()
    assert [scope.declare(n) for n in ("a b", "a_b", "a-b", "a_b_1")] == ["a_b", "a_b_1", "a_b_2", "a_b_1_1"]
    assert Scope(scope).declare("a.b") == "a_b_3"


def test_hostile_arguments_loops_and_values_compile(tmp_path: Path):
    b = Builder('"; system("rm")\n*/')
    N = b.index("N")
    arrays = [b.array(text, N) for text in HOSTILE]
    with b.loop("for", 0, N) as i:
        for k, text in enumerate(HOSTILE):
            value = b.unary("exp", b.load(arrays[k], i.iv), name=text)
            with b.loop(text, 0, 1, inits=[value], names=[text]) as j:
                b.yield_(b.binary("addf", j.carried[0], value))
            b.store(j.results[0], arrays[k], i.iv)
    source = check_compiles(module(b.func()), b.symbol, tmp_path)
    assert "rm" not in source.replace("system_rm", "")


@pytest.mark.parametrize(
    "text", ["exp", "printf", "j1", "index", "malloc", "main", "gamma", "abs", "min_i64", "int", "1", "é"]
)
def test_functions_called_like_something_else(tmp_path: Path, text):
    b = Builder(text)
    N = b.index("N")
    x = b.array("x", N)
    with b.loop("i", 0, N) as i:
        b.store(b.unary("exp", b.load(x, i.iv)), x, i.iv)
    m = module(b.func())
    check_compiles(m, text, tmp_path)
    assert text in emit(m, text).header or not text.isascii()


def test_sibling_loops_share_a_name_and_nested_ones_do_not(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x = b.array("x", N)
    for _ in range(2):
        with b.loop("i", 0, N) as i, b.loop("i", 0, N):
            b.store(b.constant(1.0, F32), x, i.iv)
    source = check_compiles(module(b.func()), "kernel", tmp_path)
    assert source.count("for (int64_t i = 0;") == 2
    assert source.count("for (int64_t i_1 = 0;") == 2
