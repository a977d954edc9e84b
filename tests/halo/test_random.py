"""Some random kernels with their halos; `python -m tests.halo.run` tries many."""

import pytest

from tests.effort import some
from tests.halo.run import main, wrong


@pytest.mark.parametrize("seed", some(range(1, 60), 4))
def test_parts_give_what_the_whole_gives(seed):
    assert wrong(seed)[0] == ""


def test_the_command(capsys):
    assert main(["--count", "2", "--seed", "3"]) == 0
    said = capsys.readouterr()
    assert "2 kernels, 0 failures" in said.err
    assert "have no halo" in said.out
