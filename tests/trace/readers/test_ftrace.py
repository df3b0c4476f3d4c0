"""Lines of tracefs and of trace-cmd report other than switches."""

from io import BytesIO

import pytest

from dfopt.errors import FileError
from dfopt.trace.events import Stop
from dfopt.trace.formats import read_ftrace

HEAD = """\
# tracer: nop
#
# entries-in-buffer/entries-written: 2/2   #P:2
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""
SWITCHES = """\
          <idle>-0       [001] d..2.   100.000001: sched_switch: prev_comm=swapper/1 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=make next_pid=41 next_prio=120
           <...>-41      [001] d..2.   100.000005: sched_switch: prev_comm=make prev_pid=41 \
prev_prio=120 prev_state=S ==> next_comm=cc next_pid=42 next_prio=120
"""
AGAIN = (
    SWITCHES.replace("100.", "200.")
    .replace("<idle>-0 ", "<...>-42")
    .replace("swapper/1", "cc")
    .replace("pid=0", "pid=42")
)


def read(text):
    return read_ftrace(BytesIO(text.encode()))


def task_names(trace, numbers):
    return [None if number < 0 else trace.tasks[number].name for number in numbers]


def line(event, *, pid=41, flags="d..3.", time="100.000003"):
    return f"           <...>-{pid:<7} [001] {flags}   {time}: {event}\n"


def test_head_declares_the_cpus():
    trace = read(HEAD + SWITCHES)
    assert trace.cpus == 2
    assert trace.quality.silent_cpus == (0,)
    assert trace.quality.unparsed == 0


def test_what_trace_cmd_says_around_the_events():
    trace = read("version = 6\nCPU 0 is empty\ncpus=4\n" + SWITCHES)
    assert trace.cpus == 4
    assert trace.quality.unparsed == 0


def test_text_that_was_pasted_keeps_an_indent_and_has_blanks_behind_lines():
    lost = "CPU:1 [LOST 345 EVENTS]\n"
    text = HEAD + "TRACE:\n" + SWITCHES + lost + AGAIN
    trace = read("".join(f"    {line} \t\n" for line in text.splitlines()))
    assert (trace.cpus, trace.quality.unparsed) == (2, 0)
    assert (trace.quality.events, trace.quality.lost_events) == (4, 345)
    entries = HEAD.replace("2/2", "2/9")
    assert read("\t" + entries.replace("\n", "\n\t") + "\n" + SWITCHES).quality.overwritten == 7


def test_events_of_probes_may_have_the_name_of_a_tracepoint():
    probe = "sched_switch: (__probestub_sched_switch+0x4/0x10) preempt=0 prev_state=1"
    back = "sched_waking: (ttwu_do_wakeup+0x21/0x60 <- try_to_wake_up) x=1"
    trace = read(SWITCHES + line(probe) + 3 * line(back))
    assert trace.quality.unparsed == 0
    assert trace.quality.events == 2


def test_a_comm_is_not_taken_for_the_place_of_a_probe():
    odd = "sched_switch:         (a+0x1/0x2) b:41 [120] S ==> cc:42 [120]"
    assert read(SWITCHES + line(odd)).quality.events == 3
    assert read(SWITCHES + line(odd.replace(":42", ""))).quality.first_unparsed == 3


def test_when_no_switch_is_understood_the_first_of_them_is_named():
    text = SWITCHES.replace(" prev_prio=120", "").replace(" next_prio=120", "")
    others = line("sched_waking: comm=cc pid=42 target_cpu=1") + 9 * line("cpu_idle: state=2")
    with pytest.raises(FileError, match="first of 2 sched_switch lines, none of which") as caught:
        read(others + text)
    assert caught.value.place == "line 11"


@pytest.mark.parametrize(
    ("lost", "events"),
    [
        ("CPU:1 [LOST 345 EVENTS]\n", 345),
        ("CPU:1 [204600 EVENTS DROPPED]\n", 204600),
        ("CPU:1 [EVENTS DROPPED]\n", 0),
    ],
)
def test_lost_events_make_a_gap(lost, events):
    first, second = SWITCHES.splitlines(keepends=True)
    trace = read(first + lost + second)
    assert len(trace) == 0
    assert trace.gaps.start.tolist() == [100_000_001_000]
    assert (trace.quality.losses, trace.quality.lost_events) == (1, events)


def test_lost_events_of_another_cpu_and_in_sum():
    first, second = SWITCHES.splitlines(keepends=True)
    trace = read("CPU 1: 2345 events lost\n" + first + "CPU:0 [LOST 3 EVENTS]\n" + second)
    assert len(trace) == 1
    assert (trace.quality.losses, trace.quality.lost_events) == (2, 2348)


def test_other_events():
    trace = read(
        SWITCHES
        + line("cpu_idle: state=2 cpu_id=6")
        + line("bprint:               dequeue: pid=1 comm=x")
        + line("0: B|124|onMessageReceived")
        + line("schedule <-schedule_hrtimeout")
        + line("sched_migrate_task: comm=make pid=41 prio=120 orig_cpu=1 dest_cpu=0")
        + line("sys_sched_yield()")
        + line("sys_futex(uaddr: 7f0000000010, op: 81, val: 1)")
        + line("sys_sched_yield -> 0x0")
        + line("sys_futex -> 0xfffffffffffffff5")
        + "##### CPU 0 buffer started ####\n"
        + "          dummy-0000  [000] 0.0: 0: trace_event_clock_sync: parent_ts=0.0\n"
        + "TRACE:\n"
    )
    assert trace.quality.unparsed == 0


def test_an_interrupt_wakes():
    waking = "sched_waking: comm=cc pid={} prio=120 target_cpu=001"
    trace = read(
        SWITCHES
        + line(waking.format(50))
        + line(waking.format(51), flags="dNh3.")
        + line(waking.format(52), flags="d.H3.")
        + line(waking.format(53), flags="d.s3.")
        + line(waking.format(54), flags="")
    )
    assert task_names(trace, trace.wakeups.waker) == ["41", None, None, "41", "41"]
    assert task_names(trace, trace.wakeups.woken) == ["50", "51", "52", "53", "54"]


@pytest.mark.parametrize(
    "waking",
    [
        "sched_wakeup:         b c:42 [120] success=1 CPU:001",
        "sched_wakeup:         b c:42 [120] CPU:001",
        "sched_wakeup: task b c:42 [120] success=1",
        "sched_wakeup: comm=b c pid=42 prio=120 success=1 target_cpu=001",
        "sched_wakeup:         comm=pid=9 prio=1 pid=42 prio=120 target_cpu=1",
    ],
)
def test_forms_of_wakeups(waking):
    trace = read(SWITCHES + line(waking))
    assert task_names(trace, trace.wakeups.woken) == ["42"]


@pytest.mark.parametrize(
    "fork",
    [
        "sched_process_fork: comm=a b pid=41 child_comm=a b child_pid=43",
        "sched_process_fork:   comm=make pid=41 child_comm=make child_pid=43",
        "sched_process_fork:    parent_comm=make parent_pid=41 child_comm=make child_pid=43",
        "sched_process_fork:   [FAILED TO PARSE] parent_comm=make parent_pid=41 "
        "child_comm=make child_pid=43",
        "sched_process_fork: parent make:41  child make:43",
    ],
)
def test_forms_of_forks(fork):
    trace = read(SWITCHES + line(fork))
    assert task_names(trace, trace.forks.parent) == ["41"]
    assert task_names(trace, trace.forks.child) == ["43"]


@pytest.mark.parametrize(
    "ending",
    [
        "sched_process_exit: comm=make pid=41 prio=120 group_dead=true",
        "sched_process_exit:   comm=make pid=41 prio=120",
        "sched_process_exit: task make:41 [120]",
    ],
)
def test_forms_of_exits(ending):
    trace = read(SWITCHES + line(ending, time="100.000004") + AGAIN)
    assert [trace.tasks[task].name for task in trace.task] == ["41", "42", "41.2"]


@pytest.mark.parametrize(
    ("states", "ended"),
    [("Z X x X|Z 16 32 64 0x20", True), ("S R R+ I D|W 0 1 128 256 4096", False)],
)
def test_states(states, ended):
    for state in states.split():
        trace = read(SWITCHES.replace("state=S", f"state={state}") + AGAIN)
        assert trace.tasks[trace.task[-1]].name == ("41.2" if ended else "41"), state


@pytest.mark.parametrize(
    ("states", "stop"),
    [
        ("R R+ R|K S+ 0 256 4096", Stop.PREEMPTED),
        ("S D I t T P D|W 1 2 8 128 0x402", Stop.SLEEPS),
        ("X Z x X|Z Z+ 16 32 0x20", Stop.ENDS),
    ],
)
def test_why_tasks_stop(states, stop):
    for state in states.split():
        trace = read(SWITCHES.replace("state=S", f"state={state}"))
        assert trace.stop.tolist() == [stop], state


def test_first_wakeups_stand_beside_forks():
    fork = line(
        "sched_process_fork: comm=make pid=41 child_comm=make child_pid=42", time="100.000002"
    )
    first = line("sched_wakeup_new: comm=make pid=42 prio=120 target_cpu=001")
    lone = line("sched_wakeup_new: comm=make pid=99 prio=120 target_cpu=001")
    trace = read(SWITCHES + fork + first + lone)
    # Thread 99 does not occur in any other event.
    assert [task.name for task in trace.tasks] == ["41", "42"]
    assert trace.forks.time.tolist() == [100_000_002_000]
    assert trace.first_wakeups.time.tolist() == [100_000_003_000]
    assert task_names(trace, trace.first_wakeups.waker) == ["41"]
    assert task_names(trace, trace.first_wakeups.woken) == ["42"]
    assert len(trace.wakeups.time) == 0


@pytest.mark.parametrize(
    "mark",
    [
        "tracing_mark_write: dfopt:df=tile 7",
        "print:                tracing_mark_write: dfopt:df=tile 7",
        "print: ip=0xffffffc0 buf=dfopt:df=tile 7",
        "bprint:               work: now dfopt:df=tile 7",
        "0: dfopt:df=tile 7 ",
        "tracing_mark_write: dfopt:df=  tile 7",
    ],
)
def test_marks(mark):
    trace = read(SWITCHES + line(mark))
    assert trace.marks.names == ("tile 7",)
    assert task_names(trace, trace.marks.task) == ["41"]
    assert trace.marks.time.tolist() == [100_000_003_000]


def test_a_mark_needs_a_name():
    trace = read(SWITCHES + line("tracing_mark_write: dfopt:df="))
    assert len(trace.marks.time) == 0
    assert trace.quality.first_unparsed == 3


def test_a_mark_cut_short_is_not_trusted():
    trace = read(SWITCHES + line("tracing_mark_write: dfopt:df=tile 7").rstrip("\n"))
    assert len(trace.marks.time) == 0
    assert trace.quality.first_unparsed == 3


def test_threads_of_processes():
    text = SWITCHES.replace("-0       [", "-0       (-------) [")
    trace = read(text.replace("-41      [", "-41      (     40) ["))
    assert [(task.tid, task.tgid) for task in trace.tasks] == [(41, 40)]


def test_a_comm_with_an_end_of_line():
    broken = SWITCHES.splitlines(keepends=True)[1].replace("=cc", "=c\nc")
    trace = read(SWITCHES + broken)
    assert trace.quality.events == 2
    assert (trace.quality.unparsed, trace.quality.first_unparsed) == (2, 3)


def test_a_comm_that_begins_like_a_comment():
    odd = "#ab 12 [-41      2d..2.   100.000003: sched_switch:   make:41 [120] S ==> b:2 [120]\n"
    trace = read(SWITCHES + odd)
    assert trace.quality.events == 3


def test_cpu_beyond_those_declared():
    with pytest.raises(FileError, match="declares 2 CPUs") as caught:
        read("cpus=2\n" + SWITCHES + SWITCHES.replace("[001]", "[002]"))
    assert caught.value.place == "line 4"


def test_cpus_in_use_may_have_higher_numbers_than_there_are():
    trace = read(HEAD + SWITCHES + SWITCHES.replace("[001]", "[006]"))
    assert trace.cpus == 7
    assert trace.quality.silent_cpus == (0, 2, 3, 4, 5)


def test_lines_that_begin_with_the_name_of_an_instance():
    trace = read("cpus=2\n" + "run: ".join(["", *SWITCHES.splitlines(keepends=True)]))
    assert trace.quality.unparsed == 0
    assert len(trace) == 1


def test_comms_as_arrays():
    array = "ARRAY[c3, a9, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00]"
    trace = read(SWITCHES.replace("comm=make", f"comm={array}") + AGAIN)
    assert trace.comms[trace.comm[0]] == "é"
    odd = read(SWITCHES.replace("comm=make", f"comm={array.replace('c3', 'g3')}"))
    assert odd.comms[odd.comm[0]].startswith("ARRAY[g3")


def test_times_since_the_line_before():
    first, second = SWITCHES.splitlines(keepends=True)
    trace = read(
        first.replace("1: sched", "1:          sched")
        + second.replace(": sched", ": (+4012)  sched")
    )
    assert trace.quality.unparsed == 0
    assert len(trace) == 1


@pytest.mark.parametrize(
    "stack",
    [
        line("<stack trace>") + " => __schedule\n => schedule\n",
        line("<user stack trace>") + " => /usr/lib/libc.so.6[+0xae3b8]\n",
        line("kernel_stack:         <stack trace >") + "=> __schedule (ffffffff821facd8)\n\n",
        line("user_stack:           \t=> 0x7f34b3af23b8") + "\t=> 0x0\n",
    ],
)
def test_stacks(stack):
    trace = read(SWITCHES + stack + AGAIN)
    assert trace.quality.unparsed == 0
    assert trace.quality.events == 4


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (SWITCHES.replace("100.0000", "1000000"), "trace_clock that counts seconds"),
        (
            SWITCHES.replace("d..2.   100.0000", "3677944964"),
            "trace_clock that counts seconds",
        ),
        ("tci:   <...>-41    [001]36779449641872: sched_switch: make:41\n", "trace_clock"),
        ("tci:   <...>-41    0d..2.36779449641872: sched_switch: make:41\n", "trace_clock"),
        ("41 1 34256159458674 type: 372\n", "options/raw, hex and bin off"),
        ("0000002a 00000001 00001f27e2374572 type: 372\n\n", "options/raw, hex and bin off"),
        (SWITCHES.replace("pid=41", "pid=0x29 (41)"), "options/fields off"),
        (
            SWITCHES.replace("[001] d..2.   100.000001: ", "  1d..2. 47195us!: ").replace(
                "[001] d..2.   100.000005: ", "  1d..2. 47199us : "
            ),
            "options/latency-format off",
        ),
        (
            "make  41 1 1 00000002 00000003 [7f9d3852a] 47.963ms (+0.004ms): sched_switch: a\n",
            "options/latency-format off",
        ),
        ("sched_switch: prev_comm=make prev_pid=41 prev_prio=120\n", "options/context-info on"),
        ("\0\1\2\n", "does without options"),
    ],
)
def test_other_forms_of_text(text, remedy):
    with pytest.raises(FileError, match=remedy) as caught:
        read(HEAD + text * 9)
    assert caught.value.place == "line 7"
