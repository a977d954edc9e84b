"""Threads of OpenMP wait briefly, unless the user says how: what the library itself says that it has read."""

import os
import re
import subprocess
import sys

import pytest

from affdsl.codegen.cache import default_cache
from affdsl.codegen.waiting import CHOSEN, SPINS

PROGRAM = """
import os
import numpy as np
import affdsl as af

N = af.symbols("N")

@af.kernel
def ones(x: af.f64[N]):
    with af.parallel(N) as i:
        x[i] = 1.0

ones(np.zeros(4))
print(os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.parametrize(
    ("chosen", "spins", "left"),
    [({}, SPINS, "None"), ({"GOMP_SPINCOUNT": "77"}, "77", "77"), ({"OMP_WAIT_POLICY": "passive"}, "0", "None")],
)
def test_threads_wait_briefly_unless_the_user_has_chosen(tmp_path, chosen, spins, left):
    compiler = default_cache().compiler()
    if compiler.kind != "gcc" or not compiler.has_openmp:
        pytest.skip("the library of OpenMP is not gcc's")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if name not in CHOSEN}
    environment = kept | {"OMP_DISPLAY_ENV": "VERBOSE"} | chosen
    ran = subprocess.run([sys.executable, file], env=environment, check=True, capture_output=True, text=True)
    assert re.findall(r"GOMP_SPINCOUNT = '(\d+)'", ran.stderr) == [spins]
    assert ran.stdout == f"{left}\n"
