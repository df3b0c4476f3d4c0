"""Lower bounds on the cost of all schedules of a trace within a waiting limit, and their proofs."""

from dfopt.compare.attainable.bound.bound import WaitingBound, lower_bound
from dfopt.compare.attainable.bound.proof import WaitingProof, check_proof

__all__ = ["WaitingBound", "WaitingProof", "check_proof", "lower_bound"]
