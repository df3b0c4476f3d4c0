"""Numbers in lines of text, with errors that name the line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import FileError

LONGEST_SHOWN_CYCLE = 10

_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line that is not blank: its number in the file, from 1, and its text without ends."""

    number: int
    text: str

    @property
    def place(self) -> str:
        """How errors name the line."""
        return f"line {self.number}"

    @property
    def words(self) -> list[str]:
        """What stands between blanks, tabs and commas."""
        return [word for word in _SEPARATORS.split(self.text) if word]

    def error(self, problem: str) -> FileError:
        """Return the error of this line."""
        return FileError(problem, place=self.place)


def source_lines(text: str) -> list[SourceLine]:
    """Return the lines of a text that are not blank."""
    return [
        SourceLine(number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    ]


def is_integers(line: SourceLine) -> bool:
    """Whether a line holds nothing but integers."""
    return bool(line.words) and all(_INTEGER.fullmatch(word) for word in line.words)


def integers(line: SourceLine, *, least: int = 0) -> list[int]:
    """Return the integers in a line.

    Raises
    ------
    FileError
        When there is something else, or one that is less than ``least``.
    """
    numbers = []
    for word in line.words:
        if not _INTEGER.fullmatch(word):
            raise line.error(f"{described(word)} is no integer; correct it")
        number = int(word)
        if number < least:
            raise line.error(f"{number} cannot stand here; the least is {least}")
        if number > LARGEST_TOTAL:
            raise line.error(f"{described(number)} is more than 2^62; use a coarser unit")
        numbers.append(number)
    return numbers


def integers_exactly(line: SourceLine, names: Sequence[str]) -> list[int]:
    """Return the integers in a line, which has one for each name.

    Raises
    ------
    FileError
        When it has more or fewer.
    """
    numbers = integers(line)
    if len(numbers) != len(names):
        raise line.error(f"has {len(numbers)} numbers; it must hold {', '.join(names)}")
    return numbers


class LineReader:
    """Hands out lines from top to bottom."""

    def __init__(self, lines: Iterable[SourceLine]) -> None:
        self._lines = iter(lines)
        self._last = 0

    def next(self, expected: str) -> SourceLine:
        """Return the next line.

        Raises
        ------
        FileError
            When there is none: the file is cut off.
        """
        for line in self._lines:
            self._last = line.number
            return line
        raise FileError(
            f"the file ends here, and {expected} is due; get the whole file",
            place=f"line {self._last}",
        )

    def check_end(self, after: str) -> None:
        """Refuse a further line.

        Raises
        ------
        FileError
            When there is one.
        """
        for line in self._lines:
            raise line.error(f"nothing may follow {after}; remove it, or correct the number")


def check_acyclic(after: Mapping[str, Sequence[str]], lines: Mapping[str, SourceLine]) -> None:
    """Refuse tasks that wait for each other in a cycle; the error names the line of one of them.

    Raises
    ------
    FileError
        With the names of the tasks in the cycle.
    """
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        cycle: list[str] = list(reversed(error.args[1]))
        shown = cycle
        if len(cycle) > LONGEST_SHOWN_CYCLE:
            shown = [*cycle[:2], "…", *cycle[-2:]]
        raise lines[cycle[0]].error(
            f"{cycle[0]} waits for itself: {' → '.join(shown)}; remove one of these predecessors"
        ) from None
