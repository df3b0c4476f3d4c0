"""Run-queue policies: by name, from a file of one's own, and made with their parameters."""

from __future__ import annotations

from collections.abc import Mapping

from dfopt.errors import DfoptError
from dfopt.files.strict_json import shown_place
from dfopt.simulate import policy_source
from dfopt.simulate.parameters import made
from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.policies import POLICIES


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


def policy_with(policy: type[Policy], parameters: Mapping[str, object]) -> Policy:
    """Return a fresh policy with these parameters, and defaults for all others.

    Raises
    ------
    DfoptError
        With the parameter, when it is unknown or its value is wrong.
    """
    try:
        own: Policy = made(policy, parameters)
    except DfoptError as error:
        raise error.within(shown_place(("policy", policy.name))) from None
    return own
