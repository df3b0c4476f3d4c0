"""The equations of Vaswani and Zahorjan's model, each written once.

They take plain numbers, NumPy arrays or SymPy symbols. A case is anything that has the attributes
of :class:`.Case`.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from dfopt_models.formulas import Equations, Quantity, equation, exact
from dfopt_models.growth import GrowthPath

if TYPE_CHECKING:
    from sympy import Eq, Expr

PAPER = "Vaswani and Zahorjan (1991)"

HALF = 0.5
"""The exponent of a square root."""

CLOSED_FORMS = (GrowthPath.LIMIT, GrowthPath.SPEED)
"""The paths along which the crossover has a closed form."""

SHARED = {
    "reallocation_time": Quantity("t_re", "path length of a reallocation", "s", "t_{re}"),
    "penalty_affinity": Quantity(
        "P_A", "cache penalty of a reallocation with affinity", "s", "P^{A}"
    ),
    "penalty_no_affinity": Quantity("P_NA", "cache penalty of one without affinity", "s", "P^{NA}"),
}
OF_POLICY = {
    "work": Quantity("w", "useful work", "processor-seconds"),
    "waste": Quantity("W", "time of processors that are held without work", "processor-seconds"),
    "reallocations": Quantity("N", "reallocations"),
    "affinity": Quantity("alpha", "fraction of them with affinity"),
    "allocation": Quantity("a", "average number of processors"),
}
MARKS = {"case": "", "policy": "_d", "baseline": "_e"}
"""For each case: how its symbols end that depend on the policy."""

WHOSE = {"": "", "_d": " under the policy", "_e": " under the baseline"}

QUANTITIES = {
    "time": Quantity("RT", "response time", "s"),
    "exchange_rate": Quantity("h", "waste that costs as much as one reallocation", "s"),
    "waste_budget": Quantity(
        "W_max",
        "waste that makes a policy without reallocations as slow as the baseline",
        "processor-seconds",
        latex=r"W_{\max}",
    ),
    "polynomial": Quantity(
        "p", "response time × s × a power of v, where policies are compared", latex="p(v)"
    ),
    "root": Quantity(
        "sqrt_x_star", "root of the product s·c at the crossover", latex=r"\sqrt{x^{*}}"
    ),
    "useful_share": Quantity("E_j", "share of the machine that does the work of a job j"),
    "processors": Quantity("P", "processors of the machine"),
    "copies": Quantity("n", "copies of the job that run at a time"),
    **{
        f"{name}{mark}": Quantity(f"{each.symbol}{mark}", f"{each.meaning}{whose}", each.unit)
        for mark, whose in WHOSE.items()
        for name, each in OF_POLICY.items()
    },
    **SHARED,
    "speed": Quantity("s", "speed of a processor, relative to today's"),
    "cache": Quantity("c", "size of a cache, relative to today's"),
    "product": Quantity("x", "speed times cache"),
    "v": Quantity("v", "root of 1/(s·c): the fourth where s = c, else the square root"),
}


class CaseEquations(Equations):
    """Equations of cases: those of a job, of a policy, and of the baseline."""

    def symbols(self, *quantities: str) -> list[Any]:
        """Return symbols, and cases of symbols."""
        return [
            self.case(MARKS[name]) if name in MARKS else super(CaseEquations, self).symbols(name)[0]
            for name in quantities
        ]

    def case(self, mark: str) -> SimpleNamespace:
        """Return a case of symbols; those that depend on the policy end in a mark."""
        own = {name: f"{name}{mark}" for name in OF_POLICY} | {name: name for name in SHARED}
        return SimpleNamespace(**dict(zip(own, super().symbols(*own.values()), strict=True)))


today = CaseEquations(QUANTITIES, PAPER)
crossing = CaseEquations(QUANTITIES)


def cache_penalty(case: Any, cache: Any = 1) -> Any:
    """Return the cache penalty of a reallocation in seconds, before memory becomes faster.

    Equation (2) on today's machine. A cache c times as large keeps more data, so that P^A falls
    as 1/c; it also loses more data, so that P^NA grows as √c (Figure 7).
    """
    return (
        case.penalty_no_affinity * cache**HALF * (1 - case.affinity)
        + case.penalty_affinity * case.affinity / cache
    )


@today.built("today", "response time on today's machine", source=f"{PAPER}, equations (1) and (2)")
def today_equation() -> Eq:
    """Return equations (1) and (2)."""
    from sympy import Integer

    time, case = today.symbols("time", "case")
    return equation(time, response_time(case, Integer(1), Integer(1)))


@today(
    "response time on a machine of speed s and cache c",
    name="future",
    source=f"{PAPER}, Figure 7",
    left="time",
)
def response_time(case: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the response time in seconds: Figure 7, which is equation (1) on today's machine."""
    reallocation = case.reallocation_time / speed + cache_penalty(case, cache) / speed**HALF
    return (case.reallocations * reallocation + (case.waste + case.work) / speed) / case.allocation


@today(
    "what a reallocation is worth in waste",
    source="derived: minus the slope of a line of equal response time",
)
def exchange_rate(case: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the waste that costs as much as one reallocation, in today's processor-seconds.

    It is minus the slope of a line of equal response time in the plane of reallocations and waste.
    """
    return speed**HALF * cache_penalty(case, cache) + case.reallocation_time


@today(
    "the waste that a policy can afford without reallocations",
    source="derived: equal response times of the policy and the baseline",
    case="policy",
)
def waste_budget(case: Any, baseline: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the waste that makes a policy without reallocations as slow as the baseline.

    It is in today's processor-seconds; each reallocation takes its exchange rate from it.
    """
    cost = baseline.reallocations * exchange_rate(baseline, speed, cache)
    given = cost + baseline.waste + baseline.work
    return (case.allocation * given - baseline.allocation * case.work) / baseline.allocation


@today(
    "useful share of the machine, to be added up over jobs: no policy with this work shortens all "
    "response times to less than this share of them",
    source="derived: work is conserved, if the mix is closed and constant",
)
def useful_share(
    case: Any, time: Any, *, speed: Any = 1, processors: Any = 1, copies: Any = 1
) -> Any:
    """Return the share of a machine that does the work of a job's copies, given a response time."""
    return copies * case.work / (processors * speed * time)


def speed_and_cache(path: GrowthPath, product: Any) -> tuple[Any, Any]:
    """Return speed and cache of the machine along a path at a product of both.

    Without the affinity term only the product matters, so that ``limit`` may run along any path.
    """
    if path is GrowthPath.EQUAL:
        return product**HALF, product**HALF
    return (1 + 0 * product, product) if path is GrowthPath.CACHE else (product, 1 + 0 * product)


def path_coefficients(case: Any, path: GrowthPath) -> tuple[Any, ...]:
    """Return the coefficients of the polynomial in v that stands for the response time on a path.

    The variable v is a root of 1/product: the fourth root along ``equal``, else the square root.
    It is 1 today and falls to 0 as machines grow. The polynomial is the response time times the
    speed times a power of v. This factor is positive and the same for every policy. So two
    policies are equal where their polynomials are, and the one with the larger polynomial is
    slower.

    Returns
    -------
    tuple
        The coefficient of v⁰ first.
    """
    computing = case.reallocations * case.reallocation_time + case.waste + case.work
    fixed = computing / case.allocation
    with_affinity = case.penalty_affinity * case.reallocations * case.affinity / case.allocation
    without = case.penalty_no_affinity * case.reallocations * (1 - case.affinity) / case.allocation
    match path:
        case GrowthPath.EQUAL:
            return without, 0, fixed, with_affinity
        case GrowthPath.SPEED:
            return without + with_affinity, fixed
        case GrowthPath.CACHE:
            return without, fixed, 0, with_affinity
        case GrowthPath.LIMIT:
            return without, fixed


def product_of(v: Any, path: GrowthPath) -> Any:
    """Return the product of speed and cache that v stands for; see :func:`path_coefficients`."""
    return v ** (-4 if path is GrowthPath.EQUAL else -2)


def polynomial(path: GrowthPath) -> Eq:
    """Return the polynomial in v that stands for the response time along a path."""
    from sympy import Add

    left, case, v = crossing.symbols("polynomial", "case", "v")
    coefficients = path_coefficients(case, path)
    return equation(left, Add(*(part * v**power for power, part in enumerate(coefficients))))


def root_of_crossover(path: GrowthPath) -> Eq:
    """Return √x* of a policy and the baseline, where their polynomials are linear.

    Every term is multiplied by the policy's allocation, so that it is no fraction.
    """
    from sympy import Add

    left, policy, baseline = crossing.symbols("root", "policy", "baseline")
    own, theirs = (
        [
            Add(*(term * policy.allocation for term in Add.make_args(coefficient)))
            for coefficient in path_coefficients(each, path)
        ]
        for each in (policy, baseline)
    )
    return equation(left, (theirs[1] - own[1]) / (own[0] - theirs[0]))


for each_path in GrowthPath:
    crossing.built(
        f"polynomial-{each_path}",
        f"what decides which policy is faster, {each_path.meaning}",
        source="derived: Figure 7 along a path, times positive factors that policies share",
    )(partial(polynomial, each_path))

for each_path in CLOSED_FORMS:
    crossing.built(
        f"root-{each_path}",
        f"the crossover, {each_path.meaning}",
        source="derived: the root of the difference of two linear polynomials",
    )(partial(root_of_crossover, each_path))


@crossing.built(
    "change-with-cache",
    "how the relative response time changes at a fixed product, the baseline still",
    source="derived: Figure 7",
)
def relative_change_with_cache() -> Eq:
    """Return ∂R/∂c at a fixed product, with a baseline that moves nothing."""
    from sympy import Derivative, Function, diff, powsimp, simplify

    policy, baseline, product, cache = crossing.symbols("policy", "baseline", "product", "cache")
    own, theirs = (response_time(each, product / cache, cache) for each in (policy, baseline))
    still: Expr = exact(own / theirs).subs(baseline.reallocations, 0)
    change = powsimp(simplify(diff(still, cache)))
    return equation(Derivative(Function("R")(cache, product), cache), change)


RESPONSE_TIME_FORMULAS, CROSSOVER_FORMULAS = today.formulas, crossing.formulas
