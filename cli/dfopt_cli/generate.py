"""``dfopt generate``: random instances, one command per family, and adversaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

from typer import BadParameter, Option

from dfopt import generate as families
from dfopt.errors import DfoptError, InstanceError
from dfopt.files import instance_to_document, write_instance
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.structs import Natural, NonNegative, Positive
from dfopt_cli.printing import print_json
from dfopt_cli.trace_options import PENALTIES


def chances(text: str) -> tuple[float, float, float]:
    """Return the three probabilities in ``C,D,I``; any other text is wrong usage."""
    try:
        clean, dirty, invalidated = map(float, text.split(","))
    except ValueError:
        problem = f"must be three numbers such as 0.5,0.2,0.3, not {text!r}"
        raise BadParameter(problem) from None
    return clean, dirty, invalidated


def capacity(text: str) -> int | str:
    """Return a capacity, a word or a number; any other text is wrong usage."""
    if text in ("balanced", "unlimited"):
        return text
    try:
        return int(text)
    except ValueError:
        problem = f"must be balanced, unlimited or a number, not {text!r}"
        raise BadParameter(problem) from None


Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions:
    """Options about the switch costs, and about what each task draws.

    What switches cost
    ------------------
    penalty
        f or lines: every task reads lines of its own; g or whole: a change of fragment fills the
        cache.
    read_line
        Time to read one line (f).  [default: 1]
    fill
        Time to fill the cache (g).  [default: 40]
    write_back
        Time to write the cache back.
    lines
        The lines that a task reads are drawn uniformly from 1 to this (f).
    leaves : C,D,I
        Probabilities that a task leaves its fragment clean, dirty, invalidated (f).
    """

    penalty: Literal["f", "lines", "g", "whole"] = "f"
    read_line: Natural | None = None
    fill: Natural | None = None
    write_back: Natural = 20
    lines: Positive = 40
    leaves: Annotated[Any, Option(parser=chances)] = "0.5,0.2,0.3"

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a family that the options say."""
        is_f = PENALTIES[self.penalty] == "f"
        if is_f and self.fill is not None:
            raise InstanceError("counts with --penalty g only", place="fill")
        if not is_f and self.read_line is not None:
            raise InstanceError("counts with --penalty f only", place="read_line")
        penalty = (
            PenaltyF(
                read_line=1 if self.read_line is None else self.read_line,
                write_back=self.write_back,
            )
            if is_f
            else PenaltyG(fill=40 if self.fill is None else self.fill, write_back=self.write_back)
        )
        return {"penalty": penalty, "lines": self.lines, "leaves": self.leaves}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceOptions:
    """Options that every family has, and the file to write.

    Options
    -------
    seed
        The same seed gives the same instance.
    output : -o FILE
        Where to write the instance; - is standard output.

    What switches cost
    ------------------
    cold_start
        The first task of a CPU pays for loading its data.
    final_write_back
        The last task of a CPU pays for writing back.

    What tasks take, and what to minimise
    -------------------------------------
    exec
        Execution times are drawn uniformly from 1 to this; 0 gives every task 0.
    size
        Sizes of tasks are drawn uniformly from 1 to this.
    capacity : balanced|unlimited|N
        Largest number of tasks on a CPU, or largest sum of their sizes; balanced: an even share,
        rounded up.
    objective
        What to minimise.
    """

    exec: Natural = 0
    size: Positive = 1
    capacity: Annotated[Any, Option(parser=capacity)] = "balanced"
    objective: Objective = Objective.MAX_PENALTY
    cold_start: bool = False
    final_write_back: bool = False
    seed: Natural = 0
    output: str = "-"


def zipf(
    *,
    tasks: Positive,
    cpus: Positive,
    fragments: Positive,
    skew: NonNegative = 1.0,
    drawn: DrawOptions,
    instance: InstanceOptions,
) -> None:
    """Give most of the tasks to a few fragments.

    Every fragment is used once; then the fragments of the remaining tasks are drawn, the one of
    rank r with probability proportional to 1/r^skew.

    Example: dfopt generate zipf --tasks 40 --cpus 4 --fragments 10 -o zipf.json

    Options
    -------
    tasks
        Number of tasks.
    cpus
        Number of CPUs.
    fragments
        Number of data fragments, at most one for each task.
    skew
        Exponent of the weights.
    """
    write(families.zipf, instance, drawn, tasks=tasks, cpus=cpus, fragments=fragments, skew=skew)


def uniform(
    *,
    tasks: Positive,
    cpus: Positive,
    fragments: Positive,
    drawn: DrawOptions,
    instance: InstanceOptions,
) -> None:
    """Give all fragments about as many tasks.

    Every fragment is used once; then the fragments of the remaining tasks are drawn, all equally
    likely.

    Example: dfopt generate uniform --tasks 40 --cpus 4 --fragments 10 -o uniform.json

    Options
    -------
    tasks
        Number of tasks.
    cpus
        Number of CPUs.
    fragments
        Number of data fragments, at most one for each task.
    """
    write(families.uniform, instance, drawn, tasks=tasks, cpus=cpus, fragments=fragments)


def tight(
    *,
    cpus: Positive,
    per_cpu: Positive,
    fragments: Positive,
    drawn: DrawOptions = DrawOptions(penalty="g"),
    instance: InstanceOptions,
) -> None:
    """Leave no slack: the fragments hardly fit.

    A row of tasks, the same number for each CPU, is cut into fragments at random places.

    Example: dfopt generate tight --cpus 4 --per-cpu 10 --fragments 9 -o tight.json

    Options
    -------
    cpus
        Number of CPUs.
    fragments
        Number of data fragments, at most one for each task.
    per_cpu
        Number of tasks for each CPU.
    """
    write(families.tight, instance, drawn, cpus=cpus, per_cpu=per_cpu, fragments=fragments)


def matrix(
    *,
    tasks: Positive,
    cpus: Positive,
    types: Positive,
    largest: Positive = 40,
    triangle: bool = False,
    instance: InstanceOptions,
) -> None:
    """Draw a random table of switch costs.

    It has a cost for each pair of task types. The table is not symmetric, and its diagonal is
    small. With --cold-start it has costs for the first task of a CPU too, with --final-write-back
    for the last one.

    Example: dfopt generate matrix --tasks 12 --cpus 3 --types 4 --triangle -o matrix.json

    Options
    -------
    tasks
        Number of tasks.
    cpus
        Number of CPUs.
    types
        Number of task types.
    largest
        Largest switch cost.
    triangle
        Make sure that a detour through a third type never costs less.
    """
    write(
        families.matrix,
        instance,
        tasks=tasks,
        cpus=cpus,
        types=types,
        largest=largest,
        triangle=triangle,
    )


def adversary_round_robin(
    *,
    dispatches: Positive,
    fragments: Positive,
    cpus: Positive,
    output: str = "-",
) -> None:
    """Make a trace that is hard with little look-ahead.

    Its threads run in turn. With one fragment more than CPUs no rule without look-ahead is better
    than the least recently used CPU, and that one pays for every dispatch. With many fragments a
    look-ahead of K tasks leaves at least about n·(d/2 − m)/(3K) changes, whatever the policy knows
    of the future.

    Example: dfopt generate adversary-round-robin --dispatches 600 --fragments 5 --cpus 4 -o a.jsonl

    Options
    -------
    cpus
        Number of CPUs.
    output : -o FILE
        Where to write it; - is standard output.
    dispatches
        Number of dispatches.
    fragments
        Number of threads, each with a fragment.
    """
    from dfopt.trace.formats import write_trace
    from dfopt_models.online.adversaries import round_robin_trace

    trace = usage_of(
        lambda: round_robin_trace(dispatches=dispatches, fragments=fragments, cpus=cpus)
    )
    write_trace(trace, output)


def adversary_balance(
    *,
    cpus: Positive,
    share: Positive,
    policy: Literal["fewest-visits", "least-loaded", "spread"] = "fewest-visits",
    balance: Annotated[float, Option(min=1)] = 2.0,
    schedule: str | None = None,
    output: str = "-",
) -> None:
    """Make an instance that is hard without slack.

    It has whole fragments first, and then single tasks. Tasks stand in the order of arrival. A
    policy puts each on a CPU for good, and no CPU may run more than its share. The sequence depends
    on where the policy puts them.

    Example: dfopt generate adversary-balance --cpus 8 --share 16 --schedule s.json -o a.json

    Options
    -------
    cpus
        Number of CPUs.
    output : -o FILE
        Where to write it; - is standard output.
    share
        Tasks of each CPU: a multiple of the number of CPUs, and at least twice it.
    policy
        Whom the sequence is made for. fewest-visits: a fragment stays on its CPU, and then goes
        where the fewest fragments are; least-loaded: each task goes where the fewest tasks are;
        spread: a fragment leaves its CPU after √share tasks.
    balance
        When some CPU has more than this times the mean room, the tasks that are left get fragments
        of their own.
    schedule : FILE
        Where to write what the policy does, a result that 'dfopt compare' takes.
    """
    from dfopt.files.documents import fingerprint, write_result
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
    write_to(output, instance)
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


def write(
    family: Callable[..., Instance],
    options: InstanceOptions,
    drawn: DrawOptions | None = None,
    **size: object,
) -> None:
    """Draw an instance of a family and write it."""
    parameters = asdict(options) | size
    output = parameters.pop("output")
    write_to(
        output, usage_of(lambda: family(**parameters, **(drawn.parameters() if drawn else {})))
    )


def write_to(output: str, instance: Instance) -> None:
    """Write an instance to a file, or to standard output where it is ``-``."""
    if output == "-":
        print_json(instance_to_document(instance))
    else:
        write_instance(instance, output)
