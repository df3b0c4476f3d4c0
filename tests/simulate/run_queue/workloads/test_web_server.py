"""The web server: how often and how long its threads run, and what the published IPC imply."""

from __future__ import annotations

import pytest

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.simulate.contract import State
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workloads import WORKLOADS
from dfopt.simulate.workloads.web_server import TYPES, WebServer
from docs.reproduction.run_queue.ziemba_penalty import web_server_penalty
from tests.simulate.run_queue.scenarios import small_web_server

FREE = PenaltyMatrix(types=TYPES, switch=((0,) * 3,) * 3)


def simulated(kind: WebServer, penalty: PenaltyMatrix = FREE, cpus: int = 4) -> Simulation:
    machine = Machine(cpus=cpus)
    scenario = Scenario(name="w", workload=kind, machine=machine, penalty=penalty)
    return simulate_once(scenario, FirstComeFirstServed, seed=3)


def test_a_request_has_its_dispatches_and_all_threads_end() -> None:
    kind = small_web_server(
        clients=5, requests=3, http_slices=6, php_slices=4, php_threads=2, http_time=100
    )
    done = simulated(kind)
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    times = {t.name: t.run_time for t in done.engine.threads if t.kind == "HTTP"}
    assert times == {f"http{number}": 3 * 6 * 100 for number in range(5)}
    is_http = done.trace.fragment == 0
    # What goes on with the same thread is one row.
    assert is_http.sum() <= 5 * 3 * 6
    assert 0 < (~is_http).sum() <= 5 * 3 * 4


def test_the_default_shares_are_the_published_ones() -> None:
    done = simulated(WebServer(clients=600), web_server_penalty())
    time = done.trace.end - done.trace.start
    is_http = done.trace.fragment == 0
    assert is_http.mean() == pytest.approx(0.86, abs=0.005)
    assert time[is_http].sum() / time.sum() == pytest.approx(0.34, abs=0.02)


def test_a_dispatch_of_php_is_long_from_a_length_on() -> None:
    # As many PHP threads as clients: none finds a call waiting, which would lengthen its dispatch.
    kind = small_web_server(clients=30, php_threads=30, php_time=1_000_000, long_php=700_000)
    done = simulated(kind)
    time = done.trace.end - done.trace.start
    long, short = (done.trace.fragment == TYPES.index(name) for name in ("PHP-long", "PHP-short"))
    assert time[long].min() >= 700_000 > time[short].max()
    kinds = {thread.number: thread.kind for thread in done.engine.threads}
    for task, fragment in zip(done.trace.task, done.trace.fragment, strict=True):
        assert kinds[int(task)] == TYPES[fragment].split("-")[0]


def test_requests_arrive_in_bursts() -> None:
    interval = 50_000_000
    done = simulated(small_web_server(clients=20, interval=interval, requests=1), cpus=40)
    first: dict[int, int] = {}
    for task, start in zip(done.trace.task, done.trace.start, strict=True):
        first.setdefault(int(task), int(start))
    arrivals = [
        start for task, start in first.items() if done.trace.tasks[task].name.startswith("http")
    ]
    assert len(arrivals) == 20
    assert {arrival % interval for arrival in arrivals} == {0}
    assert len(set(arrivals)) < 20


def test_few_php_threads_take_calls_in_order() -> None:
    one, many = (
        simulated(
            small_web_server(
                clients=20, php_threads=threads, php_time=50_000_000, disks=20, think_time=1
            ),
            cpus=40,
        ).counters.end
        for threads in (1, 20)
    )
    assert one > 2 * many


def test_the_penalty_follows_from_the_published_ratios() -> None:
    penalty = web_server_penalty(140_000)
    after_http, after_short, after_long = (row[0] for row in penalty.switch)
    # "2.4 times as long to complete" as in the best case; 1.105 / 0.45.
    assert (140_000 + after_long) / 140_000 == pytest.approx(2.4556, abs=1e-3)
    assert (140_000 + after_http) / 140_000 == pytest.approx(1.105 / 1.07, abs=1e-4)
    assert after_http < after_short < after_long
    assert all(row[1:] == (0, 0) for row in penalty.switch)
    assert read_scenario("web-server").penalty == penalty


def test_it_is_known_by_name() -> None:
    assert WORKLOADS["web-server"] is WebServer


@pytest.mark.parametrize(("name", "value"), [("http_slices", 2), ("clients", 0), ("php_time", 0)])
def test_wrong_parameters_are_named(name: str, value: int) -> None:
    with pytest.raises(InstanceError) as raised:
        small_web_server(**{name: value})
    assert raised.value.place == name
