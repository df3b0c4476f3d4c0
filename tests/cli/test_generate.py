"""``dfopt generate``."""

import json
from pathlib import Path

import pytest

from dfopt.files import fingerprint, read_instance
from dfopt.generate import matrix, tight, uniform, zipf
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from tests.cli.conftest import Run

ZIPF = ("generate", "zipf", "--tasks", "40", "--cpus", "4", "--fragments", "10")

FAMILIES = {
    "zipf": (ZIPF, zipf(tasks=40, cpus=4, fragments=10)),
    "zipf with everything": (
        (
            *ZIPF, "--skew", "0.5", "--lines", "7", "--read-line", "2", "--write-back", "3",
            "--leaves", "0.25,0.25,0.5", "--exec", "6", "--capacity", "12", "--objective",
            "makespan", "--cold-start", "--final-write-back", "--seed", "9",
        ),
        zipf(
            tasks=40,
            cpus=4,
            fragments=10,
            skew=0.5,
            lines=7,
            penalty=PenaltyF(read_line=2, write_back=3),
            leaves=(0.25, 0.25, 0.5),
            exec=6,
            capacity=12,
            objective=Objective.MAKESPAN,
            cold_start=True,
            final_write_back=True,
            seed=9,
        ),
    ),
    "uniform": (
        ("generate", "uniform", "--tasks", "9", "--cpus", "2", "--fragments", "3", "--penalty",
         "g", "--fill", "5", "--write-back", "6", "--capacity", "unlimited"),
        uniform(
            tasks=9,
            cpus=2,
            fragments=3,
            penalty=PenaltyG(fill=5, write_back=6),
            capacity="unlimited",
        ),
    ),
    "tight": (
        ("generate", "tight", "--cpus", "2", "--per-cpu", "5", "--fragments", "3"),
        tight(cpus=2, per_cpu=5, fragments=3),
    ),
    "matrix": (
        ("generate", "matrix", "--tasks", "9", "--cpus", "2", "--types", "3", "--largest", "8",
         "--triangle", "--cold-start", "--objective", "total-penalty"),
        matrix(
            tasks=9,
            cpus=2,
            types=3,
            largest=8,
            triangle=True,
            cold_start=True,
            objective=Objective.TOTAL_PENALTY,
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_options_are_the_parameters(run: Run, tmp_path: Path, family: str) -> None:
    arguments, instance = FAMILIES[family]
    path = tmp_path / "instance.json"
    assert run(*arguments, "-o", path) == (0, "", "")
    assert read_instance(path) == instance


def test_standard_output_gets_the_same_document(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    run(*ZIPF, "-o", path)
    assert run(*ZIPF) == run(*ZIPF, "-o", "-") == (0, path.read_text(), "")


def test_a_name_in_gz_is_compressed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "instance.json.gz"
    run(*ZIPF, "-o", path)
    assert fingerprint(read_instance(path)) == fingerprint(FAMILIES["zipf"][1])


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--fragments", "41", "must be at most the number of tasks, 40, not 41"),
        ("--fragments", "0", ""),
        ("--cpus", "-1", ""),
        ("--skew", "nan", ""),
        ("--leaves", "1,0", "must be three numbers such as 0.5,0.2,0.3"),
        ("--leaves", "a,b,c", "must be three numbers such as 0.5,0.2,0.3"),
        ("--leaves", "0.5,0.5,0.5", "must add up to 1, not 1.5"),
        ("--capacity", "tight", "must be balanced, unlimited or a number"),
        ("--capacity", "0", "must be at least 1"),
        ("--fill", "3", "counts with --penalty g only"),
        ("--seed", "1.5", ""),
        ("--objective", "makespam", ""),
        ("--write-back", str(2**62), ""),
    ],
)
def test_wrong_values_are_wrong_usage(run: Run, option: str, value: str, said: str) -> None:
    code, out, err = run(*ZIPF, option, value)
    assert (code, out) == (2, "")
    assert "Error: Invalid value for" in err
    assert option in err or value == str(2**62)
    assert said in err


def test_read_line_counts_under_f_only(run: Run) -> None:
    code, _, err = run(*ZIPF, "--penalty", "g", "--read-line", "3")
    assert code == 2
    assert "--read-line: counts with --penalty f only" in err


def test_nothing_is_written_where_nothing_can_be(run: Run, tmp_path: Path) -> None:
    code, out, err = run(*ZIPF, "-o", tmp_path / "missing" / "a.json")
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {tmp_path}/missing/a.json: ")


def test_output_is_an_instance(run: Run) -> None:
    _, out, _ = run(*ZIPF)
    assert json.loads(out)["format"] == "dfopt-instance/1"
