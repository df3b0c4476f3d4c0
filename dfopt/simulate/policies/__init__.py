"""The policies by name, policies of a user's own, and how they get their parameters."""

from __future__ import annotations

from collections.abc import Mapping

from dfopt import user_code
from dfopt.errors import DfoptError
from dfopt.simulate.contract import Policy
from dfopt.simulate.parameters import made
from dfopt.simulate.policies.affinity import (
    FixedProcessor,
    LastProcessor,
    MinimumIntervening,
)
from dfopt.simulate.policies.cache_aware import CacheAware
from dfopt.simulate.policies.cfs import Cfs
from dfopt.simulate.policies.data_affinity import DataAffinity
from dfopt.simulate.policies.eevdf import Eevdf
from dfopt.simulate.policies.linux_o1 import LinuxO1
from dfopt.simulate.policies.patience import Patience
from dfopt.simulate.policies.scx_lavd import ScxLavd
from dfopt.simulate.policies.scx_rusty import ScxRusty
from dfopt.simulate.policies.scx_simple import ScxSimple
from dfopt.simulate.policies.segregation import Segregation
from dfopt.simulate.policies.simple import (
    FirstComeFirstServed,
    LastInFirstOut,
    RandomChoice,
    WarmFirst,
)
from dfopt.simulate.policies.smash import (
    SharedSmash,
    SmpbatchSmash,
    UnibatchSmash,
    UniSmash,
    WfSmash,
)
from dfopt.simulate.policies.tlms import GlobalQueue, OneScan, ThreeScans, TwoScans
from dfopt.type_reader import shown_place

_ALL: tuple[type[Policy], ...] = (
    FirstComeFirstServed,
    WarmFirst,
    RandomChoice,
    LastInFirstOut,
    FixedProcessor,
    LastProcessor,
    MinimumIntervening,
    Patience,
    LinuxO1,
    Cfs,
    Eevdf,
    CacheAware,
    ScxSimple,
    ScxRusty,
    ScxLavd,
    DataAffinity,
    GlobalQueue,
    OneScan,
    TwoScans,
    ThreeScans,
    Segregation,
    UniSmash,
    UnibatchSmash,
    SharedSmash,
    SmpbatchSmash,
    WfSmash,
)

GUIDE = "docs/how-to/run-queue-policy.md"

POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _ALL}
"""By the name that files and the command line use."""

FIRST_COME = f"{FirstComeFirstServed.name!r} (first come, first served)"
SLICED = f"{FirstComeFirstServed.name!r} (one queue, with a time slice)"

OTHER_NAMES = {
    "fifo": FIRST_COME,
    "first-come-first-served": FIRST_COME,
    "rr": SLICED,
    "round-robin": SLICED,
}
"""What else policies are called, and which is meant."""


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
    return user_code.policy_named(
        source, base=Policy, policies=POLICIES, guide=GUIDE, other_names=OTHER_NAMES
    )


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
