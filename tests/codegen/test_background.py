"""What runs in threads is stopped as a whole, with those who wait for it."""

import threading

import pytest

from affdsl.codegen import background


@pytest.mark.parametrize("only_own", [False, True])
def test_who_waits_for_a_lock_is_stopped_with_who_holds_it(only_own):
    lock, said, waiting = background.Lock(), [], threading.Event()

    def other():
        waiting.set()
        try:
            with lock:
                said.append("its turn")
        except KeyboardInterrupt:
            said.append("stopped")

    thread = threading.Thread(target=other)
    with lock:
        thread.start()
        waiting.wait()
        thread.join(0.2)  # it is in front of the lock by then
        assert thread.is_alive()
        background.stop(only_own=only_own)
    thread.join()
    assert said == ["its turn" if only_own else "stopped"], "a fork stops what was begun here alone"
    with lock:
        said.append("free")
    assert said[-1] == "free"
