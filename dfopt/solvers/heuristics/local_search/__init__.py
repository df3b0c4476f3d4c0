"""Fast local search for the penalties f and g, without releases and precedence."""

from dfopt.solvers.heuristics.local_search.local_search import (
    Background,
    LocalSearch,
    fits,
    walk_slowly,
    walking_beside,
)

__all__ = ["Background", "LocalSearch", "fits", "walk_slowly", "walking_beside"]
