"""Each public name can be the first one that a program uses."""

import subprocess
import sys


def test_an_array_type_can_be_written_before_any_kernel():
    program = 'import affdsl as af; N = af.symbols("N"); print(af.f32[N, N + 1])'
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("f32[N, N + 1]\n", "")
