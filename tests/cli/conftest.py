"""The command line as a fixture."""

import pytest

from tests.cli.tools import CommandLine


@pytest.fixture
def cli(capsys, monkeypatch):
    return CommandLine(capsys, monkeypatch)
