"""Which rows of `affdsl.codegen.c.quirks` some compilers show: `python -m tests.codegen.c.quirks gcc-12 clang-22`.

The rows are written by hand: where a compiler is newer than those of the table, this is what to write into it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from affdsl.codegen.c.quirks import QUIRKS, TRIED
from tests.codegen.c.quirks.probes import does, identity, says, shown


def main() -> None:
    """Print a line for each row: yes or no for each compiler, and where the table has it otherwise."""
    made = argparse.ArgumentParser(prog="python -m tests.codegen.c.quirks", description=__doc__)
    made.add_argument("compilers", nargs="+", help="gcc and clang of any versions, for x86")
    known = {compiler: identity(compiler) for compiler in made.parse_args().compilers}
    titles = [f"{kind} {version}" for kind, version in known.values()]
    print(" " * 30, *(f"{title:>10}" for title in titles))
    with tempfile.TemporaryDirectory() as folder:
        for name in shown():
            words = []
            for compiler, (kind, version) in known.items():
                found = does(compiler, name, Path(folder))
                is_told = version not in TRIED[kind] or says(QUIRKS[name], kind, version) == found
                words.append(f"{'yes' if found else 'no'}{'' if is_told else ' (!)'}")
            print(f"{name:30}", *(f"{word:>10}" for word in words))


if __name__ == "__main__":
    main()
