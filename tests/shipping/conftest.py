"""Libraries that tests share: each is built once in a run, into a folder of its own."""

import platform

import pytest

import affdsl as af
from examples.ship import filters
from tests.shipping import kernels

LANGUAGES = ("fortran", "rust", "julia")


@pytest.fixture(scope="session")
def all_kinds(tmp_path_factory):
    """A library of all kernels here, for any CPU, with a wheel."""
    folder = tmp_path_factory.mktemp("all_kinds")
    af.build(kernels.ALL, folder, name="all_kinds", version="1.2.3", python=True, bindings=LANGUAGES)
    return folder


@pytest.fixture(scope="session")
def threaded(tmp_path_factory):
    """A library whose functions take how many threads run their loops, and have names that are words elsewhere."""
    folder = tmp_path_factory.mktemp("threaded")
    options = {"python": True, "threads_parameter": True, "bindings": LANGUAGES}
    af.build([kernels.twice, kernels.total, kernels.clashing, kernels.c_int64_t], folder, name="threaded", **options)
    return folder


@pytest.fixture(scope="session")
def dispatched(tmp_path_factory):
    """The library of the projects in examples/ship: made fast for three targets, of which one is chosen."""
    if platform.machine() != "x86_64":
        pytest.skip("its targets are those of x86-64")
    folder = tmp_path_factory.mktemp("filters")
    listed = [filters.smooth, filters.brightest]
    targets = ["baseline", "avx2", "avx512"]
    af.build(
        listed, folder, name="filters", version="1.2", prefix="filters_", targets=targets, optimize={"threads": 2},
        python=True,
    )  # fmt: skip
    return folder
