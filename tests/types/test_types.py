"""Type checkers accept kernels in the spelling for them, and find mistakes in kernels and calls."""

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

import affdsl as af
from tests.effort import some
from tests.types import accepted
from tests.types.checkers import CHECKERS, ROOT, Found

HERE = Path(__file__).parent
REFUSED = (HERE / "refused.txt").read_text(encoding="utf-8")
N = af.symbols("N")


def annotated(text: str) -> str:
    """The Python of a document with each annotation of a kernel in the spelling for type checkers."""

    def argument(words: str) -> str:
        name, meaning = words.split(": ", 1)
        meaning, equals, default = meaning.partition(" = ")
        kind = "Array" if "[" in meaning else "Index" if re.fullmatch(r"[A-Z]|af\.index", meaning) else "Scalar"
        return f"{name}: Annotated[af.{kind}, {meaning}]{equals}{default}"

    def header(found: re.Match[str]) -> str:
        arguments = ", ".join(map(argument, re.split(r", (?=\w+:)", found[2])))
        return f"def {found[1]}({arguments}) -> None:"

    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S))
    return "from typing import Annotated\n" + re.sub(r"def (\w+)\((.*?)\):", header, code)


def page_with_mistakes() -> tuple[str, dict[int, str]]:
    """The Python of the page on type checkers with the mistakes of its table, and what it says of each, by line."""
    page = (ROOT / "docs" / "guides" / "type-checkers.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S))
    table = page.partition("| pyright says |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([^`]*)`( in the kernel)? \| (.*) \|$", table, re.M)
    assert len(rows) == 6
    lines, says = [*code.splitlines(), "def inside(A: af.Array, i: af.Index, k: af.Index) -> None:"], {}
    for mistake, inside, message in sorted(rows, key=lambda row: not row[1]):
        lines.append("    " * bool(inside) + mistake + " pass" * mistake.endswith(":"))
        says[len(lines)] = message
    return "\n".join(lines) + "\n", says


@pytest.fixture(scope="module", params=some([*CHECKERS], 1))
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Found]:
    """What a checker says of the files beside this one, and of the tour."""
    folder = tmp_path_factory.mktemp(request.param)
    tour = folder / "tour.py"
    tour.write_text(annotated((ROOT / "docs" / "tour.md").read_text(encoding="utf-8")), encoding="utf-8")
    refused = folder / "refused.py"
    refused.write_text(REFUSED, encoding="utf-8")
    page = folder / "page.py"
    page.write_text(page_with_mistakes()[0], encoding="utf-8")
    return request.param, CHECKERS[request.param]([HERE / "accepted.py", refused, tour, page], folder)


def of(found: Found, file: str) -> dict[int, str]:
    return {line: text for (name, line), text in found.items() if name == file}


def test_kernels_are_accepted(found: tuple[str, Found]) -> None:
    assert of(found[1], "accepted.py") == {}


def test_the_tour_is_accepted(found: tuple[str, Found]) -> None:
    """As it stands but for the annotations, in which a value becomes the metadata of a type."""
    assert of(found[1], "tour.py") == {}


def test_mistakes_are_found(found: tuple[str, Found]) -> None:
    lines = REFUSED.splitlines()
    marks = ("# refused", f"# refused-by-{found[0]}")
    assert sorted(of(found[1], "refused.py")) == [n for n, line in enumerate(lines, 1) if line.endswith(marks)]


def test_the_page_says_what_is_found(found: tuple[str, Found]) -> None:
    says, finds = page_with_mistakes()[1], of(found[1], "page.py")
    assert finds.keys() == says.keys()
    if found[0] == "pyright":
        assert {line: text.splitlines()[0].partition(" in function")[0] for line, text in finds.items()} == says


def test_what_is_accepted_runs() -> None:
    result = accepted.main()
    assert (result["c"] == 5.0).all()
    assert result["counts"][:2].tolist() == [6, 3]
    assert (result["grid"] == 1.0).all()
    assert result["z"].tolist() == [2j] * 3
    assert result["table"].shape == (16, 17)
    assert (result["again"] == 6 * np.linspace(0.25, 1.0, 16)).all()


def kernel_of(annotation: object) -> af.Kernel:
    def f(x):
        return None

    f.__annotations__["x"] = annotation
    return af.kernel(f)


@pytest.mark.parametrize(
    ("annotation", "means"),
    [
        (Annotated[af.Array, af.f32[N]], af.f32[N]),
        (Annotated[af.Array, "a note", af.const(af.f32[N]), 3], af.const(af.f32[N])),
        (Annotated[af.Array | np.ndarray, af.strided(af.f32[N])], af.strided(af.f32[N])),
        (Annotated[af.Scalar, af.f64], af.f64),
        (Annotated[af.Scalar | complex, af.c64], af.c64),
        (Annotated[af.Index, af.index], af.index),
        (Annotated[af.Index, N], N),
    ],
    ids=str,
)
def test_an_annotation_means_what_stands_behind_its_type(annotation: object, means: object) -> None:
    plain, made = kernel_of(means), kernel_of(annotation)
    assert made.mlir() == plain.mlir()
    assert repr(made.program.parameters[0].type) == repr(means)


WRITE = "write Annotated[affdsl."


@pytest.mark.parametrize(
    ("annotation", "problem", "advice"),
    [
        (Annotated[af.Array, 3], "annotated with no type of affdsl: ", f"{WRITE}Array, affdsl.f32[M, N]]"),
        (Annotated[np.ndarray, af.f32[N]], "is ndarray to type checkers, but f32[N]", f"{WRITE}Array, affdsl.f32[N]]"),
        (Annotated[af.Scalar, af.f32[N]], "is Scalar to type checkers, but f32[N]", f"{WRITE}Array, affdsl.f32[N]]"),
        (Annotated[af.Array, af.f32], "is Array to type checkers, but f32", f"{WRITE}Scalar, affdsl.f32]"),
        (Annotated[af.Scalar, N], "is Scalar to type checkers, but N", f"{WRITE}Index, N]"),
        (Annotated[af.Scalar, af.index], "is Scalar to type checkers, but index", f"{WRITE}Index, affdsl.index]"),
        (Annotated[af.Array, af.f32[N], af.f64[N]], "annotated with 2 types of affdsl: ", f"{WRITE}Array"),
        (Annotated[af.Index, N + 1], "is annotated N + 1, which is not a symbol alone", "affdsl.index or a symbol"),
    ],
    ids=str,
)
def test_an_annotation_that_says_two_things_is_refused(annotation: object, problem: str, advice: str) -> None:
    with pytest.raises(af.ProgramTypeError) as caught:
        kernel_of(annotation)
    first, *rest = str(caught.value).splitlines()
    assert re.match(r".*test_types\.py:\d+: argument x of kernel f ", first)
    assert problem in first
    assert advice in " ".join(rest)
