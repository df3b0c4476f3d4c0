"""Formulas of the models: what a formula is, and where each model keeps its own.

A model has a module of formulas that imports SymPy at its top and is imported by nothing but
:func:`formulas_of`. Its formulas stand in a tuple of :class:`Formula`, and :data:`MODELS` has a
line that says where. The command of that name then prints them (the command line has a file that
says how), and a page of the documentation shows one by ``MODEL/FORMULA``.

Each equation is written once. Either the functions that compute numbers are plain arithmetic, and
the formula is what they return for symbols. Or a test compares :meth:`Formula.value` with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dfopt_models.errors import ModelError

if TYPE_CHECKING:
    from sympy import Eq, Expr, Symbol

SUBSTACK = re.compile(r"\\substack\{([^{}]*)\}")

MODELS: Mapping[str, tuple[str, str]] = {
    "response-time": ("dfopt_models.response_time.formulas", "RESPONSE_TIME"),
    "crossover": ("dfopt_models.response_time.formulas", "CROSSOVER"),
    "contention": ("dfopt_models.contention.formulas", "CONTENTION"),
    "batching": ("dfopt_models.batching.formulas", "BATCHING"),
    "counters": ("dfopt_models.counters.formulas", "COUNTERS"),
    "queueing": ("dfopt_models.queueing.formulas", "QUEUEING"),
}
"""For each command of the models: the module of its formulas, and the name of the tuple there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A symbol, and what it stands for.

    Parameters
    ----------
    symbol
        The symbol; its name is what the text of a formula shows.
    meaning
        What it stands for, in a few words.
    unit
        Its unit, such as ``"s"``; empty for a pure number.
    latex
        How LaTeX writes it; as SymPy does if None.
    """

    symbol: Symbol
    meaning: str
    unit: str = ""
    latex: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """An equation of a model.

    Parameters
    ----------
    name
        Its name, which no other formula of the model has.
    meaning
        What it says, in a few words.
    source
        Where it comes from: a paper with the number of the equation, or ``"derived: …"``.
    build
        Returns the equation; one symbol, or a derivative, stands on its left side.
    quantities
        All symbols that the equation may have, in the order in which they are explained.
    """

    name: str
    meaning: str
    source: str
    build: Callable[[], Eq]
    quantities: tuple[Quantity, ...]

    @property
    def used(self) -> tuple[Quantity, ...]:
        """The quantities that the equation has.

        Raises
        ------
        ModelError
            When the equation has a symbol that is not explained.
        """
        symbols = self.build().free_symbols
        explained = {quantity.symbol for quantity in self.quantities}
        if symbols - explained:
            names = ", ".join(sorted(str(symbol) for symbol in symbols - explained))
            raise ModelError(f"the formula {self.name!r} does not explain {names}")
        return tuple(quantity for quantity in self.quantities if quantity.symbol in symbols)

    def text(self) -> str:
        """Return the equation on one line of plain text, as Python and SymPy write it."""
        from sympy import sstr

        equation = self.build()
        return f"{sstr(equation.lhs)} = {sstr(equation.rhs)}"

    def latex(self) -> str:
        """Return the equation in LaTeX, without the signs that begin and end mathematics."""
        from sympy import latex

        named = {
            quantity.symbol: quantity.latex
            for quantity in self.quantities
            if quantity.latex is not None
        }
        equation = self.build()
        text = " = ".join(latex(side, symbol_names=named) for side in (equation.lhs, equation.rhs))
        # The limits of a double sum stand beside each other: not everything knows substacks.
        return SUBSTACK.sub(lambda limits: limits[1].replace(r"\\", ", "), text)

    def value(self, numbers: Mapping[str, float]) -> float:
        """Return the right side with numbers in place of the symbols of these names.

        Raises
        ------
        ModelError
            When a number is missing.
        """
        right = self.build().rhs
        symbols = {symbol.name: symbol for symbol in right.free_symbols}
        missing = ", ".join(sorted(symbols.keys() - numbers.keys()))
        if missing:
            raise ModelError(f"the formula {self.name!r} needs numbers for {missing}")
        return float(right.subs({symbol: numbers[name] for name, symbol in symbols.items()}))


def formulas_of(model: str) -> tuple[Formula, ...]:
    """Return the formulas of a model by the name of its command; this imports SymPy."""
    module, name = MODELS[model]
    formulas: tuple[Formula, ...] = getattr(import_module(module), name)
    return formulas


def formula_named(name: str) -> Formula:
    """Return a formula by its name, ``MODEL/FORMULA``.

    Raises
    ------
    ModelError
        When there is no such model or formula; the message names the existing ones.
    """
    model, _, wanted = name.partition("/")
    if model not in MODELS:
        raise ModelError(f"there is no model {model!r}; known are {', '.join(MODELS)}")
    known = {formula.name: formula for formula in formulas_of(model)}
    if wanted not in known:
        raise ModelError(f"{model} has no formula {wanted!r}; known are {', '.join(known)}")
    return known[wanted]


def exact(expression: Any) -> Expr:
    """Return an expression with fractions in place of floats: square roots, not powers of 0.5."""
    from sympy import nsimplify

    return nsimplify(expression, rational=True)
