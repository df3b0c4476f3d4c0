"""Times of the O(1) scheduler as short as those of random programs, so that all of them matter."""

from __future__ import annotations

from hypothesis import strategies as st


def small_times() -> st.SearchStrategy[dict[str, int]]:
    """Draw parameters."""
    return st.fixed_dictionaries(
        {
            "time_slice": st.integers(1, 20),
            "min_time_slice": st.integers(1, 5),
            "max_sleep_average": st.integers(1, 60),
            "starvation_limit": st.integers(0, 10),
            "granularity": st.integers(1, 5),
            "rebalance_interval": st.integers(0, 20),
            "idle_rebalance_interval": st.integers(1, 10),
            "cache_hot_time": st.integers(0, 10),
            "cache_nice_tries": st.integers(0, 3),
        }
    )
