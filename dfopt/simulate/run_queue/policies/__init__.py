"""The policies, by name."""

from __future__ import annotations

from dfopt.simulate.run_queue.policies.fcfs import FirstComeFirstServed
from dfopt.simulate.run_queue.policy import Policy

_ALL: tuple[type[Policy], ...] = (FirstComeFirstServed,)

POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _ALL}
