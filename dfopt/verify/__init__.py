"""The checker: it decides whether a result is true, without trust in the solver that wrote it.

Everything is computed anew from the definition of the switch costs: the schedule's cost, whether
the result's claims fit together, and the proof of its lower bound. No solver is imported.

The files read like this. What a result claims: ``checker``, then ``schedule`` (its cost) and
``claims`` (whether they agree). Why its bound holds: ``tree`` (forks leave no schedule out, and
leaves prove), and what leaves are over: ``contents`` (``block_costs``, ``relaxed_contents``,
``exact_contents``), ``supports`` (``support_orders``, ``support_worth``), ``orders`` of one CPU
(``arcs``, ``beginnings``), ``sizes`` and ``groups``. Or, without weights: ``counting``
(``energy``) and ``enumeration`` (``layers``, where tasks wait).
"""

from dfopt.verify.checker import verify
from dfopt.verify.verification import ScheduleFigures, Verification

__all__ = ["ScheduleFigures", "Verification", "verify"]
