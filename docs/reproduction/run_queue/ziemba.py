"""Segregation of HTTP and PHP: Ziemba, Upadhyaya and Pai, section 4."""

from dataclasses import dataclass, replace
from statistics import mean

import numpy as np
from section import Calibrated, Row, Section, evidence, not_modelled, put_in
from shares import between, percent, within
from ziemba_penalty import web_server_penalty

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.simulate.run_queue.contract import Policy, Thread, Why
from dfopt.simulate.run_queue.policies.linux_o1 import LinuxO1
from dfopt.simulate.run_queue.policies.segregation import Segregation
from dfopt.simulate.run_queue.scenario import Machine, Scenario
from dfopt.simulate.run_queue.simulation import simulate_once
from dfopt.simulate.run_queue.workloads.web_server import (
    HTTP,
    PHP_LONG,
    TYPES,
    WebServer,
)

# The paper's.
CPUS = 4
CLIENTS = 3350
HTTP_TIME = 140_000
HTTP_CPU = 0
SAVED = 0.47
"""By how much the CPU time of HTTP fell."""

LONGEST_QUEUE = 48
SHARE_OF_DISPATCHES, SHARE_OF_TIME = 0.86, 0.34
AFTER_LONG = 0.10
"""Share of HTTP dispatches that follow a long one of PHP."""

# Assumed, or fitted; see CALIBRATED.
SWITCH = 2_000
SECOND = 1_000_000_000
THINK = 12 * SECOND

SMOOTH = 1_000_000
"""Time between smaller bursts of arrivals."""

COSTLY_AFTER_LONG = 980_000
"""What HTTP pays after long PHP so that segregation saves 47 %."""

COSTLY_PHP = 3_260_000
COSTLY_THINK = 24 * SECOND

# Criteria.
SAVINGS = (0.42, 0.52)
IDLE_HTTP = (0.24, 0.32)
IDLE_OTHERS = (0.02, 0.06)
SLOWER = (0.02, 0.07)
NEAR = 0.02


class Watched(Segregation):
    """Segregation that remembers the longest queue of HTTP."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = self.longest = 0

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        super().ready(thread, why, cpu)
        if thread.kind == "HTTP":
            self.waiting += 1
            self.longest = max(self.longest, self.waiting)

    def pick(self, cpu: int) -> Thread | None:
        thread = super().pick(cpu)
        if thread is not None and thread.kind == "HTTP":
            self.waiting -= 1
        return thread


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
    http_share, http_time_share
        HTTP's share of the dispatches and of their time.
    after_long
        Share of the HTTP dispatches that follow a long one of PHP on their CPU.
    idle
        By CPU.
    response
        Mean time from a request to its answer, by Little's law from what was answered.
    responses
        The same, by seed.
    requests
        Answered in a second.
    longest
        Most HTTP threads that were ready at once, under segregation.
    """

    http_time: float
    http_share: float
    http_time_share: float
    after_long: float
    idle: tuple[float, ...]
    response: float
    responses: tuple[float, ...]
    requests: float
    longest: int

    @property
    def idle_others(self) -> float:
        """The mean of all CPUs but the one of HTTP."""
        return sum(self.idle[1:]) / (CPUS - 1)


def measured(
    policy: type[Policy], server: WebServer, penalty: PenaltyMatrix, window: Window
) -> Measured:
    """Simulate the web server with some seeds, and return the means; of queues, the longest."""
    runs = [one_run(policy, server, penalty, window, seed) for seed in range(window.seeds)]

    def average(name: str) -> float:
        return mean(float(getattr(run, name)) for run in runs)

    return Measured(
        http_time=average("http_time"),
        http_share=average("http_share"),
        http_time_share=average("http_time_share"),
        after_long=average("after_long"),
        idle=tuple(mean(one) for one in zip(*(run.idle for run in runs), strict=True)),
        response=average("response"),
        responses=tuple(run.response for run in runs),
        requests=average("requests"),
        longest=max(run.longest for run in runs),
    )


def one_run(
    policy: type[Policy], server: WebServer, penalty: PenaltyMatrix, window: Window, seed: int
) -> Measured:
    """Simulate the web server once."""
    scenario = Scenario(
        name="web-server",
        workload=server,
        machine=Machine(cpus=CPUS, switch_time=SWITCH),
        penalty=penalty,
        until=window.end * SECOND,
    )
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
    own = done.engine.policy
    return Measured(
        http_time=float(time[is_http].mean()),
        http_share=float(is_http.sum() / counts.sum()),
        http_time_share=float(time[is_http].sum() / time[counts].sum()),
        after_long=float((before[is_http] == PHP_LONG).mean()),
        idle=tuple(1 - float(time[counts & (cpu == one)].sum()) / length for one in range(CPUS)),
        response=response,
        responses=(response,),
        requests=requests,
        longest=own.longest if isinstance(own, Watched) else 0,
    )


def rows_of_mixed(case: str, mixed: Measured) -> tuple[Row, ...]:
    """Return what the paper says of HTTP and PHP on the same CPUs."""
    return (
        put_in(
            shape=f"{case}, O(1): HTTP's share of dispatches, of CPU time",
            published=f"{percent(SHARE_OF_DISPATCHES)}, {percent(SHARE_OF_TIME)}",
            simulated=f"{percent(mixed.http_share)}, {percent(mixed.http_time_share)}",
            criterion=f"within {percent(NEAR)}",
            holds=abs(mixed.http_share - SHARE_OF_DISPATCHES) <= NEAR
            and abs(mixed.http_time_share - SHARE_OF_TIME) <= NEAR,
        ),
        evidence(
            shape=f"{case}, O(1): HTTP dispatches that follow long PHP",
            published=f"about {percent(AFTER_LONG)}",
            simulated=percent(mixed.after_long, 1),
            criterion=f"within {percent(NEAR)}",
            passes=lambda share: abs(share - AFTER_LONG) <= NEAR,
            found=mixed.after_long,
            without={"HTTP alone": [0.0]},
        ),
    )


def rows_of_segregated(case: str, mixed: Measured, apart: Measured) -> tuple[Row, ...]:
    """Return what the paper says of segregation."""
    idle, others = apart.idle[HTTP_CPU], apart.idle_others
    slower = apart.response / mixed.response - 1
    return (
        evidence(
            shape=f"{case}: HTTP's CPU idle",
            published="26–30 %",
            simulated=percent(idle, 1),
            criterion=between(IDLE_HTTP),
            passes=lambda share: within(share, IDLE_HTTP),
            found=idle,
            without={"mixed": [mixed.idle[HTTP_CPU]]},
        ),
        evidence(
            shape=f"{case}: the other CPUs idle",
            published="about 4 %",
            simulated=percent(others, 1),
            criterion=between(IDLE_OTHERS),
            passes=lambda share: within(share, IDLE_OTHERS),
            found=others,
            without={"mixed": [mixed.idle_others]},
        ),
        evidence(
            shape=f"{case}: responses slower than mixed",
            published="3–6 %",
            simulated=f"{percent(slower, 1)} ({mixed.response:.2f} → {apart.response:.2f} s)",
            criterion=between(SLOWER),
            passes=lambda share: within(share, SLOWER),
            found=slower,
            without={"mixed": [0.0]},
        ),
    )


def section(quick: bool = False) -> Section:
    """Simulate the web server under O(1) and under segregation."""
    published = web_server_penalty(HTTP_TIME)
    after_http, after_short, _ = published.switch
    costly = replace(published, switch=(after_http, after_short, (COSTLY_AFTER_LONG, 0, 0)))
    server = WebServer(clients=CLIENTS, requests=100, http_time=HTTP_TIME, think_time=THINK)
    slow = replace(server, php_time=COSTLY_PHP, think_time=COSTLY_THINK)
    short, long = (QUICK, QUICK) if quick else (SHORT, LONG)
    mixed, apart = (measured(one, server, published, short) for one in (LinuxO1, Watched))
    smooth = measured(LinuxO1, replace(server, interval=SMOOTH), published, short)
    fitted, fitted_apart = (measured(one, slow, costly, long) for one in (LinuxO1, Watched))
    saved, fitted_saved = (
        1 - after.http_time / before.http_time
        for before, after in ((mixed, apart), (fitted, fitted_apart))
    )
    long_after_best = 1 + published.switch[PHP_LONG][HTTP] / HTTP_TIME
    return Section(
        title="Segregation by type (Ziemba, Upadhyaya and Pai)",
        intro=(
            f"{CLIENTS} connections on {CPUS} CPUs. HTTP alone on CPU {HTTP_CPU} is compared "
            "with both kinds on all CPUs under O(1). What HTTP pays depends on what ran before: "
            f"after long PHP it takes {long_after_best:.2f} times as long as at best, by the "
            f"published IPC. With these ratios HTTP's CPU time cannot fall by {percent(SAVED)}. "
            "So everything is simulated twice: with the *published IPC*, and *fitted*, where "
            "HTTP pays enough after long PHP for this fall."
        ),
        rows=(
            *rows_of_mixed("published IPC", mixed),
            evidence(
                shape="published IPC: CPU time of HTTP saved",
                published=f"nearly {percent(SAVED)}",
                simulated=percent(saved, 1),
                criterion=between(SAVINGS),
                passes=lambda share: within(share, SAVINGS),
                found=saved,
                without={"mixed": [0.0]},
            ),
            *rows_of_segregated("published IPC", mixed, apart),
            *rows_of_mixed("fitted", fitted),
            *rows_of_segregated("fitted", fitted, fitted_apart),
            not_modelled(
                "IPC of PHP by the length of its dispatches",
                "52 % of the mean below 1 ms, 154 % at 4 ms",
            ),
        ),
        calibrated=calibrated(apart, fitted_apart, fitted_saved),
        notes=notes(mixed, apart, fitted, fitted_apart, smooth),
    )


def calibrated(apart: Measured, fitted: Measured, saved: float) -> tuple[Calibrated, ...]:
    """Return what the paper does not give."""
    server = WebServer()
    return (
        Calibrated(
            parameter="dispatches of a request",
            value=f"{server.http_slices} of HTTP, {server.php_slices} of PHP",
            fitted_to="their ratio to 86 % of the dispatches; their number is assumed",
        ),
        Calibrated(
            parameter="mean PHP dispatch, exponential",
            value=f"{server.php_time / 1e6:.2f} ms; fitted: {COSTLY_PHP / 1e6:.2f} ms",
            fitted_to="34 % of the time for HTTP, whose dispatches take 0.16 and 0.27 ms. The "
            "published 4.4 ms are of another CPU",
        ),
        Calibrated(
            parameter="network wait of HTTP, mean",
            value=f"{server.network_wait / 1e6:.0f} ms, {server.http_slices - 3} times a request",
            fitted_to="responses of about 6 s",
        ),
        Calibrated(
            parameter="think time, mean",
            value=f"{THINK / SECOND:.0f} s; fitted: {COSTLY_THINK / SECOND:.0f} s",
            fitted_to="CPUs that are 2 to 6 % idle under O(1); the paper does not say how idle "
            "they were",
        ),
        Calibrated(
            parameter="arrivals in bursts, every",
            value=f"{server.interval / 1e6:.0f} ms",
            fitted_to=f"{LONGEST_QUEUE} waiting HTTP tasks at most; simulated at most "
            f"{apart.longest}, and {fitted.longest} where fitted",
        ),
        Calibrated(
            parameter="HTTP after short PHP",
            value="the mean IPC of HTTP",
            fitted_to="assumed; nothing is published",
        ),
        Calibrated(
            parameter="fitted: HTTP after long PHP",
            value=f"{COSTLY_AFTER_LONG / 1e6:.2f} ms more than at best, instead of "
            f"{web_server_penalty(HTTP_TIME).switch[PHP_LONG][HTTP] / 1e6:.2f}",
            fitted_to=f"HTTP's CPU time −47 %; simulated −{percent(saved, 1)}",
        ),
        Calibrated(
            parameter="PHP threads; their waits; disks",
            value=f"{server.php_threads}; {server.php_wait / 1e6:.0f} ms; {server.disks}, "
            f"{server.disk_time / 1e6:.0f} ms a read",
            fitted_to="assumed, except the paper's 8 disks",
        ),
        Calibrated(
            parameter="switch to another thread",
            value=f"{SWITCH / 1e3:.0f} µs",
            fitted_to="assumed",
        ),
    )


def notes(
    mixed: Measured, apart: Measured, fitted: Measured, fitted_apart: Measured, smooth: Measured
) -> str:
    """Return what the numbers mean."""
    by_seed = [
        percent(after / before - 1, 1)
        for before, after in zip(fitted.responses, fitted_apart.responses, strict=True)
    ]
    needed = apart.http_time * WebServer().http_slices * mixed.requests / SECOND
    return (
        f"The penalty is a matrix over {', '.join(TYPES)}. With the published IPC, HTTP alone "
        f"needs {needed:.2f} CPUs for the requests of the mixed run. So one CPU becomes the "
        f"bottleneck: {mixed.requests:.0f} → {apart.requests:.0f} requests a second. It fits on "
        "one CPU only with the published −47 %, which the published IPC do not explain: 0.34 · 4 "
        "· 0.53 = 0.72 CPUs. Then the other CPUs have less to do than published. They were busy "
        "with hardly more requests, so PHP must have taken more time apart than mixed; the paper "
        "gives no reason for that. Where fitted, responses are slower because a request waits 43 "
        f"times for the one CPU of HTTP; by seed, {' and '.join(by_seed)}.\n\nHow many HTTP "
        "dispatches follow long PHP depends on the arrivals: the dispatches of one burst run one "
        f"after another. With bursts every {SMOOTH / 1e6:.0f} ms it is "
        f"{percent(smooth.after_long, 1)} with the published IPC; but then HTTP's queue, where "
        "it fits on its CPU, never gets as long as published.\n\nWithin the sets of CPUs the "
        "simulation runs threads round robin; the measurement ran O(1)."
    )
