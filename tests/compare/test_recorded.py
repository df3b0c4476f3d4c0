"""Recorded traces: no schedule pays less than its bound, whatever the options."""

from pathlib import Path

import pytest

from dfopt import replace
from dfopt.compare import Comparison, CostModel, compare_trace, parse_window
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace import Trace, read_trace
from dfopt.trace.labels import label

PROGRAMS = "comm:^([a-zA-Z]+)"
F = CostModel(penalty=PenaltyF(read_line=2, write_back=5_000), lines=512, lines_by_run_time=True)
WINDOWS = [parse_window(text) for text in ("5", "100", "10ms", "whole")]

TRACES = {
    "traces/dfbench_16t_6df.ftrace": "marks",
    "traces/ftrace_lost_events_excerpt": PROGRAMS,
    "traces/hackbench_g1_l10.ftrace_tgid": "tgid",
    "traces/hackbench_proc_g16_l20.perf_sched_script": "wakeups",
    "traces/hackbench_proc_g4_l200.perf_record_3ev.perf_script": PROGRAMS,
    "traces/hackbench_proc_g4_l200.perf_sched_script": "hackbench_proc_g4_l200.groups.csv",
    "traces/hackbench_proc_g4_l30.perf_sched_script": "hackbench_proc_g4_l30.groups.csv",
    "traces/hackbench_thread_g4_l30.perf_sched_script_pidtid": "hackbench_thread_g4_l30.groups.csv",
    "traces/nasty_comm.ftrace": PROGRAMS,
    "traces/nasty_comm.perf_script": PROGRAMS,
    "public-traces/catapult_android_systrace": PROGRAMS,
    "public-traces/lisa_example_rtapp.trace-cmd-report": PROGRAMS,
    "public-traces/lisa_example_rtapp.trace-cmd-report-R": PROGRAMS,
    "public-traces/lisa_tests_trace_txt": PROGRAMS,
    "public-traces/trappy_surfaceflinger_systrace": PROGRAMS,
}
"""The source of the fragments of each trace; a CSV file lies beside it."""

MODELS = {
    "switches": CostModel(),
    "f": F,
    "g, cut": CostModel(penalty=PenaltyG(fill=30_000, write_back=5_000), broken_chains="cut"),
    "ends": replace(F, cold_start=True, final_write_back=True),
    "clean, evict": replace(F, leaves=Leaves.CLEAN, unmanaged="evict"),
    "worst, evict": CostModel(objective=Objective.MAX_PENALTY, unmanaged="evict", cold_start=True),
    "worst": replace(F, objective=Objective.MAX_PENALTY),
}

PAIRS = [
    (name, model)
    for number, name in enumerate(TRACES)
    for turn, model in enumerate(MODELS)
    if (turn - number) % len(MODELS) < 3
]
"""Three models for each trace, in turn: so each model meets six traces or seven."""

READ: dict[str, Trace] = {}
"""Traces that were read and labelled, which takes longest."""


def labelled(name: str, data: Path) -> Trace:
    if name not in READ:
        path = data / f"{name}.txt.gz"
        source = TRACES[name]
        if source.endswith(".csv"):
            source = str(path.parent / source)
        READ[name] = label(read_trace(path), source)
    return READ[name]


def compared(trace: Trace, model: CostModel) -> Comparison:
    return compare_trace(trace, model, windows=WINDOWS, time_limit=0.2, workers=1, waits=None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), PAIRS)
def test_no_schedule_pays_less_than_the_bound(name: str, model: str, shared: Path) -> None:
    found = compared(labelled(name, shared / "data"), MODELS[model])
    assert found.realised.switches > 0
    assert sum(found.causes.values()) == found.realised.total
    for window in found.windows:
        assert window.bound <= window.realised, window
        assert window.bound <= window.rolling, window
        assert window.bound <= window.balanced, window
        assert window.ratio is None or window.ratio >= 1


@pytest.mark.parametrize(
    ("name", "managed", "switches"),
    [
        ("traces/dfbench_16t_6df.ftrace", 3084, 2572),
        ("traces/hackbench_proc_g4_l200.perf_sched_script", 6369, 2634),
    ],
)
def test_known_numbers_of_switches(name: str, managed: int, switches: int, shared: Path) -> None:
    trace = labelled(name, shared / "data")
    found = compare_trace(trace, workers=1, waits=None)
    assert (found.managed, found.realised.switches, found.realised.total) == (
        managed, switches, switches,
    )  # fmt: skip
    assert [window.closed for window in found.windows] == [1]
