"""The frame of the command: exit codes, one line an error, quiet ends."""

import json
from pathlib import Path

import pytest

from dfopt import __version__, replace
from dfopt.errors import DfoptError
from dfopt.files import write_instance
from dfopt_cli import __main__
from dfopt_cli.printing import print_text
from tests.cli.conftest import Run, Start
from tests.plot.worked_example import INSTANCE

COMMANDS = (
    "compare", "report", "solve", "verify", "info", "import", "export", "bench", "schema", "plot",
    "trace", "simulate", "generate", "measure", "model",
)  # fmt: skip


def test_help_names_every_command(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    listed = [line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line]
    assert listed == list(COMMANDS)


def test_no_command_shows_the_help_as_wrong_usage(run: Run) -> None:
    code, out, err = run()
    assert code == 2
    assert "Commands:" in out + err


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"dfopt {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["inform"], ["info"], ["info", "--jsn", "a"]])
def test_wrong_usage_is_2(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Error: " in err


def test_a_missing_file_is_one_line(run: Run, tmp_path: Path) -> None:
    code, out, err = run("info", tmp_path / "no.json")
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {tmp_path}/no.json: there is no such file")
    assert err.count("\n") == 1


def test_an_error_names_file_and_place(run: Run, instance_file: Path) -> None:
    document = json.loads(instance_file.read_text())
    document["tasks"][3]["lines"] = -1
    instance_file.write_text(json.dumps(document))
    code, out, err = run("info", instance_file)
    assert (code, out) == (1, "")
    assert err == f"dfopt: {instance_file}: tasks[3].lines: must be at least 0, not -1\n"


def test_errors_on_standard_input_say_so(run: Run) -> None:
    code, _, err = run("info", "-", stdin="{}")
    assert code == 1
    assert err.startswith("dfopt: standard input: ")


def test_an_error_without_a_file_gets_the_one_at_hand(
    run: Run, instance_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise DfoptError("is odd\nand more", place="tasks")

    monkeypatch.setattr("dfopt_cli.input_files.read_instance", fail)
    assert run("info", instance_file) == (
        1, "", f"dfopt: {instance_file}: tasks: is odd and more\n",
    )  # fmt: skip


def test_warnings_are_one_line_that_names_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(
        '{"format": "dfopt-instance/1", "cpus": 1,'
        ' "tasks": [{"id": "t", "type": "T"}], "penalty":'
        ' {"kind": "matrix", "types": ["T"], "switch": [[0]], "start": [1]}}'
    )
    code, out, err = run("info", path, "--json")
    assert code == 0
    assert json.loads(out)["tasks"] == 1
    assert err.startswith(f"dfopt: {path}: warning: penalty.start is given")
    assert err.count("\n") == 1


def test_interrupts_are_quiet(
    run: Run, instance_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dfopt_cli.input_files.read_instance", interrupt)
    assert run("info", instance_file) == (130, "", "")


@pytest.mark.parametrize("bug", [ZeroDivisionError, MemoryError])
def test_bugs_are_seen(
    run: Run, instance_file: Path, monkeypatch: pytest.MonkeyPatch, bug: type[Exception]
) -> None:
    def fail(_: object) -> None:
        raise bug

    monkeypatch.setattr("dfopt_cli.input_files.read_instance", fail)
    with pytest.raises(bug):
        run("info", instance_file)


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error(start: Start) -> None:
    arguments = ("generate", "zipf", "--tasks", "20000", "--cpus", "4", "--fragments", "10")
    with start(*arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, as on Linux")
def test_a_full_disk_is_one_line(start: Start, instance_file: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = start("info", instance_file, stdout=full.fileno())
        _, err = process.communicate()
    assert process.returncode == 1
    assert err == "dfopt: standard output: No space left on device\n"


def test_names_that_the_terminal_cannot_show_are_escaped(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_instance(replace(INSTANCE, name="日本"), path)
    process = start("info", path, encoding="latin-1")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "\\u65e5\\u672c" in out


def test_an_interrupt_while_loading_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dfopt_cli.app.app", interrupted)
    with pytest.raises(SystemExit) as end:
        __main__.main()
    assert end.value.code == 130
    assert capsys.readouterr() == ("", "")


def test_closed_standard_output_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt_cli.printing.sys.stdout", None)
    with pytest.raises(DfoptError, match="standard output: is closed"):
        print_text("lost")
