"""The formulas of the response-time model: its equations, given symbols."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import sympy
from sympy import Derivative, Eq, Expr, Function, Integer, Symbol

from dfopt_models.formulas import Formula, Quantity, exact
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time import equations
from dfopt_models.response_time.crossover import CLOSED_FORMS

SHARED = {
    "reallocation_time": ("t_re", "path length of a reallocation", "s", "t_{re}"),
    "penalty_affinity": ("P_A", "cache penalty of a reallocation with affinity", "s", "P^{A}"),
    "penalty_no_affinity": ("P_NA", "cache penalty of one without affinity", "s", "P^{NA}"),
}
OF_POLICY = {
    "work": ("w", "useful work", "processor-seconds"),
    "waste": ("W", "time of processors that are held without work", "processor-seconds"),
    "reallocations": ("N", "reallocations", ""),
    "affinity": ("alpha", "fraction of them with affinity", ""),
    "allocation": ("a", "average number of processors", ""),
}
"""For each parameter of a case: its symbol, its meaning, its unit, and perhaps its LaTeX."""

SPEED, CACHE, PRODUCT, V = sympy.symbols("s c x v", positive=True)
TIME, RATE, BUDGET, POLYNOMIAL, ROOT, SHARE, PROCESSORS, COPIES = (
    Symbol(name, positive=True)
    for name in ("RT", "h", "W_max", "p", "sqrt_x_star", "E_j", "P", "n")
)
RELATIVE = Function("R")

PAPER = "Vaswani and Zahorjan (1991)"


def case(mark: str = "") -> SimpleNamespace:
    """Return a case of symbols; those that depend on the policy end in a mark."""
    own = {name: f"{symbol}{mark}" for name, (symbol, *_) in OF_POLICY.items()}
    names = {name: symbol for name, (symbol, *_) in SHARED.items()} | own
    return SimpleNamespace(**{name: Symbol(text, positive=True) for name, text in names.items()})


ANY, POLICY, BASELINE = case(), case("_d"), case("_e")

CASES = {
    "": (ANY, ""),
    "_d": (POLICY, " under the policy"),
    "_e": (BASELINE, " under the baseline"),
}
QUANTITIES = (
    Quantity(symbol=TIME.name, meaning="response time", unit="s"),
    Quantity(symbol=RATE.name, meaning="waste that costs as much as one reallocation", unit="s"),
    Quantity(
        symbol=BUDGET.name,
        meaning="waste that makes a policy without reallocations as slow as the baseline",
        unit="processor-seconds",
        latex=r"W_{\max}",
    ),
    Quantity(
        symbol=POLYNOMIAL.name,
        meaning="response time × s × a power of v, where policies are compared",
        latex="p(v)",
    ),
    Quantity(
        symbol=ROOT.name, meaning="root of the product s·c at the crossover", latex=r"\sqrt{x^{*}}"
    ),
    Quantity(symbol=SHARE.name, meaning="share of the machine that does the work of a job j"),
    Quantity(symbol=PROCESSORS.name, meaning="processors of the machine"),
    Quantity(symbol=COPIES.name, meaning="copies of the job that run at a time"),
    *(
        Quantity(symbol=getattr(symbols, name).name, meaning=f"{meaning}{whose}", unit=unit)
        for symbols, whose in CASES.values()
        for name, (_, meaning, unit) in OF_POLICY.items()
    ),
    *(
        Quantity(symbol=getattr(ANY, name).name, meaning=meaning, unit=unit, latex=latex)
        for name, (_, meaning, unit, latex) in SHARED.items()
    ),
    Quantity(symbol=SPEED.name, meaning="speed of a processor, relative to today's"),
    Quantity(symbol=CACHE.name, meaning="size of a cache, relative to today's"),
    Quantity(symbol=PRODUCT.name, meaning="speed times cache"),
    Quantity(
        symbol=V.name, meaning="root of 1/(s·c): the fourth where s = c, else the square root"
    ),
)


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


def equation(left: Expr, right: Expr) -> Eq:
    """Return an equation as it is; SymPy would simplify it."""
    return Eq(left, exact(right), evaluate=False)


RESPONSE_TIME = (
    Formula(
        name="today",
        meaning="response time on today's machine",
        source=f"{PAPER}, equations (1) and (2)",
        build=lambda: equation(TIME, equations.response_time(ANY, Integer(1), Integer(1))),
        quantities=QUANTITIES,
    ),
    Formula(
        name="future",
        meaning="response time on a machine of speed s and cache c",
        source=f"{PAPER}, Figure 7",
        build=lambda: equation(TIME, equations.response_time(ANY, SPEED, CACHE)),
        quantities=QUANTITIES,
    ),
    Formula(
        name="exchange-rate",
        meaning="what a reallocation is worth in waste",
        source="derived: minus the slope of a line of equal response time",
        build=lambda: equation(RATE, equations.exchange_rate(ANY, SPEED, CACHE)),
        quantities=QUANTITIES,
    ),
    Formula(
        name="waste-budget",
        meaning="the waste that a policy can afford without reallocations",
        source="derived: equal response times of the policy and the baseline",
        build=lambda: equation(BUDGET, equations.waste_budget(POLICY, BASELINE, SPEED, CACHE)),
        quantities=QUANTITIES,
    ),
    Formula(
        name="useful-share",
        meaning="useful share of the machine, to be added up over jobs: no policy with this work "
        "shortens all response times to less than this share of them",
        source="derived: work is conserved, if the mix is closed and constant",
        build=lambda: equation(
            SHARE,
            equations.useful_share(ANY, TIME, speed=SPEED, processors=PROCESSORS, copies=COPIES),
        ),
        quantities=QUANTITIES,
    ),
)

CROSSOVER = (
    *(
        Formula(
            name=f"polynomial-{path}",
            meaning=f"what decides which policy is faster, {path.meaning}",
            source="derived: Figure 7 along a path, times positive factors that policies share",
            build=partial(lambda path: equation(POLYNOMIAL, polynomial(path)), path),
            quantities=QUANTITIES,
        )
        for path in GrowthPath
    ),
    *(
        Formula(
            name=f"root-{path}",
            meaning=f"the crossover, {path.meaning}",
            source="derived: the root of the difference of two linear polynomials",
            build=partial(lambda path: equation(ROOT, root_of_crossover(path)), path),
            quantities=QUANTITIES,
        )
        for path in CLOSED_FORMS
    ),
    Formula(
        name="change-with-cache",
        meaning="how the relative response time changes at a fixed product, the baseline still",
        source="derived: Figure 7",
        build=lambda: equation(
            Derivative(RELATIVE(CACHE, PRODUCT), CACHE), relative_change_with_cache()
        ),
        quantities=QUANTITIES,
    ),
)
