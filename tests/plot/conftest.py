"""A schedule to draw."""

import pytest

from dfopt.problem.instance import Instance
from dfopt.problem.schedule import Schedule
from tests.plot.worked_example import DATA_AFFINITY, INSTANCE


@pytest.fixture
def worked_example() -> Instance:
    return INSTANCE


@pytest.fixture
def data_affinity() -> Schedule:
    return DATA_AFFINITY
