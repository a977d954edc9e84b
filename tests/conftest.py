"""Gives tests golden files and a kernel cache of their own, and counts what was skipped for want of an oracle."""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.effort import TRIES_ALL, everyday
from tests.oracles import MISSING_ORACLE

Golden = Callable[[str, str], None]

created_cache = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files under tests/golden, then read the diff"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a kernel cache that starts empty; the workers of xdist inherit it from their controller.

    What `optimize()` decides is not kept there: tests change what decides, and what it knows.
    """
    os.environ.setdefault("AFFDSL_DECISIONS", "0")
    if "AFFDSL_CACHE_DIR" not in os.environ:
        config.stash[created_cache] = os.environ["AFFDSL_CACHE_DIR"] = tempfile.mkdtemp(prefix="affdsl-test-cache-")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs in the long run alone, unless tests are asked for by name."""
    if TRIES_ALL or any("::" in argument for argument in config.args):
        return
    chosen = everyday([item.nodeid for item in items])
    config.hook.pytest_deselected(items=[item for item, runs in zip(items, chosen, strict=True) if not runs])
    items[:] = [item for item, runs in zip(items, chosen, strict=True) if runs]


def pytest_collection_finish() -> None:
    """Look for garbage more rarely, and never among what was collected: that lives as long as the run, and is much."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """At the end of a file do the same with what its tests left: what is remembered, later ones do not pay for."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


def pytest_unconfigure(config: pytest.Config) -> None:
    if created_cache in config.stash:
        shutil.rmtree(config.stash[created_cache], ignore_errors=True)
        del os.environ["AFFDSL_CACHE_DIR"]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a file in tests/golden/<test file>/, as in ``golden(kernel.c(), "matmul.c")``."""
    tests = request.config.rootpath / "tests"
    folder = tests / "golden" / request.path.relative_to(tests).with_suffix("")
    seen: set[str] = set()

    def compare(text: str, name: str) -> None:
        __tracebackhide__ = True
        assert Path(name).name == name, f"{name!r} is not a plain file name"
        assert name not in seen, f"{name!r} is compared twice in one test"
        seen.add(name)
        path = folder / name
        if request.config.getoption("update_golden"):
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        shown = path.relative_to(tests.parent)
        if not path.exists():
            pytest.fail(f"{shown} does not exist; pytest --update-golden writes it, then read it")
        assert text == path.read_text(encoding="utf-8"), f"differs from {shown}; pytest --update-golden rewrites it"

    return compare


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    missing = [report for report in reports if MISSING_ORACLE in str(report.longrepr)]
    if missing:
        packages = "mlir-22-tools llvm-22 clang-22 libclang-rt-22-dev libomp-22-dev gcc g++ python3-dev"
        terminalreporter.write_line(f"oracle tests skipped: {len(missing)} (install {packages})", yellow=True)
