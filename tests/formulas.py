"""The values of formulas, for tests that compare them with what functions return."""

from collections.abc import Mapping

from dfopt_models.formulas import Formula


def value_of(formula: Formula, numbers: Mapping[str, float]) -> float:
    """Return the right side with numbers in place of the symbols of these names."""
    right = formula.build().rhs
    return float(right.subs({symbol: numbers[symbol.name] for symbol in right.free_symbols}))
