"""Tables of measurements: one JSON file for each table, and all of them as Markdown."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".cache" / "benchmarks"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Figures with what they mean and the command that gives them.

    Parameters
    ----------
    name
        Of the file they are kept in.
    title
        What was measured.
    command
        What measures it again.
    columns, rows
        The figures; numbers are shown with three significant digits.
    notes
        Medians, fits, and what to keep in mind.
    """

    name: str
    title: str
    command: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [
            f"### {self.title}",
            "",
            f"`{self.command}`",
            "",
            _row(self.columns),
            _row(["---"] * len(self.columns)),
            *(_row([_shown(cell) for cell in row]) for row in self.rows),
            "",
            *(f"- {note}" for note in self.notes),
        ]
        return "\n".join(lines).rstrip() + "\n"


def save(table: Table) -> None:
    """Keep a table, in place of an earlier one of the same name."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    document = {**asdict(table), "machine": machine()}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"{table.name}.json").write_text(text, encoding="utf-8")


def machine() -> str:
    """Say what the figures were measured on."""
    return (
        f"{os.cpu_count()} processors ({platform.machine()}), {platform.system()}, "
        f"Python {platform.python_version()}, OR-Tools {version('ortools')}, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _shown(cell: object) -> str:
    match cell:
        case None:
            return "–"
        case float():
            return f"{cell:.3g}" if cell < 1000 else f"{cell:,.0f}"
        case int() if not isinstance(cell, bool):
            return f"{cell:,}"
    return str(cell)
