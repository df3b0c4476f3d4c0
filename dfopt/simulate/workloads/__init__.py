"""The kinds of workloads, by name."""

from __future__ import annotations

from dfopt.simulate.workload import WorkloadKind
from dfopt.simulate.workloads.aim import Aim
from dfopt.simulate.workloads.chat import Chat
from dfopt.simulate.workloads.custom import Custom
from dfopt.simulate.workloads.fine_grained import FineGrained
from dfopt.simulate.workloads.hackbench import Hackbench
from dfopt.simulate.workloads.replay import Replay
from dfopt.simulate.workloads.web_server import WebServer

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
