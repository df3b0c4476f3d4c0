"""The core is loaded, or an error says what to do; what it has made ends before what it uses."""

import ctypes
import gc
import importlib
import inspect
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from dfopt.errors import DfoptError
from dfopt.native import library
from dfopt.native.library import NativeObject
from dfopt.native.orders import TourWalk

ROOT = Path(__file__).parents[2]


class Ended(NativeObject):
    """What ends by a function of Python."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, end: Callable[[object], object], *given: object
    ) -> None:
        functions = {"Ended_create": lambda *_: 1, "Ended_destroy": end}
        monkeypatch.setattr(library, "_function", functions.__getitem__)
        super().__init__(*given)


def test_what_is_used_ends_later_whatever_order_a_garbage_collector_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    used = Ended(monkeypatch, lambda _: ended.append("used"))
    user = Ended(monkeypatch, lambda _: ended.append("user"), used)
    circle: list[object] = [used, user]
    circle.append(circle)
    del used, user, circle
    gc.collect()
    assert ended == ["user", "used"]


def test_rows_of_other_sizes_and_kinds_are_refused() -> None:
    costs, flags = np.zeros((3, 2), np.int64), np.zeros((2, 2), np.bool_)
    visits, near, tour = np.ones((3, 2), np.int64)
    for other in (costs.astype(np.int32), costs.astype(np.float64), flags):
        with pytest.raises(ValueError, match="arrays of other rows or sizes"):
            TourWalk(visits, near, other, flags, tour, 1)
    with pytest.raises(ValueError, match="arrays of other rows or sizes"):
        TourWalk(visits, near, costs, flags, tour, 1)  # more costs than pairs of nodes
    with pytest.raises(ctypes.ArgumentError, match="row by row"):
        TourWalk(visits, near, costs.T, flags, tour, 1)


def test_what_is_declared_is_there_and_takes_what_it_says() -> None:
    declared = 0
    for file in sorted((ROOT / "dfopt/native").glob("*.py")):
        module = importlib.import_module(f"dfopt.native.{file.stem}")
        classes = [one for one in vars(module).values() if isinstance(one, type)]
        for name, one in [item for owner in (module, *classes) for item in vars(owner).items()]:
            if (
                isinstance(one, FunctionType)
                and one.__module__ == module.__name__
                and hasattr(one, "__wrapped__")
                and name != "__init__"
            ):
                symbol = one.__qualname__.replace(".", "_")
                found = library._Function.in_dll(library._core(), f"dfopt_{symbol}")
                assert len(found.kinds) == 1 + len(inspect.signature(one).parameters), symbol
                declared += 1
    assert declared > 20


def test_a_core_that_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LIBRARY", "/there/is/none.so")
    with pytest.raises(DfoptError, match=r"/there/is/none\.so: .*: install dfopt anew"):
        library._core.__wrapped__()


def test_a_core_of_another_version_says_so() -> None:
    with pytest.raises(DfoptError, match=r"dfopt_sums_largest\): install dfopt anew"):
        library._function("sums_largest")


def test_an_interrupt_is_not_lost_where_an_object_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    made = Ended(monkeypatch, interrupted)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012, it comes some moments later
        del made
        time.sleep(10)
