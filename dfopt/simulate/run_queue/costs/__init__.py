"""The costs of a CPU for going from one burst to the next."""

from __future__ import annotations

from dfopt.simulate.run_queue.costs.caches import CacheCounts, CacheSizes, LineCaches
from dfopt.simulate.run_queue.costs.penalties import Costs, NearCaches, penalty_costs

__all__ = ["CacheCounts", "CacheSizes", "Costs", "LineCaches", "NearCaches", "penalty_costs"]
