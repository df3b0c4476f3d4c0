"""Formulas of the models: equations, given symbols in the place of numbers.

Each equation is written once. Either the function that computes a number is plain arithmetic, and
the formula is what it returns for symbols; :class:`Equations` keeps such functions. Or a test
compares the value of the formula with the number.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from dfopt.structs import Record
from dfopt_models.errors import ModelError

if TYPE_CHECKING:
    from sympy import Eq, Expr, Symbol

Equation = TypeVar("Equation", bound=Callable[..., Any])

SUBSTACK = re.compile(r"\\substack\{([^{}]*)\}")

WRITTEN = re.compile(r"(\S+)(?: \[(.*?)\])?(?: \$(.*?)\$)?: (.*)")

INTEGER = "integer"
"""Stands for the unit of whole numbers."""

OF_SYMBOLS = {"min": "Min", "sqrt": "sqrt", "exp": "exp"}
"""What SymPy calls functions that equations take as parameters, by their names."""

HOLDERS = {"self": "", "model": "", "case": "", "policy": "_d", "baseline": "_e"}
"""Parameters that hold quantities, and how the symbols end of those that a holder has alone."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A symbol, and what it stands for.

    Parameters
    ----------
    symbol
        Its name, which the text of a formula shows.
    meaning
        What it stands for, in a few words.
    unit
        Its unit, such as ``"s"``; empty for a pure number.
    latex
        How LaTeX writes it; as SymPy does if None.
    integer
        Whether it is a whole number.
    """

    symbol: str
    meaning: str
    unit: str = ""
    latex: str | None = None
    integer: bool | None = None


def quantity(written: str) -> Quantity:
    """Return a quantity that is written as ``symbol [unit] $LaTeX$: meaning``.

    Unit and LaTeX may be left out. The unit of a whole number is ``integer``.
    """
    match = WRITTEN.fullmatch(written)
    assert match is not None, written
    symbol, unit, latex, meaning = match.groups()
    if unit == INTEGER:
        return Quantity(symbol, meaning, latex=latex, integer=True)
    return Quantity(symbol, meaning, unit or "", latex)


class Formula(Record):
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
        symbols = {symbol.name for symbol in self.build().free_symbols}
        missing = symbols - {quantity.symbol for quantity in self.quantities}
        if missing:
            raise ModelError(
                f"the formula {self.name!r} does not explain {', '.join(sorted(missing))}"
            )
        return tuple(quantity for quantity in self.quantities if quantity.symbol in symbols)

    def text(self) -> str:
        """Return the equation on one line of plain text, as Python and SymPy write it."""
        from sympy import sstr

        equation = self.build()
        return f"{sstr(equation.lhs)} = {sstr(equation.rhs)}"

    def latex(self) -> str:
        """Return the equation in LaTeX, without the signs that begin and end mathematics."""
        from sympy import latex

        equation = self.build()
        written = {quantity.symbol: quantity.latex for quantity in self.quantities}
        named = {
            symbol: written[symbol.name]
            for symbol in equation.free_symbols
            if written.get(symbol.name) is not None
        }
        text = " = ".join(latex(side, symbol_names=named) for side in (equation.lhs, equation.rhs))
        # The limits of a double sum stand beside each other: not everything knows substacks.
        return SUBSTACK.sub(lambda limits: limits[1].replace(r"\\", ", "), text)


class Equations:
    """Equations that are functions of numbers, or of symbols.

    Parameters
    ----------
    quantities
        By the names of the functions and of their parameters, as :func:`quantity` takes them. All
        are positive.
    source
        Where an equation comes from that has no source of its own.
    """

    def __init__(self, quantities: Mapping[str, str], source: str = "") -> None:
        self.quantities = {name: quantity(written) for name, written in quantities.items()}
        self.source = source
        self.formulas: list[Formula] = []

    def __call__(
        self, meaning: str, *, source: str = "", name: str = "", **symbols: str
    ) -> Callable[[Equation], Equation]:
        """Return what registers a function, which stays as it is.

        Parameters
        ----------
        meaning, source, name
            Those of the formula; its name is that of the function unless another one is given.
        symbols
            Quantities of parameters under other names, and of the left side (``left``).
        """

        def register(function: Equation) -> Equation:
            self.built(name or function.__name__.replace("_", "-"), meaning, source=source)(
                lambda: equation(
                    self.symbols(symbols.get("left") or function.__name__)[0],
                    self.right(function, symbols),
                )
            )
            return function

        return register

    def built(
        self, name: str, meaning: str, *, source: str = ""
    ) -> Callable[[Callable[[], Eq]], Callable[[], Eq]]:
        """Return what registers a function that returns an equation of symbols."""

        def register(build: Callable[[], Eq]) -> Callable[[], Eq]:
            self.formulas.append(
                Formula(
                    name=name,
                    meaning=meaning,
                    source=source or self.source,
                    build=build,
                    quantities=tuple(self.quantities.values()),
                )
            )
            return build

        return register

    def symbols(self, *quantities: str) -> list[Any]:
        """Return the symbols of quantities, and for each holder an object that has symbols."""
        return [
            self._symbol(name) if name not in HOLDERS else self._holder(HOLDERS[name])
            for name in quantities
        ]

    def _symbol(self, name: str) -> Symbol:
        from sympy import Symbol

        each = self.quantities[name]
        return Symbol(each.symbol, positive=True, integer=each.integer)

    def _holder(self, mark: str) -> SimpleNamespace:
        own = {name: f"{name}{mark}" for name in self.quantities}
        return SimpleNamespace(**{
            name: self._symbol(marked if marked in self.quantities else name)
            for name, marked in own.items()
        })  # fmt: skip

    def right(self, function: Callable[..., Any], symbols: Mapping[str, str]) -> Expr:
        """Return what a function gives for symbols.

        A parameter that has a function as its default gets SymPy's own in its place.
        """
        import sympy

        given = inspect.signature(function).parameters.values()
        return function(
            **{
                each.name: getattr(sympy, OF_SYMBOLS[each.default.__name__])
                if getattr(each.default, "__name__", "") in OF_SYMBOLS
                else self.symbols(symbols.get(each.name, each.name))[0]
                for each in given
            }
        )


def equation(left: Expr, right: Expr) -> Eq:
    """Return an equation as it is; SymPy would simplify it."""
    from sympy import Eq

    return Eq(left, exact(right), evaluate=False)


def exact(expression: Any) -> Expr:
    """Return an expression with fractions in place of floats: square roots, not powers of 0.5."""
    from sympy import nsimplify

    return nsimplify(expression, rational=True)
