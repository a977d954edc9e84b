"""While the optimizer looks, a step from the same program has the same outcome, and is worked out once."""

from copy import copy

import pytest

import affdsl as af
from affdsl.schedule import taking as module
from affdsl.schedule.again import remembering
from affdsl.schedule.schedule import IllegalTransform, Schedule

N = af.symbols("N")


@af.kernel
def sweep(A: af.f64[N, N]):
    with af.for_(1, N) as i, af.for_(N - 1) as j:
        A[i, j] += A[i - 1, j + 1]


@pytest.fixture
def worked_out(monkeypatch):
    """The steps that were worked out, as they are written."""
    calls = []
    read = module.read

    def counted(place, call):
        calls.append(call.text)
        return read(place, call)

    monkeypatch.setattr(module, "read", counted)
    return calls


def test_copies_that_take_the_same_steps_share_what_comes_out(worked_out):
    s = Schedule(sweep)
    with remembering():
        one = copy(s).strip_mine("i", 4).unroll("j", 2)
        other = copy(s).strip_mine("i", 4).unroll("j", 2)
    assert one.module is other.module
    assert str(one) == str(other)
    assert [text.partition("(")[0] for text in worked_out] == ["strip_mine", "unroll"]


def test_what_is_given_in_another_way_is_another_step(worked_out):
    s = Schedule(sweep)
    with remembering():
        texts = {str(copy(s).unroll("j", factor)) for factor in (2, 3, 2)}
        texts |= {str(copy(s).peel("j", first=1)), str(copy(s).peel("j", last=1))}
    assert len(texts) == 4
    assert len(worked_out) == 4


def test_a_refusal_is_the_same_and_found_once(worked_out):
    s = Schedule(sweep)
    told = []
    with remembering():
        for _ in range(3):
            with pytest.raises(IllegalTransform) as refused:
                copy(s).interchange("i", "j")
            told.append(str(refused.value))
    assert len(set(told)) == 1
    assert "cannot interchange loops i and j" in told[0]
    assert len(worked_out) == 1


def test_after_another_step_it_is_asked_anew():
    s = Schedule(sweep)
    with remembering():
        with pytest.raises(IllegalTransform):
            s.interchange("i", "j")
        s.skew("i", "j", 1)
        s.interchange("i", "j")
    assert [step.call.verb for step in s.steps] == ["skew", "interchange"]


def test_nothing_is_kept_outside_of_a_search(worked_out):
    s = Schedule(sweep)
    for _ in range(2):
        copy(s).unroll("j", 2)
        with remembering():
            copy(s).unroll("j", 2)
    assert len(worked_out) == 4
