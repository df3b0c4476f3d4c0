"""``dfopt generate adversary-…``: sequences that are hard for online policies."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, TypeVar

from typer import BadParameter, Option

from dfopt.errors import DfoptError
from dfopt_cli.printing import print_json

Made = TypeVar("Made")

OutputOption = Annotated[
    str,
    Option("--output", "-o", metavar="FILE", help="Where to write it; - is standard output."),
]


class SlacklessPolicy(StrEnum):
    """The policies of :data:`dfopt_models.online.balanced.POLICIES`."""

    FEWEST_VISITS = "fewest-visits"
    LEAST_LOADED = "least-loaded"
    SPREAD = "spread"


def adversary_round_robin(
    *,
    dispatches: Annotated[int, Option("--dispatches", min=1, help="Number of dispatches.")],
    fragments: Annotated[
        int, Option("--fragments", min=1, help="Number of threads, each with a fragment.")
    ],
    cpus: Annotated[int, Option("--cpus", min=1, help="Number of CPUs.")],
    output: OutputOption = "-",
) -> None:
    """Make a trace that is hard with little look-ahead.

    Its threads run in turn. With one fragment more than CPUs no rule without look-ahead is better
    than the least recently used CPU, and that one pays for every dispatch. With many fragments a
    look-ahead of K tasks leaves at least about n·(d/2 − m)/(3K) changes, whatever the policy knows
    of the future.

    Example: dfopt generate adversary-round-robin --dispatches 600 --fragments 5 --cpus 4 -o a.jsonl
    """
    from dfopt.trace.writing import write_trace
    from dfopt_models.online.adversaries import round_robin_trace

    trace = usage_of(
        lambda: round_robin_trace(dispatches=dispatches, fragments=fragments, cpus=cpus)
    )
    write_trace(trace, output)


def adversary_balance(
    *,
    cpus: Annotated[int, Option("--cpus", min=1, help="Number of CPUs.")],
    share: Annotated[
        int,
        Option(
            "--share",
            min=1,
            help="Tasks of each CPU: a multiple of the number of CPUs, and at least twice it.",
        ),
    ],
    policy: Annotated[
        SlacklessPolicy,
        Option(
            help="Whom the sequence is made for. fewest-visits: a fragment stays on its CPU, and "
            "then goes where the fewest fragments are; least-loaded: each task goes where the "
            "fewest tasks are; spread: a fragment leaves its CPU after √share tasks.",
        ),
    ] = SlacklessPolicy.FEWEST_VISITS,
    balance: Annotated[
        float,
        Option(
            min=1,
            help="When some CPU has more than this times the mean room, the tasks that are left "
            "get fragments of their own.",
        ),
    ] = 2.0,
    schedule: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Where to write what the policy does, a result that 'dfopt compare' takes.",
        ),
    ] = None,
    output: OutputOption = "-",
) -> None:
    """Make an instance that is hard without slack.

    It has whole fragments first, and then single tasks. Tasks stand in the order of arrival. A
    policy puts each on a CPU for good, and no CPU may run more than its share. The sequence depends
    on where the policy puts them.

    Example: dfopt generate adversary-balance --cpus 8 --share 16 --schedule s.json -o a.json
    """
    from dfopt.files import instance_to_document, write_instance
    from dfopt.files.instance_document import fingerprint
    from dfopt.files.result_document import write_result
    from dfopt.problem.result import InstanceName, Result, Status, StopReason, relative_gap
    from dfopt.problem.schedule import evaluate
    from dfopt_models.online.adversaries import balanced_instance, orders_of
    from dfopt_models.online.balanced import POLICIES, adversary_without_slack

    found = usage_of(
        lambda: adversary_without_slack(
            POLICIES[policy](cpus, share), cpus, share, Fraction(balance)
        )
    )
    instance = balanced_instance(found, cpus)
    if output == "-":
        print_json(instance_to_document(instance))
    else:
        write_instance(instance, output)
    if schedule is not None:
        placed = evaluate(instance, orders_of(found.fragments, found.cpu, cpus))
        value = placed.value(instance.objective)
        result = Result(
            instance=InstanceName(name=instance.name, sha256=fingerprint(instance)),
            status=Status.FEASIBLE,
            stop_reason=StopReason.GIVEN,
            objective=value,
            gap=relative_gap(value, 0),
            schedule=placed,
            method=f"online: {policy}",
        )
        write_result(result, schedule)


def usage_of(make: Callable[[], Made]) -> Made:
    """Make something; a parameter that is refused is wrong usage of its option."""
    try:
        return make()
    except DfoptError as error:
        option = f"--{error.place.replace('_', '-')}"
        raise BadParameter(error.problem, param_hint=option) from None
