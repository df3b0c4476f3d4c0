"""Integer programs as text: LP files (CPLEX's format) and free MPS files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from dfopt.integer_program.program import IntegerProgram

LINE_LENGTH = 96
"""Characters in a line of an LP file; readers take at least 255."""


def lp_text(program: IntegerProgram) -> str:
    """Return a program as an LP file."""
    lines = [*_comments(program, "\\"), "Minimize"]
    lines += _wrapped(["obj:", *_terms(program.objective)])
    lines.append("Subject To")
    for row in program.constraints:
        lines += _wrapped([f"{row.name}:", *_terms(row.terms), f"{row.sense} {row.right}"])
    integers = [variable for variable in program.variables if variable.is_integer]
    lines.append("Bounds")
    lines += [f" {each.name} <= {each.upper}" for each in integers if each.upper != 1]
    for heading, names in (
        ("Generals", [each.name for each in integers if each.upper != 1]),
        ("Binaries", [each.name for each in integers if each.upper == 1]),
    ):
        if names:
            lines.append(heading)
            lines += _wrapped(names)
    return "\n".join([*lines, "End", ""])


def mps_text(program: IntegerProgram) -> str:
    """Return a program as a free MPS file."""
    signs = {"<=": "L", ">=": "G", "=": "E"}
    columns: dict[str, list[tuple[str, int]]] = {each.name: [] for each in program.variables}
    for coefficient, name in program.objective:
        columns[name].append(("obj", coefficient))
    for row in program.constraints:
        for coefficient, name in row.terms:
            columns[name].append((row.name, coefficient))
    lines = [*_comments(program, "*"), f"NAME {program.name}", "ROWS", " N obj"]
    lines += [f" {signs[row.sense]} {row.name}" for row in program.constraints]
    lines.append("COLUMNS")
    is_integer = False
    for variable in program.variables:
        if variable.is_integer != is_integer:
            is_integer = variable.is_integer
            lines.append(f" MARKER MARKER 'MARKER' '{'INTORG' if is_integer else 'INTEND'}'")
        # A variable that stands nowhere is named in the objective, so that readers know it.
        for row_name, coefficient in columns[variable.name] or [("obj", 0)]:
            lines.append(f" {variable.name} {row_name} {coefficient}")
    if is_integer:
        lines.append(" MARKER MARKER 'MARKER' 'INTEND'")
    lines.append("RHS")
    lines += [f" RHS {row.name} {row.right}" for row in program.constraints if row.right]
    lines.append("BOUNDS")
    lines += [
        f" UP BOUND {variable.name} {variable.upper}"
        for variable in program.variables
        if variable.upper is not None
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


def _terms(terms: Iterable[tuple[int, str]]) -> list[str]:
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
