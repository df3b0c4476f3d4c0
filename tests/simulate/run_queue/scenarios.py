"""Small scenarios, one for each kind of workload, to run policies on."""

from __future__ import annotations

from dfopt.machine import Penalty, PenaltyF
from dfopt.simulate.run_queue.machine import Machine
from dfopt.simulate.run_queue.scenario import Scenario
from dfopt.simulate.run_queue.workload import WorkloadKind
from dfopt.simulate.run_queue.workloads.aim import Aim
from dfopt.simulate.run_queue.workloads.chat import Chat
from dfopt.simulate.run_queue.workloads.custom import Custom
from dfopt.simulate.run_queue.workloads.fine_grained import FineGrained
from dfopt.simulate.run_queue.workloads.hackbench import Hackbench
from dfopt.simulate.run_queue.workloads.web_server import WebServer, web_server_penalty

LINES = PenaltyF(read_line=100, write_back=1_000)


def small_chat(**parameters: int) -> Chat:
    return Chat(**({"rooms": 2, "users": 3, "messages": 2} | parameters))


def small_hackbench(**parameters: int) -> Hackbench:
    return Hackbench(**({"groups": 2, "senders": 2, "loops": 3} | parameters))


def small_custom(**parameters: int) -> Custom:
    small = {"threads": 5, "fragments": 2, "fragment_lines": 50, "iterations": 2_500}
    return Custom(**(small | {"burst_iterations": 1_000} | parameters))


def small_fine_grained(**parameters: int) -> FineGrained:
    small = {"array_size": 64, "granularity": 2, "process_length": 3}
    return FineGrained(**(small | parameters))


def small_web_server(**parameters: int) -> WebServer:
    small = {"clients": 4, "requests": 2, "http_slices": 4, "php_slices": 2, "php_threads": 2}
    return WebServer(**(small | {"disks": 1, "think_time": 5_000_000} | parameters))


def small_scenarios() -> list[Scenario]:
    """Return fresh scenarios, none of which takes longer than a blink."""
    kinds: list[tuple[WorkloadKind, Penalty]] = [
        (small_chat(), LINES),
        (small_hackbench(), LINES),
        (small_custom(), LINES),
        (small_fine_grained(), LINES),
        (small_web_server(), web_server_penalty()),
        (Aim(users=3, jobs=2, round_trips=3, forks=2, blocks=2, lines=10), LINES),
    ]
    return [
        Scenario(name=kind.name, workload=kind, machine=Machine(cpus=3), penalty=penalty)
        for kind, penalty in kinds
    ]
