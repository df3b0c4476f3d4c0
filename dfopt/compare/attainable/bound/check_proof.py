"""Check a proof of a lower bound within a waiting limit: in integers, and without any solver.

The bound is recomputed from the prices by weak duality. Take any permitted schedule and one
stretch. The schedule meets each condition of
:class:`~dfopt.compare.attainable.bound.proof.StretchPrices`: what it has of something is at least
what is required. So (price x (what it has - what is required)) is at least 0, and the cost is at
least what is left after it is subtracted, for all conditions. That is a sum over CPUs, and what a
CPU does is a path through time, see :mod:`dfopt.compare.attainable.bound.cpu_path`. Therefore::

    cost ≥ sum of prices x what is required + sum over CPUs of the cheapest path

for every choice of prices of at least 0. Poor prices make a poor bound, never a wrong one.

The cost of a schedule is at least the sum over disjoint stretches of what its visits there pay,
since each switch between two dispatches that start in one stretch belongs to that stretch alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_stretch import StretchChecker
from dfopt.compare.attainable.bound.least_costs import least_costs
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.proof import WaitingProof
from dfopt.compare.attainable.bound.proof_errors import LARGEST, FaultyProofError, check_size
from dfopt.compare.attainable.bound.timetable import blocks_by_cpu


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedBound:
    """What a proof was found to prove.

    Parameters
    ----------
    value
        No schedule within the limit costs less; None where the proof is faulty.
    problems
        What is wrong with the proof: at most one sentence for each of its stretches.
    """

    value: int | None
    problems: tuple[str, ...]


def check_proof(arrivals: Arrivals, proof: WaitingProof) -> CheckedBound:
    """Return the bound that a proof proves, or what is wrong with it."""
    try:
        _check_whole(proof)
        checker = _stretch_checker(arrivals, proof)
    except FaultyProofError as fault:
        return CheckedBound(value=None, problems=(str(fault),))
    # Visits cost a multiple of the unit, in each stretch and in all together.
    unit = checker.costs.unit * proof.scale
    problems = []
    numerator = 0
    before: int | None = None
    for position, stretch in enumerate(proof.stretches):
        try:
            if before is not None and stretch.begin < before:
                raise FaultyProofError("it begins before the stretch before it ends")
            proven = max(0, checker.proven_by(stretch))
        except FaultyProofError as fault:
            problems.append(f"stretches[{position}]: {fault}")
        else:
            numerator += -(-proven // unit) * unit
        before = stretch.end
    if problems:
        return CheckedBound(value=None, problems=tuple(problems))
    visits = -(-numerator // unit) * checker.costs.unit
    return CheckedBound(value=checker.costs.constant + visits, problems=())


def _check_whole(proof: WaitingProof) -> None:
    if proof.scale < 1:
        raise FaultyProofError("scale: must be at least 1")
    if not 0 <= proof.wait <= LARGEST:
        raise FaultyProofError("wait: must be from 0 to 2^59")


def _stretch_checker(arrivals: Arrivals, proof: WaitingProof) -> StretchChecker:
    starts = permitted_starts(arrivals, proof.wait, uses_lengths=proof.uses_lengths)
    costs = least_costs(arrivals)
    columns = (costs.entry, costs.exit, costs.first, costs.last)
    largest = max(int(column.max(initial=0)) for column in columns)
    check_size(largest, proof.scale, "a cost x scale")
    return StretchChecker(
        arrivals=arrivals,
        proof=proof,
        starts=starts,
        costs=costs,
        blocks=blocks_by_cpu(arrivals),
    )
