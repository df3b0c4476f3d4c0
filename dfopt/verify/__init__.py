"""The checker: it decides whether a result is true, without trust in the solver that wrote it.

Everything is computed anew from the definition of the switch costs: the schedule's cost, whether
the result's claims fit together, and the proof of its lower bound. No solver is imported. Read
:mod:`~dfopt.verify.checker` first.
"""

from dfopt.verify.checker import ScheduleFigures, Verification, verify

__all__ = ["ScheduleFigures", "Verification", "verify"]
