"""What it costs a CPU to go from one burst to the next."""

from __future__ import annotations

from dfopt.simulate.run_queue.costs.caches import CacheSizes
from dfopt.simulate.run_queue.costs.penalties import Costs, penalty_costs

__all__ = ["CacheSizes", "Costs", "penalty_costs"]
