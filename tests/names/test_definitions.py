"""Editors find what is imported, complete it and show what it is, as pyright does it: through the links, and lazily."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import affdsl
from tests.names.installed import ROOT
from tests.names.language_server import ASKED, EXPECTED, KERNEL, Server, server

TEXT = """
import affdsl as af
from affdsl.passes.analysis.dependence import dependences
from affdsl.codegen.cache import default_cache

dependences, default_cache, af.kernel, af.Schedule, af.sin, af.SizeError, af.vector_load
""".lstrip()
LEADS = {
    "dependences": "affdsl/passes/analysis/dependence.py",
    "default_cache": "affdsl/codegen/cache.py",
    "kernel": "affdsl/kernel.py",
    "Schedule": "affdsl/schedule/schedule.py",
    "sin": "affdsl/lang/elementary.py",
    "SizeError": "affdsl/codegen/errors.py",
    "vector_load": "affdsl/lang/vectors.py",
}
LINE, WORDS = TEXT.count("\n") - 1, TEXT.splitlines()[-1]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("editor")
    (folder / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{ROOT}"], "typeCheckingMode": "off"}}')
    (folder / "script.py").write_text(TEXT)
    return folder / "script.py"


@pytest.fixture(scope="module")
def editor(script: Path) -> Iterator[Server]:
    with server(script.parent) as found:
        found.open(script)
        yield found


def test_go_to_definition(editor: Server, script: Path) -> None:
    for name, file in LEADS.items():
        found = editor.definition(script, LINE, WORDS.index(name))
        assert found, f"{name} leads nowhere"
        assert all(path.samefile(ROOT / file) for path in found), f"{name} leads to {found}"


def test_every_public_name_is_completed(editor: Server, script: Path) -> None:
    items = editor.at("completion", script, LINE, WORDS.index("af.") + len("af."))["items"]
    assert set(affdsl.__all__) <= {item["label"] for item in items}


def test_kernels_are_completed(editor: Server, script: Path) -> None:
    kernels, lines = script.with_name("kernels.py"), KERNEL.count("\n")
    kernels.write_text("\n".join((KERNEL + ASKED[0], ASKED[1], "reveal_type(double.optimize())")))
    editor.open(kernels)
    for n, words in enumerate(ASKED):
        items = editor.at("completion", kernels, lines + n, len(words))["items"]
        assert {item["label"] for item in items} >= EXPECTED, words
    shown = editor.at("hover", kernels, lines + len(ASKED), len("reveal_type(d"))["contents"]["value"]
    assert "double: Kernel[(x: " in shown


def test_what_a_name_is_is_shown(editor: Server, script: Path) -> None:
    for name in ("kernel", "Schedule", "sin", "SizeError", "vector_load"):
        shown = editor.at("hover", script, LINE, WORDS.index(name))["contents"]["value"]
        sentence = (inspect.getdoc(getattr(affdsl, name)) or "").splitlines()[0].partition(" (`")[0].rstrip(".:")
        assert sentence.replace("`", "") in shown.replace("`", ""), shown
