"""Picture files: their formats, whole or not at all, and the same every time."""

import os
import stat
import threading
from pathlib import Path

import pytest

from dfopt.errors import FileError
from dfopt.plot import check_picture_name, plot_schedule, save_picture
from dfopt.problem.instance import Instance
from dfopt.problem.schedule import Schedule

MAGIC = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


@pytest.mark.parametrize("ending", [*MAGIC, ".SVG"])
def test_the_ending_tells_the_format(
    ending: str, tmp_path: Path, worked_example: Instance, data_affinity: Schedule
) -> None:
    save_picture(plot_schedule(worked_example, data_affinity), tmp_path / f"a{ending}")
    assert (tmp_path / f"a{ending}").read_bytes().startswith(MAGIC[ending.lower()])
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("ending", MAGIC)
def test_the_same_schedule_gives_the_same_bytes(
    ending: str, tmp_path: Path, worked_example: Instance, data_affinity: Schedule
) -> None:
    for name in ("a", "b"):
        save_picture(plot_schedule(worked_example, data_affinity), tmp_path / f"{name}{ending}")
    one, other = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("a", "b"))
    assert one == other
    assert b"Date" not in one


@pytest.mark.parametrize("name", ["a.jpg", "a", "svg", "-", "a.svg.gz", ""])
def test_other_endings_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(FileError, match=r"\.svg, \.png or \.pdf") as caught:
        check_picture_name(name)
    assert caught.value.file == (name or "''")


def test_a_missing_folder_is_named(
    tmp_path: Path, worked_example: Instance, data_affinity: Schedule
) -> None:
    path = tmp_path / "missing" / "a.svg"
    with pytest.raises(FileError) as caught:
        save_picture(plot_schedule(worked_example, data_affinity), path)
    assert caught.value.file == str(path)


def test_a_failed_write_leaves_the_old_picture(
    tmp_path: Path,
    worked_example: Instance,
    data_affinity: Schedule,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "a.svg"
    path.write_text("old")

    def full(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match="No space left on device"):
        save_picture(plot_schedule(worked_example, data_affinity), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_replaced_picture_keeps_its_permissions(
    tmp_path: Path, worked_example: Instance, data_affinity: Schedule
) -> None:
    path = tmp_path / "a.png"
    path.write_text("old")
    path.chmod(0o640)
    save_picture(plot_schedule(worked_example, data_affinity), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_picture_can_go_through_a_pipe(
    tmp_path: Path, worked_example: Instance, data_affinity: Schedule
) -> None:
    path = tmp_path / "a.png"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    save_picture(plot_schedule(worked_example, data_affinity), path)
    reader.join()
    assert received[0].startswith(MAGIC[".png"])
    assert stat.S_ISFIFO(path.stat().st_mode)
