"""Draws the rooms of the source from its own imports, for architecture.md.

    python -m docs.rooms

writes the drawings into the page. An arrow goes from a room to one that it imports from; arrows that follow from others
are left out.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import networkx

from affdsl.links import LINKED

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = [ROOT / "affdsl", *(ROOT / "affdsl" / name for name in LINKED)]
"""The package, and its folders that are links, which a search of the package does not enter."""
Rooms = Callable[[str], str]
"""The room of a module; empty where the drawing does not show it."""


def floors(module: str) -> str:
    """The parts of affdsl that stand above and below the others."""
    parts = ("cli", "schedule", "kernel", "codegen", "passes", "lang", "mlir", "ir")
    return next((f"affdsl.{part}" for part in parts if module.split(".")[:2] == ["affdsl", part]), "")


def inside(package: str) -> Rooms:
    """What stands right inside of a package."""

    def room(module: str) -> str:
        return module.removeprefix(f"{package}.").split(".")[0] if module.startswith(f"{package}.") else ""

    return room


DRAWINGS: dict[str, Rooms] = {
    "floors": floors,
    "passes": inside("affdsl.passes"),
    "codegen": inside("affdsl.codegen"),
}


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """Each module of the source, with each module, or name in one, that it imports when it is loaded."""
    return tuple(_imports())


def _imports() -> Iterator[tuple[str, str]]:
    for path in sorted({file for package in PACKAGES for file in package.rglob("*.py")}):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.Import(names=names):
                    yield from ((module, each.name) for each in names)
                case ast.ImportFrom(module=str(source), names=names):
                    yield from ((module, f"{source}.{each.name}") for each in names)


def drawing(rooms: Rooms) -> str:
    """The rooms and what each of them imports from, in the language of Mermaid."""
    graph = networkx.DiGraph()
    for module, imported in imports():
        source, target = rooms(module), rooms(imported)
        graph.add_nodes_from(room for room in (source, target) if room)
        if source and target and source != target:
            graph.add_edge(source, target)
    arrows = sorted(networkx.transitive_reduction(graph).edges)
    alone = sorted(room for room in graph if not graph.degree(room))
    return "\n".join(("graph TD", *(f"    {a} --> {b}" for a, b in arrows), *(f"    {room}" for room in alone)))


def drawn(page: str) -> str:
    """The page with its drawings as the imports are now."""
    for name, rooms in DRAWINGS.items():
        block = f"<!-- {name} -->\n```mermaid\n{drawing(rooms)}\n```\n"
        page, count = re.subn(rf"<!-- {name} -->\n```mermaid\n.*?```\n", lambda _, block=block: block, page, flags=re.S)
        if count != 1:
            raise ValueError(f"the page has {count} places for the drawing of {name}, not one")
    return page


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
