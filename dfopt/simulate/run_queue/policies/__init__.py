"""The policies, by name."""

from __future__ import annotations

from dfopt.simulate.run_queue.policies.fcfs import FirstComeFirstServed
from dfopt.simulate.run_queue.policies.global_queue import GlobalQueue
from dfopt.simulate.run_queue.policies.segregation import Segregation
from dfopt.simulate.run_queue.policies.tlms import OneScan, ThreeScans, TwoScans
from dfopt.simulate.run_queue.policy import Policy

_ALL: tuple[type[Policy], ...] = (
    FirstComeFirstServed,
    GlobalQueue,
    OneScan,
    TwoScans,
    ThreeScans,
    Segregation,
)

POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _ALL}
