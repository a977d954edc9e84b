"""Tests of the whole project: documents run, modules say what they give, start-up is lazy."""

import ast
import doctest
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import affdsl
from affdsl.links import LINKED
from affdsl.optimize import forecast
from affdsl.passes.advice.verbs import VERBS
from affdsl.report import report, times
from affdsl.seeing import profile
from tests.docs.pages import PAGES
from tests.report.kernels import machine

ROOT = Path(__file__).parent.parent
PACKAGES = ["affdsl", *(f"affdsl/{name}" for name in LINKED)]
MODULES = sorted({path for package in PACKAGES for path in (ROOT / package).rglob("*.py")})
DOCUMENTS = sorted({*(ROOT / "docs").rglob("*.md")} - {*PAGES})
"""Those whose outputs are not held by a test of their own, which runs them too."""

# A block that opens with ```python or ```pycon and closes with ```, at any indentation of the fence.
BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>python|pycon)\n(?P<code>.*?)^ *```$", re.M | re.S)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_blocks(text: str, filename: str) -> int:
    """Execute the Python blocks of a document in one namespace, in order; tracebacks show the document's lines."""
    namespace = {"__name__": "__main__"}
    count = 0
    for count, block in enumerate(BLOCK.finditer(text), 1):  # noqa: B007  # the last count is the number of blocks
        line = text.count("\n", 0, block.start("code"))
        code = re.sub(f"^{block['indent']}", "", block["code"], flags=re.M)
        if block["language"] == "python":
            exec(compile("\n" * line + code, filename, "exec"), namespace)
        else:
            example = doctest.DocTestParser().get_doctest(code, namespace, filename, filename, line)
            doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(example, clear_globs=False)
    return count


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_blocks_of_documents_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for module in (forecast, report, times, profile):  # nobody has to measure it: on a busy machine that is done often
        monkeypatch.setattr(module, "roofline", machine)
    run_blocks(path.read_text(encoding="utf-8"), str(path))


def test_blocks_share_a_namespace_and_fail_with_the_line_of_the_document():
    fine = "# Title\n```python\nx = 2\n```\n* item\n  ```pycon\n  >>> x + 1\n  3\n  ```\n"
    assert run_blocks(fine, "fine.md") == 2
    with pytest.raises(doctest.DocTestFailure):
        run_blocks(fine.replace("  3", "  4"), "wrong.md")
    with pytest.raises(ZeroDivisionError) as caught:
        run_blocks("\n```python\nx = 1\nx / 0\n```\n", "broken.md")
    frame = caught.tb.tb_next.tb_next
    assert (frame.tb_frame.f_code.co_filename, frame.tb_lineno) == ("broken.md", 4)


def test_every_module_opens_with_a_sentence():
    for path in MODULES:
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert docstring, f"{name(path)} has no docstring"
        sentence = docstring.split("\n\n")[0]
        assert sentence.endswith((".", "?")), f"{name(path)} opens with {sentence!r}, which is no sentence"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed(package):
    assert (ROOT / package / "__init__.py").is_file()
    assert (ROOT / package / "py.typed").is_file()


@pytest.mark.parametrize("file", [".ci/run", ".ci/release", "Makefile", "pyproject.toml"])
def test_scripts_name_no_path_of_one_machine(file):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    paths = [
        path for line in lines if not line.startswith("#") for path in re.findall(r"(?<![\w.$})*/])/\w[\w./-]*", line)
    ]
    assert set(paths) <= {"/dev/null"}


@pytest.mark.parametrize("file", ["run", "release"])
def test_what_ci_has_are_programs(file):
    assert (ROOT / ".ci" / file).stat().st_mode & 0o111


def test_files_about_the_project_are_of_its_version():
    assert re.search(rf"^## {re.escape(affdsl.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert f"\nversion: {affdsl.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_import_is_lazy():
    show = "import sys; print('\\n'.join(sys.modules))"
    bare, loaded = (
        set(
            subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for code in (show, f"import affdsl; {show}")
    )
    assert "affdsl" in loaded
    assert not (loaded - bare) & {"islpy", "networkx", "subprocess", "ctypes", "affdsl.passes", "affdsl.codegen"}


def run_pytest(folder: Path, test: str, *options: str) -> str:
    """Run one test in a project of its own that has only our conftest, and return what pytest printed."""
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / "test_it.py").write_text(test)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    ]
    command += [*options, "-rs", str(folder / "tests" / "test_it.py")]
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def test_golden_files_are_written_compared_and_rewritten(tmp_path):
    test = 'def test_it(golden): golden("one\\n", "x.txt")'
    assert "tests/golden/test_it/x.txt does not exist; pytest --update-golden writes it" in run_pytest(tmp_path, test)
    assert "1 passed" in run_pytest(tmp_path, test, "--update-golden")
    assert (tmp_path / "tests/golden/test_it/x.txt").read_text() == "one\n"
    assert "1 passed" in run_pytest(tmp_path, test)
    assert "differs from tests/golden/test_it/x.txt" in run_pytest(tmp_path, test.replace("one", "two"))


def test_skipped_oracles_are_counted(tmp_path, monkeypatch):
    monkeypatch.delenv("AFFDSL_REQUIRE_ORACLES", raising=False)
    test = """
    import pytest
    from tests import oracles

    @pytest.mark.parametrize("n", range(3))
    def test_it(n, monkeypatch):
        monkeypatch.setenv("PATH", "")
        oracles._find.cache_clear()
        oracles.mlir_opt("")

    def test_other():
        pytest.skip("for another reason")
    """
    assert "oracle tests skipped: 3 (install mlir-22-tools" in run_pytest(tmp_path, textwrap.dedent(test))


def test_each_verb_has_a_file_of_tests_or_the_page_on_tests_says_which() -> None:
    said = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    folder = ROOT / "tests" / "passes" / "transforms"
    assert not [verb for verb in VERBS if not (folder / f"test_{verb}.py").exists() and f"`{verb}`" not in said]
