"""The kinds of workloads, by name."""

from __future__ import annotations

from dfopt.simulate.run_queue.workload import WorkloadKind
from dfopt.simulate.run_queue.workloads.aim import Aim
from dfopt.simulate.run_queue.workloads.chat import Chat
from dfopt.simulate.run_queue.workloads.custom import Custom
from dfopt.simulate.run_queue.workloads.fine_grained import FineGrained
from dfopt.simulate.run_queue.workloads.hackbench import Hackbench
from dfopt.simulate.run_queue.workloads.replay import Replay
from dfopt.simulate.run_queue.workloads.web_server import WebServer

_ALL: tuple[type[WorkloadKind], ...] = (
    Aim,
    Chat,
    Custom,
    FineGrained,
    Hackbench,
    Replay,
    WebServer,
)

WORKLOADS: dict[str, type[WorkloadKind]] = {kind.name: kind for kind in _ALL}
