"""Check a saved proof against the trace of which it speaks."""

from __future__ import annotations

from dfopt.compare.attainable.bound.proof import check_proof
from dfopt.compare.attainable.bound.proof_document import SavedProof, digest_of
from dfopt.compare.dispatches import movable_dispatches
from dfopt.problem.instance import Objective
from dfopt.trace import Trace
from dfopt.verify import Verification


def verify_proof(trace: Trace, saved: SavedProof) -> Verification:
    """Return what the checker of proofs finds.

    Parameters
    ----------
    trace
        The recorded trace, with its labels.
    saved
        The proof, and what it claims.

    Raises
    ------
    DfoptError
        When no proof can speak of this trace.
    """
    dispatches = movable_dispatches(trace, saved.model)
    if saved.model.objective is not Objective.TOTAL_PENALTY:
        return _found(saved, ["model.objective: must be total-penalty, since costs are added up"])
    if digest_of(dispatches) != saved.sha256:
        return _found(
            saved,
            [
                "sha256: is that of another trace, or of other labels; name the trace of the proof "
                f"({saved.trace}) and the labels that it had then (`labels`)"
            ],
        )
    checked = check_proof(dispatches, saved)
    problems = list(checked.problems)
    if checked.value is not None and checked.value < saved.lower_bound:
        problems.append(
            f"lower_bound: is {saved.lower_bound}, but the prices prove only {checked.value}"
        )
    return _found(saved, problems)


def _found(saved: SavedProof, problems: list[str]) -> Verification:
    return Verification(
        ok=not problems,
        objective=None,
        lower_bound=saved.lower_bound,
        bound_checked=not problems,
        certificate_kind="prices",
        problems=tuple(problems),
    )
