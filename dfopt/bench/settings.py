"""How every instance of a run is solved."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from dfopt.errors import DfoptError, MethodError
from dfopt.problem.stop import FirstOf, GapLimit, StoppingCriterion, TimeLimit
from dfopt.solvers.facade import METHODS, available_processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How every instance of a run is solved; rows of other settings are other rows.

    Parameters
    ----------
    method, seed, workers
        As :func:`dfopt.solve` takes them; ``workers`` is by default one thread per processor.
    time_limit_s
        Seconds after which a search ends without its proof.
    gap_limit
        The gap at which a search ends; None: only with the proof.

    Raises
    ------
    DfoptError
        When a value is impossible.
    """

    method: str = "auto"
    seed: int = 0
    time_limit_s: float = 60.0
    gap_limit: float | None = None
    workers: int = field(default_factory=available_processors)

    def __post_init__(self) -> None:
        check_method(self.method)
        if self.workers < 1:
            raise MethodError(f"needs at least 1 worker, not {self.workers}")
        if self.seed < 0:
            raise DfoptError(f"must be at least 0, not {self.seed}", place="seed")
        if not math.isfinite(self.time_limit_s):
            raise DfoptError(
                f"must be a finite number of seconds, not {self.time_limit_s}", place="time limit"
            )
        self.criterion()

    def criterion(self) -> StoppingCriterion:
        """Return what ends a search before its proof."""
        limits: list[StoppingCriterion] = [TimeLimit(self.time_limit_s)]
        if self.gap_limit is not None:
            limits.append(GapLimit(self.gap_limit))
        return FirstOf(*limits)

    def fields(self) -> dict[str, Any]:
        """Return the values by name, which are also columns of a row."""
        return asdict(self)

    @property
    def label(self) -> str:
        """The settings as part of a file name, such as ``auto-s0-t60-w2``."""
        label = f"{self.method}-s{self.seed}-t{plain(self.time_limit_s)}"
        if self.gap_limit is not None:
            label += f"-g{plain(self.gap_limit)}"
        return f"{label}-w{self.workers}"


def check_method(method: str) -> None:
    """Refuse a method that there is not."""
    if method not in METHODS:
        raise MethodError(f"unknown method {method!r}; known are {', '.join(METHODS)}")


def plain(number: float) -> str:
    """Return a number without a decimal point that says nothing."""
    return repr(float(number)).removesuffix(".0")
