"""The directive ``model-formula``: an equation of the response-time model, printed by SymPy.

The equations are those of :mod:`dfopt_models.response_time.equations`, which the numbers come
from. Here they are given symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import sympy
from docutils import nodes
from docutils.parsers.rst import Directive
from sympy import Expr, Symbol, latex, nsimplify

from dfopt_models.growth import GrowthPath
from dfopt_models.response_time import equations

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SHARED = {
    "reallocation_time": "t_re",
    "penalty_affinity": "P^A",
    "penalty_no_affinity": "P^NA",
}
OF_POLICY = {
    "work": "w",
    "waste": "W",
    "reallocations": "N",
    "affinity": "alpha",
    "allocation": "a",
}
SPEED, CACHE, PRODUCT, V = sympy.symbols("s c x v", positive=True)


def case(mark: str = "") -> SimpleNamespace:
    """Return a case of symbols; those that depend on the policy end in a mark."""
    names = SHARED | {name: symbol + mark for name, symbol in OF_POLICY.items()}
    return SimpleNamespace(**{name: Symbol(text, positive=True) for name, text in names.items()})


ANY, POLICY, BASELINE = case(), case("_d"), case("_e")


def exact(expression: Any) -> Expr:
    """Return an expression with square roots instead of powers of 0.5."""
    return nsimplify(expression, rational=True)


def polynomial(path: GrowthPath) -> Expr:
    """Return the polynomial in v that stands for the response time along a path."""
    coefficients = equations.path_coefficients(ANY, path)
    return sympy.Add(*(part * V**power for power, part in enumerate(coefficients)))


def root_of_crossover(path: GrowthPath) -> Expr:
    """Return √x* of a policy and the baseline, where their polynomials are linear.

    Every term is multiplied by the policy's allocation, so that it is no fraction.
    """
    own, theirs = (
        [
            sympy.Add(*(term * POLICY.allocation for term in sympy.Add.make_args(coefficient)))
            for coefficient in equations.path_coefficients(each, path)
        ]
        for each in (POLICY, BASELINE)
    )
    return (theirs[1] - own[1]) / (own[0] - theirs[0])


def relative_change_with_cache() -> Expr:
    """Return ∂R/∂c at a fixed product, with a baseline that moves nothing."""
    machine = PRODUCT / CACHE, CACHE
    own, theirs = (equations.response_time(each, *machine) for each in (POLICY, BASELINE))
    still = exact(own / theirs).subs(BASELINE.reallocations, 0)
    return sympy.powsimp(sympy.simplify(sympy.diff(still, CACHE)))


FORMULAS: Mapping[str, tuple[str, Callable[[], Expr]]] = {
    "response-time": ("RT", lambda: equations.response_time(ANY, *map(sympy.Integer, (1, 1)))),
    "future-response-time": ("RT", lambda: equations.response_time(ANY, SPEED, CACHE)),
    "exchange-rate": ("h", lambda: equations.exchange_rate(ANY, SPEED, CACHE)),
    "relative-change-with-cache": (r"\frac{\partial R}{\partial c}", relative_change_with_cache),
    **{
        f"root-of-{path}": (r"\sqrt{x^*}", partial(root_of_crossover, path))
        for path in (GrowthPath.LIMIT, GrowthPath.SPEED)
    },
    **{f"polynomial-{path}": ("p(v)", partial(polynomial, path)) for path in GrowthPath},
}
"""What the documentation shows: the left side, and what gives the right side."""


def formula(name: str) -> str:
    """Return a formula in LaTeX by its name in :data:`FORMULAS`."""
    left, right = FORMULAS[name]
    return f"{left} = {latex(exact(right()))}"


class ModelFormula(Directive):
    """Writes the formula whose name is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the formula."""
        # The formula may change although the page does not.
        self.state.document.settings.env.note_reread()
        name = self.arguments[0]
        if name not in FORMULAS:
            raise self.error(f"there is no formula {name!r}; known are {', '.join(FORMULAS)}")
        text = formula(name)
        node = nodes.math_block(text, text, nowrap=False, number=None, label=None)
        return [node]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("model-formula", ModelFormula)
    return {"parallel_read_safe": True}
