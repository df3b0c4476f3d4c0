"""The policies of Vaswani and Zahorjan, and how a policy is found by its name."""

from __future__ import annotations

from dfopt.simulate import policy_source
from dfopt_models.space_sharing.engine import AllocationPolicy
from dfopt_models.space_sharing.policies.dyn_aff import DynAff, DynAffDelay, DynAffNoPri
from dfopt_models.space_sharing.policies.dynamic import Dynamic
from dfopt_models.space_sharing.policies.equipartition import Equipartition

__all__ = [
    "POLICIES",
    "DynAff",
    "DynAffDelay",
    "DynAffNoPri",
    "Dynamic",
    "Equipartition",
    "policy_named",
]

GUIDE = "docs/how-to/space-sharing-policy.md"

POLICIES: dict[str, type[AllocationPolicy]] = {
    policy.name: policy for policy in (Equipartition, Dynamic, DynAff, DynAffNoPri, DynAffDelay)
}
"""By the name that files and the command line use."""


def policy_named(source: str) -> type[AllocationPolicy]:
    """Return a policy.

    Parameters
    ----------
    source
        The name of one of :data:`POLICIES`; or ``module:Class``, where the module is imported as
        from the current folder; or ``file.py``, which must define one policy, or
        ``file.py:Class``.

    Raises
    ------
    DfoptError
        When there is no such policy, or its code cannot be loaded.
    """
    return policy_source.policy_named(source, base=AllocationPolicy, policies=POLICIES, guide=GUIDE)
