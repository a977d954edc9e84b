"""Random kernels with loops of all kinds; `python -m tests.loops.run` tries many."""

import pytest

from tests.effort import some
from tests.loops.run import main, wrong


@pytest.mark.parametrize("seed", some(range(1, 60), 2))
def test_all_ways_agree(seed):
    assert wrong(seed, through_mlir=False) == ""


def test_the_command(capsys):
    assert main(["--count", "1", "--seed", "7"]) == 0
    assert "1 programs, 0 failures" in capsys.readouterr().err
