"""The state of a search, as a result for the checker."""

from dfopt.files import fingerprint
from dfopt.problem.instance import Instance
from dfopt.problem.result import InstanceName, Result, Status, StopReason, relative_gap
from dfopt.solvers.search import Search
from dfopt.verify import Verification, verify


def checked(instance: Instance, search: Search) -> Verification:
    """Let the checker judge schedule, bound and certificate of ``search``."""
    result = Result(
        instance=InstanceName(name=instance.name, sha256=fingerprint(instance)),
        status=Status.OPTIMAL if search.is_closed else Status.FEASIBLE,
        stop_reason=StopReason.PROOF if search.is_closed else StopReason.GIVEN,
        objective=search.objective,
        lower_bound=search.lower_bound,
        gap=relative_gap(search.objective, search.lower_bound),
        schedule=search.schedule,
        certificate=search.certificate,
    )
    return verify(instance, result)
