"""Policies of space sharing by name, by module and class, or from a file of one's own."""

from __future__ import annotations

from dfopt.simulate import policy_source
from dfopt_models.space_sharing.policies import POLICIES
from dfopt_models.space_sharing.policy import Policy


def policy_named(source: str) -> type[Policy]:
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
    return policy_source.policy_named(source, base=Policy, policies=POLICIES)
