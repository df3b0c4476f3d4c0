"""The formulas of batching: its equations, given symbols."""

from __future__ import annotations

import sympy
from sympy import Eq, Expr, Min, Mod, Symbol, floor

from dfopt_models.batching import equations
from dfopt_models.formulas import Formula, Quantity, exact

LINES, OWN, G, PER_LINE, PASSES, PL, BATCH, COUNT, THREADS, TURN = sympy.symbols(
    "f s G i r PL B K n turn", positive=True
)
COMPUTING, READING, SWITCH, INCREMENT, CREATION, BATCH_SWITCH, MISS, NEXT = sympy.symbols(
    "b m t_cs t_i t_create t_batch t_m t_seq", positive=True
)
GAIN, FLAT, ROTATION, TOGETHER, SHARE = sympy.symbols("gain t_flat T t_s k", positive=True)

QUANTITIES = (
    Quantity(symbol=LINES, meaning="lines that a thread touches in a pass"),
    Quantity(symbol=COMPUTING, meaning="time of a dispatch without misses", unit="ns"),
    Quantity(symbol=READING, meaning="time to read the footprint", unit="ns"),
    Quantity(symbol=GAIN, meaning="how many times as fast batches are", latex=r"\mathrm{gain}"),
    Quantity(
        symbol=FLAT,
        meaning="t_seq at which granularity changes no limit",
        unit="ns",
        latex=r"t_{\mathrm{flat}}",
    ),
    Quantity(symbol=ROTATION, meaning="time in which every batch has one turn", unit="ns"),
    Quantity(symbol=OWN, meaning="lines of its own that a thread touches in a pass"),
    Quantity(symbol=G, meaning="GRANULARITY, integers of a thread"),
    Quantity(symbol=PER_LINE, meaning="integers that a line holds"),
    Quantity(symbol=PASSES, meaning="passes for which a footprint is read once, 1/k"),
    Quantity(symbol=SHARE, meaning="share of the dispatches that read their footprint"),
    Quantity(symbol=PL, meaning="PROCESS_LENGTH, passes of a thread"),
    Quantity(symbol=BATCH, meaning="MAXBSIZE, threads of a batch"),
    Quantity(symbol=COUNT, meaning="MAXBCOUNT, dispatches of a batch in a turn"),
    Quantity(symbol=THREADS, meaning="threads"),
    Quantity(
        symbol=TURN, meaning="time of a turn, K dispatches", unit="ns", latex=r"t_{\mathrm{turn}}"
    ),
    Quantity(symbol=TOGETHER, meaning="time of a switch, share of the batch's included", unit="ns"),
    Quantity(symbol=SWITCH, meaning="time to switch to the next thread", unit="ns", latex="t_{cs}"),
    Quantity(symbol=INCREMENT, meaning="time to add 1 to an integer in the cache", unit="ns"),
    Quantity(
        symbol=CREATION, meaning="time to make a thread", unit="ns", latex=r"t_{\mathrm{create}}"
    ),
    Quantity(
        symbol=BATCH_SWITCH,
        meaning="time to switch to the next batch",
        unit="ns",
        latex=r"t_{\mathrm{batch}}",
    ),
    Quantity(symbol=MISS, meaning="time to read a line", unit="ns"),
    Quantity(
        symbol=NEXT,
        meaning="time to read the line that follows",
        unit="ns",
        latex=r"t_{\mathrm{seq}}",
    ),
)


def equation(left: Expr, right: Expr) -> Eq:
    """Return an equation as it is; SymPy would simplify it."""
    return Eq(left, exact(right), evaluate=False)


def formula(name: str, meaning: str, left: Symbol, right: Expr) -> Formula:
    """Return a formula of batching."""
    return Formula(
        name=name,
        meaning=meaning,
        source="derived: Debattista, Vella and Cordina, section 7, Figure 4",
        build=lambda: equation(left, right),
        quantities=QUANTITIES,
    )


BATCHING = (
    formula("footprint", "lines of a thread", LINES, equations.footprint(OWN, G, PER_LINE)),
    formula(
        "switching",
        "a switch, with its share of switching batches",
        TOGETHER,
        equations.switching(SWITCH, BATCH_SWITCH, COUNT),
    ),
    formula(
        "computing",
        "a dispatch without misses",
        COMPUTING,
        equations.computing(TOGETHER, G, INCREMENT, CREATION, PL),
    ),
    formula(
        "reading",
        "a footprint from memory",
        READING,
        equations.reading(OWN, MISS, G, PER_LINE, NEXT),
    ),
    formula(
        "gain",
        "batches over one circular queue, where not all footprints fit into the cache",
        GAIN,
        equations.gain(COMPUTING, READING, PASSES),
    ),
    formula(
        "share-read",
        "how often a batch that fits reads a footprint: its whole turns, then the last one",
        SHARE,
        (floor(BATCH * PL / COUNT) * Min(BATCH, COUNT) + Min(BATCH, Mod(BATCH * PL, COUNT)))
        / (BATCH * PL),
    ),
    formula(
        "flat",
        "where the limit does not depend on granularity",
        FLAT,
        equations.flat(OWN, MISS, PER_LINE, INCREMENT, SWITCH),
    ),
    formula(
        "rotation",
        "from one turn of a batch to the next",
        ROTATION,
        equations.rotation(THREADS, BATCH, TURN),
    ),
)
