"""A few of the kernels of `python -m tests.targets.machines`, on each machine; its table has all of them."""

from functools import cache

import pytest

from tests.effort import TRIES_ALL
from tests.harness.machines import optimized
from tests.targets import machines
from tests.targets.check import Report, check_in, prepared, subjects
from tests.targets.far import FAR

FEW = ("jacobi2d.jacobi2d", "prefix_sum.prefix_sum")


@cache
def ready():
    """Kernels with their loops on vectors."""
    return [prepared(subject, Report()) for subject in subjects(1) if subject.name in FEW]


@pytest.mark.parametrize("far", [f for f in FAR if TRIES_ALL or f.way.has_usual_tools], ids=lambda far: far.name)
def test_examples_do_the_same(far):
    report = Report()
    way = optimized(far.way, "-O1")
    check_in(ready(), far.name, way, report, vector_types=far.vector_types, register_bits=128)
    assert report.wrong == []
    assert report.ran == {far.name: len(FEW)}


def test_the_page_has_all_machines_and_nothing_wrong():
    found = list(machines.rows_of(machines.PAGE.read_text(encoding="utf-8")))
    assert [cells[:3] for cells in found] == [[far.shown, f"`{far.compiled}`", far.vectors] for far in FAR]
    assert {cells[-1] for cells in found} == {"0"}
    assert len({tuple(cells[3:5]) for cells in found}) == 1


def test_the_table_takes_the_place_of_the_old_one():
    page = f"before\n{machines.BEGIN}old\n{machines.END}after\n"
    new = machines.written(page, ["| a | b |\n"])
    assert list(machines.rows_of(new)) == [["a", "b"]]
    assert (new.startswith("before\n"), new.endswith(f"{machines.END}after\n")) == (True, True)
    assert machines.written(new, ["| a | b |\n"]) == new
