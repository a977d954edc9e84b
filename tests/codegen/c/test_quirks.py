"""The table of what compilers do is what those of this machine do, and what names its rows."""

import platform
import re
from pathlib import Path

import pytest

import affdsl as af
from affdsl.codegen.c import quirks
from affdsl.codegen.c.quirks import IN_ORDER, QUIRKS, TRIED, Quirk, condition, is_written
from tests.codegen.c.quirks.probes import UNSHOWN, does, flags, identity, says, shown
from tests.effort import TRIES_ALL
from tests.oracles import require

ROOT = Path(__file__).parents[3]
N = af.symbols("N")
PROBES = [(name, "gcc") for name in shown()]
PROBES += [(name, "clang-22") for name in shown() if TRIES_ALL or QUIRKS[name].clang is not None]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the programs are for x86")
@pytest.mark.parametrize(("name", "tool"), PROBES)
def test_compilers_do_what_the_table_says(name: str, tool: str, tmp_path: Path) -> None:
    compiler = require(tool, [flag for flag in flags(name) if flag == "-fopenmp"])
    kind, version = identity(compiler)
    found = does(compiler, name, tmp_path)
    if version not in TRIED[kind]:
        pytest.skip(f"{kind} {version} {'does' if found else 'does not do'} what {name} says: write it into the table")
    assert found == says(QUIRKS[name], kind, version)


def test_rows_have_programs_and_are_named_where_they_are_decided() -> None:
    assert {name for name, row in QUIRKS.items() if row.kind != "long"} - {*shown()} == UNSHOWN
    programs = {path.stem for path in Path(__file__).with_name("quirks").glob("*.c")}
    assert programs == {*shown()}
    for name, row in QUIRKS.items():
        assert re.search(rf"\b{name}\b", (ROOT / row.where).read_text()), f"{row.where} does not name {name}"
        assert row.gcc or row.clang
        if row.decision is not None:
            assert list((ROOT / "docs/decisions").glob(f"{row.decision:04}-*.md"))


def test_ranges_begin_and_end_with_versions_that_were_tried() -> None:
    for row in QUIRKS.values():
        for kind, found in (("gcc", row.gcc), ("clang", row.clang)):
            assert found is None or (found[0] <= found[1] and {*found} <= {*TRIED[kind]})


@pytest.mark.parametrize(("gcc", "text"), [
    ((11, 16), ""), ((11, 14), " && __GNUC__ <= 14"), ((13, 16), " && __GNUC__ >= 13"),
    ((12, 12), " && __GNUC__ == 12"), ((13, 15), " && __GNUC__ >= 13 && __GNUC__ <= 15"),
    ((11, 11), " && __GNUC__ <= 11"), ((16, 16), " && __GNUC__ >= 16"),
])  # fmt: skip
def test_a_range_that_reaches_the_end_of_what_was_tried_is_open(monkeypatch, gcc, text) -> None:
    monkeypatch.setattr(quirks, "QUIRKS", {"one": Quirk("slow", "", "", "", gcc=gcc)})
    assert condition("one") == f"defined(__GNUC__) && !defined(__clang__){text}"


def test_a_row_that_no_compiler_shows_changes_nothing(monkeypatch) -> None:
    @af.kernel
    def total(x: af.f64[N], out: af.f64[1]):
        s = af.var(af.f64(0))
        with af.for_(N) as i:
            s += x[i]
        out[0] = s

    assert "affdsl_in_order();" in total.c()
    left = {**QUIRKS, "sums_in_order": Quirk("slow", "", "", "")}
    monkeypatch.setattr(quirks, "QUIRKS", left)
    assert not is_written("sums_in_order")
    assert "affdsl_in_order();" not in total.c()


def test_what_is_in_order_is_so_for_all_versions_of_gcc() -> None:
    """Since iterations that store to one element are wrong up to the newest one."""
    assert condition(*IN_ORDER) == "defined(__GNUC__) && !defined(__clang__)"
