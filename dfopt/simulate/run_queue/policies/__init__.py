"""The policies, by name."""

from __future__ import annotations

from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.policies.clairvoyant import Clairvoyant
from dfopt.simulate.run_queue.policies.data_affinity import DataAffinity
from dfopt.simulate.run_queue.policies.fcfs import FirstComeFirstServed
from dfopt.simulate.run_queue.policies.fixed_processor import FixedProcessor
from dfopt.simulate.run_queue.policies.global_queue import GlobalQueue
from dfopt.simulate.run_queue.policies.last_processor import LastProcessor
from dfopt.simulate.run_queue.policies.lifo import LastInFirstOut
from dfopt.simulate.run_queue.policies.linux_o1 import LinuxO1
from dfopt.simulate.run_queue.policies.minimum_intervening import MinimumIntervening
from dfopt.simulate.run_queue.policies.random_choice import RandomChoice
from dfopt.simulate.run_queue.policies.segregation import Segregation
from dfopt.simulate.run_queue.policies.smash import (
    SharedSmash,
    SmpbatchSmash,
    UnibatchSmash,
    UniSmash,
    WfSmash,
)
from dfopt.simulate.run_queue.policies.tlms import OneScan, ThreeScans, TwoScans

_ALL: tuple[type[Policy], ...] = (
    FirstComeFirstServed,
    RandomChoice,
    LastInFirstOut,
    FixedProcessor,
    LastProcessor,
    MinimumIntervening,
    Clairvoyant,
    LinuxO1,
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

POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _ALL}
