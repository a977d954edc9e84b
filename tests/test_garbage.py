"""Garbage in cycles is not looked for meanwhile, and nothing of the caller's is changed."""

import gc
import weakref

import pytest

from affdsl import garbage
from affdsl.garbage import uncollected


@pytest.fixture
def nothing_apart(monkeypatch):
    """The suite keeps apart what it has imported; here nothing is, until the test is over."""
    monkeypatch.setattr(garbage, "_times", 0)
    gc.unfreeze()
    yield
    gc.freeze()


class Node:
    """Something that garbage collection looks after."""


def test_what_was_made_meanwhile_is_old(nothing_apart):
    with uncollected():
        assert not gc.isenabled()
        made = Node()
    assert gc.isenabled()
    assert not any(each is made for generation in (0, 1) for each in gc.get_objects(generation))
    assert any(each is made for each in gc.get_objects(2))


def test_of_what_is_made_later_garbage_is_looked_for_soon(nothing_apart, monkeypatch):
    monkeypatch.setattr(garbage, "FIRST", 2)
    kept = []
    for _ in range(3):
        with uncollected():
            kept.append(Node())
    assert [any(each is made for each in gc.get_objects(0)) for made in kept] == [False, False, True]


def test_garbage_is_found_later(nothing_apart):
    with uncollected():
        made = Node()
        made.itself = made
        left = weakref.ref(made)
        del made
    assert left() is not None
    gc.collect()
    assert left() is None


def test_what_the_caller_has_turned_off_or_keeps_apart_stays_so(nothing_apart):
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    gc.freeze()
    before = gc.get_freeze_count()
    with pytest.raises(ZeroDivisionError), uncollected():
        1 / 0
    assert 0 < gc.get_freeze_count() <= before
    assert gc.isenabled()


def test_what_is_kept_apart_is_counted_a_few_times_only(nothing_apart, monkeypatch):
    gc.freeze()
    counted = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(1) or 1)
    for _ in range(2 * garbage.FIRST):
        with uncollected():
            pass
    assert len(counted) == garbage.FIRST
