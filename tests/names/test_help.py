"""`help()` of every public name says what it takes, what it refuses, and shows it; the examples of errors run here."""

import doctest
import inspect
import re
from collections.abc import Callable

import pytest

import affdsl as af
from affdsl.lang.blocks import WithBlock
from affdsl.lang.dtypes import DType

RAISES_NOTHING = {"native_target", "get_threads"}
"""Functions that refuse nothing."""


def is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


NAMES = [name for name in af.__all__ if not name.startswith("__")]
ERRORS = [name for name in NAMES if is_error(getattr(af, name))]
TAKE = [
    name
    for name in NAMES
    if inspect.isfunction(thing := getattr(af, name)) or (isinstance(thing, type) and issubclass(thing, WithBlock))
]
"""What is called by users with arguments."""


def help_of(name: str) -> str:
    thing = getattr(af, name)
    return inspect.getdoc(type(thing) if isinstance(thing, DType) else thing) or ""


def section(text: str, title: str) -> str:
    """What stands below a heading, up to the next one or an example."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n---|^>>>|\Z)", text, re.M | re.S)
    return found[1] if found else ""


def described(text: str, title: str) -> set[str]:
    """The names that a section says something about."""
    entries = re.findall(r"^(\w+(?:, \w+)*)\n {4}\S", section(text, title), re.M)
    return {name for entry in entries for name in entry.split(", ")}


def arguments(thing: Callable[..., object]) -> set[str]:
    return {name for name in inspect.signature(thing).parameters if name != "self"}


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_a_sentence_and_has_an_example(name: str) -> None:
    text = help_of(name)
    first = text.split("\n\n")[0]
    assert re.search(r"[.:]$", first), f"affdsl.{name} opens with {first!r}"
    assert ">>> " in text, f"affdsl.{name} has no example"


@pytest.mark.parametrize("name", TAKE)
def test_every_argument_is_described(name: str) -> None:
    thing = getattr(af, name)
    assert described(help_of(name), "Parameters") == arguments(thing.__init__ if isinstance(thing, type) else thing)


@pytest.mark.parametrize("name", TAKE)
def test_what_is_raised_is_described(name: str) -> None:
    raised = described(help_of(name), "Raises")
    assert bool(raised) == (name not in RAISES_NOTHING)
    assert not [error for error in raised if not is_error(getattr(af, error, None))]


@pytest.mark.parametrize("kind", [af.Kernel, af.Schedule, af.Array, af.Scalar, af.Index, af.Vector, af.Variable])
def test_every_method_says_what_it_does(kind: type) -> None:
    silent = [
        name for name in dir(kind) if name[0] != "_" and callable(x := getattr(kind, name)) and not inspect.getdoc(x)
    ]
    assert silent == []


@pytest.mark.parametrize("name", ERRORS)
def test_the_example_of_an_error_runs(name: str) -> None:
    """Those of all other names run with the doctests of their modules; errors say that they are of `affdsl`."""
    test = doctest.DocTestParser().get_doctest(help_of(name), {}, name, name, 0)
    said: list[str] = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)


def test_help_of_the_package_is_a_page_with_ten_things() -> None:
    """They run as a doctest of the package."""
    page = inspect.getdoc(af) or ""
    assert [int(number) for number in re.findall(r"# (\d+)\. ", page)] == [*range(1, 11)]
    assert len(page.splitlines()) < 30
    assert [name for name in re.findall(r"\baf\.(\w+)", page) if name not in af.__all__] == []


def test_a_missing_description_is_noticed() -> None:
    parameters = "Parameters\n----------\na, b\n    Two numbers.\nc\n    One."
    text = f"Do it.\n\n{parameters}\n\nRaises\n------\nSizeError\n    Never.\n\n>>> 1\n1"
    assert described(text, "Parameters") == {"a", "b", "c"}
    assert described(text, "Raises") == {"SizeError"}
    assert described(text.replace("c\n    One.", "c"), "Parameters") == {"a", "b"}
