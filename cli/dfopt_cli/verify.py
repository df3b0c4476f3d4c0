"""``dfopt verify``: whether a result or a proof is right."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt.errors import DfoptError
from dfopt.files import read_instance, read_result
from dfopt.files.formats import Format, document_format, may_be_trace
from dfopt.problem.instance import Instance
from dfopt.verify import Verification
from dfopt.verify import verify as check
from dfopt_cli.failures import naming
from dfopt_cli.options import JsonOption, with_option_groups
from dfopt_cli.printing import print_json, print_text, say
from dfopt_cli.trace_options import LabelOptions
from dfopt_cli.verify_trace import proof_checked

PROOFS = {"dual-weights": "dual weights", "exhaustive": "enumeration"}


@with_option_groups
def verify(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="INSTANCE|TRACE",
            help="The instance, or the recorded trace; - is standard input.",
            show_default=False,
        ),
    ],
    claim: Annotated[
        str,
        typer.Argument(
            metavar="RESULT|PROOF",
            help="Of an instance, its result, as 'dfopt solve -o' writes it; of a trace, a proof, "
            "as 'dfopt compare --save' writes it.",
            show_default=False,
        ),
    ],
    *,
    labels: LabelOptions,
    require_certificate: Annotated[
        bool,
        typer.Option("--require-certificate", help="Fail if the lower bound could not be checked."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a result or a proof without trusting the solver it comes from.

    The cost of a schedule is computed anew, and the proof of a lower bound is checked in exact
    integer arithmetic. Labels are for traces only; take those of the comparison. Exit code 0: all
    is right; 1: something is wrong.

    Example: dfopt verify instance.json result.json --require-certificate
    """
    with naming(subject):
        subject_format = document_format(subject)
    with naming(claim):
        claim_format = document_format(claim)
    if may_be_trace(subject_format) and claim_format == Format.WAITING_PROOF:
        found, said = proof_checked(subject, claim, labels)
    else:
        if labels != LabelOptions():
            raise typer.BadParameter("labels are for traces, and an instance has its own fragments")
        with naming(subject):
            instance = read_instance(subject)
        with naming(claim):
            result = read_result(claim)
        found = check(instance, result, require_certificate=require_certificate)
        said = "" if found.problems else summary(instance, found)
    tell(found, said, claim, as_json=as_json)


def tell(found: Verification, said: str, claim: str, *, as_json: bool) -> None:
    """Print what was found; a claim with problems ends the command."""
    if as_json:
        print_json(found.to_document())
    if found.problems:
        first, *others = found.problems
        more = f" (and {len(others)} more; --json lists all)" if others and not as_json else ""
        raise DfoptError(first + more, file=claim)
    if not as_json:
        print_text(f"verified: {said}\n")
    for remark in found.unchecked:
        say(f"dfopt: {claim}: {remark}")


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
