"""Lines of perf script other than switches."""

from io import BytesIO

import pytest

from dfopt.errors import FileError
from dfopt.trace.formats import read_perf

HEAD = """\
# ========
# captured on    : Sat Nov 21 15:03:15 2026
# nrcpus online : 2
# nrcpus avail : 4
# cmdline : /usr/bin/perf sched record -- make 
#
"""
SWITCHES = """\
         swapper     0 [000]   100.000001:       sched:sched_switch: prev_comm=swapper/0 \
prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=make next_pid=41 next_prio=120
            make    41 [000]   100.000005:       sched:sched_switch: prev_comm=make \
prev_pid=41 prev_prio=120 prev_state=S ==> next_comm=cc next_pid=42 next_prio=120
"""


def read(text):
    return read_perf(BytesIO(text.encode() if isinstance(text, str) else text))


def task_names(trace, numbers):
    return [None if number < 0 else trace.tasks[number].name for number in numbers]


def test_head_declares_the_cpus():
    trace = read(HEAD + SWITCHES)
    assert trace.cpus == 4
    assert trace.quality.silent_cpus == (1, 2, 3)
    assert trace.quality.lines == 8
    assert trace.quality.unparsed == 0


def test_other_events_stacks_and_records():
    trace = read(
        "            make    41 [000]   100.000000: sched:sched_stat_runtime: comm=make pid=41 "
        "runtime=88717 [ns]\n"
        "            make    41 [000]   100.000000:      12345 cycles:u:  7f00 main+0x1 (make)\n"
        "\tffffffff8109a0d0 schedule+0x20 ([kernel.kallsyms])\n"
        "\t          401136 main+0x6 (/tmp/make)\n"
        "\t               0 [unknown] ([unknown])\n"
        "\t            work (inlined)\n"
        "\n"
        "            make    41 [000]   100.000000: PERF_RECORD_MMAP2 41/41: [0x7f(0x2000)]\n"
        "PERF_RECORD_FINISHED_ROUND\n" + SWITCHES
    )
    assert trace.quality.unparsed == 0
    assert len(trace) == 1


def test_text_that_was_pasted_has_spaces_for_tabs_and_an_indent():
    frames = (
        "        ffffffff8109a0d0 schedule+0x20 ([kernel.kallsyms])\n"
        "            7f0000000030 std::less<a, b>::operator()(int)+0x30 (/usr/bin/make)\n"
        "                       0 [unknown] ([unknown])\n"
        "                          work (inlined)\n"
    )
    first, second = SWITCHES.splitlines(keepends=True)
    head = "".join("    " + line for line in HEAD.splitlines(keepends=True))
    trace = read(head + first + frames + "\n" + second + frames)
    assert trace.quality.unparsed == 0
    assert trace.cpus == 4
    assert len(trace) == 1
    assert read((HEAD + SWITCHES).replace("\n", "  \n")).quality == read(HEAD + SWITCHES).quality


def test_spaces_before_a_comm_of_hexadecimal_digits_make_no_frame():
    odd = "              cc    42 [000]   100.000003: sched:sched_switch: (x) cut short\n"
    assert read(SWITCHES + odd).quality.first_unparsed == 3


def test_lost_events_make_a_gap():
    first, second = SWITCHES.splitlines(keepends=True)
    lost = "            perf 12144 [000]   100.000003: PERF_RECORD_LOST lost 18\n"
    samples = "            perf 12144 [001]   100.000004: PERF_RECORD_LOST_SAMPLES lost 2\n"
    trace = read(first + lost + samples + second)
    assert len(trace) == 0
    assert trace.gaps.cpu.tolist() == [0]
    assert (trace.gaps.start.tolist(), trace.gaps.end.tolist()) == (
        [100_000_001_000],
        [100_000_005_000],
    )
    assert (trace.quality.losses, trace.quality.lost_events) == (2, 20)
    assert trace.quality.lines == 4


def test_who_wakes_whom():
    waking = "            make    41 [000]   100.000002:       sched:sched_waking: comm=a pid=1 b "
    trace = read(
        SWITCHES + waking + "pid=42 prio=120 target_cpu=001\n"
        "             :-1    -1 [000]   100.000003: sched_waking: comm=cc pid=43 prio=120 "
        "target_cpu=001\n"
        "            make    41 [000]   100.000004: sched:sched_wakeup: comm=cc pid=44 prio=120 "
        "target_cpu=001\n"
    )
    assert trace.quality.unparsed == 0
    assert task_names(trace, trace.wakeups.waker) == ["41", None]
    assert task_names(trace, trace.wakeups.woken) == ["42", "43"]


def test_wakeup_where_there_is_no_waking():
    trace = read(
        SWITCHES + "            make    41 [000]   100.000002: sched:sched_wakeup: comm=cc pid=42 "
        "prio=120 success=1 target_cpu=001\n"
    )
    assert task_names(trace, trace.wakeups.woken) == ["42"]


FORK = "            make    41 [000]   100.000003: sched:sched_process_fork: comm=make pid=41 "
BIRTH = "            make    41 [000]   100.000004: sched:sched_wakeup_new: comm=make pid=42 "


@pytest.mark.parametrize(
    "events",
    [
        FORK + "child_comm=x child_pid=1 child_pid=42\n",
        BIRTH + "prio=120 target_cpu=001\n",
        FORK + "child_comm=make child_pid=42\n" + BIRTH + "prio=120 target_cpu=001\n",
    ],
)
def test_forks(events):
    trace = read(SWITCHES + events)
    assert task_names(trace, trace.forks.parent) == ["41"]
    # 42 had been named before: what is forked is another thread with its number.
    assert task_names(trace, trace.forks.child) == ["42"]
    assert len(trace.wakeups.time) == 0


def test_threads_of_processes():
    first, second = SWITCHES.splitlines(keepends=True)
    trace = read(first.replace(" 0 [", " 0/0 [") + second.replace("   41 [", "40/41 ["))
    assert [(task.tid, task.tgid) for task in trace.tasks] == [(41, 40)]


def test_nanoseconds():
    trace = read(SWITCHES.replace("000001:", "000001234:").replace("000005:", "000005678:"))
    assert trace.start.tolist() == [100_000_001_234]
    assert trace.end.tolist() == [100_000_005_678]


def test_a_line_cut_short_is_told():
    trace = read(SWITCHES + SWITCHES.splitlines()[0][:90])
    assert trace.quality.events == 2
    assert trace.quality.unparsed == 1
    assert trace.quality.first_unparsed == 3


def test_a_last_line_without_end_counts_only_if_nothing_can_be_missing():
    whole = SWITCHES.rstrip("\n")
    assert read(whole).quality.events == 2
    trace = read(SWITCHES + FORK + "child_comm=make child_pid=42")
    assert len(trace.forks.time) == 0
    assert trace.quality.first_unparsed == 3


def test_carriage_returns():
    trace = read(SWITCHES.replace("\n", "\r\n"))
    assert len(trace) == 1
    assert trace.quality.unparsed == 0


def test_cpu_beyond_those_declared():
    beyond = SWITCHES.replace("[000]", "[004]")
    with pytest.raises(FileError, match="declares 4 CPUs") as caught:
        read(HEAD + SWITCHES + beyond)
    assert caught.value.place == "line 9"


def test_how_the_processor_ran():
    trace = read(SWITCHES.replace("[000] ", "[000] K     "))
    assert len(trace) == 1
    assert trace.quality.unparsed == 0


def test_processes_where_threads_should_be():
    with pytest.raises(FileError, match=r"about thread 40, .* from thread 41; print tid") as caught:
        read(SWITCHES.replace("  41 [000]", "  40 [000]"))
    assert caught.value.place == "line 2"
    gone = read(SWITCHES.replace("  41 [000]", "  -1 [000]"))
    assert len(gone) == 1


def test_two_recordings_in_one_file():
    other = (
        "            make-41      [000] d..2.   100.000009: sched_switch: prev_comm=make "
        "prev_pid=41 prev_prio=120 prev_state=S ==> next_comm=cc next_pid=42 next_prio=120\n"
    )
    with pytest.raises(FileError, match=r"is ftrace text.*one recording") as caught:
        read(SWITCHES + other)
    assert caught.value.place == "line 3"


def test_mostly_something_else():
    with pytest.raises(FileError, match="first of 5 lines, out of 7") as caught:
        read(SWITCHES + "no trace at all\n" * 5)
    assert caught.value.place == "line 3"


def test_binary_between_the_lines():
    trace = read(SWITCHES.encode() + bytes(range(256)).replace(b"\n", b"") + b"\n")
    assert trace.quality.unparsed == 1
    assert len(trace) == 1


def test_no_switch():
    with pytest.raises(FileError, match="sched_switch"):
        read(HEAD)


def test_numbers_beyond_reason_are_not_understood():
    first, second = SWITCHES.splitlines(keepends=True)
    trace = read(
        SWITCHES * 2
        + first.replace("next_pid=41", "next_pid=99999999999")
        + second.replace("100.0", "99999999999.0")
        + second.replace("[000]", "[1234567]")
    )
    assert trace.quality.unparsed == 3
    assert trace.quality.events == 4
