"""The public names of affdsl, in the order of `affdsl/__init__.pyi`, with the modules that define them."""

import ast
import re
from functools import cache
from pathlib import Path

import affdsl
from affdsl.lang.blocks import WithBlock

STUB = Path(affdsl.__file__).with_suffix(".pyi")
REFERENCE = Path(__file__).resolve().parents[1] / "reference"
FENCE = re.compile(r"^```\{names\} (.+)$", re.M)


@cache
def public_names() -> dict[str, str]:
    """For each public name the module that it is imported from, as the stub of the package says: `lang.control`.

    >>> public_names()["for_"]
    'lang.control'
    """
    imports = [node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    found = {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}
    assert found.keys() | {"__version__"} >= set(affdsl.__all__), "the stub has every public name"
    return found


def is_error(name: str) -> bool:
    """Whether a public name is an exception."""
    thing = getattr(affdsl, name)
    return isinstance(thing, type) and issubclass(thing, BaseException)


def named(what: str) -> list[str]:
    """The public names that `{names} what` on a page of the reference is about: of some modules, what is no error.

    `errors` are all exceptions, wherever they are defined, and `others` what no page names.

    >>> named("lang.whiles lang.blocks")
    ['while_', 'yield_']
    >>> "ProgramError" in named("errors")
    True
    """
    names = public_names()
    if what == "errors":
        return sorted(filter(is_error, names))
    modules = what.split()
    if what == "others":
        shown = {module for fence in fences() for module in fence.split()}
        modules = sorted(set(names.values()) - shown)
    found = [name for module in modules for name in names if names[name] == module and not is_error(name)]
    return sorted(found, key=_is_plain_class)


def fences() -> list[str]:
    """What all `{names}` on the pages of the reference say."""
    return [fence for page in sorted(REFERENCE.glob("*.md")) for fence in FENCE.findall(page.read_text("utf-8"))]


def _is_plain_class(name: str) -> bool:
    """Whether a name is a type of what functions give, rather than something to write: such types come last."""
    thing = getattr(affdsl, name)
    return isinstance(thing, type) and not issubclass(thing, WithBlock)
