"""Which name a value is about to get, in each way in which Python can bind it; and what is named after that."""

import sys
from contextlib import contextmanager

import affdsl as af
from affdsl.lang.bindings import bound_names

N = af.symbols("N")


def named(said: list[str]) -> int:
    """Note what the value of this call is about to be called."""
    frame = sys._getframe(1)
    said.append(" ".join(bound_names(frame.f_code).get(frame.f_lasti, ())))
    return 1


@contextmanager
def given(said: list[str]):
    frame = sys._getframe(2)
    said.append(" ".join(bound_names(frame.f_code).get(frame.f_lasti, ())))
    yield 1, (2, 3)


def test_values_that_are_bound_together_are_told_apart():
    said: list[str] = []
    a, b = named(said), named(said)
    a, b, c = named(said), (named(said)), named(said)
    a, b, c, d = (
        named(said),
        named(said),
        named(said), named(said),
    )  # fmt: skip
    a, (b, c) = 1, [named(said), 2]
    assert said == [*"ab", *"abc", *"abcd", ""]
    assert (a, b, c, d) == (1, 1, 2, 1)


def test_a_value_that_is_used_has_no_name():
    said: list[str] = []
    a, b = named(said) + named(said), -named(said)
    c = [named(said), named(said)]
    d = named(said), named(said)
    e, f = (named(said) if a else 2), named(said)
    c[0], g = named(said), named(said)
    assert said == ["", "", "", "", "", "", "", "", "f", "", ""]
    assert (b, d, e, f, g) == (-1, (1, 1), 1, 1, 1)


def test_what_as_binds_is_told_with_its_parentheses():
    said: list[str] = []
    with given(said) as (a, (b, c)), given(said), given(said) as d:
        assert (a, b, c, d) == (1, 2, 3, (1, (2, 3)))
    assert said == ["a (b, c)", "", "d"]


def test_arrays_and_numbers_are_called_as_they_are_in_the_source():
    @af.kernel
    def f(x: af.f64[N]):
        half, twice = af.alloc(af.f64[N]), af.alloc(af.f64[N])
        low, high = af.var(af.f64(1)), af.var(af.f64(0))
        with af.for_(N) as i:
            half[i], twice[i] = x[i] / 2, x[i] * 2
            low.set(af.min(low, half[i]))
            high.set(af.max(high, twice[i]))
        return low, high

    text = f.c()
    assert all(f"double *{name} = new_buffer(" in text for name in ("half", "twice"))
    assert all(f"double {name}[1];" in text for name in ("low", "high"))
