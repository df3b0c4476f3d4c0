"""Logs of requests as traces."""

from pathlib import Path

import pytest

from dfopt.errors import FileError
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace.readers.request_log import RequestColumns, read_request_log

TIMED = RequestColumns(task="id", df="model", start="from", end="to")


def saved(folder: Path, text: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_requests_take_the_first_free_cpu(tmp_path: Path) -> None:
    log = saved(tmp_path, "id,model,from,to\nx,A,10,12\ny,B,11,13.5\nz,A,12,14\n")
    trace = read_request_log(log, TIMED)
    assert (trace.cpus, trace.cpu.tolist()) == (2, [0, 1, 0])
    assert (trace.start.tolist(), trace.end.tolist()) == ([0, 1000, 2000], [2000, 3500, 4000])
    assert [task.name for task in trace.tasks] == ["x", "y", "z"]
    with pytest.raises(FileError, match="line 3: starts while 1 others run"):
        read_request_log(log, TIMED, cpus=1)


def test_iso_times_and_load_times(tmp_path: Path) -> None:
    log = saved(
        tmp_path, "id,model,from,to\nx,A,2026-01-01T00:00:00Z,2026-01-01T01:00:00.5+01:00\n"
    )
    loads = saved(tmp_path, "model,seconds\nA,22.7\n", "loads.csv")
    trace = read_request_log(log, TIMED, load_times=loads)
    assert trace.end.tolist() == [500]
    assert trace.lines is not None
    assert trace.lines.tolist() == [22_700]
    assert trace.header.penalty == PenaltyF(read_line=1, write_back=0)
    with pytest.raises(FileError, match=r"loads.csv: has no load time of 'A'"):
        read_request_log(log, TIMED, load_times=saved(tmp_path, "m,s\nB,1\n", "loads.csv"))


def test_arrivals_and_durations_are_served_in_order(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="came", duration="took", task="id")
    log = saved(tmp_path, "id,model,came,took\nx,A,5,2\ny,B,6,2\n")
    trace = read_request_log(log, columns, cpus=1)
    assert (trace.start.tolist(), trace.wakeups.time.tolist()) == ([0, 2000], [0, 1000])


def test_the_log_names_the_cpus(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="from", end="to", cpu="gpu")
    log = saved(tmp_path, "gpu,model,from,to\n10,A,0,2\n9,B,1,2\n")
    assert read_request_log(log, columns).cpu.tolist() == [1, 0]
    log = saved(tmp_path, "gpu,model,from,to\n9,A,0,2\n9,B,1,2\n")
    with pytest.raises(FileError, match="line 3: starts on '9' while line 2 runs there"):
        read_request_log(log, columns)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id,model,from\nx,A,0\n", "line 1: has no column 'to'; there are id, model, from"),
        ("id,model,from,to\nx,A,2,1\n", "line 2: 'to' is before 'from'"),
        ("id,model,from,to\nx,A,soon,1\n", "line 2: 'from' is 'soon'; write a number, or ISO"),
        ("id,model,from,to\nx,A,1\n", "line 2: has 3 values, but there are 4 columns"),
        ("id,model,from,to\n", "holds no request"),
        ("", "holds no request"),
        ('[{"id": "x", "model": "A"}]', "is JSON; give a CSV file"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FileError, match=problem):
        read_request_log(saved(tmp_path, text), TIMED)


def test_a_request_without_a_cpu_is_refused(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="from", end="to", cpu="gpu")
    log = saved(tmp_path, "gpu,model,from,to\n0,A,0,2\n,B,1,2\n")
    with pytest.raises(FileError, match="line 3: does not say which CPU served the request"):
        read_request_log(log, columns)


def test_one_load_time_is_in_the_unit_of_the_log(tmp_path: Path) -> None:
    log = saved(tmp_path, "id,model,from,to\nx,A,0,1\nx,A,1,2\n")
    trace = read_request_log(log, TIMED, load_times=22.7)
    assert trace.header.penalty == PenaltyG(fill=22_700, write_back=0)
    assert [task.name for task in trace.tasks] == ["x", "x.2"]
    with pytest.raises(FileError, match="load_times: must be at least 0, not -1"):
        read_request_log(log, TIMED, load_times=-1)


def test_rounded_times_may_overlap_on_a_cpu(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="start", duration="ms", cpu="gpu")
    log = saved(tmp_path, "model,start,ms,gpu\nA,0,12,0\nB,10,5,0\n")
    trace = read_request_log(log, columns, time_unit="ms")
    assert (trace.start.tolist(), trace.end.tolist()) == ([0, 10], [10, 15])
    log = saved(tmp_path, "model,start,ms,gpu\nA,0,13,0\nB,10,5,0\n")
    with pytest.raises(FileError, match="line 3: starts on '0' while line 2 runs there"):
        read_request_log(log, columns, time_unit="ms")


def test_an_empty_duration_is_called_empty(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="at", duration="s")
    with pytest.raises(FileError, match="line 2: 's' is empty; fill it in, or leave"):
        read_request_log(saved(tmp_path, "model,at,s\nA,0,\n"), columns, cpus=1)


def test_times_that_add_up_to_too_much_are_no_trace(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="at", duration="s")
    log = saved(tmp_path, "model,at,s\nA,0,1e999999\n")
    with pytest.raises(FileError, match="line 2: 's' is '1e999999'; write a number up to"):
        read_request_log(log, columns, cpus=1)
    log = saved(tmp_path, "model,at,s\n" + "A,0,4e15\n" * 3)
    with pytest.raises(FileError, match="line 3: ends more than 2"):
        read_request_log(log, columns, cpus=1)


@pytest.mark.parametrize("cpus", [0, -1])
def test_requests_need_a_cpu(tmp_path: Path, cpus: int) -> None:
    columns = RequestColumns(df="model", arrival="at", duration="s")
    with pytest.raises(FileError, match=f"cpus: must be at least 1, not {cpus}"):
        read_request_log(saved(tmp_path, "model,at,s\nA,0,1\n"), columns, cpus=cpus)
