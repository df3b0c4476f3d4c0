"""The kinds of workloads, by name."""

from __future__ import annotations

from dfopt.simulate.run_queue.workload import WorkloadKind

WORKLOADS: dict[str, type[WorkloadKind]] = {}
