"""Events of the space-sharing simulator in a second, on one processor."""

import time
from collections.abc import Callable
from statistics import median

from dfopt_models.space_sharing import POLICIES, read_mix, replicate
from tests.benchmarks.report import Table

SEEDS = range(5)
TARGET = 200_000
SUBJECT = ("mix-5", "dyn-aff")


def test_events_a_second(report: Callable[[Table], None]) -> None:
    rows: list[list[object]] = []
    for name in ("mix-5", "mix-4", "mix-6"):
        mix = read_mix(name)
        for policy in ("equipartition", "dynamic", "dyn-aff", "dyn-aff-delay"):
            rates, events, reallocations = [], [], []
            for seed in SEEDS:
                began = time.process_time()
                done = replicate(mix, POLICIES[policy], seed=seed)
                rates.append(done.events / (time.process_time() - began))
                events.append(done.events)
                reallocations.append(sum(job.reallocations for job in done.jobs))
            rows.append([name, policy, median(events), median(reallocations), median(rates)])
    report(
        Table(
            name="space_sharing",
            title="Events of the space-sharing simulator",
            command="python -m pytest tests/benchmarks/test_space_sharing.py",
            columns=["mix", "policy", "events", "reallocations", "events a second"],
            rows=rows,
            notes=[
                "An event is the end of one thread, of the start-up of one worker or of one yield "
                "delay, an arrival, or a review of standing requests; none stands for several. "
                "Making the threads' random work is in the time. Reallocations are those of jobs "
                "that ended. Processor time of one process; medians of five seeds.",
            ],
        )
    )
    (rate,) = (row[-1] for row in rows if tuple(row[:2]) == SUBJECT)
    assert isinstance(rate, float)
    assert rate >= TARGET
