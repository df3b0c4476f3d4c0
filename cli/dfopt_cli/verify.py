"""``dfopt verify``: whether a result, a proof or a schedule is right."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, BadParameter, Option

from dfopt.errors import DfoptError
from dfopt.files import read_instance, read_result
from dfopt.files.formats import Format, document_format, may_be_trace
from dfopt.problem.instance import Instance
from dfopt.verify import Verification
from dfopt.verify import verify as check
from dfopt_cli.cost_options import ModelOptions
from dfopt_cli.failures import naming
from dfopt_cli.options import JsonOption
from dfopt_cli.printing import print_json, print_text, say, with_options
from dfopt_cli.trace_options import LabelOptions
from dfopt_cli.verify_trace import proof_checked, schedule_checked

PROOFS = {
    "dual-weights": "dual weights",
    "supports": "weights of supports",
    "tour": "weights of arcs",
    "branching": "dual weights in a tree of cases",
    "full-groups": "prices of groups",
    "size-weights": "weights of sizes",
    "counting": "counting",
    "exhaustive": "enumeration",
    "even-shares": "an even share of the least total penalty",
}


def verify(
    subject: Annotated[
        str,
        Argument(
            metavar="INSTANCE|TRACE",
            help="The instance, or the recorded trace; - is standard input.",
        ),
    ],
    claim: Annotated[
        str,
        Argument(
            metavar="RESULT|PROOF|SCHEDULE",
            help="Of an instance, its result, as 'dfopt solve -o' writes it. Of a trace, a proof "
            "or a schedule (a trace, too), as 'dfopt compare --save' writes them.",
        ),
    ],
    *,
    labels: LabelOptions,
    model: ModelOptions,
    require_certificate: Annotated[
        bool,
        Option(
            "--require-certificate",
            help="For results: fail if the lower bound could not be checked.",
        ),
    ] = False,
    time_limit: Annotated[
        float,
        Option(
            min=0,
            metavar="SECONDS",
            help="For results: give a lower bound up as too large to be checked after this time.",
        ),
    ] = 60,
    as_json: JsonOption = False,
) -> None:
    """Check a result, a proof or a schedule without any solver.

    The cost of a schedule is computed anew, and the proof of a lower bound is checked in exact
    integer arithmetic. For a trace, give the labels of the comparison; for a schedule of it also
    the costs, which a proof contains. Exit code 0: all is right; 1: something is wrong.

    Example: dfopt verify instance.json result.json --require-certificate
    """
    with naming(subject):
        of_trace = may_be_trace(document_format(subject))
    with naming(claim):
        claimed = document_format(claim)
    if of_trace and require_certificate:
        raise BadParameter("--require-certificate is for results of an instance")
    if of_trace and not may_be_trace(claimed) and claimed != Format.RESULT:
        if model != ModelOptions():
            raise BadParameter("a proof contains its costs; leave out options about costs")
        found, said = proof_checked(subject, claim, labels)
    elif of_trace and may_be_trace(claimed):
        found, said = schedule_checked(subject, claim, labels, model)
    else:
        if (labels, model) != (LabelOptions(), ModelOptions()):
            raise BadParameter(
                "options about labels and costs are for traces; an instance has its own"
            )
        found, said = result_checked(
            subject, claim, require_certificate=require_certificate, time_limit=time_limit
        )
    if as_json:
        print_json(found.to_document())
    if found.problems:
        first, *others = found.problems
        more = f" (and {len(others)} more; --json lists all)" if others and not as_json else ""
        raise DfoptError(first + more, file=claim)
    if not as_json:
        print_text(f"verified: {said}\n")
    for remark in found.unchecked:
        say(f"dfopt: {claim}: {with_options(remark)}")


def result_checked(
    subject: str, claim: str, *, require_certificate: bool, time_limit: float
) -> tuple[Verification, str]:
    """Return what is found about the result of an instance, and what is then known."""
    with naming(subject):
        instance = read_instance(subject)
    with naming(claim):
        result = read_result(claim)
    found = check(instance, result, require_certificate=require_certificate, time_limit=time_limit)
    return found, "" if found.problems else summary(instance, found)


def summary(instance: Instance, found: Verification) -> str:
    """Say in a line what is now known."""
    if found.lower_bound is None:
        held = f"{instance.tasks_per_cpu}"
        if instance.has_sizes:
            held = f"a size of {instance.room * instance.size_unit}"
        checked = "" if found.bound_checked else ", which is not checked"
        return (
            f"infeasible, {instance.task_count} tasks do not fit on {instance.cpus} CPUs "
            f"that hold {held} each{checked}"
        )
    schedule = "no schedule" if found.objective is None else f"objective {found.objective}"
    if not found.bound_checked:
        return f"{schedule}, but its lower bound {found.lower_bound} is not checked"
    if found.lower_bound == 0:
        return f"{schedule}, lower bound 0 (nothing to prove)"
    proof = PROOFS[found.certificate_kind or ""]
    return f"{schedule}, lower bound {found.lower_bound} proven by {proof} (checked)"
