"""Simulations of the web server with HTTP and PHP together, and apart."""

from dataclasses import dataclass
from statistics import mean

import numpy as np
from ziemba_penalty import web_server_penalty

from dfopt import replace
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.simulate.contract import Policy
from dfopt.simulate.policies.segregation import Segregation
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads.web_server import HTTP, PHP_LONG, WebServer

SHIPPED = read_scenario("web-server")
"""With the published IPC; what is fitted changes it."""

SERVER: WebServer = SHIPPED.workload
CPUS = SHIPPED.machine.cpus
SWITCH = SHIPPED.machine.switch_time
HTTP_CPU = 0
SECOND = 1_000_000_000

COSTLY_AFTER_LONG = 980_000
"""What HTTP pays after long PHP so that segregation saves 47 %."""

COSTLY_PHP = 3_260_000
COSTLY_THINK = 24 * SECOND

PUBLISHED = web_server_penalty(SERVER.http_time)
COSTLY = replace(PUBLISHED, switch=(*PUBLISHED.switch[:2], (COSTLY_AFTER_LONG, 0, 0)))
SLOW = replace(SERVER, php_time=COSTLY_PHP, think_time=COSTLY_THINK)


class SegregationInTurn(Segregation):
    """HTTP on one CPU and PHP on the others, with one round-robin queue for each set."""

    def __init__(self) -> None:
        super().__init__(within="round-robin")


@dataclass(frozen=True, kw_only=True)
class Window:
    """When, in seconds, and with how many seeds is measured."""

    begin: int
    end: int
    seeds: int


QUICK = Window(begin=10, end=15, seeds=1)
SHORT = Window(begin=25, end=50, seeds=1)
LONG = Window(begin=40, end=80, seeds=2)
"""For responses, which differ by few percent."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a simulation shows, in the steady state.

    Parameters
    ----------
    http_time
        Mean time of an HTTP dispatch.
    after_long
        Share of the HTTP dispatches that follow a long one of PHP on their CPU.
    idle
        By CPU.
    response
        Mean time from a request to its answer, by Little's law from what was answered.
    requests
        Answered in a second.
    """

    http_time: float
    after_long: float
    idle: tuple[float, ...]
    response: float
    requests: float

    @property
    def idle_others(self) -> float:
        """The mean of all CPUs but the one of HTTP."""
        return sum(self.idle[1:]) / (CPUS - 1)


def measured(
    policy: type[Policy], server: WebServer, penalty: PenaltyMatrix, window: Window
) -> Measured:
    """Simulate the web server with some seeds, and return the means."""
    runs = [one_run(policy, server, penalty, window, seed) for seed in range(window.seeds)]

    def average(name: str) -> float:
        return mean(float(getattr(run, name)) for run in runs)

    return Measured(
        http_time=average("http_time"),
        after_long=average("after_long"),
        idle=tuple(mean(one) for one in zip(*(run.idle for run in runs), strict=True)),
        response=average("response"),
        requests=average("requests"),
    )


def one_run(
    policy: type[Policy], server: WebServer, penalty: PenaltyMatrix, window: Window, seed: int
) -> Measured:
    """Simulate the web server once."""
    until = window.end * SECOND
    scenario = replace(SHIPPED, workload=server, penalty=penalty, until=until)
    done = simulate_once(scenario, policy, seed=seed)
    trace = done.trace
    order = np.lexsort((trace.start, trace.cpu))
    cpu, start, fragment = trace.cpu[order], trace.start[order], trace.fragment[order]
    time = trace.end[order] - start
    before = np.concatenate(([-1], np.where(cpu[1:] == cpu[:-1], fragment[:-1], -1)))
    counts = start >= window.begin * SECOND
    is_http = counts & (fragment == HTTP)
    length = (window.end - window.begin) * SECOND
    requests = is_http.sum() / server.http_slices / (length / SECOND)
    response = server.clients / requests - server.think_time / SECOND
    return Measured(
        http_time=float(time[is_http].mean()),
        after_long=float((before[is_http] == PHP_LONG).mean()),
        idle=tuple(1 - float(time[counts & (cpu == one)].sum()) / length for one in range(CPUS)),
        response=response,
        requests=requests,
    )
