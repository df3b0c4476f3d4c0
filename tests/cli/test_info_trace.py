"""``dfopt info`` of a trace."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt.files import schema
from tests.cli.conftest import Run
from tests.compare.examples import ROWS, write_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "trace.jsonl", time_unit="ns", policy="round robin")


def figures(out: str) -> dict[str, str]:
    """Take the upper table apart."""
    rows = out.partition("\n\n")[0].splitlines()
    return dict(re.split(" {2,}", row, maxsplit=1) for row in rows)


def test_a_trace_is_described(run: Run, trace: Path) -> None:
    code, out, err = run("info", trace)
    assert (code, err) == (0, "")
    assert figures(out) == {
        "name": "trace.jsonl",
        "content": "dfopt-trace/1 JSON lines",
        "policy": "round robin",
        "CPUs": "2",
        "time": "50 ns, from 0 to 50 ns",
        "dispatches": "8 of 5 tasks",
        "run time": "80 ns",
        "busy": "80.0% of the time; by CPU 100.0%, 60.0%",
        "shared": "0.0% of the time several CPUs ran one fragment",
        "waits": "not known: the trace has no wake-ups; record sched:sched_waking, too",
        "labels": "own",
        "managed": "7 (87.5%)",
        "gaps": "none",
        "events": "0 wakeups, 0 forks, 0 marks",
        "quality": "9 lines, 8 events, nothing missing",
    }
    assert [line.split() for line in out.splitlines()[-2:]] == [
        ["A", "4", "50.0%", "40", "ns", "50.0%"],
        ["B", "3", "37.5%", "30", "ns", "37.5%"],
    ]


def test_labels_come_from_where_they_came_from_also_if_only_some_count(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "trace.txt"
    head = "x-{pid} ( {pid}) [000] d..2. 1.0000{n}0: sched_switch: prev_comm=x prev_pid={pid} "
    tail = "prev_prio=120 prev_state=S ==> next_comm=x next_pid={next} next_prio=120\n"
    path.write_text(
        "".join((head + tail).format(n=n, pid=7 + n % 2, next=8 - n % 2) for n in range(6))
    )
    code, out, err = run("info", path, "--only", "7")
    assert (code, err) == (0, "")
    assert (figures(out)["labels"], figures(out)["managed"]) == ("tgid", "2 (40.0%)")


def test_json_says_the_same(run: Run, trace: Path) -> None:
    code, out, err = run("info", trace, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["format"], found["kind"], found["labels"]) == ("dfopt-info/1", "trace", "own")
    assert (found["cpus"], found["start"], found["end"]) == (2, 0, 50)
    assert (found["dispatches"], found["tasks"], found["managed"]) == (8, 5, 7)
    assert found["fragments"][0] == {
        "df": "A", "dispatches": 4, "share": 0.5, "run_time": 40, "run_time_share": 0.5,
    }  # fmt: skip
    assert found["quality"]["unlabelled_share"] == 0.125


def test_a_trace_without_labels_is_described_all_the_same(run: Run, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "a.jsonl", [(*row[:3], None) for row in ROWS])
    code, out, err = run("info", path)
    assert (code, err) == (0, "")
    assert figures(out)["labels"] == "none; --df says where to take them from"
    assert figures(out)["managed"] == "0 (0.0%)"
    assert "\n\n" not in out


def test_labels_that_are_asked_for_must_be_found(run: Run, trace: Path) -> None:
    assert run("info", trace, "--df", "comm:(x)")[0] == 1
    code, out, err = run("info", trace, "--df", "marks")
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {trace}: has no marks")


def test_waits_are_told(run: Run, tmp_path: Path) -> None:
    rows = [(0, 10, "a", "A"), (1, 14, "b", "B"), (0, 30, "a", "A"), (1, 40, "b", "B")]
    path = write_trace(tmp_path / "a.jsonl", rows, time_unit="us")
    events = (
        '{"wakeup": 8, "task": "a"}\n{"wakeup": 13, "task": "b"}\n{"wakeup": 27, "task": "b"}\n'
    )
    path.write_text(path.read_text().replace('"df"', '"stop": "sleeps", "df"') + events)
    code, out, err = run("info", path)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    (heading,) = [at for at, line in enumerate(lines) if line[:2] == ["known", "unknown"]]
    assert lines[heading - 1] == ["Waits", "of", "dispatches", "with", "a", "fragment"]
    assert lines[heading + 1] == ["3", "1", "5.33", "µs", "2", "µs", "13", "µs", "13", "µs"]
    path.write_text(path.read_text() + '{"wakeup": 42, "task": "b"}\n')
    overlap = path.read_text().replace('"task": "b"', '"task": "a"')
    path.write_text(overlap)
    code, out, err = run("info", path)
    assert (code, err) == (0, "")
    assert figures(out)["waits"].startswith("not known: task a runs on CPU 0 until 20, but starts")


def test_clocks_that_differ_are_told(run: Run, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "a.jsonl", [(0, 10, "a", "A"), (0, 30, "a", "A")], cpus=1)
    events = '{"wakeup": 8, "task": "a"}\n{"wakeup": 32, "task": "a"}\n'
    path.write_text(path.read_text().replace('"df"', '"stop": "sleeps", "df"') + events)
    code, _, err = run("info", path)
    assert code == 0
    assert "warning: 1 wake-up came after the dispatch that it caused, by up to 2" in err


def test_many_cpus_are_cut_short(run: Run, tmp_path: Path) -> None:
    rows = [(cpu, 10 * cpu, "a", "A") for cpu in range(10)]
    code, out, _ = run("info", write_trace(tmp_path / "a.jsonl", rows, cpus=11))
    assert code == 0
    assert figures(out)["busy"] == "9.1% of the time; by CPU from 0.0% to 10.0%"


@pytest.mark.slow
def test_doubts_gaps_and_costs_are_told(run: Run, tmp_path: Path) -> None:
    path = write_trace(
        tmp_path / "a.jsonl", cpus=3, penalty={"kind": "g", "fill": 2, "write_back": 1}
    )
    path.write_text(path.read_text() + '{"cpu": 0, "gap": [60, 70], "reason": "lost events"}\n')
    code, out, err = run("info", path)
    assert code == 0
    assert "dfopt: " in err
    assert all(line.startswith(f"dfopt: {path}: warning: ") for line in err.splitlines())
    assert figures(out)["penalty"] == "g: fill 2, write_back 1"
    assert figures(out)["gaps"] == "lost events ×1"
    assert "nothing missing" not in out


def test_many_fragments_are_cut_short(run: Run, tmp_path: Path) -> None:
    rows = [(0, 10 * n, "a", f"f{n % 12}") for n in range(24)]
    code, out, _ = run("info", write_trace(tmp_path / "a.jsonl", rows, cpus=1))
    assert code == 0
    assert out.splitlines()[-1].split() == ["and", "2", "more", "4", "16.7%", "40", "16.7%"]


def test_a_trace_comes_from_standard_input(run: Run, trace: Path) -> None:
    code, out, err = run("info", "-", "--json", stdin=trace.read_text())
    assert (code, err) == (0, "")
    assert json.loads(out)["name"] == "standard input"


def test_an_instance_has_no_labels(run: Run, instance_file: Path) -> None:
    code, out, err = run("info", instance_file, "--df", "tgid")
    assert (code, out) == (2, "")
    assert "options about labels are for traces" in err


@pytest.mark.parametrize(("text", "problem"), [("", "is empty"), ("what?\n", "holds no trace")])
def test_other_files_are_refused(run: Run, tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    code, out, err = run("info", path)
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {path}: {problem}")
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "header",
    [
        {},
        {"time_unit": "ns", "policy": "round robin"},
        {"penalty": {"kind": "f", "read_line": 2, "write_back": 1}, "objective": "max-penalty"},
        {"penalty": {"kind": "g", "fill": 2, "write_back": 1}},
        {"penalty": {"kind": "matrix", "types": ["A", "B"], "switch": [[0, 1], [2, 0]]}},
    ],
)
def test_the_document_has_the_published_form(
    run: Run, tmp_path: Path, header: dict[str, object]
) -> None:
    path = write_trace(tmp_path / "a.jsonl", **header)
    path.write_text(path.read_text() + '{"cpu": 0, "gap": [60, 70], "reason": "lost events"}\n')
    code, out, _ = run("info", path, "--json")
    assert code == 0
    validator = Draft202012Validator(schema("info"))
    document = json.loads(out)
    validator.validate(document)
    assert document["gaps"] == {"lost events": 1}
    for key in document:
        assert not validator.is_valid({k: v for k, v in document.items() if k != key}), key
        assert not validator.is_valid({**document, key: [["no"]]}), key


def test_inferred_fragments_are_called_by_their_threads(run: Run) -> None:
    workers = Path(__file__).parents[2] / "docs/examples/workers.ftrace.txt"
    lines = run("info", workers, "--df", "wakeups")[1].splitlines()
    assert lines[-2].startswith("g0 (worker/0, worker/2)  ")
    fragments = json.loads(run("info", workers, "--df", "wakeups", "--json")[1])["fragments"]
    assert fragments[0]["df"] == "g0"
    assert fragments[0]["comms"] == [
        {"comm": "worker/0", "tasks": 1}, {"comm": "worker/2", "tasks": 1},
    ]  # fmt: skip
