"""The page of MLIR's own tests: lines are found and run as LLVM's runner does, and each that does not pass says why."""

from __future__ import annotations

import re
import sys

import pytest

from tests.handed_on import lines

TESTS = """// RUN: mlir-opt %s --a \\
// RUN:   --b | FileCheck %s
// RUN: not mlir-opt --fail %s > %t && FileCheck %t
// RUN: mlir-opt --fail %s | FileCheck %s
"""
OPT = """import sys
if "--fail" in sys.argv:
    sys.exit(1)
print(*sys.argv[2:])
"""
CHECK = """import sys
text = sys.stdin.read() or open(sys.argv[1]).read()
sys.exit(text not in ("--a --b\\n", ""))
"""


def test_lines_are_found_with_what_continues_them_and_run_as_they_are(tmp_path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "x.mlir").write_text(TESTS)
    (tmp_path / "opt.py").write_text(OPT)
    (tmp_path / "check.py").write_text(CHECK)
    found = [*lines.lines_of(tmp_path)]
    assert [line.name for line in found] == [f"deep/x.mlir#{k}" for k in range(3)]
    opt, check = (f"{sys.executable} {tmp_path}/{name}.py" for name in ("opt", "check"))
    assert [line.passes(opt, check) for line in found] == [True, True, False]


def test_the_table_has_a_reason_for_each_line_that_does_not_pass(monkeypatch) -> None:
    monkeypatch.setattr(lines, "reasons", lambda: {"a#1": "both are right: it is another word", "c#0": "no kind"})
    text = lines.table({"a#0": True, "a#1": False})
    assert text.startswith("1 of 2 pass. Of the others: mlir-opt is wrong: 0, ")
    assert text.splitlines()[-2:] == ["| `a#0` | yes |  |", "| `a#1` | no | both are right: it is another word |"]
    for name in ("b#0", "c#0"):
        with pytest.raises(LookupError, match=f"no reason for {name}"):
            lines.table({"a#0": True, name: False})


def test_the_page_counts_its_lines_and_says_why() -> None:
    text = lines.PAGE.read_text(encoding="utf-8")
    _, _, rest = text.partition(lines.BEGIN)
    rows = re.findall(r"^\| `(.+)` \| (yes|no) \| (.*?) ?\|$", rest.partition(lines.END)[0], re.M)
    assert len({name for name, _, _ in rows}) == len(rows) == 105
    assert f"{sum(passes == 'yes' for _, passes, _ in rows)} of 105 pass." in rest
    assert all(bool(why) == (passes == "no") for _, passes, why in rows)
