"""Editors find what is imported: go to definition, as pyright does it, leads into the folders behind the links."""

from pathlib import Path

from tests.names.installed import ROOT
from tests.names.language_server import server

TEXT = """
import affdsl as af
from affdsl.passes.analysis.dependence import dependences
from affdsl.codegen.cache import default_cache

dependences, default_cache, af.kernel, af.Schedule
""".lstrip()
LEADS = {
    "dependences": "affdsl/passes/analysis/dependence.py",
    "default_cache": "affdsl/codegen/cache.py",
    "kernel": "affdsl/kernel.py",
    "Schedule": "affdsl/schedule/schedule.py",
}


def test_go_to_definition(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(TEXT)
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{ROOT}"], "typeCheckingMode": "off"}}')
    last = TEXT.splitlines()[-1]
    with server(tmp_path) as editor:
        for name, file in LEADS.items():
            found = editor.definition(script, TEXT.count("\n") - 1, last.index(name))
            assert found, f"{name} leads nowhere"
            assert all(path.samefile(ROOT / file) for path in found), f"{name} leads to {found}"
