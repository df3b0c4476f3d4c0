"""The formulas of the queueing model: its functions given symbols, and sums in closed form."""

from __future__ import annotations

from functools import cache

import sympy
from sympy import Eq, Min, Sum, Symbol, binomial, factorial

from dfopt_models.formulas import Formula, Quantity, exact
from dfopt_models.queueing import brackets

SERVICE, RELOAD, LONGER, TIME, SHARE, WAITS = sympy.symbols("S C S_g T rho P_w", positive=True)
CPUS, WAYS, SETS, LINES, OTHERS = sympy.symbols("N K s F G", positive=True, integer=True)
PARTITION, LOW, HIGH = sympy.symbols("T_p rho_1 rho_2", positive=True)
LINE_TIME, ALONE, AFTER = sympy.symbols("t P_NA P_A", positive=True)
COUNT, OTHER = sympy.symbols("i j", integer=True, nonnegative=True)

QUANTITIES = (
    Quantity(symbol=TIME.name, meaning="mean response time of a queue for all CPUs", unit="s"),
    Quantity(
        symbol=PARTITION.name, meaning="mean response time with a queue for each CPU", unit="s"
    ),
    Quantity(symbol=SERVICE.name, meaning="mean service time", unit="s"),
    Quantity(symbol=RELOAD.name, meaning="time to read data again on another CPU", unit="s"),
    Quantity(symbol=LONGER.name, meaning="mean service time with reloads", unit="s"),
    Quantity(symbol=SHARE.name, meaning="load: share of the time that jobs take without reloads"),
    Quantity(symbol=WAITS.name, meaning="probability that a job waits (Erlang's C)"),
    Quantity(symbol=CPUS.name, meaning="number of CPUs"),
    Quantity(symbol=LOW.name, meaning="load from which on a global queue is better"),
    Quantity(symbol=HIGH.name, meaning="load up to which it is"),
    Quantity(symbol=ALONE.name, meaning="time to load a program anew", unit="s", latex="P^{NA}"),
    Quantity(
        symbol=AFTER.name,
        meaning="time to read again what another program replaced",
        unit="s",
        latex="P^{A}",
    ),
    Quantity(symbol=LINE_TIME.name, meaning="time to read a line", unit="s"),
    Quantity(symbol=SETS.name, meaning="sets of the cache"),
    Quantity(symbol=WAYS.name, meaning="ways: lines that a set holds"),
    Quantity(symbol=LINES.name, meaning="lines that the program uses, its footprint"),
    Quantity(symbol=OTHERS.name, meaning="lines that the other program uses"),
)

ERLANG = "Erlang (1917), M/M/N"
FOOTPRINT = "after Thiebaut and Stone (1987)"


def waits() -> Eq:
    """Return Erlang's C in its usual form."""
    work = CPUS * SHARE
    all_busy = work**CPUS / factorial(CPUS)
    fewer = Sum(work**COUNT / factorial(COUNT), (COUNT, 0, CPUS - 1))
    return Eq(WAITS, all_busy / ((1 - SHARE) * fewer + all_busy))


def in_a_set(lines: Symbol, count: Symbol) -> sympy.Expr:
    """Return the probability that ``count`` of the lines lie in a set."""
    return binomial(lines, count) * SETS**-count * (1 - 1 / SETS) ** (lines - count)


def alone() -> Eq:
    """Return P^NA."""
    held = Sum(Min(COUNT, WAYS) * in_a_set(LINES, COUNT), (COUNT, 0, LINES))
    return Eq(ALONE, LINE_TIME * SETS * held)


def after() -> Eq:
    """Return P^A."""
    excess = sympy.Max(0, Min(COUNT, WAYS) + Min(OTHER, WAYS) - WAYS)
    chances = in_a_set(LINES, COUNT) * in_a_set(OTHERS, OTHER)
    lost = Sum(excess * chances, (OTHER, 0, OTHERS), (COUNT, 0, LINES))
    return Eq(AFTER, LINE_TIME * SETS * lost)


@cache
def crossing(number: int) -> sympy.Expr:
    """Return a load at which two CPUs reach the same with either queue."""
    return sympy.simplify(exact(brackets.two_cpu_crossings(SERVICE, RELOAD, sympy.sqrt)[number]))


def _formula(name: str, meaning: str, source: str, build: object) -> Formula:
    return Formula(
        name=name,
        meaning=meaning,
        source=source,
        build=build,  # type: ignore[arg-type]
        quantities=QUANTITIES,
    )


QUEUEING = (
    _formula(
        "partition",
        "each CPU has its own jobs",
        "M/M/1",
        lambda: Eq(PARTITION, brackets.partition(SERVICE, SHARE)),
    ),
    _formula("waiting", "all CPUs share a queue", ERLANG, waits),
    _formula(
        "ideal",
        "response time of that queue without reloads",
        ERLANG,
        lambda: Eq(TIME, SERVICE * (1 + WAITS / (CPUS * (1 - SHARE)))),
    ),
    _formula(
        "reloads",
        "service time with reloads, for any CPU; the load grows alike, to rho S_g / S",
        "derived: a job finds its data on one CPU of N",
        lambda: Eq(LONGER, brackets.moving_service(SERVICE, RELOAD, CPUS)),
    ),
    _formula(
        "lower-crossing",
        "two CPUs: a global queue beats partitions from this load on",
        "derived: from partition, ideal and reloads",
        lambda: Eq(LOW, crossing(0)),
    ),
    _formula(
        "upper-crossing",
        "two CPUs: and up to this load",
        "derived: from partition, ideal and reloads",
        lambda: Eq(HIGH, crossing(1)),
    ),
    _formula("no-affinity", "a program comes to a cache without its lines", FOOTPRINT, alone),
    _formula("affinity", "another program ran in between", FOOTPRINT, after),
)
