"""Loading compiled functions, and leaving those who load them alone."""

import threading

import pytest

from dfopt.solvers.compiled import COMPILER, load


def test_whoever_stops_waiting_leaves_the_compiler_at_work() -> None:
    may_end = threading.Event()

    def first_calls() -> None:
        may_end.wait(60)

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        load(first_calls, check)
    (compiler,) = (one for one in threading.enumerate() if one.name.startswith(COMPILER))
    may_end.set()
    compiler.join(60)
    assert not compiler.is_alive()


def test_what_the_compiler_raises_is_raised() -> None:
    def first_calls() -> None:
        raise LookupError("no such type")

    with pytest.raises(LookupError, match="no such type"):
        load(first_calls, lambda: None)
