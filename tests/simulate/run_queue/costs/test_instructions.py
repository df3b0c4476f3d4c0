"""A matrix penalty from instructions per cycle."""

from __future__ import annotations

import pytest

from dfopt.errors import InstanceError
from dfopt.simulate.run_queue.costs.instructions import penalty_from_ipc


def test_it_is_what_a_dispatch_takes_longer_than_after_the_best() -> None:
    penalty = penalty_from_ipc(["a", "b"], [[2.0, 0.5], [1.0, 0.25]], [100.0, 10.0])
    # a after b: 100 / 1 − 100 / 2; b after b: 10 / 0.25 − 10 / 0.5.
    assert penalty.types == ("a", "b")
    assert penalty.switch == ((0, 0), (50, 20))


@pytest.mark.parametrize("ipc", [[[1.0, 1.0]], [[1.0], [1.0]], [[1.0, 0.0], [1.0, 1.0]]])
def test_a_wrong_table_is_refused(ipc: list[list[float]]) -> None:
    with pytest.raises(InstanceError, match="ipc"):
        penalty_from_ipc(["a", "b"], ipc, [1.0, 1.0])
