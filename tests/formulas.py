"""The values of formulas, for tests that compare them with what functions return."""

from collections.abc import Mapping

from dfopt_models.formulas import Formula
from dfopt_models.model import model_named


def formula_named(name: str) -> Formula:
    """Return a formula by its name, ``MODEL/FORMULA``."""
    model, _, wanted = name.partition("/")
    (formula,) = (each for each in model_named(model).formulas if each.name == wanted)
    return formula


def value_of(formula: Formula, numbers: Mapping[str, float]) -> float:
    """Return the right side with numbers in place of the symbols of these names."""
    right = formula.build().rhs
    return float(right.subs({symbol: numbers[symbol.name] for symbol in right.free_symbols}))
