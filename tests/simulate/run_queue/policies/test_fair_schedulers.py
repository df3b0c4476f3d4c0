"""CFS, EEVDF and the policies of sched_ext: what they share, and what sets them apart."""

from __future__ import annotations

import pytest

from dfopt.simulate.contract import Policy
from dfopt.simulate.policies.cfs import Cfs
from dfopt.simulate.policies.eevdf import Eevdf
from dfopt.simulate.policies.scx_lavd import ScxLavd
from dfopt.simulate.policies.scx_rusty import ScxRusty
from dfopt.simulate.policies.scx_simple import ScxSimple
from dfopt.simulate.scenario import Machine
from dfopt.simulate.steps import Channel, Receive, Send, Sleep
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.by_hand import rows, run
from tests.simulate.run_queue.hand_made import places, simulated, thread

CFS = {"latency": 12, "min_granularity": 2, "wakeup_granularity": 3}
EEVDF = {"time_slice": 3}
RUSTY = {"slice_overutil": 4, "balance_interval": 1_000}


@pytest.mark.parametrize(
    ("policy", "parameters"),
    [(Cfs, CFS), (Eevdf, EEVDF), (ScxSimple, {"time_slice": 4}), (ScxRusty, RUSTY)],
)
@pytest.mark.parametrize(
    ("values", "ratio"), [({"nice": -5}, 1.25**5), ({"nice": 5, "weight": 256}, 1 / 4)]
)
def test_threads_share_a_cpu_by_weight(
    policy: type[Policy], parameters: dict[str, int], values: dict[str, int], ratio: float
) -> None:
    def make() -> list[NewThread]:
        return [thread("plain", Burst(4000)), thread("other", Burst(4000), **values)]

    done = simulated(policy, make, **parameters)
    trace = done.trace
    names = [trace.tasks[task].name for task in trace.task.tolist()]
    first = "plain" if ratio < 1 else "other"
    ends = max(end for name, end in zip(names, trace.end.tolist(), strict=True) if name == first)
    # Five steps of 1.25 each, or a weight that comes before nice. At the end of the first the
    # second is about one slice off its share.
    share = 4000 * min(ratio, 1 / ratio)
    assert abs(ends - 4000 - share) < 24


def beside_a_hog(sleeper: list[NewThread], *, is_first: bool) -> list[NewThread]:
    """Return the thread and one that never sleeps, in this order or the other."""
    hog = [thread("hog", Burst(100))]
    return sleeper + hog if is_first else hog + sleeper


def test_under_cfs_a_sleeper_has_a_credit_of_half_the_latency() -> None:
    def make() -> list[NewThread]:
        return beside_a_hog([thread("sleeper", Burst(1), Sleep(30), Burst(1))], is_first=True)

    # At 31 the hog has a virtual time of 48, for it began at 18: a whole slice of 12 and half of
    # one behind 0. The sleeper comes with 48 less 6.
    assert places(simulated(Cfs, make, **CFS), "sleeper") == [(0, 0), (0, 31)]
    # A difference of 6 is not more than 6, so the hog uses up the slice that it began at 25.
    calm = simulated(Cfs, make, **CFS | {"wakeup_granularity": 6})
    assert places(calm, "sleeper") == [(0, 0), (0, 37)]


def test_under_eevdf_a_sleeper_keeps_its_lag() -> None:
    def ran_first() -> list[NewThread]:
        return beside_a_hog([thread("sleeper", Burst(1), Sleep(30), Burst(1))], is_first=True)

    # It ran 1 and the hog 0, so its lag is minus a half. At 31 the hog has run 30: the sleeper's
    # virtual time is 31, and it waits until the hog's slice ends at 33.
    assert places(simulated(Eevdf, ran_first, **EEVDF), "sleeper") == [(0, 0), (0, 33)]

    def ran_last() -> list[NewThread]:
        return beside_a_hog([thread("sleeper", Burst(1), Sleep(28), Burst(1))], is_first=False)

    # The hog ran 2 before it, so its lag is a half. At 31 the hog has run 30 and the sleeper's
    # virtual time is 29: the hog has had more than its share.
    assert places(simulated(Eevdf, ran_last, **EEVDF), "sleeper") == [(0, 2), (0, 31)]


def test_under_scx_simple_nobody_is_preempted() -> None:
    def make() -> list[NewThread]:
        return beside_a_hog([thread("sleeper", Burst(1), Sleep(3), Burst(1))], is_first=True)

    assert places(simulated(ScxSimple, make, time_slice=10), "sleeper") == [(0, 0), (0, 11)]


@pytest.mark.parametrize(("policy", "parameters"), [(Cfs, CFS), (Eevdf, EEVDF)])
def test_an_idle_cpu_pulls_at_once_what_is_cold_and_later_what_is_hot(
    policy: type[Policy], parameters: dict[str, int]
) -> None:
    def make() -> list[NewThread]:
        return [thread("long", Burst(20)), thread("short", Burst(1)), thread("third", Burst(5))]

    # The third one shares CPU 0, and has not run yet when CPU 1 has nothing to do.
    done = simulated(policy, make, cpus=2, **parameters, migration_cost=50)
    assert places(done, "third") == [(1, 1)]

    def later() -> list[NewThread]:
        return [thread("long", Burst(90)), thread("short", Burst(40)), thread("third", Burst(80))]

    # At 40 both threads of CPU 0 have run a moment ago: the third try takes one.
    done = simulated(policy, later, cpus=2, **parameters, migration_cost=50, balance_interval=32)
    assert {cpu for cpu, _ in places(done, "long") + places(done, "third")} == {0, 1}
    # Without balancing it is never pulled.
    done = simulated(policy, later, cpus=2, **parameters, migration_cost=50, balance_interval=0)
    assert {cpu for cpu, _ in places(done, "long") + places(done, "third")} == {0}


@pytest.mark.parametrize(("balance_interval", "pulled"), [(32, 46), (45, 45)])
def test_a_cpu_that_balances_calls_nobody(balance_interval: int, pulled: int) -> None:
    cfs = Cfs(**CFS, migration_cost=50, balance_interval=balance_interval)
    machine = Machine(cpus=2, call_time=2, interrupt_time=4)
    kernel = run([Burst(90)], [Burst(40)], [Burst(80)], policy=cfs, machine=machine)
    # t0 and t2 share CPU 0 in slices of 6. As t2 is new, it is 6 behind: t0 has two slices first.
    # So by 42 t0 has executed 24 of 90, and t2 18 of 80. From 40 on CPU 1 has nothing to run, and
    # tries every 2. At 42 and 44 it finds only what is hot. The third try takes t2, which has
    # waited since 42: at 46, or before that with the tick at 45.
    assert [row[:4] for row in sorted(rows(kernel))[-3:]] == [
        (0, 42, 42 + 66, "t0"), (1, 0, 40, "t1"), (1, pulled, pulled + 62, "t2"),
    ]  # fmt: skip
    # CPU 1 does this itself, so CPU 0 is not interrupted for a call.
    assert (kernel.counters.interrupted, kernel.counters.overhead) == (0, 0)


@pytest.mark.parametrize(
    ("policy", "parameters"),
    [(Cfs, CFS), (Eevdf, EEVDF), (ScxSimple, {"time_slice": 4}), (ScxRusty, RUSTY), (ScxLavd, {})],
)
def test_threads_run_only_where_they_may(policy: type[Policy], parameters: dict[str, int]) -> None:
    def make() -> list[NewThread]:
        bound = {"cpus_allowed": [1]}
        return [
            thread("first", Burst(9), Sleep(5), Burst(9), **bound),
            thread("second", Burst(30), **bound),
            thread("third", Burst(30), **bound),
            thread("free", Burst(3)),
        ]

    # CPU 0 has nothing to do from 3 on, and neither gets nor pulls one of the three.
    done = simulated(policy, make, cpus=2, **parameters)
    assert {cpu for name in ("first", "second", "third") for cpu, _ in places(done, name)} == {1}
    assert done.counters.end == 9 + 9 + 30 + 30


def test_a_thread_that_wakes_up_goes_to_a_cpu_where_it_may_run() -> None:
    channel = Channel("c")

    def make() -> list[NewThread]:
        return [
            thread("woken", Receive(channel), Burst(1), cpus_allowed=[1, 2]),
            thread("waker", Burst(5), Send(channel), Burst(5), cpus_allowed=[0]),
            thread("hog", Burst(20), cpus_allowed=[1]),
        ]

    # It ran on CPU 1, where the hog runs since, and its waker's CPU 0 is forbidden.
    assert places(simulated(Eevdf, make, cpus=3, **EEVDF), "woken") == [(2, 5)]


@pytest.mark.parametrize(
    ("domains", "hogs", "at"),
    [
        (None, ["0", "1"], (3, 4)),  # any idle CPU
        ("0-1;2-3", ["0", "1"], (0, 5)),  # none in its domain: it waits for the hog's second slice
        ("0-1;2-3", ["0", "1", "0"], (3, 4)),  # there is less weight at its waker's
        (None, ["0"], (1, 4)),
        ("0,3;1-2", ["0"], (3, 4)),  # the next one of its domain
    ],
)
def test_a_thread_wakes_up_in_its_domain(
    domains: str | None, hogs: list[str], at: tuple[int, int]
) -> None:
    channel = Channel("c")

    def make() -> list[NewThread]:
        return [
            thread("woken", Receive(channel), Burst(1)),  # it looks for work on CPU 0
            thread("waker", Burst(4), Send(channel), Burst(5), cpus_allowed=[2]),
            *(
                thread(f"hog{number}", Burst(20), cpus_allowed=[int(cpu)])
                for number, cpu in enumerate(hogs)
            ),
        ]

    assert places(simulated(Eevdf, make, cpus=4, domains=domains, **EEVDF), "woken") == [at]


@pytest.mark.parametrize(("domains", "pulled"), [(None, "far1"), ("0-1;2", "near")])
def test_an_idle_cpu_pulls_in_its_domain_first(domains: str | None, pulled: str) -> None:
    def make() -> list[NewThread]:
        return [
            thread("first", Burst(20), cpus_allowed=[0]),
            thread("short", Burst(2), cpus_allowed=[1], weight=4096),
            thread("second", Burst(20), cpus_allowed=[2]),
            thread("near", Burst(20), cpus_allowed=[0, 1]),
            thread("far1", Burst(20), cpus_allowed=[1, 2]),
            thread("far2", Burst(20), cpus_allowed=[1, 2]),
        ]

    # CPU 2 has the longer queue.
    done = simulated(Eevdf, make, cpus=3, domains=domains, time_slice=40)
    assert (1, 2) in places(done, pulled)
