"""``dfopt export``."""

import gzip
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_the_name_of_the_file_tells_the_format(
    run: Run, instance_file: Path, tmp_path: Path
) -> None:
    model, table = tmp_path / "model.lp", tmp_path / "model.mps"
    assert run("export", instance_file, "-o", model) == (0, "", "")
    assert run("export", instance_file, "-o", table) == (0, "", "")
    assert model.read_text().endswith("End\n")
    assert table.read_text().endswith("ENDATA\n")


def test_a_name_with_gz_is_gzipped(run: Run, instance_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "model.MPS.gz"
    assert run("export", instance_file, "-o", table) == (0, "", "")
    assert gzip.decompress(table.read_bytes()).endswith(b"ENDATA\n")


def test_standard_output(run: Run, instance_file: Path) -> None:
    code, out, err = run("export", instance_file)
    assert (code, err) == (0, "")
    assert "\nMinimize\n obj: makespan\n" in out
    code, out, _ = run("export", instance_file, "--format", "mps")
    assert out.endswith("ENDATA\n")


@pytest.mark.parametrize("name", ["model.txt", "model"])
def test_other_names_are_refused(run: Run, instance_file: Path, tmp_path: Path, name: str) -> None:
    code, out, err = run("export", instance_file, "-o", tmp_path / name)
    assert (code, out) == (1, "")
    assert "let it end in .lp or .mps, or give --format" in err
    assert run("export", instance_file, "-o", tmp_path / name, "--format", "lp")[0] == 0


def test_what_is_read_is_not_written_over(run: Run, instance_file: Path) -> None:
    code, _, err = run("export", instance_file, "-o", instance_file, "--format", "lp")
    assert code == 1
    assert "is what is read from" in err
