"""Asks what an editor asks: where is this name defined, what is it, and which others are there?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlparse

import affdsl as af
from tests import oracles

KERNEL = """
import affdsl as af
N = af.symbols("N")
@af.kernel
def double(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] *= 2.0
""".lstrip()
ASKED = ("double.", "double.optimize().")
EXPECTED = {name for name in dir(af.Kernel) if name[0] != "_"}
"""What completes these words, among other things."""


class Server:
    """A language server of Python, with a folder of a user open."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self.reads, self.writes = _pipes(process)
        self.asked = 0
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}, "workspaceFolders": [
            {"uri": folder.as_uri(), "name": folder.name}]})  # fmt: skip
        self.tell("initialized", {})

    def tell(self, method: str, given: object) -> None:
        self._send({"method": method, "params": given})

    def ask(self, method: str, given: object) -> Any:
        """The answer to a question; questions of the server are answered on the way."""
        self.asked += 1
        self._send({"id": self.asked, "method": method, "params": given})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                wanted = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
                settings = {"pythonPath": sys.executable, "analysis": {"diagnosticMode": "openFilesOnly"}}
                self._send({"id": message["id"], "result": wanted and [settings for _ in wanted]})
            elif message.get("id") == self.asked:
                assert "error" not in message, message
                return message["result"]

    def open(self, path: Path) -> None:
        """Show a file."""
        text = path.read_text(encoding="utf-8")
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def at(self, question: str, path: Path, line: int, column: int) -> Any:
        """The answer to a question about a place of a file that is open; lines and columns count from 0."""
        where = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": column}}
        return self.ask(f"textDocument/{question}", where)

    def definition(self, path: Path, line: int, column: int) -> list[Path]:
        """The files in which the name at a place is defined."""
        found = self.at("definition", path, line, column)
        places = found if isinstance(found, list) else [found] if found else []
        return [Path(unquote(urlparse(place.get("uri") or place["targetUri"]).path)) for place in places]

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.writes.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.writes.flush()

    def _receive(self) -> dict[str, Any]:
        size = 0
        while (line := self.reads.readline()) != b"\r\n":
            assert line, "the language server ended"
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.reads.read(size))
        return message


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdout is not None
    assert process.stdin is not None
    return process.stdout, process.stdin


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """A language server for a folder; skips the test where there is none."""
    found = shutil.which("basedpyright-langserver", path=sysconfig.get_path("scripts"))
    if found is None:
        oracles.missing("basedpyright (pip install 'affdsl[dev]')")
    command = [found, "--stdio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield Server(folder, process)
        finally:
            process.kill()
