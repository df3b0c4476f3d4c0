"""Data frames of pandas and polars."""

import subprocess
import sys
from typing import Any

import pytest

from dfopt import frames
from dfopt.errors import MethodError
from dfopt.frames import FrameLibrary, frame_of, installed_library, with_unit

LARGE = 2**62 - 1


@pytest.fixture(params=["pandas", "polars"])
def library(request: pytest.FixtureRequest) -> FrameLibrary:
    pytest.importorskip(request.param)
    name: FrameLibrary = request.param
    return name


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame of either library, with None where there is no value."""
    if hasattr(frame, "to_dicts"):
        found: list[dict[str, Any]] = frame.to_dicts()
        return found
    pandas = pytest.importorskip("pandas")
    return [
        {name: None if pandas.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def test_values_come_back_as_they_were(library: FrameLibrary) -> None:
    rows = [("a", 1, LARGE, 0.5, True), (None, None, None, None, False)]
    frame = frame_of(("text", "small", "large", "share", "flag"), rows, library)
    assert [tuple(row.values()) for row in rows_of(frame)] == rows
    assert list(frame.columns) == ["text", "small", "large", "share", "flag"]


def test_columns_are_there_without_rows(library: FrameLibrary) -> None:
    frame = frame_of(("first", "second"), [], library)
    assert (list(frame.columns), len(frame)) == (["first", "second"], 0)


def test_a_library_that_is_unknown_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MethodError, match="'excel' makes no data frames; name pandas or polars"):
        frame_of(("a",), [], "excel")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MethodError, match="polars is not installed; run 'pip install polars'"):
        frame_of(("a",), [], "polars")


@pytest.mark.parametrize(
    ("there", "chosen"),
    [(("pandas", "polars"), "pandas"), (("pandas",), "pandas"), (("polars",), "polars")],
)
def test_pandas_comes_before_polars(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], chosen: str
) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda name: name in there or None)
    assert installed_library() == chosen


def test_without_either_there_is_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda _: None)
    with pytest.raises(MethodError, match="run 'pip install pandas'"):
        installed_library()


def test_units_are_ends_of_names() -> None:
    units = {"ns": frozenset({"wait"}), None: frozenset({"cost"}), "CPU cycles": frozenset({"run"})}
    names = [with_unit(column, units) for column in ("wait", "cost", "run", "share")]
    assert names == ["wait_ns", "cost", "run_CPU_cycles", "share"]


@pytest.mark.slow
def test_nothing_is_imported_unasked() -> None:
    program = "import sys, dfopt.bench, dfopt.compare, dfopt.simulate.run_queue;"
    check = "sys.exit(bool({'pandas', 'polars'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program + check], check=False).returncode == 0
