"""A lower bound together with the reason to believe it."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.problem.certificate import Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """No schedule has an objective below ``value``, and ``certificate`` says why."""

    value: int
    certificate: Certificate | None


NOTHING = Bound(value=0, certificate=None)
