"""An integer program: variables, constraints and an objective, with notes for those who read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Sense = Literal["<=", ">=", "="]
Terms = Iterable[tuple[int, str]]
"""A linear expression: coefficients and names of variables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramVariable:
    """A variable, at least 0.

    Parameters
    ----------
    name
        Letters, digits, dots and underscores.
    upper
        Its upper bound; None: there is none.
    is_integer
        Whether it takes integers only.
    """

    name: str
    upper: int | None = None
    is_integer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearConstraint:
    """A constraint: the terms, compared with the right side.

    Parameters
    ----------
    name
        As that of a variable.
    terms
        Coefficients other than 0, and names of variables, each once.
    sense, right
        The comparison, and the constant on the right.
    """

    name: str
    terms: tuple[tuple[int, str], ...]
    sense: Sense
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerProgram:
    """An integer program, to be minimised.

    Parameters
    ----------
    name
        Letters, digits, dots and underscores.
    notes
        Lines for those who read it: what it is, and what its variables mean.
    variables, constraints
        In the order in which they are read best.
    objective
        The terms of what is minimised.
    """

    name: str
    notes: tuple[str, ...]
    variables: tuple[ProgramVariable, ...]
    constraints: tuple[LinearConstraint, ...]
    objective: tuple[tuple[int, str], ...]


class ProgramBuilder:
    """Collects variables and constraints."""

    def __init__(self) -> None:
        self.variables: list[ProgramVariable] = []
        self.constraints: list[LinearConstraint] = []

    def binary(self, name: str) -> str:
        """Add a variable that is 0 or 1, and return its name."""
        return self.integer(name, 1)

    def integer(self, name: str, upper: int) -> str:
        """Add an integer variable from 0 to ``upper``, and return its name."""
        self.variables.append(ProgramVariable(name=name, upper=upper, is_integer=True))
        return name

    def number(self, name: str) -> str:
        """Add a variable without an upper bound, and return its name."""
        self.variables.append(ProgramVariable(name=name))
        return name

    def require(self, name: str, terms: Terms, sense: Sense, right: int) -> None:
        """Add a constraint; terms of the same variable are added up."""
        coefficients: dict[str, int] = {}
        for coefficient, variable in terms:
            coefficients[variable] = coefficients.get(variable, 0) + coefficient
        kept = tuple((value, variable) for variable, value in coefficients.items() if value)
        self.constraints.append(LinearConstraint(name=name, terms=kept, sense=sense, right=right))
