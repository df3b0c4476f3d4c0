"""The formulas of the model of counters: its equations, given symbols."""

from __future__ import annotations

import sympy
from sympy import Eq, Symbol

from dfopt_models.counters.equations import idle_share, penalty_after, wasted_share
from dfopt_models.formulas import Formula, Quantity

PENALTY, TIME, BEST, IPC = (
    Symbol(name, positive=True) for name in ("S_pq", "t_q", "IPC_best", "IPC_pq")
)
CURVE, LIMIT, DEFICIT, TAU, T, LOST = (
    Symbol(name, positive=True) for name in ("IPC_t", "a", "D", "tau", "t", "t_lost")
)
MEAN = Symbol("IPC_mean", positive=True)
IDLE, CPUS, SHARE, SAVING = (Symbol(name, positive=True) for name in ("u", "m", "h", "v"))
WASTED, HARMED = (Symbol(name, positive=True) for name in ("w", "p"))

PAPER = "Ziemba, Upadhyaya and Pai (2009), section 4"

QUANTITIES = (
    Quantity(symbol=PENALTY.name, meaning="switch penalty of type q after type p", unit="ns",
             latex="S_{pq}"),
    Quantity(symbol=TIME.name, meaning="time of a dispatch of type q at its best", unit="ns"),
    Quantity(symbol=BEST.name, meaning="best instructions per cycle of type q",
             latex=r"\mathit{IPC}_{q}^{*}"),
    Quantity(symbol=IPC.name, meaning="instructions per cycle of type q after type p",
             latex=r"\mathit{IPC}_{pq}"),
    Quantity(symbol=CURVE.name, meaning="instructions per cycle after t", latex=r"\mathit{IPC}(t)"),
    Quantity(symbol=MEAN.name, meaning="their mean up to t", latex=r"\overline{\mathit{IPC}}(t)"),
    Quantity(symbol=LIMIT.name, meaning="instructions per cycle of a warm thread"),
    Quantity(symbol=DEFICIT.name, meaning="what a cold thread lacks of it"),
    Quantity(symbol=TAU.name, meaning="time constant of the warm-up", unit="ms"),
    Quantity(symbol=T.name, meaning="time since the dispatch", unit="ms"),
    Quantity(symbol=LOST.name, meaning="time that a cold slice loses", unit="ms",
             latex=r"t_{\mathrm{lost}}"),
    Quantity(symbol=IDLE.name, meaning="share of time for which the type's own CPU is idle"),
    Quantity(symbol=CPUS.name, meaning="CPUs"),
    Quantity(symbol=SHARE.name, meaning="the type's share of the CPU time before"),
    Quantity(symbol=SAVING.name, meaning="share of its time that the type saves"),
    Quantity(symbol=WASTED.name, meaning="share of the type's time that the harmful type costs it"),
    Quantity(symbol=HARMED.name, meaning="share of its dispatches after the harmful type"),
)  # fmt: skip

COUNTERS = (
    Formula(
        name="penalty",
        meaning="what the type before costs a dispatch",
        source="derived: from instructions per cycle, which the paper gives",
        build=lambda: Eq(
            PENALTY, penalty_after(best_dispatch=TIME, best_ipc=BEST, ipc=IPC), evaluate=False
        ),
        quantities=QUANTITIES,
    ),
    Formula(
        name="warm-up",
        meaning="how a thread becomes faster (the instantaneous reading)",
        source=f"derived: a curve through the points of {PAPER}",
        build=lambda: Eq(CURVE, LIMIT - DEFICIT * sympy.exp(-T / TAU), evaluate=False),
        quantities=QUANTITIES,
    ),
    Formula(
        name="warm-up-mean",
        meaning="what counters of a slice give (the cumulative reading)",
        source="derived: the mean of the curve",
        build=lambda: Eq(
            MEAN, LIMIT - DEFICIT * TAU / T * (1 - sympy.exp(-T / TAU)), evaluate=False
        ),
        quantities=QUANTITIES,
    ),
    Formula(
        name="lost",
        meaning="what a cold slice loses in the end",
        source="derived: the integral of 1 − IPC(t)/a",
        build=lambda: Eq(LOST, DEFICIT * TAU / LIMIT, evaluate=False),
        quantities=QUANTITIES,
    ),
    Formula(
        name="idle",
        meaning="idle time of a CPU for one type",
        source=f"derived: from the shares of {PAPER}",
        build=lambda: Eq(
            IDLE, idle_share(cpus=CPUS, time_share=SHARE, saving=SAVING), evaluate=False
        ),
        quantities=QUANTITIES,
    ),
    Formula(
        name="wasted",
        meaning="what a harmful type costs, with IPC relative to the type's mean",
        source=f"derived: from the shares of {PAPER}",
        build=lambda: Eq(WASTED, wasted_share(harmed_share=HARMED, ipc=IPC), evaluate=False),
        quantities=QUANTITIES,
    ),
)
