"""Arrays between pages that nobody may touch: what is written beside them ends the process, or is seen."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.harness.guarded import Guarded


@pytest.mark.parametrize(("side", "where"), [("end", 24), ("start", -1)])
def test_one_byte_outside_ends_the_process(side, where):
    text = (
        "import ctypes, numpy as np\n"
        "from tests.harness.guarded import Guarded\n"
        f"array = Guarded().copy(np.ones(3), side={side!r})\n"
        "assert array.tolist() == [1, 1, 1]\n"
        f"ctypes.memset(array.ctypes.data + {where}, 0, 1)\n"
    )
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == -signal.SIGSEGV


def test_what_is_written_on_the_pages_of_an_array_is_seen():
    place = Guarded()
    array = place.copy(np.ones(3), "start")
    assert place.is_clean()
    array[:] = 2.0
    assert place.is_clean()
    place._inner[30] = 0
    assert not place.is_clean()
