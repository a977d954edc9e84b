"""Each public name can be the first one that a program uses."""

import re
import subprocess
import sys

import pytest

import affdsl
from affdsl.other_names import HERE, OTHERWISE


def test_an_array_type_can_be_written_before_any_kernel():
    program = 'import affdsl as af; N = af.symbols("N"); print(af.f32[N, N + 1])'
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("f32[N, N + 1]\n", "")


@pytest.mark.parametrize("name", ["range", "empty", "float32"])
def test_names_of_other_packages_are_translated(name):
    with pytest.raises(AttributeError, match=rf"^affdsl has no {name}: write affdsl\.\w+$"):
        getattr(affdsl, name)


def test_a_name_is_translated_to_one_that_is_there():
    assert set(HERE.values()) <= set(affdsl.__all__)
    assert not set(HERE) & set(affdsl.__all__)


def test_names_for_which_there_is_no_one_name_say_what_to_write():
    with pytest.raises(AttributeError, match=r"^affdsl has no pi: numbers of Python are taken as they are"):
        affdsl.pi
    with pytest.raises(AttributeError, match=r"^affdsl has no zeros: write affdsl.alloc, whose elements are not set"):
        affdsl.zeros
    assert set(re.findall(r"affdsl\.(\w+)", " ".join(OTHERWISE.values()))) <= set(affdsl.__all__)
    assert not set(OTHERWISE) & {*HERE, *affdsl.__all__}


def test_a_name_like_no_other_is_just_not_there():
    with pytest.raises(AttributeError, match=r"^affdsl has no __wrapped__$"):
        affdsl.__wrapped__
    assert not hasattr(affdsl, "xyzzy")


def test_python_says_which_name_is_near():
    done = subprocess.run(
        [sys.executable, "-c", "import affdsl as af; af.symbol_s"], capture_output=True, text=True, check=False
    )
    assert done.stderr.endswith("affdsl has no symbol_s. Did you mean: 'symbols'?\n")
