"""Names stay recognizable, become unique, and cannot inject text."""

import re

import pytest

from affdsl.ir.expr import Value
from affdsl.ir.types import F32, INDEX
from affdsl.mlir.names import Names, bare_names, function_symbol, identifier, string
from affdsl.mlir.writers import print_op
from tests.mlir.build import function, index
from tests.oracles import mlir_opt


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("", ""),
        ("i", "i"),
        ("_tmp", "_tmp"),
        ("__x__", "__x__"),
        ("a.b$c", "a.b$c"),
        ("3d", "_3d"),
        ("%i", "i"),
        ("%%%", ""),
        ("a b", "a_b"),
        ("a\n\tb", "a_b"),
        ('"; system("rm -rf /"); "', "system_rm_rf"),
        ("i#0", "i_0"),
        ("i-1", "i_1"),
        ("naïve", "naive"),
        ("β", "beta"),
        ("Δt", "Delta_t"),
        ("x₂", "x2"),
        ("x²", "x2"),
        ("ﬁ", "fi"),
        ("数", "u6570"),
        ("数据", "u6570_u636E"),
        ("🙂", ""),
        ("\ud800", ""),
        ("\0", ""),
        ("a" * 1000, "a" * 64),
        ("1" * 1000, "_" + "1" * 63),
        ("数" * 1000, ("u6570_" * 11)[:64]),
    ],
    ids=ascii,
)
def test_identifier(hint: str, name: str) -> None:
    assert identifier(hint) == name
    assert identifier(name) == name
    assert name == "" or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$.]*", name)


def test_every_character_gives_a_valid_identifier() -> None:
    valid = re.compile(r"([A-Za-z_][A-Za-z0-9_$.]*)?")
    for code in range(0x110000):
        if code < 0x3000 or code % 97 == 0:
            assert valid.fullmatch(identifier(f"a{chr(code)}")), hex(code)
            assert valid.fullmatch(identifier(chr(code))), hex(code)


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("f", "@f"),
        ("module", "@module"),
        ("a.b", "@a.b"),
        ("it's", '@"it\'s"'),
        ('a"b', r'@"a\22b"'),
        ("a\\b", r'@"a\\b"'),
        ("a\nb", r'@"a\0Ab"'),
        ("é", r'@"\C3\A9"'),
        ("2nd", '@"2nd"'),
        ("a) { return }", '@"a) { return }"'),
    ],
    ids=ascii,
)
def test_function_symbol(name: str, symbol: str) -> None:
    assert function_symbol(name) == symbol
    assert f"func.func {symbol}()" in mlir_opt(print_op(function((), symbol=name)))


def test_a_lone_surrogate_is_escaped_too() -> None:
    assert string("\ud800") == r'"\ED\A0\80"'


def test_equal_hints_get_numbers() -> None:
    names = Names()
    assert [names.define(index("i")) for _ in range(3)] == ["%i", "%i_0", "%i_1"]
    assert names.define(index("i_0")) == "%i_0_0"
    assert [names.define(index()) for _ in range(2)] == ["%0", "%1"]
    assert [names.define_argument(index()) for _ in range(2)] == ["%arg0", "%arg1"]
    assert names.define(index("arg2")) == "%arg2"
    assert names.define_argument(index()) == "%arg2_0"


def test_hints_that_become_equal_get_numbers() -> None:
    names = Names()
    assert [names.define(index(hint)) for hint in ("a b", "a_b", "a\tb")] == ["%a_b", "%a_b_0", "%a_b_1"]


def test_a_hint_comes_before_a_default() -> None:
    names = Names()
    assert names.define(index("n"), lambda: "c4") == "%n"
    assert names.define(index(), lambda: "c4") == "%c4"


def test_a_scope_gives_its_names_back() -> None:
    names = Names()
    outer, inner = index("i"), index("i")
    assert names.define(outer) == "%i"
    for _ in range(2):
        with names.scope():
            assert names.define(inner) == "%i_0"
            assert names.define(index()) == "%0"
            with names.scope():
                assert names.define(index("i")) == "%i_1"
                assert names.define_argument(index()) == "%arg0"
            assert names(outer) == "%i"
    assert names.define(index()) == "%0"
    assert names.define(index("i")) == "%i_0"


def test_no_two_values_in_scope_share_a_name() -> None:
    names = Names()
    hints = ["i", "i_0", "i", "", "0", "arg0", "", "i_0_0", "i_1", "i", "_0", "c0", "i_0"]
    given = [names.define(Value(F32, hint)) for hint in hints]
    assert len(set(given)) == len(hints)


def test_many_equal_hints_are_quick() -> None:
    names = Names()
    assert [names.define(Value(F32, "t")) for _ in range(100_000)][-1] == "%t_99998"


def test_a_value_that_nothing_defines_keeps_one_name() -> None:
    names = Names()
    v = Value(INDEX, "v")
    assert (names(v), names(v), names.define(v)) == ("%v", "%v", "%v")


def test_bare_names_are_unique_and_no_keywords() -> None:
    assert bare_names(["%M", "%symbol", "%symbol_0", "%2", "%s3"]) == ["M", "symbol_0", "symbol_0_0", "s3", "s3_0"]
