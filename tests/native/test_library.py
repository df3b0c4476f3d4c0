"""The core is loaded, or an error says what to do; what it has made ends before what it uses."""

import gc
import signal
import time
from types import SimpleNamespace

import pytest

from dfopt.errors import DfoptError
from dfopt.native import library
from dfopt.native.library import INT, Functions, Made


def test_what_is_used_ends_later_whatever_order_a_garbage_collector_has() -> None:
    ended: list[str] = []
    used = Made(SimpleNamespace(create=lambda: "used", destroy=ended.append))
    user = Made(SimpleNamespace(create=lambda: "user", destroy=ended.append), uses=used)
    circle: list[object] = [used, user]
    circle.append(circle)
    del used, user, circle
    gc.collect()
    assert ended == ["user", "used"]


def test_arrays_that_do_not_fit_make_nothing() -> None:
    functions = SimpleNamespace(create=lambda: None, destroy=lambda _: pytest.fail("not made"))
    with pytest.raises(ValueError, match="arrays of other sizes"):
        Made(functions)


def test_a_core_that_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LIBRARY", "/there/is/none.so")
    with pytest.raises(DfoptError, match=r"/there/is/none\.so: .*: install dfopt anew"):
        library._core.__wrapped__()


def test_a_core_of_another_version_says_so() -> None:
    with pytest.raises(DfoptError, match=r"dfopt_sums_largest\): install dfopt anew"):
        Functions("sums", largest=(INT,)).largest()


def test_an_interrupt_is_not_lost_where_an_object_ends() -> None:
    def interrupted(_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    made = Made(SimpleNamespace(create=lambda: "made", destroy=interrupted))
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012, it comes some moments later
        del made
        time.sleep(10)
