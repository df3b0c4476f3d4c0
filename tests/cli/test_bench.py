import csv
import json
import os
import signal
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest

from dfopt import replace
from dfopt.bench import Settings, read_rows
from dfopt.bench.rows import COLUMNS
from dfopt.files import schema, write_instance
from dfopt_cli.exit_codes import NOT_PROVEN
from tests.bench.conftest import OPTIMA, PLAIN, ends, wait_for_id, write_named
from tests.bench.conftest import children as children  # noqa: PLC0414 - a fixture
from tests.bench.conftest import folder as folder  # noqa: PLC0414 - a fixture
from tests.bench.conftest import in_this_process as in_this_process  # noqa: PLC0414 - a fixture
from tests.bench.conftest import misbehaving as misbehaving  # noqa: PLC0414 - a fixture
from tests.cli.conftest import Run, Start
from tests.cli.terminal import Terminal
from tests.patience import PATIENCE_S
from tests.running_cluster import running_cluster

HANGING = ("--method", "dp", "--time-limit", "600", "--workers", "1")
NAMES = ["fine-1", "fine-2", "hangs", "fine-3"]


def named_rows(path: Path) -> list[str]:
    with path.open(newline="") as stream:
        return [row["instance"] for row in csv.DictReader(stream)]


@pytest.mark.slow
def test_a_run_shows_a_summary_and_leaves_a_table(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "rows.csv"
    code, out, err = run("bench", folder, "--time-limit", "30", "--workers", "1", "-o", output)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[1].split()[:6] == ["method", "runs", "applicable", "proven", "certified", "gap"]
    assert lines[2].split()[:4] == ["auto", "3", "0", "3"]
    assert "3 of 3 runs done, limit 30 s, seed 0, 1 worker" in lines
    assert all(len(line) <= 80 for line in lines[:6])
    with output.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == COLUMNS
    assert {row["instance"]: int(row["objective"]) for row in rows} == OPTIMA
    assert {row["status"] for row in rows} == {"optimal"}


@pytest.mark.usefixtures("in_this_process")
def test_json_is_one_document_that_fits_its_schema(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "rows.csv"
    arguments = ("bench", folder, "--json", "--method", "dp", "--gap", "0.5", "--workers", "1")
    run(*arguments, "-o", output)
    code, out, err = run(*arguments, "-o", output, "--resume")
    assert (code, err) == (0, "")
    document = json.loads(out)
    jsonschema.validate(document, schema("bench-summary"))
    assert (document["runs"], document["finished"], document["resumed"]) == (3, 3, 3)
    assert document["settings"] == [asdict(Settings(method="dp", gap_limit=0.5, workers=1))]
    assert document["methods"][0]["statuses"]["not-applicable"] == 1  # the table


@pytest.mark.usefixtures("in_this_process")
def test_methods_stand_side_by_side(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "rows.csv"
    arguments = ("bench", folder, "--method", "auto", "--method", "dp", "--workers", "1")
    code, out, err = run(*arguments, "-o", output)
    assert (code, err) == (0, "")
    compared, profile, _, figures, said = out.split("\n\n")
    head, *lines = (line.split() for line in compared.splitlines()[1:])
    assert head == ["instance", "auto", "[s]", "dp", "[s]"]
    assert {line[0]: int(line[1]) for line in lines} == OPTIMA
    assert sum(line[-3:] == ["not", "applicable", "–"] for line in lines) == 1
    assert [line.split()[0] for line in profile.splitlines()[2:]] == ["auto", "dp"]
    assert [line.split()[-1] for line in profile.splitlines()[2:]] == ["100%", "67%"]
    assert [line.split()[:4] for line in figures.splitlines()[2:]] == [
        ["auto", "3", "0", "3"], ["dp", "3", "1", "2"]
    ]  # fmt: skip
    assert said.startswith("6 of 6 runs done, ")
    assert [row.method for row in read_rows(output)] == 3 * ["auto", "dp"]
    picture = tmp_path / "profile.svg"
    assert run("plot", "profile", output, "-o", picture) == (0, "", "")
    assert picture.read_text().startswith("<?xml")


@pytest.mark.slow
def test_results_can_be_kept_and_verified(run: Run, folder: Path, tmp_path: Path) -> None:
    output, results = tmp_path / "rows.csv", tmp_path / "results"
    arguments = ("bench", folder, "--workers", "1", "-o", output)
    assert run(*arguments, "--verify", "--results", results)[0] == 0
    assert {row.verified for row in read_rows(output)} == {"yes"}
    assert run("verify", folder / "a.json", results / "a.auto-s0-t60-w1.json")[0] == 0


@pytest.mark.slow
def test_a_kill_loses_no_row_and_repeats_none(
    start: Start, run: Run, tmp_path: Path, misbehaving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, output = write_named(tmp_path / "set", *NAMES), tmp_path / "rows.csv"
    process = start("bench", folder, *HANGING, "-o", output)
    hanging = wait_for_id(misbehaving)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert ends(hanging)
    assert named_rows(output) == ["fine-1", "fine-2"]
    before = output.read_bytes()
    with output.open("ab") as stream:
        stream.write(before.splitlines(keepends=True)[1][:50])  # and one that is torn
    monkeypatch.delenv("PYTHONPATH")
    code, _, err = run("bench", folder, *HANGING, "-o", output, "--resume")
    assert (code, err) == (0, "")
    assert output.read_bytes().startswith(before)
    assert named_rows(output) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_how_to_go_on(
    start: Start, run: Run, tmp_path: Path, misbehaving: Path, sent: int
) -> None:
    folder, output = write_named(tmp_path / "set", *NAMES), tmp_path / "rows.csv"
    process = start("bench", folder, *HANGING, "-o", output, "--json")
    hanging = wait_for_id(misbehaving)
    process.send_signal(sent)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == NOT_PROVEN
    assert ends(hanging)
    document = json.loads(out)
    jsonschema.validate(document, schema("bench-summary"))
    assert (document["runs"], document["finished"]) == (4, 2)
    assert err == (
        f"dfopt: {output}: interrupted, 2 of 4 runs are left; "
        "go on with the same command and --resume\n"
    )
    assert named_rows(output) == ["fine-1", "fine-2"]


@pytest.mark.slow
def test_an_interrupt_leaves_a_cluster_at_once(
    start: Start, run: Run, tmp_path: Path, misbehaving: Path
) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    folder, output = write_named(tmp_path / "set", *NAMES), tmp_path / "rows.csv"
    with running_cluster(1) as ((scheduler, _), _):
        process = start("bench", folder, *HANGING, "-o", output, "--scheduler", scheduler)
        hanging = wait_for_id(misbehaving)
        patience = time.monotonic() + PATIENCE_S
        while len(named_rows(output)) < 2:  # what is done before may still be on its way
            assert time.monotonic() < patience
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == NOT_PROVEN
        assert "2 of 4 runs" in out
        assert err.count("\n") == 1
        assert "interrupted, 2 of 4 runs are left" in err
        os.kill(hanging, signal.SIGKILL)
    assert ends(hanging)
    assert named_rows(output) == NAMES[:2]


@pytest.mark.slow
@pytest.mark.usefixtures("misbehaving")
def test_an_error_is_a_row_and_the_exit_code_1(run: Run, tmp_path: Path) -> None:
    folder, output = write_named(tmp_path / "set", "dies", "fine", "lies"), tmp_path / "rows.csv"
    code, out, err = run("bench", folder, *HANGING, "--verify", "-o", output)
    assert code == 1
    assert "1 ended in an error; the column error says why" in out
    assert "1 refuted by the checker; the column error says why" in out
    assert err == (
        f"dfopt: {output}: {folder}/0-dies.json: ended by SIGKILL; was there enough memory? "
        "(and 1 more; see the column error)\n"
    )
    assert named_rows(output) == ["dies", "fine", "lies"]


@pytest.mark.usefixtures("in_this_process")
def test_what_does_not_fit_a_method_is_no_error(run: Run, tmp_path: Path) -> None:
    path, output = tmp_path / "a.json", tmp_path / "rows.csv"
    many = tuple(replace(task, count=50) for task in PLAIN.tasks)
    write_instance(replace(PLAIN, tasks=many), path)
    code, out, err = run("bench", path, "--method", "exhaustive", "-o", output)
    assert (code, err) == (0, "")
    assert out.splitlines()[2].split()[:4] == ["exhaustive", "1", "1", "0"]


@pytest.mark.usefixtures("misbehaving")
def test_an_overrun_is_an_error(
    run: Run,
    tmp_path: Path,
    children: list["subprocess.Popen[bytes]"],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The process is killed long before its own limit of 600 s could end it.
    monkeypatch.setattr("dfopt.bench.benchmark.LONGEST_START_S", 2 - 2 * 600)
    folder, output = write_named(tmp_path / "set", "hangs"), tmp_path / "rows.csv"
    code, _, err = run("bench", folder, "--method", "dp", "--time-limit", "600", "-o", output)
    assert code == 1
    assert "killed: no answer after 2 s" in err
    assert [child.returncode for child in children] == [-signal.SIGKILL]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"set": "nowhere"}, "nowhere: there is no such file"),
        ({"set": "empty"}, "empty: holds no file that ends in .json"),
        ({"set": "set/a.json set/result.json"}, "set/result.json: format: the file holds a result"),
        ({"-o": "no/rows.csv"}, "no/rows.csv: cannot be written: its folder does not exist"),
        ({"-o": "empty"}, "empty: is a folder; name a file in it"),
        ({"-o": "set/a.json"}, "set/a.json: is what is read from"),
        ({"-o": "foreign.csv"}, "foreign.csv: is there already; add --resume"),
        ({"-o": "foreign.csv", "--resume": None}, "foreign.csv: line 1: does not name the columns"),
        ({"--results": "no/folder"}, "no/folder: cannot be written: its folder does not exist"),
        ({"--results": "foreign.csv"}, "foreign.csv: is no folder"),
        ({"--time-limit": "inf"}, "time limit: must be a finite number of seconds"),
        ({"--scheduler": "nonsense"}, "scheduler 'nonsense': "),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_input_is_one_line_and_nothing_is_written(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str | None],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign.csv").write_text("a,b\n1,2\n")
    if "result.json" in str(changes.get("set")):
        Path("set", "result.json").write_text('{"format": "dfopt-result/2"}')
    before = sorted(path for path in tmp_path.rglob("*"))
    options: dict[str, str | None] = {"set": "set", "-o": "rows.csv", **changes}
    names = str(options.pop("set")).split()
    arguments = [word for option in options.items() for word in option if word is not None]
    code, out, err = run("bench", *names, *arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert problem in err
    assert sorted(path for path in tmp_path.rglob("*")) == before
    assert (tmp_path / "foreign.csv").read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize(
    "options",
    [
        ["-o", "rows.csv", "--method", "magic"],
        ["-o", "rows.csv", "--workers", "0"],
        ["-o", "rows.csv", "--time-limit", "-1"],
        ["-o", "rows.csv", "--gap", "2"],
        [],
    ],
)
def test_wrong_usage_has_its_own_exit_code(run: Run, folder: Path, options: list[str]) -> None:
    code, out, _ = run("bench", folder, *options)
    assert (code, out) == (2, "")


@pytest.mark.usefixtures("in_this_process")
def test_the_same_instance_twice_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    (folder / "d.json").write_bytes((folder / "a.json").read_bytes())
    code, _, err = run("bench", folder, "-o", tmp_path / "rows.csv")
    assert code == 0
    assert err == (
        f"dfopt: {folder}: warning: {folder}/d.json is the same instance as {folder}/a.json "
        "and runs once\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_for_terminals(
    terminal: Terminal, folder: Path, tmp_path: Path, quiet: bool
) -> None:
    instances, options = (folder / "a.json", ["--quiet"]) if quiet else (folder, [])
    process = terminal.start("bench", instances, "-o", tmp_path / "rows.csv", *options)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    if quiet:
        assert "1 of 1 runs" in out
        assert terminal.all_shown() == b""
    else:
        assert "3 of 3 runs" in out
        # Whatever comes before may be gone before it was drawn.
        assert b"3 of 3 runs" in terminal.all_shown()
        assert b"left" in terminal.all_shown()


@pytest.mark.usefixtures("in_this_process")
def test_published_bounds_stand_beside_the_rows(run: Run, folder: Path, tmp_path: Path) -> None:
    output, published = tmp_path / "rows.csv", tmp_path / "published.csv"
    (first, value), (second, other), _ = OPTIMA.items()
    lines = ["instance,lower,upper", f"{first},{value},{value}", f"{second},{other - 1},{other}"]
    published.write_text("\n".join(lines))
    arguments = ("bench", folder, "--workers", "1", "-o", output, "--published", published)
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert {"published", "dfopt", "proof", "verdict"} < set(out.splitlines()[1].split())
    assert "1 confirmed, 1 sharper; nothing published about 1 of 3" in out
    code, out, _ = run(*arguments, "--resume", "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema("bench-summary"))
    assert code == 0
    assert document["published"]["verdicts"]["confirmed"] == 1
    assert document["published"]["instances"][1] == {
        "instance": second, "method": "auto", "verdict": "sharper",
        "lower": other - 1, "upper": other,
    }  # fmt: skip


@pytest.mark.usefixtures("in_this_process")
def test_a_contradiction_is_an_error(run: Run, folder: Path, tmp_path: Path) -> None:
    output, published = tmp_path / "rows.csv", tmp_path / "published.csv"
    name, value = next(iter(OPTIMA.items()))
    published.write_text(f"instance,lower,upper\n{name},{value + 1},\n")
    arguments = ("bench", folder, "--workers", "1", "-o", output, "--published", published)
    code, out, err = run(*arguments)
    assert (code, "1 contradiction; nothing published about 2 of 3" in out) == (1, True)
    assert f"{value} contradicts the published ≥ {value + 1}; check both" in err
    published.write_text("nonsense\n")
    assert run(*arguments, "--resume")[0] == 1
