"""The policies of Vaswani and Zahorjan, one a file."""

from dfopt_models.space_sharing.policies.dyn_aff import DynAff
from dfopt_models.space_sharing.policies.dyn_aff_delay import DynAffDelay
from dfopt_models.space_sharing.policies.dyn_aff_nopri import DynAffNoPri
from dfopt_models.space_sharing.policies.dynamic import Dynamic
from dfopt_models.space_sharing.policies.equipartition import Equipartition

POLICIES = {
    policy.name: policy for policy in (Equipartition, Dynamic, DynAff, DynAffNoPri, DynAffDelay)
}
"""By the name that files and the command line use."""

__all__ = [
    "POLICIES",
    "DynAff",
    "DynAffDelay",
    "DynAffNoPri",
    "Dynamic",
    "Equipartition",
]
