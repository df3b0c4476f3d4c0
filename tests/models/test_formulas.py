"""Formulas of all models: each is explained, and written as text and in LaTeX."""

import pytest
import sympy

from dfopt_models.errors import ModelError
from dfopt_models.formulas import Formula, Quantity
from dfopt_models.model import MODELS, model_named
from tests.formulas import formula_named, value_of

X, Y = sympy.symbols("x y")


@pytest.mark.parametrize("model", MODELS)
def test_every_formula_is_explained_and_written(model):
    formulas = model_named(model).formulas
    assert formulas
    assert repr(model_named(model)).startswith(f"AnalyticModel(name={model!r}, ")
    assert len({formula.name for formula in formulas}) == len(formulas)
    for formula in formulas:
        assert formula.meaning
        assert formula.source
        assert formula.used
        assert all(quantity.meaning for quantity in formula.used)
        for written in (formula.text(), formula.latex()):
            left, right = written.split(" = ", maxsplit=1)
            assert left
            assert right
            assert "\n" not in written
        assert formula_named(f"{model}/{formula.name}") is formula


def test_a_formula_of_its_own():
    formula = Formula(
        name="double",
        meaning="twice as much",
        source="derived: by hand",
        build=lambda: sympy.Eq(Y, 2 * X, evaluate=False),
        quantities=(
            Quantity("y", "the result", "s", r"\hat{y}"),
            Quantity("x", "what is given", "s"),
        ),
    )
    assert formula.text() == "y = 2*x"
    assert formula.latex() == r"\hat{y} = 2 x"
    assert value_of(formula, {"x": 3.0}) == 6.0


def test_a_symbol_must_be_explained():
    formula = Formula(
        name="double",
        meaning="twice as much",
        source="derived: by hand",
        build=lambda: sympy.Eq(Y, 2 * X, evaluate=False),
        quantities=(Quantity("y", "the result"),),
    )
    with pytest.raises(ModelError, match="'double' does not explain x"):
        _ = formula.used


def test_unknown_models_are_refused():
    with pytest.raises(ModelError, match="there is no model 'chance'; known are response-time"):
        model_named("chance")
