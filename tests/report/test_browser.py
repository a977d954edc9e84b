"""A page in Chromium: its script has no error, lines light up by mouse and keyboard, nothing is wider than a phone."""

import re
import subprocess

from tests.oracles import TIMEOUT, require
from tests.report.kernels import summed

PROBE = """<script>
const said = [];
const lines = [...document.querySelectorAll("#column-python .line[data-l]")];
const line = lines[lines.length - 1];
const lit = (column) => document.querySelectorAll(`#column-${column} .lit`).length;
line.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
for (const column of ["python", "ir", "c", "assembly"]) said.push(`${column}=${lit(column)}`);
line.dispatchEvent(new MouseEvent("mouseout", {bubbles: true}));
said.push(`left=${document.querySelectorAll(".lit").length}`);
line.focus();
said.push(`focused=${lit("ir")}`);
line.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp", bubbles: true}));
said.push(`moved=${document.activeElement === lines[lines.length - 2]}`);
document.querySelector(".loop a").click();
said.push(`pinned=${lit("c") > 0}`);
said.push(`beyond=${document.documentElement.scrollWidth - document.documentElement.clientWidth}`);
parent.document.body.insertAdjacentText("beforeend", `[${innerWidth}: ${said.join(" ")}]`);
</script></body>"""
WATCH = """<head><script>
window.onerror = (what) => parent.document.body.insertAdjacentText("beforeend", `[error: ${what}]`);
</script>"""


def test_a_page_in_chromium(tmp_path):
    chromium = require("chromium")
    page = summed.report(tmp_path / "page.html", N=50, seconds=0.0)
    page.write_text(page.read_text().replace("<head>", WATCH, 1).replace("</body>", PROBE, 1))
    frame = tmp_path / "frame.html"  # windows are no narrower than 500 pixels; frames are
    frame.write_text("".join(f'<iframe src="page.html" style="width:{w}px;border:0"></iframe>' for w in (1400, 390)))
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
    command = [chromium, *flags, "--virtual-time-budget=2000", f"--user-data-dir={tmp_path}/profile", frame.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    assert "[error" not in run.stdout
    found = dict(re.findall(r"\[(\d+): (.*?)\]", run.stdout))
    assert {*found} == {"1400", "390"}, run.stderr
    for each in found.values():
        said = dict(part.split("=") for part in each.split())
        assert all(int(said[column]) > 0 for column in ("python", "ir", "c", "assembly", "focused"))
        assert (said["left"], said["moved"], said["pinned"], said["beyond"]) == ("0", "true", "true", "0")
