"""An integer program with notes for those who read it, as an LP file or a free MPS file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

LINE_LENGTH = 96
"""Characters in a line of an LP file; readers take at least 255."""

Terms = Iterable[tuple[int, str]]
"""A linear expression: coefficients and names of variables."""


class LinearConstraint(NamedTuple):
    """The terms by variable, none of them 0, compared with the right side."""

    terms: dict[str, int]
    sense: Literal["<=", ">=", "="]
    right: int


class IntegerProgram:
    """An integer program, to be minimised. Names have letters, digits, dots and underscores.

    Parameters
    ----------
    name
        Its name.

    Attributes
    ----------
    notes : list of str
        Lines for those who read it: what it is, and what its variables mean.
    variables : dict
        In the order in which they are read best; all are at least 0. Those with an upper bound take
        integers only, the others have None.
    constraints : dict
        By their names.
    objective
        The terms of what is minimised.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: list[str] = []
        self.variables: dict[str, int | None] = {}
        self.constraints: dict[str, LinearConstraint] = {}
        self.objective: Terms = ()

    def integer(self, name: str, upper: int = 1) -> str:
        """Add an integer variable from 0 to ``upper``, and return its name."""
        assert name not in self.variables, name
        self.variables[name] = upper
        return name

    def number(self, name: str) -> str:
        """Add a variable without an upper bound, and return its name."""
        assert name not in self.variables, name
        self.variables[name] = None
        return name

    def require(self, name: str, terms: Terms, sense: Literal["<=", ">=", "="], right: int) -> None:
        """Add a constraint; terms of the same variable are added up."""
        sums: dict[str, int] = {}
        for coefficient, variable in terms:
            sums[variable] = sums.get(variable, 0) + coefficient
        kept = {variable: coefficient for variable, coefficient in sums.items() if coefficient}
        assert name not in self.constraints, name
        self.constraints[name] = LinearConstraint(kept, sense, right)


def lp_text(program: IntegerProgram) -> str:
    """Return a program as an LP file (CPLEX's format)."""
    lines = [*_comments(program, "\\"), "Minimize"]
    lines += _wrapped(["obj:", *_signed(program.objective)])
    lines.append("Subject To")
    for name, row in program.constraints.items():
        terms = ((coefficient, variable) for variable, coefficient in row.terms.items())
        lines += _wrapped([f"{name}:", *_signed(terms), f"{row.sense} {row.right}"])
    integers = {name: upper for name, upper in program.variables.items() if upper is not None}
    larger = [name for name, upper in integers.items() if upper != 1]
    binaries = [name for name, upper in integers.items() if upper == 1]
    lines.append("Bounds")
    lines += [f" {name} <= {integers[name]}" for name in larger]
    for heading, names in (("Generals", larger), ("Binaries", binaries)):
        if names:
            lines += [heading, *_wrapped(names)]
    return "\n".join([*lines, "End", ""])


def mps_text(program: IntegerProgram) -> str:
    """Return a program as a free MPS file."""
    signs = {"<=": "L", ">=": "G", "=": "E"}
    rows = program.constraints
    columns: dict[str, list[tuple[str, int]]] = {name: [] for name in program.variables}
    for coefficient, variable in program.objective:
        columns[variable].append(("obj", coefficient))
    for name, row in rows.items():
        for variable, coefficient in row.terms.items():
            columns[variable].append((name, coefficient))
    lines = [*_comments(program, "*"), f"NAME {program.name}", "ROWS", " N obj"]
    lines += [f" {signs[row.sense]} {name}" for name, row in rows.items()]
    lines.append("COLUMNS")
    is_integer = False
    for variable, upper in program.variables.items():
        if is_integer is (upper is None):
            is_integer = not is_integer
            lines.append(f" MARKER MARKER 'MARKER' '{'INTORG' if is_integer else 'INTEND'}'")
        # A variable that stands nowhere is named in the objective, so that readers know it.
        for name, coefficient in columns[variable] or [("obj", 0)]:
            lines.append(f" {variable} {name} {coefficient}")
    if is_integer:
        lines.append(" MARKER MARKER 'MARKER' 'INTEND'")
    lines.append("RHS")
    lines += [f" RHS {name} {row.right}" for name, row in rows.items() if row.right]
    lines.append("BOUNDS")
    lines += [
        f" UP BOUND {variable} {upper}"
        for variable, upper in program.variables.items()
        if upper is not None
    ]
    return "\n".join([*lines, "ENDATA", ""])


def _comments(program: IntegerProgram, sign: str) -> Iterator[str]:
    """Yield the notes as comments, in ASCII: names of tasks may hold any character."""
    for note in program.notes:
        plain = note.encode("ascii", "backslashreplace").decode()
        shown = "".join(each if each.isprintable() else "?" for each in plain)
        for line in textwrap.wrap(
            shown, LINE_LENGTH, subsequent_indent="  ", drop_whitespace=False
        ) or [""]:
            yield f"{sign} {line}".rstrip()


def _signed(terms: Terms) -> list[str]:
    """Return terms with their signs."""
    shown: list[str] = []
    for coefficient, name in terms:
        sign = "- " if coefficient < 0 else "+ " if shown else ""
        factor = "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
        shown.append(f"{sign}{factor}{name}")
    return shown


def _wrapped(words: Iterable[str]) -> list[str]:
    """Return words in lines of a moderate length; no line ends within a word."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) >= LINE_LENGTH and lines[-1].strip():
            lines.append("  ")
        lines[-1] += f" {word}"
    return lines
