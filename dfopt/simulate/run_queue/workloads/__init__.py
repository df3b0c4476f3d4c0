"""The kinds of workloads, by name."""

from __future__ import annotations

from dfopt.simulate.run_queue.workload import WorkloadKind
from dfopt.simulate.run_queue.workloads.aim import Aim

_ALL: tuple[type[WorkloadKind], ...] = (Aim,)

WORKLOADS: dict[str, type[WorkloadKind]] = {kind.name: kind for kind in _ALL}
