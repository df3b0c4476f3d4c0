"""Tables of response times and of crossovers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from dfopt_cli.printing import printable
from dfopt_cli.tables import pairs, plain_table
from dfopt_models.growth import KNOWN_DIGITS, GrowthPath, growth_text
from dfopt_models.response_time.assumptions import (
    assumed_names,
    assumptions_of_case,
    assumptions_of_comparison,
    assumptions_of_use,
)
from dfopt_models.response_time.machine_use import machine_uses

if TYPE_CHECKING:
    from dfopt_models.response_time import (
        CrossoverRow,
        ResponseModel,
        ResponseTimeRow,
    )

OWN, USEFUL = "÷ base", "useful"
ASSUMED = "~"
"""Stands before a number that rests on an assumption."""

MEANINGS = {
    OWN: "response time over that of the baseline, which here has the values that the file "
    "gives it for the policy (x-baseline)",
    "saved by": "how much of the response time perfect affinity would save, or no waste, or "
    "(ideal) no waste and no reallocations",
    "switch costs": "waste of the policy that costs as much as one reallocation",
    USEFUL: "share of the processors that does work, in a closed and constant mix (an assumption); "
    "no policy that does this work shortens all response times to less than this share of them",
    "break-even": "reallocations at which the policy would be as slow as the baseline, waste as "
    "it is",
}

MILLISECONDS = 1000
ROUNDING = 1e-12


def response_time_tables(
    model: ResponseModel, rows: Sequence[ResponseTimeRow], fronts: Sequence[dict[str, object]]
) -> list[Table | Text]:
    """Return what a terminal shows of response times: a table for every machine."""
    shown: list[Table | Text] = [heading(model, {}), Text("")]
    for machine in dict.fromkeys((row.speed, row.cache) for row in rows):
        own = [row for row in rows if (row.speed, row.cache) == machine]
        shown += [machine_table(model, machine, own), *use_lines(model, machine), Text("")]
    least = {
        f"least of both, {printable(front['job'])}": ", ".join(map(printable, front["policies"]))  # type: ignore[call-overload]
        for front in fronts
    }
    explained = "no other policy has less work and waste together, and fewer reallocations"
    shown += [pairs(least), Text(f"({explained})", style="dim"), Text("")]
    left_out = {OWN} if not has_own(model) else set()
    if model.processors is None:
        left_out.add(USEFUL)
    meanings = {name: text for name, text in MEANINGS.items() if name not in left_out}
    assumed = [
        text for row in rows for text in assumptions_of_comparison(model, row.job, row.policy)
    ]
    if model.processors is not None:
        policies = dict.fromkeys(row.policy for row in rows)
        assumed += [text for policy in policies for text in assumptions_of_use(model, policy)]
    return [*shown, pairs(meanings, style="dim"), *foot_lines(assumed)]


def use_lines(model: ResponseModel, machine: tuple[float, float]) -> list[Table]:
    """Return how much of a machine does work under each policy; none if its size is not known."""
    uses = machine_uses(model, (machine,))
    if not uses:
        return []
    assumed = {use.policy: assumptions_of_use(model, use.policy) for use in uses}
    processors = marked(f"{model.processors:g}", assumed_names(model.sources, {"processors"}))
    shares = ", ".join(
        f"{printable(use.policy)} {marked(f'{use.useful:.1%}', assumed[use.policy])}"
        for use in uses
    )
    return [pairs({USEFUL: f"of {processors} processors: {shares}"})]


def marked(text: str, assumptions: Sequence[str]) -> str:
    """Return a number, with a mark if it rests on an assumption."""
    return f"{ASSUMED}{text}" if assumptions else text


def foot_lines(assumptions: Sequence[str]) -> list[Text | Table]:
    """Return what the marks mean; nothing if there are none."""
    named = "; ".join(printable(text) for text in dict.fromkeys(assumptions))
    if not named:
        return []
    return [Text(""), pairs({ASSUMED: f"rests on what the file assumes: {named}"}, style="dim")]


def has_own(model: ResponseModel) -> bool:
    """Return whether the baseline has values of its own for some policy."""
    return any(
        policy.baseline or policy.own_work for job in model.jobs for policy in job.policies.values()
    )


def heading(model: ResponseModel, more: dict[str, str]) -> Table:
    """Return what the model is called, and what its policies are compared with."""
    rows = {"model": printable(model.name), "baseline": printable(model.baseline)}
    return pairs(rows | more)


def machine_table(
    model: ResponseModel, machine: tuple[float, float], rows: Sequence[ResponseTimeRow]
) -> Table:
    """Return the response times on one machine."""
    speed, cache = machine
    today = " (today)" if machine == (1.0, 1.0) else ""
    table = plain_table()
    machine_text = f"speed × {growth_text(speed)}, cache × {growth_text(cache)}{today}"
    table.title = Text(machine_text, style="bold")
    table.title_justify = "left"
    table.add_column("job", overflow="fold")
    table.add_column("policy", overflow="fold")
    saved = ("saved by\naffinity", "by no\nwaste", "by\nideal")
    for name in ("time", "÷ base", *saved, "switch\ncosts", "break-\neven"):
        table.add_column(name, justify="right")
    for row in rows:
        is_baseline = row.policy == model.baseline
        bounds = (row.perfect_affinity, row.zero_yield, row.ideal)
        own = assumptions_of_case(model, row.job, row.policy)
        beside = assumptions_of_comparison(model, row.job, row.policy)
        table.add_row(
            printable(row.job),
            printable(row.policy),
            marked(seconds(row.response_time), own),
            "–" if is_baseline else marked(f"{row.relative:.3f}", beside),
            *(marked(f"{row.headroom(bound):.2%}", own) for bound in bounds),
            f"{row.exchange_rate * MILLISECONDS:.3g} ms",
            "–" if is_baseline else marked(break_even(row.most_reallocations), beside),
        )
    return table


def break_even(reallocations: float | None) -> str:
    """Return how many reallocations a policy can afford."""
    return "none" if reallocations is None else f"{reallocations:,.0f}"


def seconds(time: float) -> str:
    """Return a time in seconds."""
    return f"{time:,.2f} s" if time >= 1 else f"{time:.3g} s"


def crossover_tables(
    model: ResponseModel, path: GrowthPath, rows: Sequence[CrossoverRow]
) -> list[Table | Text]:
    """Return what a terminal shows of crossovers."""
    table = plain_table()
    ranged = any(row.possible is not None for row in rows)
    table.add_column("job", overflow="fold")
    table.add_column("policy", overflow="fold")
    begin = "at 1" if path == "limit" else "today"  # without the affinity term it is not today
    table.add_column(f"÷ base\n{begin}", justify="right")
    table.add_column("speed\n× cache", justify="right")
    table.add_column("there the\npolicy")
    if ranged:
        table.add_column("possible\ncrossovers", overflow="fold")
    for row in rows:
        crossings = [
            (
                marked(growth_text(crossing.product, row.digits), row.assumptions),
                str(crossing.direction),
            )
            for crossing in row.crossovers
        ]
        for line, (product, says) in enumerate(crossings or [("none", without(row))]):
            possible = [intervals(row) if line == 0 else ""] if ranged else []
            names = [
                printable(row.job),
                printable(row.policy),
                marked(f"{row.today:.3f}", row.assumptions),
            ]
            table.add_row(*(names if line == 0 else [""] * 3), product, says, *possible)
    assumed = [text for row in rows for text in row.assumptions]
    path_text = {"path": f"{path}, {path.meaning}"}
    return [heading(model, path_text), Text(""), table, *foot_lines(assumed)]


def without(row: CrossoverRow) -> str:
    """Say what the lack of a crossover means."""
    if math.isclose(row.today, 1, rel_tol=ROUNDING):
        return "is as fast as the baseline"
    return f"is {'faster' if row.today < 1 else 'slower'} on every machine"


def intervals(row: CrossoverRow) -> str:
    """Return where a crossover can be."""
    if row.possible is None:
        return ""
    return ", ".join(interval(*products) for products in row.possible) or "none"


def interval(least: float, most: float) -> str:
    """Return an interval of products; there is none below 1."""
    low, high = (growth_text(end, KNOWN_DIGITS) for end in (least, most))
    if math.isinf(most):
        return "any" if least <= 1 else f"{low} or more"
    if least <= 1 < most:
        return f"up to {high}"
    return low if low == high else f"{low} to {high}"
