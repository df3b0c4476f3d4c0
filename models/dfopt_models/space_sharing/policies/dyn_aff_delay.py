"""Dyn-Aff-Delay: a job keeps an idle processor for a moment before it is willing to yield."""

from __future__ import annotations

from dfopt_models.space_sharing.policies.dyn_aff import DynAff


class DynAffDelay(DynAff):
    """Dyn-Aff with a yield delay: a little more waste for fewer reallocations."""

    name = "dyn-aff-delay"

    @property
    def yield_delay(self) -> float:
        """Seconds that a processor is idle before its job is willing to yield it."""
        return self.parameters.yield_delay
