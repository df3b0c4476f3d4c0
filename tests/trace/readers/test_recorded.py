"""Recorded traces of every dialect: all of their switches, and nothing left over."""

import re

import pytest

from dfopt.trace import read_trace

SWITCHES = {
    "traces/hackbench_proc_g4_l30.perf_sched_script": 3861,
    "traces/hackbench_thread_g4_l30.perf_sched_script_pidtid": 2390,
    "traces/hackbench_proc_g4_l200.perf_sched_script": 6995,
    "traces/hackbench_proc_g4_l200.perf_record_3ev.perf_script": 19616,
    "traces/hackbench_proc_g16_l20.perf_sched_script": 5813,
    "traces/hackbench_g1_l10.ftrace_tgid": 596,
    "traces/ftrace_lost_events_excerpt": 399,
    "traces/dfbench_16t_6df.ftrace": 3899,
    "public-traces/lisa_tests_trace_txt": 1856,
    "public-traces/lisa_example_rtapp.trace-cmd-report": 1552,
    "public-traces/lisa_example_rtapp.trace-cmd-report-R": 1552,
    "public-traces/catapult_android_systrace": 11074,
    "public-traces/trappy_surfaceflinger_systrace": 715,
}


@pytest.mark.parametrize("name", SWITCHES)
def test_all_of_it(shared, name):
    trace = read_trace(shared / "data" / f"{name}.txt.gz")
    assert trace.quality.events == SWITCHES[name]
    assert trace.quality.unparsed == 0
    assert trace.quality.clock_steps == 0


@pytest.mark.parametrize(("name", "switches"), [("perf_script", 592), ("ftrace", 1001)])
def test_nasty_comms(shared, name, switches):
    trace = read_trace(shared / "data" / "traces" / f"nasty_comm.{name}.txt.gz")
    assert trace.quality.events == switches
    # A comm with an end of line in it breaks the lines that name it, and no others.
    assert 0 < trace.quality.unparsed <= 25
    assert {"", "a b", "==>"} & set(trace.comms)


def test_lost_events(shared):
    quality = read_trace(shared / "data/traces/ftrace_lost_events_excerpt.txt.gz").quality
    assert quality.losses == 4
    assert quality.lost_events == 345 + 806 + 943 + 1074
    assert quality.breaks == 0


def test_plugin_and_raw_fields_are_the_same_trace(shared):
    folder = shared / "data/public-traces"
    plugin = read_trace(folder / "lisa_example_rtapp.trace-cmd-report.txt.gz")
    raw = read_trace(folder / "lisa_example_rtapp.trace-cmd-report-R.txt.gz")
    for column in ("cpu", "start", "end", "task", "comm"):
        assert (getattr(plugin, column) == getattr(raw, column)).all()
    assert plugin.tasks == raw.tasks
    assert plugin.comms == raw.comms


def test_threads_of_one_process(shared):
    trace = read_trace(
        shared / "data/traces/hackbench_thread_g4_l30.perf_sched_script_pidtid.txt.gz"
    )
    messaging = {
        trace.tasks[task].tgid
        for task, comm in zip(trace.task, trace.comm, strict=True)
        if re.match("sched-messaging", trace.comms[comm])
    }
    # The threads, and the process of the program that perf starts before it is named so.
    assert len(messaging) == 1


def test_marks(shared):
    trace = read_trace(shared / "data/traces/dfbench_16t_6df.ftrace.txt.gz")
    assert len(trace.marks.time) == 160
    assert sorted(trace.marks.names) == [f"frag{number}" for number in range(6)]
    assert set(trace.marks.task.tolist()) == {
        number for number, task in enumerate(trace.tasks) if task.tid in range(17373, 17389)
    }
