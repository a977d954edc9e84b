"""Which RUN lines of MLIR's tests of the affine dialect pass with `affdsl opt` in place of mlir-opt, and why not.

    python -m tests.handed_on.lines --tests mlir/test/Dialect/Affine --filecheck FileCheck
    python -m tests.handed_on.lines --tests ... --filecheck ... --write          and the table of its page
    python -m tests.handed_on.lines --tests ... --filecheck ... unroll           only lines whose name has this in it
    python -m tests.handed_on.lines --tests ... --filecheck ... --opt mlir-opt   what mlir-opt itself does

The tests are those of LLVM, of the version that the page names, and are not part of this repository. A line is called
by its file and by its number among the file's RUN lines, from 0: `unroll.mlir#2`. Why a line does not pass is written
by hand in `line_reasons.txt`; the page is `docs/reference/mlir-lines.md`.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from affdsl.frozen import FrozenValue

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mlir-lines.md"
REASONS = Path(__file__).with_name("line_reasons.txt")
BEGIN, END = "<!-- python -m tests.handed_on.lines --write -->", "<!-- end of the table -->"
KINDS = ("mlir-opt is wrong:", "mlir-opt is loose:", "both are right:", "missing here:")
"""How a reason begins."""
OURS = f"{shlex.quote(sys.executable)} -m affdsl opt --numbered"


class Line(FrozenValue):
    """One RUN line: the file that it stands in, its name, and its command as it is written there."""

    path: Path
    name: str
    command: str

    def passes(self, opt: str, filecheck: str) -> bool:
        """Whether all of its commands succeed, with another program in place of mlir-opt."""
        with tempfile.TemporaryDirectory() as folder:
            command = re.sub(r"(^|\| *|&& *)not ", r"\1! ", self.command)
            for name, program in (("mlir-opt", opt), ("FileCheck", filecheck)):
                command = re.sub(rf"\b{name}\b", lambda _, program=program: program, command)
            command = command.replace("%s", shlex.quote(str(self.path))).replace("%t", f"{folder}/t")
            try:
                done = subprocess.run(
                    ["bash", "-c", f"set -o pipefail\n{command}"],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=600,
                )
            except subprocess.TimeoutExpired:
                return False
        return done.returncode == 0


def lines_of(tests: Path) -> Iterator[Line]:
    """The RUN lines of all files of a folder."""
    for path in sorted(tests.rglob("*.mlir")):
        text = re.sub(r"\\\n\s*// *RUN:", " ", path.read_text(encoding="utf-8"))
        for number, command in enumerate(re.findall(r"^\s*// *RUN: *(.*)", text, re.M)):
            yield Line(path, f"{path.relative_to(tests)}#{number}", command)


def reasons() -> dict[str, str]:
    """Why lines do not pass, by name."""
    said = (line.partition(": ") for line in REASONS.read_text(encoding="utf-8").splitlines() if line)
    return {name: reason for name, _, reason in said}


def table(passed: dict[str, bool]) -> str:
    """The table of the page. Raises LookupError where a line does not pass and nobody says why."""
    why = {name: reasons().get(name, "") for name, passes in passed.items() if not passes}
    missing = [name for name, reason in why.items() if not reason.startswith(KINDS)]
    if missing:
        raise LookupError(f"{REASONS.name} has no reason for {', '.join(missing)}, which begins as one of {KINDS}")
    counts = [f"{kind} {sum(reason.startswith(kind) for reason in why.values())}" for kind in KINDS]
    rows = [f"| `{name}` | {'yes |  |' if passes else f'no | {why[name]} |'}" for name, passes in passed.items()]
    head = f"{sum(passed.values())} of {len(passed)} pass. Of the others: {', '.join(counts)}."
    return "\n".join([head, "", "| line | passes | why not |", "|---|---|---|", *rows])


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of lines; all if none is given")
    parser.add_argument("--tests", type=Path, required=True, help="LLVM's folder mlir/test/Dialect/Affine")
    parser.add_argument("--filecheck", default="FileCheck", help="LLVM's FileCheck")
    parser.add_argument("--opt", default=OURS, help="what runs in place of mlir-opt: affdsl opt by default")
    parser.add_argument("--jobs", type=int, default=2, help="how many lines run at once")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}, if all lines are run")
    given = parser.parse_args()
    chosen = [line for line in lines_of(given.tests) if not given.names or any(n in line.name for n in given.names)]
    with ThreadPoolExecutor(given.jobs) as pool:
        answers = pool.map(lambda line: line.passes(given.opt, given.filecheck), chosen)
        passed: dict[str, bool] = {}
        for line, passes in zip(chosen, answers, strict=True):
            passed[line.name] = passes
            print("passes" if passes else "FAILS ", line.name, flush=True)
    print(f"{sum(passed.values())} of {len(passed)}")
    stale = [name for name in reasons() if passed.get(name)]
    if stale and given.opt == OURS:
        print(f"These pass, and {REASONS.name} says why they do not: {', '.join(stale)}")
    if given.write and not given.names:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(passed)}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
