"""A ring buffer that was too small says so in the header of the kernel's text."""

import io

import pytest

from dfopt.trace.formats import read_ftrace

LINES = """\
          <idle>-0     [000] d..2.  1.000001: sched_switch: prev_comm=swapper/0 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120
               a-7     [000] d..2.  1.000005: sched_switch: prev_comm=a prev_pid=7 \
prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
"""


@pytest.mark.parametrize(("counts", "overwritten"), [("2/2", 0), ("2/9", 7)])
def test_overwritten_events_are_counted(counts: str, overwritten: int) -> None:
    header = f"# tracer: nop\n#\n# entries-in-buffer/entries-written: {counts}   #P:1\n#\n"
    trace = read_ftrace(io.BytesIO((header + LINES).encode()))
    assert trace.cpus == 1
    assert trace.quality.overwritten == overwritten
    said = [warning for warning in trace.quality.warnings if "overwritten" in warning]
    assert bool(said) == bool(overwritten)
