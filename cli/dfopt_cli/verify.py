"""``dfopt verify``: whether a result is true."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt.errors import DfoptError
from dfopt.files import read_instance, read_result
from dfopt.problem.instance import Instance
from dfopt.verify import Verification
from dfopt.verify import verify as check
from dfopt_cli.failures import naming
from dfopt_cli.options import InstanceArgument, JsonOption, ResultArgument
from dfopt_cli.printing import print_json, print_text, say

PROOFS = {"dual-weights": "dual weights", "exhaustive": "enumeration"}


def verify(
    instance: InstanceArgument,
    result: ResultArgument,
    *,
    require_certificate: Annotated[
        bool,
        typer.Option("--require-certificate", help="Fail if the lower bound could not be checked."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a result without trusting the solver it comes from.

    The cost of the schedule is computed anew, and the certificate of the lower bound is checked
    in exact integer arithmetic. Exit code 0: all is right; 1: something is wrong.

    Example: dfopt verify instance.json result.json --require-certificate
    """
    with naming(instance):
        subject = read_instance(instance)
    with naming(result):
        claimed = read_result(result)
    found = check(subject, claimed, require_certificate=require_certificate)
    if as_json:
        print_json(found.to_document())
    if found.problems:
        first, *others = found.problems
        more = f" (and {len(others)} more; --json lists all)" if others and not as_json else ""
        raise DfoptError(first + more, file=result)
    if not as_json:
        print_text(f"verified: {summary(subject, found)}\n")
    for remark in found.unchecked:
        say(f"dfopt: {result}: {remark}")


def summary(instance: Instance, found: Verification) -> str:
    """Say in a line what is now known."""
    if found.lower_bound is None:
        return (
            f"infeasible, {instance.task_count} tasks do not fit on {instance.cpus} CPUs "
            f"that hold {instance.tasks_per_cpu} each"
        )
    schedule = "no schedule" if found.objective is None else f"objective {found.objective}"
    if not found.bound_checked:
        return f"{schedule}, but its lower bound {found.lower_bound} is not checked"
    if found.lower_bound == 0:
        return f"{schedule}, lower bound 0 (nothing to prove)"
    proof = PROOFS[found.certificate_kind or ""]
    return f"{schedule}, lower bound {found.lower_bound} proven by {proof} (checked)"
