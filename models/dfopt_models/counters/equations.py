"""The equations of the model of counters, as plain arithmetic for numbers and for symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt_models.formulas import Equations, Quantity

if TYPE_CHECKING:
    from sympy import Eq

PAPER = "Ziemba, Upadhyaya and Pai (2009), section 4"

equation = Equations(
    {
        "penalty": Quantity("S_pq", "switch penalty of type q after type p", "ns", "S_{pq}"),
        "best_dispatch": Quantity("t_q", "time of a dispatch of type q at its best", "ns"),
        "best_ipc": Quantity(
            "IPC_best", "best instructions per cycle of type q", latex=r"\mathit{IPC}_{q}^{*}"
        ),
        "ipc": Quantity(
            "IPC_pq",
            "instructions per cycle of type q after type p",
            latex=r"\mathit{IPC}_{pq}",
        ),
        "curve": Quantity("IPC_t", "instructions per cycle after t", latex=r"\mathit{IPC}(t)"),
        "mean": Quantity("IPC_mean", "their mean up to t", latex=r"\overline{\mathit{IPC}}(t)"),
        "limit": Quantity("a", "instructions per cycle of a warm thread"),
        "deficit": Quantity("D", "what a cold thread lacks of it"),
        "time_constant": Quantity("tau", "time constant of the warm-up", "ms"),
        "time": Quantity("t", "time since the dispatch", "ms"),
        "lost": Quantity("t_lost", "time that a cold slice loses", "ms", r"t_{\mathrm{lost}}"),
        "idle": Quantity("u", "share of time for which the type's own CPU is idle"),
        "cpus": Quantity("m", "CPUs"),
        "time_share": Quantity("h", "the type's share of the CPU time before"),
        "saving": Quantity("v", "share of its time that the type saves"),
        "wasted": Quantity("w", "share of the type's time that the harmful type costs it"),
        "harmed_share": Quantity("p", "share of its dispatches after the harmful type"),
    },
    f"derived: from the shares of {PAPER}",
)


@equation(
    "what the type before costs a dispatch",
    name="penalty",
    source="derived: from instructions per cycle, which the paper gives",
    left="penalty",
)
def penalty_after(*, best_dispatch: Any, best_ipc: Any, ipc: Any) -> Any:
    """Return the time that a dispatch loses because it runs at ``ipc`` and not at ``best_ipc``."""
    return best_dispatch * (best_ipc / ipc - 1)


@equation(
    "how a thread becomes faster (the instantaneous reading)",
    name="warm-up",
    source=f"derived: a curve through the points of {PAPER}",
    left="curve",
)
def instantaneous(
    time: Any, limit: Any, deficit: Any, time_constant: Any, exp: Any = np.exp
) -> Any:
    """Return IPC(t)."""
    return limit - deficit * exp(-time / time_constant)


@equation.built(
    "warm-up-mean",
    "what counters of a slice give (the cumulative reading)",
    source="derived: the mean of the curve",
)
def cumulative_equation() -> Eq:
    """Return the mean of IPC from 0 to t in its usual form."""
    from sympy import Eq, exp

    mean, limit, deficit, tau, time = equation.symbols(
        "mean", "limit", "deficit", "time_constant", "time"
    )
    return Eq(mean, limit - deficit * tau / time * (1 - exp(-time / tau)), evaluate=False)


def cumulative(time: Any, limit: Any, deficit: Any, time_constant: Any) -> Any:
    """Return the mean of IPC from 0 to t."""
    relative = time / time_constant
    # (1 − exp(−x)) / x, which is 1 at 0.
    share = np.ones_like(relative)
    np.divide(-np.expm1(-relative), relative, out=share, where=relative > 0)
    return limit - deficit * share


@equation("what a cold slice loses in the end", source="derived: the integral of 1 − IPC(t)/a")
def lost(limit: Any, deficit: Any, time_constant: Any) -> Any:
    """Return the work that a cold slice loses, as time at full speed."""
    return deficit * time_constant / limit


@equation("idle time of a CPU for one type", name="idle", left="idle")
def idle_share(*, cpus: Any, time_share: Any, saving: Any) -> Any:
    """Return the share of time for which a CPU is idle that has a thread type of its own."""
    return 1 - cpus * time_share * (1 - saving)


@equation(
    "what a harmful type costs, with IPC relative to the type's mean", name="wasted", left="wasted"
)
def wasted_share(*, harmed_share: Any, ipc: Any) -> Any:
    """Return the time that a type loses after a harmful one, as a share of its time.

    ``ipc`` is relative to the mean of the type.
    """
    return harmed_share * (1 / ipc - 1)


FORMULAS = equation.formulas
