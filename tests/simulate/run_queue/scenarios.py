"""Small scenarios, one for each kind of workload, to run policies on."""

from __future__ import annotations

from dfopt.problem.penalties import Penalty, PenaltyF
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workload import WorkloadKind
from dfopt.simulate.workloads.aim import Aim
from dfopt.simulate.workloads.chat import Chat
from dfopt.simulate.workloads.custom import Custom
from dfopt.simulate.workloads.fine_grained import FineGrained
from dfopt.simulate.workloads.hackbench import Hackbench
from dfopt.simulate.workloads.replay import Replay
from dfopt.simulate.workloads.web_server import WebServer

LINES = PenaltyF(read_line=100, write_back=1_000)


def small_chat(**parameters: int) -> Chat:
    return Chat(**({"rooms": 2, "users": 3, "messages": 2} | parameters))


def small_hackbench(**parameters: int) -> Hackbench:
    return Hackbench(**({"groups": 2, "senders": 2, "loops": 3} | parameters))


def small_custom(**parameters: int | str) -> Custom:
    small = {"threads": 5, "fragments": 2, "fragment_lines": 50, "iterations": 2_500}
    return Custom(**(small | {"burst_iterations": 1_000} | parameters))


def small_fine_grained(**parameters: int) -> FineGrained:
    small = {"array_size": 64, "granularity": 2, "process_length": 3}
    return FineGrained(**(small | parameters))


def small_web_server(**parameters: int) -> WebServer:
    small = {"clients": 4, "requests": 2, "http_slices": 4, "php_slices": 2, "php_threads": 2}
    small |= {"disks": 1, "think_time": 5_000_000, "network_wait": 5_000_000, "interval": 1_000_000}
    return WebServer(**(small | parameters))


def small_scenario(kind: WorkloadKind, penalty: Penalty = LINES) -> Scenario:
    return Scenario(name=kind.name, workload=kind, machine=Machine(cpus=3), penalty=penalty)


def small_replay() -> Replay:
    """Return the replay of chat rooms, as first come, first served ran them."""
    recorded = simulate_once(small_scenario(small_chat()), FirstComeFirstServed)
    return Replay(trace=recorded.trace)


def small_scenarios() -> list[Scenario]:
    """Return scenarios with all kinds of workloads, each of which takes a moment at most."""
    return [
        small_scenario(Aim(users=3, jobs=2, round_trips=3, forks=2, blocks=2, lines=10)),
        small_scenario(small_chat()),
        small_scenario(small_custom()),
        small_scenario(small_fine_grained()),
        small_scenario(small_hackbench()),
        small_scenario(small_replay()),
        small_scenario(small_web_server(), read_scenario("web-server").penalty),
    ]
