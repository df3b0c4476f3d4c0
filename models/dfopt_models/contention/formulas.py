"""The formulas of contention: its equations, given symbols."""

from __future__ import annotations

import sympy
from sympy import Eq, Expr, Symbol

from dfopt_models.contention import equations
from dfopt_models.formulas import Formula, Quantity, exact

N, L, Z, S, Q, U, R, X = sympy.symbols("N L Z S Q U R X", positive=True)
QUEUE, TIME, BUSY, USES = sympy.symbols("Q_new R_new U_new X_new", positive=True)
SPIN, WORK, KNEE, FREE, BUSY_CONSTANT = sympy.symbols("spin work N_knee p_0 U_c", positive=True)
CHANCE, BEFORE, LOOKS, REACHED, ALONE = sympy.symbols("pi_b pi_a l P_b rho_b", positive=True)
LOAD, FIRST, ALL_BUSY, WAIT, WAIT_FIRST = sympy.symbols("rho f C W W_1", positive=True)
OFFERED, LOST, LOST_BEFORE = sympy.symbols("a B_N B_M", positive=True)

SHARE, OWN, MEAN, AT_COUNTED, AT_FREE, COUNT = sympy.symbols(
    "q q_own y y_counted y_free n", positive=True
)

MVA = "mean value analysis (Reiser and Lavenberg 1980)"

QUANTITIES = (
    Quantity(symbol=N.name, meaning="CPUs"),
    Quantity(symbol=L.name, meaning="locks alike"),
    Quantity(symbol=Z.name, meaning="think time between two uses of a lock", unit="any unit"),
    Quantity(symbol=S.name, meaning="time for which a lock is held", unit="the same"),
    Quantity(symbol=Q.name, meaning="mean number of CPUs at a lock, of N - 1 CPUs"),
    Quantity(
        symbol=U.name, meaning="share of the time that a lock is held, of N - 1 CPUs: its misses"
    ),
    Quantity(symbol=R.name, meaning="time from asking for a lock to releasing it"),
    Quantity(symbol=X.name, meaning="uses in a unit of time, of N CPUs"),
    Quantity(symbol=TIME.name, meaning="time from asking for a lock to releasing it", latex="R"),
    Quantity(symbol=USES.name, meaning="uses in a unit of time, of N CPUs", latex="X"),
    Quantity(symbol=QUEUE.name, meaning="mean number of CPUs at a lock, of N CPUs", latex="Q_N"),
    Quantity(
        symbol=BUSY.name, meaning="share of the time that a lock is held, of N CPUs", latex="U_N"
    ),
    Quantity(symbol=SPIN.name, meaning="share of the CPUs that waits", latex=r"\mathrm{spin}"),
    Quantity(symbol=WORK.name, meaning="CPUs that compute or hold a lock", latex=r"\mathrm{work}"),
    Quantity(symbol=KNEE.name, meaning="CPUs that would hold one lock all the time", latex="N^{*}"),
    Quantity(symbol=FREE.name, meaning="share of constant holds after which nobody waits"),
    Quantity(
        symbol=BUSY_CONSTANT.name, meaning="share of the time that a lock is held, constant holds"
    ),
    Quantity(
        symbol=CHANCE.name,
        meaning="chance that a queue has a thread of the range of scan b",
        latex=r"\pi_b",
    ),
    Quantity(
        symbol=BEFORE.name,
        meaning="the same for the scan before; 0 for the first",
        latex=r"\pi_{b-1}",
    ),
    Quantity(
        symbol=ALONE.name,
        meaning="chance of a thread in range b, if none is in the narrower one",
        latex=r"\rho_b",
    ),
    Quantity(
        symbol=LOOKS.name, meaning="queues that scan b looks at, once it begins", latex=r"\ell_b"
    ),
    Quantity(symbol=REACHED.name, meaning="chance that scan b begins"),
    Quantity(symbol=LOAD.name, meaning="share of their time that CPUs are busy", latex=r"\rho"),
    Quantity(symbol=FIRST.name, meaning="share of the load in the first band", latex="f"),
    Quantity(
        symbol=ALL_BUSY.name, meaning="chance that all CPUs are busy (Erlang's delay formula)"
    ),
    Quantity(symbol=WAIT.name, meaning="mean wait for a CPU without bands", unit="services"),
    Quantity(symbol=WAIT_FIRST.name, meaning="mean wait of the first band", unit="services"),
    Quantity(
        symbol=OFFERED.name, meaning="buffers that would be in use if there were always enough"
    ),
    Quantity(
        symbol=LOST.name, meaning="chance that all of N buffers are in use (Erlang's loss formula)"
    ),
    Quantity(
        symbol=LOST_BEFORE.name, meaning="the same of N - 1 buffers; 1 for none", latex="B_{N-1}"
    ),
    Quantity(symbol=SHARE.name, meaning="share of the uses that choose among all locks alike"),
    Quantity(
        symbol=OWN.name, meaning="share of the uses of the own lock", latex=r"q_{\mathrm{own}}"
    ),
    Quantity(symbol=COUNT.name, meaning="CPUs counted so far, one of them the CPU that asks"),
    Quantity(symbol=MEAN.name, meaning="time, or misses, of a CPU, over the locks that it takes"),
    Quantity(
        symbol=AT_COUNTED.name,
        meaning="the same at the lock of another counted CPU",
        latex=r"y_{\mathrm{counted}}",
    ),
    Quantity(symbol=AT_FREE.name, meaning="the same at any other lock", latex=r"y_{\mathrm{free}}"),
)


def equation(left: Expr, right: Expr) -> Eq:
    """Return an equation as it is; SymPy would simplify it."""
    return Eq(left, exact(right), evaluate=False)


def formula(name: str, meaning: str, source: str, left: Symbol, right: Expr) -> Formula:
    """Return a formula of contention."""
    return Formula(
        name=name,
        meaning=meaning,
        source=source,
        build=lambda: equation(left, right),
        quantities=QUANTITIES,
    )


CONTENTION = (
    formula(
        "residence",
        "time at a lock, exponential holds",
        f"{MVA}: the arrival theorem",
        TIME,
        equations.residence(S, Q),
    ),
    formula(
        "residence-constant",
        "the same for constant holds, approximately",
        "derived: of the hold in progress half is left",
        TIME,
        equations.residence_constant(S, Q, U),
    ),
    formula("throughput", "uses of N CPUs", MVA, USES, equations.throughput(N, Z, R)),
    formula("queue", "CPUs at each lock", "Little's law", QUEUE, equations.queue(X, R, L)),
    formula("busy", "how busy each lock is", "the utilisation law", BUSY, equations.busy(X, S, L)),
    formula(
        "spinning",
        "CPUs that wait",
        "derived: neither computing nor holding",
        SPIN,
        equations.spinning(N, Z, S, X),
    ),
    formula("work", "CPUs that do not wait", "derived", WORK, equations.work(Z, S, X)),
    formula(
        "knee", "where one lock saturates", "derived: asymptotic bounds", KNEE, equations.knee(Z, S)
    ),
    formula(
        "busy-constant",
        "how busy one lock with constant holds is",
        "derived: a hold, and after a share of them a time until the first CPU comes",
        BUSY_CONSTANT,
        equations.busy_constant(N, Z, S, FREE),
    ),
    formula(
        "own-share",
        "how often the own lock is taken",
        "derived: among all locks it is one of N",
        OWN,
        equations.own_share(SHARE, N),
    ),
    formula(
        "own-lock-first",
        "time or misses of a CPU, over the locks that it takes",
        f"{MVA}, with a class for each CPU",
        MEAN,
        equations.over_locks(SHARE, N, COUNT, AT_COUNTED, AT_FREE),
    ),
    formula(
        "range",
        "what a scan may still find",
        "derived: ranges are nested",
        ALONE,
        equations.chance_beyond(CHANCE, BEFORE),
    ),
    formula(
        "looks",
        "queues that a scan looks at",
        "derived: it ends where it finds one",
        LOOKS,
        equations.looks(ALONE, N),
    ),
    formula(
        "reached",
        "whether a scan begins",
        "derived: the one before found nothing",
        REACHED,
        equations.reached(BEFORE, N),
    ),
    formula(
        "wait",
        "wait for a CPU",
        "Erlang 1917, first come, first served",
        WAIT,
        equations.wait_in_line(N, LOAD, ALL_BUSY),
    ),
    formula(
        "wait-first-band",
        "wait of the first of two bands",
        "Cobham 1954",
        WAIT_FIRST,
        equations.wait_with_priority(WAIT, LOAD, FIRST),
    ),
    formula(
        "loss",
        "a list of buffers is empty",
        "Erlang 1917, by recursion",
        LOST,
        equations.overflow(LOST_BEFORE, OFFERED, N),
    ),
)
