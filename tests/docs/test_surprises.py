"""Findings are scripts of one shape that stand alone, and the page of surprises names those that are there.

What they find is tried by hand: `findings/README.md` says how.
"""

import re
import subprocess

import pytest

from tests.docs.pages import DOCS, ROOT

SCRIPTS = sorted((ROOT / "findings").glob("*.sh"))


def test_the_page_names_scripts_that_are_there():
    named = set(re.findall(r"`([\w-]+\.sh)`", (DOCS / "surprises.md").read_text(encoding="utf-8")))
    assert named
    assert named - {path.name for path in SCRIPTS} == set()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_finding_stands_alone(path):
    text = path.read_text(encoding="utf-8")
    head, _, code = text.partition("\nset -euo pipefail\nfolder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\n")
    assert code, "it does not work in a temporary folder of its own"
    assert head.startswith("#!/usr/bin/env bash\n# ")
    assert [part for part in ("# Tool: ", "# A good guess: ", "# Seen: ") if part not in head] == []
    assert "affdsl" not in text
    assert f'{{ echo "{path.stem}: the output has changed" >&2; exit 1; }}' in code
    installed = re.findall(r'^"\$folder/venv/bin/pip" install [^\n]*?-check (.*)$', code, re.M)
    installed += re.findall(r"apt-get download (.*)\)?$", code, re.M)
    assert installed, "it installs nothing"
    words = [word for line in installed for word in line.split() if not word.startswith("-")]
    assert [word for word in words if "=" not in word] == [], "a version is not pinned"
    assert subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True).stderr == ""
