"""Costs of a machine as TOML documents of the format ``dfopt-machine/1``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, parse_toml_of
from dfopt.files.streams import shown_name
from dfopt.structs import DocumentPart, Natural
from dfopt_models.measure.machine import MOVED, Estimate, MachineRun, MeasurementError
from dfopt_models.measure.memory import AccessOrder

PICOSECONDS = {"ps": 1, "ns": 1000}
"""The units that a document may have, in picoseconds."""

MOST_ROUNDING = 0.1
"""A cost in whole nanoseconds may differ from the measured one by at most this share."""


MOST_SPREAD = 0.5
"""Runs may differ by at most this share of their median, where it is the ``read_line``."""


class MachineCosts(DocumentPart):
    """What a machine's caches cost.

    Parameters
    ----------
    time_unit
        The unit of times.
    read_line
        Time to read a line, t_r.
    write_back
        Time to write the whole cache back, T_w.
    lines
        Lines of a CPU's cache.
    """

    time_unit: Literal["ps", "ns"]
    read_line: Natural
    write_back: Natural
    lines: Natural

    def picoseconds(self, time: int) -> int:
        """Return a time of the document in picoseconds."""
        return time * PICOSECONDS[self.time_unit]

    def in_nanoseconds(self) -> tuple[int, int, int]:
        """Return t_r, T_w and the time to fill the cache as whole nanoseconds.

        Raises
        ------
        FileError
            When t_r is too short for whole nanoseconds.
        """
        exact = self.picoseconds(self.read_line) / PICOSECONDS["ns"]
        read_line = round(exact)
        if abs(read_line - exact) > MOST_ROUNDING * exact:
            raise FileError(
                f"is {exact:g} ns, which is no whole number of nanoseconds within "
                f"{MOST_ROUNDING:.0%}; measure another level or order, or give costs in a unit of "
                "your own",
                place="read_line",
            )
        fill = round(self.lines * exact)
        write_back = round(self.picoseconds(self.write_back) / PICOSECONDS["ns"])
        return read_line, write_back, fill


MACHINES = DocumentType(Format.MACHINE, MachineCosts)


def read_machine(path: str | Path) -> MachineCosts:
    """Return the costs in a file of the format ``dfopt-machine/1``.

    Raises
    ------
    FileError
        With file, place and remedy, when the file is not valid.
    """
    try:
        return parse_machine(read_text(path))
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def parse_machine(text: str) -> MachineCosts:
    """Return the costs that a TOML document has.

    Raises
    ------
    FileError
        With place and remedy, when it is not valid.
    """
    return MACHINES.read_parsed(parse_toml_of(text, MACHINES.format))


def machine_document(
    runs: Sequence[MachineRun],
    *,
    lines: int,
    level: str | None = None,
    order: AccessOrder = AccessOrder.RANDOM,
    conditions: Mapping[str, str | float] = {},
) -> dict[str, Any]:
    """Return the document of what several runs measured.

    Parameters
    ----------
    runs
        The runs; figures are the medians of theirs.
    lines
        Lines of a CPU's cache.
    level, order
        Whose t_r is the machine's; by default that of a move, or of the last level.
    conditions
        What else was the case.

    Raises
    ------
    MeasurementError
        When the level was not measured, or its time differs too much between runs.
    """
    reads = list(zip(*(run.reads for run in runs), strict=True))
    levels = list(dict.fromkeys(estimates[0].level for estimates in reads))
    wanted = level or (MOVED if MOVED in levels else levels[-1])
    if wanted not in levels:
        raise MeasurementError(f"there is no level {wanted!r}; measured are {', '.join(levels)}")
    (chosen,) = (
        estimates
        for estimates in reads
        if (estimates[0].level, estimates[0].order) == (wanted, order)
    )
    _check_spread(chosen)
    return {
        "format": str(MACHINES.format),
        "time_unit": "ps",
        "read_line": _picoseconds(median(one.median for one in chosen)),
        "write_back": _picoseconds(lines * median(run.write_back for run in runs)),
        "lines": lines,
        "x-read-line-is": {"level": wanted, "order": str(order)},
        "x-conditions": dict(conditions)
        | {"rejected": round(max(run.rejected for run in runs), 4), "runs": len(runs)},
        "x-read": [_table(estimates) for estimates in reads],
        "x-fill": [
            _table(estimates) for estimates in zip(*(run.fills for run in runs), strict=True)
        ],
        "x-write-back-of-a-line": [_picoseconds(run.write_back) for run in runs],
    }


def _check_spread(estimates: Sequence[Estimate]) -> None:
    medians = [one.median for one in estimates]
    if max(medians) - min(medians) > MOST_SPREAD * abs(median(medians)):
        shown = ", ".join(f"{value:.2f}" for value in medians)
        raise MeasurementError(
            f"{estimates[0].level}, {estimates[0].order}: the runs give {shown} ns a line, which "
            f"differ by more than {MOST_SPREAD:.0%}; measure when the machine is quieter, or "
            "choose another level"
        )


def _table(estimates: Sequence[Estimate]) -> dict[str, Any]:
    first = estimates[0]
    medians = [one.median for one in estimates]
    middle = median(medians)
    return {
        "level": first.level,
        "order": str(first.order),
        "lines": first.lines,
        "median": _picoseconds(middle),
        "quartiles": [
            _picoseconds(median(one.quartiles[end] for one in estimates)) for end in (0, 1)
        ],
        "medians_of_runs": [_picoseconds(value) for value in medians],
        "spread_of_runs": round((max(medians) - min(medians)) / middle, 4) if middle > 0 else 0.0,
        "passes": sum(one.passes for one in estimates),
        "rejected": sum(one.rejected for one in estimates),
    }


def _picoseconds(nanoseconds: float) -> int:
    return max(0, round(nanoseconds * PICOSECONDS["ns"]))
