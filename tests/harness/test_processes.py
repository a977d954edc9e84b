"""A process that dies costs one answer, and says how and during what."""

import os
import signal
import time

from tests.harness.processes import answers, doing


def asked(number: int) -> int:
    doing(f"halving {number}")
    if number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 4:
        raise ZeroDivisionError("by nothing")
    time.sleep(0.1 if number == 0 else 0)
    return number // 2


def test_answers_come_in_order_whatever_dies():
    for processes, chunk in ((1, 8), (3, 1), (2, 3)):
        first, second, third, fourth, fifth, sixth = answers(asked, range(6), processes, chunk)
        assert (first, second, third, sixth) == (0, 0, 1, 2)
        assert str(fourth) == "the process ended with status -11: halving 3"
        assert "ZeroDivisionError: by nothing" in str(fifth)


def test_a_reader_who_stops_leaves_no_process():
    found = answers(os.getpgid, [0] * 40, 2, chunk=20)
    assert next(found) == os.getpgid(0)
    found.close()
    assert [*answers(asked, [])] == []
