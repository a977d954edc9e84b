"""What the glossary names is where it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line.count("`") > 1]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_a_term_lives_where_the_glossary_says(row: str) -> None:
    folder, names, text = ROOT, re.findall(r"`([^`]+)`", row.split("|")[-2]), ""
    for name in names:
        if "/" in name or name.endswith(".py"):
            path = ROOT / name if "/" in name else folder / name
            folder = path.parent if path.suffix else path
            text = "".join(p.read_text() for p in ([path] if path.suffix else path.glob("*.py")))
            assert text, f"{name} is not there"
        else:
            assert re.search(rf"^(?:class |def )?{name.split('.')[0]}\b", text, re.MULTILINE), f"{name} is not there"
