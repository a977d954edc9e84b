"""The import contracts hold, and an import that points upward breaks them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

UPWARD = {
    "affdsl/passes/analysis/trip_count.py": "affdsl.passes.transforms.peel",
    "affdsl/passes/transforms/peel.py": "affdsl.passes.mlir_opt.affine_loop_tile",
    "affdsl/passes/legality/order.py": "affdsl.schedule.verbs",
    "affdsl/codegen/c/lines.py": "affdsl.kernel",
    "affdsl/ir/core.py": "affdsl.mlir.printer",
}
"""For some modules one of a floor above them."""


def contracts(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c(prog_name='lint')"]
    given = ["--config", str(tree / "pyproject.toml"), "--no-cache"]
    return subprocess.run([*command, *given], cwd=tree, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("importlinter", reason="import-linter is installed by make lint")
    copied = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "affdsl", copied / "affdsl", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copied)
    return copied


def test_the_floors_are_kept(tree: Path) -> None:
    done = contracts(tree)
    assert done.returncode == 0, done.stdout


def test_imports_that_point_upward_break_them(tree: Path) -> None:
    for name, above in UPWARD.items():
        with (tree / name).open("a", encoding="utf-8") as file:
            file.write(f"\nimport {above}\n")
    done = contracts(tree)
    assert done.returncode != 0
    for name, above in UPWARD.items():
        module = name.removesuffix(".py").replace("/", ".")
        assert f"{module} -> {above}" in done.stdout, done.stdout
