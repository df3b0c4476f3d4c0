"""``dfopt compare``."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import dfopt.compare
from dfopt.files import schema, write_instance
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyG
from dfopt.trace import Trace
from dfopt.trace.labels import Inferred
from tests.cli.conftest import EXECUTABLE, Run
from tests.compare.examples import ROWS, write_trace


def document(run: Run, *arguments: str | Path) -> dict:
    code, out, err = run("compare", *arguments, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    Draft202012Validator(schema("comparison")).validate(found)
    return found


def pairs(out: str) -> dict[str, str]:
    """Take the tables of names and values apart."""
    return dict(re.split(" {2,}", row, maxsplit=1) for row in out.splitlines() if "  " in row)


def test_a_trace_is_reported(run: Run, trace: Path) -> None:
    code, out, err = run("compare", trace, "--window", "whole", "-v")
    assert (code, err) == (0, "")
    rows = pairs(out)
    assert rows["trace"] == "trace.jsonl"
    assert rows["dispatches"].startswith("7 of 8 have a fragment; 12.5% of the run time has")
    assert rows["costs"] == "g: every change of fragment costs 1; total-penalty, in switches"
    assert rows["realised"] == "4 in all, 2 on the most expensive CPU"
    # One CPU holds four dispatches at most, so A and B can each have their own.
    assert rows["whole"].split() == ["4", "0", "0", "0", "100.0%", "1"]
    for word in ("bound", "rolling", "ignored"):
        assert f"\n{word}: " in out
    assert rows["fragment split over CPUs"].split() == ["4", "100.0%"]
    assert "2 fragments" in out


def test_json_has_the_keys_of_the_contract(run: Run, trace: Path) -> None:
    found = document(run, trace, "--window", "2", "--window", "20ns", "--window", "whole")
    assert {
        "format", "trace", "dispatches", "managed", "realised", "windows", "causes", "fragments",
        "cpus", "quality",
    } <= set(found)  # fmt: skip
    assert (found["dispatches"], found["managed"]) == (8, 7)
    assert found["realised"] == {"total": 4, "max": 2, "switches": 4}
    assert [window["window"] for window in found["windows"]] == ["2", "20ns", "whole"]
    assert {window["realised"] for window in found["windows"]} == {4}
    assert sum(found["causes"].values()) == 4
    assert sum(cpu["cost"] for cpu in found["cpus"]) == 4


def test_the_options_make_the_model(run: Run, trace: Path) -> None:
    options = (
        "--read-line", "2", "--write-back", "50", "--lines", "runtime:64", "--leaves", "clean",
        "--objective", "max-penalty", "--cold-start", "--capacity", "unlimited", "--unmanaged",
        "evict", "--broken-chains", "cut",
    )  # fmt: skip
    assert document(run, trace, *options)["model"] == {
        "penalty": {"kind": "f", "read_line": 2, "write_back": 50},
        "lines": 64,
        "lines_by_run_time": True,
        "leaves": "clean",
        "objective": "max-penalty",
        "cold_start": True,
        "final_write_back": False,
        "capacity": "unlimited",
        "unmanaged": "evict",
        "broken_chains": "cut",
    }


def test_a_model_is_taken_from_an_instance(run: Run, tmp_path: Path, trace: Path) -> None:
    path = tmp_path / "instance.json"
    write_instance(Instance(cpus=1, penalty=PenaltyG(fill=5, write_back=2)), path)
    model = document(run, trace, "--model", path, "--fill", "9")["model"]
    assert model["penalty"] == {"kind": "g", "fill": 9, "write_back": 2}
    assert (model["objective"], model["capacity"]) == ("max-penalty", "observed")


@pytest.mark.parametrize(("word", "name"), [("lines", "f"), ("whole", "g")])
def test_penalties_have_readable_names(run: Run, trace: Path, word: str, name: str) -> None:
    costs = ("--read-line", "2", "--lines", "3") if name == "f" else ("--fill", "9")
    found = document(run, trace, "--penalty", word, *costs, "--write-back", "1")
    assert found["model"]["penalty"]["kind"] == name


def test_the_header_gives_the_model(run: Run, tmp_path: Path) -> None:
    path = write_trace(
        tmp_path / "a.jsonl", penalty={"kind": "g", "fill": 3, "write_back": 0}, name="mine"
    )
    found = document(run, path)
    assert found["trace"] == "mine"
    assert found["model"]["objective"] == "total-penalty"
    assert found["realised"]["total"] == 12


def test_a_header_with_a_matrix_compares_types(run: Run, tmp_path: Path) -> None:
    table = {"kind": "matrix", "types": ["A", "B"], "switch": [[1, 7], [5, 2]], "start": [3, 4]}
    header = {"penalty": table, "objective": "total-penalty", "cold_start": True, "policy": "fcfs"}
    rows = [row for row in ROWS if row[3] is not None]
    trace = write_trace(tmp_path / "types.jsonl", rows, time_unit="us", **header)
    found = document(run, trace)
    assert found["policy"] == "fcfs"
    assert found["model"]["penalty"] == table
    # CPU 0: A B A A; CPU 1: B A B.
    assert found["realised"] == {"total": (3 + 7 + 5 + 1) + (4 + 5 + 7), "max": 16, "switches": 4}
    # A A A A and B B B.
    assert [window["bound"] for window in found["windows"]] == [(3 + 1 + 1 + 1) + (4 + 2 + 2)]
    assert found["causes"]["same type again"] == 1
    assert document(run, trace, "--penalty", "matrix") == found
    assert document(run, trace, "--penalty", "g")["realised"]["total"] == 6
    code, out, err = run("compare", trace)
    assert (code, err) == (0, "")
    assert pairs(out)["costs"].startswith("matrix: by the types of two dispatches, 2 types")
    code, out, err = run("compare", trace, "--unmanaged", "evict")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "--unmanaged transparent" in err
    strange = write_trace(tmp_path / "strange.jsonl", penalty={**table, "types": ["A", "C"]})
    code, out, err = run("compare", strange)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "'B' is no type of the matrix" in err


@pytest.mark.slow
def test_several_traces_are_drawn_side_by_side(run: Run, tmp_path: Path, trace: Path) -> None:
    other = write_trace(tmp_path / "other.jsonl", policy="fcfs", time_unit="ns")
    picture = tmp_path / "foresight.svg"
    code, _, err = run("plot", "foresight", trace, other, "-o", picture)
    assert (code, err) == (0, "")
    # Without --window there are those of the foresight curve, in axes of their own.
    assert 'id="axes_2"' in picture.read_text()
    code, _, err = run("plot", "foresight", trace, other, "--window", "whole", "-o", picture)
    assert (code, err) == (0, "")
    assert 'id="axes_2"' not in picture.read_text()


def test_labels_are_taken_from_a_file_and_written_to_one(
    run: Run, tmp_path: Path, trace: Path
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("tid,df\na,X\nb,X\nc,X\nd,Y\n")
    written = tmp_path / "out.csv"
    found = document(run, trace, "--df", labels, "--labels-out", written)
    assert {row["df"] for row in found["fragments"]} == {"X", "Y"}
    assert written.read_text().splitlines()[0] == "tid,start,end,df"
    assert "a,,,X" in written.read_text().splitlines()
    assert document(run, trace, "--df", written)["fragments"] == found["fragments"]


def test_only_some_tasks_are_managed(run: Run, tmp_path: Path) -> None:
    rows = [(0, 10 * n, str(n % 3), "AB"[n % 2]) for n in range(12)]
    path = write_trace(tmp_path / "a.jsonl", rows)
    code, out, _ = run("compare", path, "--only", "0,1", "--json")
    assert (code, json.loads(out)["managed"]) == (0, 8)


def test_several_traces_stand_side_by_side(run: Run, tmp_path: Path, trace: Path) -> None:
    other = write_trace(
        tmp_path / "other.jsonl", [(0, 0, "a", "A"), (1, 5, "c", "A"), (0, 10, "b", "B")]
    )
    code, out, err = run("compare", trace, other, "--order-free")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[1].split()[:4] == ["trace", "window", "realised", "bound"]
    assert [line.split()[:3] for line in lines[2:4]] == [
        ["trace.jsonl", "whole", "4"], ["other.jsonl", "whole", "1"],
    ]  # fmt: skip
    found = document(run, trace, other)
    assert [trace_row["trace"] for trace_row in found["traces"]] == ["trace.jsonl", "other.jsonl"]


def test_equal_names_are_told_apart(run: Run, tmp_path: Path, trace: Path) -> None:
    (tmp_path / "new").mkdir()
    other = write_trace(tmp_path / "new" / trace.name)
    assert [trace_row["trace"] for trace_row in document(run, trace, other)["traces"]] == [
        str(trace), str(other),
    ]  # fmt: skip


def test_equal_names_in_headers_are_told_apart(run: Run, tmp_path: Path) -> None:
    paths = [
        write_trace(tmp_path / f"{name}.jsonl", **header)
        for name, header in [
            ("run", {"name": "hb.txt"}),
            ("best", {"name": "hb.txt", "penalty": {"kind": "g", "fill": 3, "write_back": 0}}),
            ("other", {"name": "mine"}),
        ]
    ]
    assert [trace_row["trace"] for trace_row in document(run, *paths)["traces"]] == [
        "run.jsonl", "best.jsonl", "mine",
    ]  # fmt: skip
    out = run("compare", *paths)[1]
    assert "run.jsonl, mine: costs: g: every change of fragment costs 1" in out
    assert "best.jsonl: costs: g: fill 3" in out


def test_each_trace_has_its_own_labels(run: Run, tmp_path: Path, trace: Path) -> None:
    other = write_trace(tmp_path / "other.jsonl", [(0, 0, "x", None), (1, 10, "y", None)])
    mine, its = tmp_path / "mine.csv", tmp_path / "its.csv"
    mine.write_text("tid,df\na,X\nb,Y\n")
    its.write_text("tid,df\nx,V\ny,W\n")
    found = document(run, trace, other, "--df", mine, "--df", its)["traces"]
    assert [[row["df"] for row in one["fragments"]] for one in found] == [["X", "Y"], ["V", "W"]]
    assert run("compare", trace, other, "--df", its, "--df", mine) == (
        1, "",
        f"dfopt: {trace}: {its}: line 2: none of the threads that it names is in the trace, the "
        "first is x; name a file that was made for this trace\n",
    )  # fmt: skip
    code, out, err = run("compare", trace, other, *["--df", mine] * 3)
    assert (code, out) == (2, "")
    assert "it is given 3 times for 2" in " ".join(err.split())


def test_labels_are_inferred_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def inferred(trace: Trace) -> tuple[Inferred, ...]:
        calls.append(trace)
        return tuple(Inferred(fragment="g0", confidence=1.0) for _ in trace.tasks)

    monkeypatch.setattr("dfopt.trace.labels.source.infer_fragments", inferred)
    path, labels = write_trace(tmp_path / "a.jsonl"), tmp_path / "labels.csv"
    assert run("compare", path, "--df", "wakeups", "--labels-out", labels)[0] == 0
    assert labels.read_text().startswith("tid,df,confidence,comm\na,g0,1.000,\n")
    assert len(calls) == 1


@pytest.mark.slow
def test_the_foresight_ladder_ends_with_the_whole_trace(run: Run, tmp_path: Path) -> None:
    rows = [(n % 2, 10 * n, str(n % 5), "ABC"[n % 3]) for n in range(60)]
    found = document(run, write_trace(tmp_path / "a.jsonl", rows), "--foresight")
    windows = found["windows"]
    assert [window["window"] for window in windows] == ["5", "10", "20", "50", "whole"]
    assert all(w["bound"] <= w["rolling"] and w["bound"] <= w["realised"] for w in windows)


def test_a_trace_comes_from_standard_input(run: Run, trace: Path) -> None:
    code, out, err = run("compare", "-", "--json", stdin=trace.read_text())
    assert (code, err) == (0, "")
    assert json.loads(out)["trace"] == "standard input"


@pytest.mark.slow
def test_traces_come_through_pipes(trace: Path) -> None:
    shell = (
        '(printf \'%s\' \'{"for\'; sleep 0.1; tail -c +6 "$2") | "$1" compare - -q'
        ' && "$1" compare <(cat "$2") <(gzip -c "$2") -q --json'
        ' && cat "$2" | "$1" info /dev/stdin --json'
    )
    command = ["bash", "-c", shell, "bash", EXECUTABLE, trace]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    side_by_side, information = re.findall(r"^\{.*?^\}", run.stdout, re.DOTALL | re.MULTILINE)
    found = json.loads(side_by_side)["traces"]
    assert [one["realised"]["total"] for one in found] == [4, 4]
    assert all(one["trace"].startswith("/dev/fd/") for one in found)
    assert json.loads(information)["dispatches"] == 8


def test_doubts_are_a_line_each(run: Run, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "a.jsonl", cpus=3)
    code, out, err = run("compare", path, "--json")
    assert code == 0
    assert json.loads(out)["quality"]["silent_cpus"] == [2]
    assert err == (
        f"dfopt: {path}: warning: no event on CPU 2: idle all the time, or not recorded\n"
    )


@pytest.mark.parametrize("columns", ["80", "120"])
def test_lines_fit_the_terminal(
    run: Run, trace: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    dear = ("--fill", "123456789", "--window", "2", "--window", "whole")
    dearer = ("--penalty", "f", "--read-line", "98765", "--write-back", "1234567", "--lines", "64")
    several = ((trace, trace), (trace, trace, *dear), (trace, trace, *dearer))
    for arguments in ((trace, "--foresight"), *several):
        code, out, _ = run("compare", *arguments)
        assert code == 0
        assert all(len(line) <= int(columns) for line in out.splitlines())
        assert "…" not in out


def test_many_fragments_and_cpus_are_cut_short(run: Run, tmp_path: Path) -> None:
    rows = [(n % 20, 10 * n, str(n), f"f{n * 7 % 12}") for n in range(200)]
    path = write_trace(tmp_path / "a.jsonl", rows, cpus=20)
    code, out, _ = run("compare", path, "-v")
    assert code == 0
    assert "and 2 more" in out
    assert "and 4 more  " in out


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_before_anything_is_known(
    run: Run, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dfopt.compare, "compare_trace", interrupt)
    assert run("compare", trace) == (130, "", "")


def test_ctrl_c_keeps_the_traces_that_are_done(
    run: Run, tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, other = dfopt.compare.compare_trace, write_trace(tmp_path / "b.jsonl", name="late")
    monkeypatch.setattr(
        dfopt.compare,
        "compare_trace",
        lambda one, *rest, **more: (
            interrupt() if one.header.name == "late" else whole(one, *rest, **more)
        ),
    )
    code, out, err = run("compare", trace, other, "--json")
    assert (code, err) == (4, "dfopt: interrupted; what is finished is shown\n")
    assert json.loads(out)["trace"] == "trace.jsonl"


def test_results_stand_beside_the_optimum(
    run: Run, instance_file: Path, result_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    code, out, err = run("compare", instance_file, result_file)
    assert (code, err) == (0, "")
    rows = pairs(out)
    assert rows["instance"] == "worked-example"
    assert rows["optimum"] == "15, proven"
    assert rows[str(result_file)].split()[:3] == ["15", "1.00", "0"]
    found = document(run, instance_file, result_file)
    assert (found["best"], found["proven"]) == (15, True)
    assert found["results"][0]["ratio"] == 1


def test_an_optimum_that_is_not_proven_is_4(
    run: Run, instance_file: Path, result_file: Path
) -> None:
    code, out, _ = run("compare", instance_file, result_file, "--time-limit", "0", "--json")
    found = json.loads(out)
    assert (code, found["proven"]) == (4, False)
    assert found["lower_bound"] < found["best"] == 15


def test_a_wrong_result_is_refused(run: Run, instance_file: Path, result_file: Path) -> None:
    wrong = json.loads(result_file.read_text())
    wrong["schedule"]["cpus"][0]["cost"] = 1
    result_file.write_text(json.dumps(wrong))
    code, out, err = run("compare", instance_file, result_file)
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {result_file}: ")
    assert err.count("\n") == 1


def test_a_damaged_instance_is_no_wrong_usage(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_text('{"a":')
    code, out, err = run("compare", path)
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {path}: line 1, ")


@pytest.mark.parametrize("options", [[], ["--fill", "3"], ["--df", "tgid"]])
def test_an_instance_needs_results_and_no_options_of_traces(
    run: Run, instance_file: Path, result_file: Path, options: list[str]
) -> None:
    files = [instance_file, result_file] if options else [instance_file]
    code, out, err = run("compare", *files, *options)
    assert (code, out) == (2, "")
    assert "Error: " in err


def test_conditions_end_with_a_code_of_their_own(run: Run, trace: Path) -> None:
    arguments = ("compare", trace, "--order-free", "--window", "2", "--window", "whole")
    limit = "windows.*.ratio>1.5"
    conditions = ("--fail-if", limit, "--fail-if", "realised.total>4")
    code, out, err = run(*arguments, *conditions, "--json")
    assert code == 5
    assert json.loads(out)["format"] == "dfopt-comparison/1"
    assert err.splitlines() == [
        f"dfopt: trace.jsonl: windows.{window}.ratio could not be computed; limit: {limit}"
        for window in ("2", "whole")
    ]
    assert run(*arguments, "--fail-if", "realised.total>4")[0] == 0


def test_conditions_are_tested_for_each_trace(run: Run, trace: Path, tmp_path: Path) -> None:
    other = write_trace(tmp_path / "other.jsonl", time_unit="ns")
    code, _, err = run("compare", trace, other, "--order-free", "--fail-if", "realised.total==4")
    assert code == 5
    assert [line.split(":")[1] for line in err.splitlines()] == [" trace.jsonl", " other.jsonl"]


def test_conditions_about_results(run: Run, instance_file: Path, result_file: Path) -> None:
    arguments = ("compare", instance_file, result_file, "--fail-if")
    assert run(*arguments, "results.*.ratio>1")[0] == 0
    code, _, err = run(*arguments, "results.*.objective>=15")
    assert code == 5
    assert err.endswith(f"results.{result_file}.objective is 15; limit: results.*.objective>=15\n")


def test_what_is_no_condition_is_wrong_usage(run: Run, trace: Path) -> None:
    code, out, err = run("compare", trace, "--fail-if", "realised.total=1")
    assert (code, out) == (2, "")
    assert "is no condition" in err


def test_a_path_to_no_figure_is_an_error_after_the_tables(run: Run, trace: Path) -> None:
    code, out, err = run("compare", trace, "--order-free", "--fail-if", "realised.totl>1")
    assert code == 1
    assert out
    assert err.endswith("realised has total, max, switches; did you mean total?\n")
