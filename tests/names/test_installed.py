"""What is installed is called affdsl and nothing else: files of a user's own may have every other name."""

import os
import sys
from pathlib import Path

import pytest

import affdsl
from affdsl.links import LINKED
from tests.names.installed import ROOT, Built, built, files_of, run, unpacked

SCRIPT = """
import sys

import numpy as np
import affdsl as af

N = af.symbols("N")

@af.kernel
def add(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        A[i] += B[i]

schedule = af.Schedule(add).strip_mine("i", 4)
for made in (add, schedule.kernel(), add.optimize()):
    a = np.ones(9)
    made(a, np.full(9, 2.0))
    assert (a == 3.0).all()
assert add.loops() and not list(add.dependences().all())[1:]
add.graph()

import os
files = {}
for name, module in list(sys.modules.items()):
    if getattr(module, "__file__", None) and name != "__main__":
        files.setdefault(os.path.realpath(module.__file__), []).append(name)
print(af.__file__)
print({file: names for file, names in files.items() if len(names) > 1 and "affdsl" in file})
print(sorted({"passes", "codegen"} & set(sys.modules)))
"""
TEXT = """func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf32>
    affine.store %0, %A[%i] : memref<8xf32>
  }
  return
}
"""
OURS = {path.stem for folder in ("", *LINKED) for path in (ROOT / "affdsl" / folder).rglob("*.py")} | set(LINKED)
STRAY = sorted(OURS - sys.stdlib_module_names - {"affdsl", "__init__", "__main__"})
"""Names of our modules. One of the standard library beside a script stops Python itself."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def home(packed: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is installed."""
    return unpacked(packed.wheel, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def tree(packed: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked."""
    return unpacked(packed.source, tmp_path_factory.mktemp("tree"))


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A folder with a script, and files that raise when they are imported beside it."""
    assert {"passes", "codegen", "errors", "kernel", "schedule", "cache", "names"} <= set(STRAY)
    for name in STRAY:
        (tmp_path / f"{name}.py").write_text(
            f"raise RuntimeError('affdsl took the {name}.py of the user for its own')\n"
        )
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "kernel.mlir").write_text(TEXT)
    return tmp_path


def test_the_wheel_has_every_file_of_the_package_and_nothing_beside_it(packed: Built) -> None:
    assert packed.wheel.name.startswith(f"affdsl-{affdsl.__version__}-")
    folders = [ROOT / "affdsl", *(ROOT / "affdsl" / name for name in LINKED)]
    files = {p.relative_to(ROOT).as_posix() for folder in folders for p in folder.rglob("*") if p.is_file()}
    assert files_of(packed.wheel) == {file for file in files if "__pycache__" not in file}


@pytest.mark.parametrize("where", ["wheel", "checkout"])
def test_a_script_runs_beside_files_with_the_names_of_our_modules(where: str, user: Path, home: Path) -> None:
    home = ROOT if where == "checkout" else home
    done = run(home, user, "script.py")
    assert (done.returncode, done.stderr) == (0, "")
    file, twice, old = done.stdout.splitlines()
    assert Path(file) == home / "affdsl" / "__init__.py"
    assert (twice, old) == ("{}", "[]"), "a module is there under two names"


def test_the_command_line_runs_beside_files_with_the_names_of_our_modules(user: Path, home: Path) -> None:
    done = run(home, user, "-m", "affdsl", "opt", "--affine-loop-tile=tile-size=4", "--validate", "kernel.mlir")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("affine.for") == 2


def test_other_names_are_free(home: Path, tmp_path: Path) -> None:
    for name in LINKED:
        done = run(home, tmp_path, "-c", f"import affdsl, {name}")
        assert f"ModuleNotFoundError: No module named '{name}'" in done.stderr
        (tmp_path / f"{name}.py").write_text("mine = 1\n")
        done = run(home, tmp_path, "-c", f"import affdsl, affdsl.{name}, {name}; print({name}.mine, {name}.__file__)")
        assert done.stdout.split() == ["1", str(tmp_path / f"{name}.py")], done.stderr


def test_in_a_checkout_a_part_is_not_imported_by_its_folder(tmp_path: Path) -> None:
    for name in LINKED:
        done = run(ROOT, tmp_path, "-c", f"import {name}.errors")
        assert done.returncode == 1
        assert done.stderr.endswith(
            f"ImportError: {name} is a part of affdsl: import affdsl.{name}, and give pytest affdsl/{name}\n"
        )


def test_doctests_run_through_the_links_alone() -> None:
    """That they do run is seen in the names of the tests of this suite: `affdsl/passes/legality/running.py::...`."""
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--noconftest")
    done = run(ROOT, ROOT, *command, "passes/legality/running.py")
    assert "import affdsl.passes, and give pytest affdsl/passes" in done.stdout


def test_an_editable_install_leads_to_the_checkout(tmp_path: Path) -> None:
    make = f"from hatchling.build import build_editable; print(build_editable({str(tmp_path)!r}))"
    made = run(ROOT, ROOT, "-c", make)
    assert made.returncode == 0, made.stderr
    home = unpacked(tmp_path / made.stdout.split()[-1], tmp_path / "home")
    shown = "; print(affdsl.passes.__file__); print(affdsl.codegen.__file__)"
    code = f"import site; site.addsitedir({str(home)!r}); import affdsl.passes, affdsl.codegen{shown}"
    done = run(tmp_path, tmp_path, "-c", code)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(ROOT / "affdsl" / name / "__init__.py") for name in LINKED]


def test_a_tree_without_its_links_says_so(tmp_path: Path) -> None:
    """As where a zip is unpacked by what knows no links: a link is then a file with its target."""
    package = tmp_path / "tree" / "affdsl"
    package.mkdir(parents=True)
    for name in os.listdir(ROOT / "affdsl"):
        if name not in LINKED:
            (package / name).symlink_to(ROOT / "affdsl" / name)
    file = package / "codegen"
    file.write_text("../codegen")
    done = run(package.parent, tmp_path, "-c", "import affdsl")
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {file} is a file and must be a link to the folder {package.parent / 'codegen'}: this tree was "
        "copied or unpacked without its symbolic links. Get it with git, tar or unzip, which keep them, or make the "
        f"link: ln -sf ../codegen {file}"
    )


def test_the_links_lead_to_the_folders_beside() -> None:
    for name in LINKED:
        assert (ROOT / "affdsl" / name).resolve() == (ROOT / name).resolve() or not (ROOT / name).exists()
        if (ROOT / "affdsl" / name).is_symlink():
            assert os.readlink(ROOT / "affdsl" / name) == f"../{name}"


def test_this_run_has_no_module_twice() -> None:
    files = [os.path.realpath(m.__file__) for n, m in sys.modules.items() if n.startswith("affdsl") and m.__file__]
    assert len(files) == len(set(files))
    assert not set(LINKED) & set(sys.modules)
