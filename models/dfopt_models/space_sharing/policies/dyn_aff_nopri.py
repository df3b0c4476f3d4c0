"""Dyn-Aff-NoPri: affinity before priority; no policy to be used, but a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt_models.space_sharing.policies.dyn_aff import DynAff

if TYPE_CHECKING:
    from dfopt_models.space_sharing.engine import Engine
    from dfopt_models.space_sharing.job import Job


class DynAffNoPri(DynAff):
    """Dyn-Aff without fairness: the most that affinity could give."""

    name = "dyn-aff-nopri"

    def preempted(self, engine: Engine, job: Job) -> int | None:
        """Not D.3: nobody is preempted."""
        return None

    def outranks(self, engine: Engine, job: Job) -> bool:
        """A.1 without its condition: the last task always may return."""
        return True
