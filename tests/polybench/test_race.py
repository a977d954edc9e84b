"""Who stays in a race with peers, and on what arrays they run."""

import numpy as np

from benchmarks.polybench.race import refill, too_slow


def test_a_peer_is_out_after_two_long_calls_both_of_which_lost():
    ours = [0.1, 0.1]
    assert too_slow({"ours": ours, "gcc": [1.0], "clang": [3.0]}, []) == []
    assert too_slow({"ours": ours, "gcc": [1.0, 1.1], "clang": [3.0, 1.4]}, []) == []
    assert too_slow({"ours": ours, "gcc": [1.0, 1.1], "clang": [3.0, 1.6], "Polly": [9.0, 8.0]}, []) == [
        "clang",
        "Polly",
    ]


def test_short_calls_and_ours_stay_and_those_that_are_wrong_are_nobodys_measure():
    assert too_slow({"ours": [9.0, 9.0], "gcc": [0.01, 0.01], "clang": [0.09, 0.09]}, []) == []
    assert too_slow({"ours": [0.1, 0.1], "gcc": [0.2, 0.2], "clang": [1.0, 1.0]}, ["gcc"]) == []


def test_each_call_has_new_elements_in_the_same_arrays():
    given = {"N": 3, "A": np.array([4.0, 5.0, 6.0]), "x": np.array([np.nan])}
    before = {name: given[name] for name in ("A", "x")}
    refill(given, {"N": 3, "A": np.array([1.0, 2.0, np.nan]), "x": np.array([7.0])})
    assert all(given[name] is array for name, array in before.items())
    np.testing.assert_array_equal(before["A"], [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(before["x"], [7.0])
