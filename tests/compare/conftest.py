"""Settings for all tests of comparisons."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _all_the_time_in_the_world() -> Iterator[None]:
    """Let no clock decide what solvers find for a window."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfopt.compare.windows.SECONDS_PER_WINDOW", 1000.0)
        yield
