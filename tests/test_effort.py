"""The long run: what `long.txt` lists is there, and each other run has the share that it says."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests import effort

ROOT = Path(__file__).parent.parent


@cache
def functions(path: str) -> set[str]:
    return {node.name for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body if hasattr(node, "name")}


def test_what_the_list_names_is_there():
    listed = [name.split("::") for name in effort.shares()]
    assert listed
    assert [f"{path}::{test}" for path, test in listed if test not in functions(path)] == []


def test_of_cases_a_share_runs_and_all_of_what_is_not_listed(monkeypatch):
    monkeypatch.setattr(effort, "shares", lambda: {"a::f": 3, "a::g": 0})
    names = ["a::f[0]", "a::f[1]", "a::g", "a::h[0]", "a::f[2]", "a::f[3]", "a::h[1]"]
    assert effort.everyday(names) == [True, False, False, True, False, True, True]
