"""What the core has made ends with its object in Python, and before what it uses."""

import gc
from types import SimpleNamespace

import pytest

from dfopt.native.library import Made


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
