"""The result of comparing a trace with the best possible schedules, and its documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, field

from dfopt.checks import described
from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.comparison_parts import (
    Cause,
    Causes,
    CpuResult,
    FragmentResult,
    OrderKept,
    Realised,
    WindowResult,
)
from dfopt.compare.cost_model import CostModel, capacity_words, cost_words, unmanaged_words
from dfopt.compare.domains import DomainComparison
from dfopt.compare.part_tables import (
    DOMAINS,
    FRONTIER,
    MOST_CPUS,
    ORDER_KEPT,
    PARALLEL,
    SCHEDULES,
    SERVICE,
    SWITCHES,
    WINDOWS,
    WITH_SWITCHES,
    causes_table,
    conclusion,
    cpus_table,
    domains_table,
    fragments_table,
    left_out,
    main_cause,
    meanings,
    order_kept_table,
    outcome_table,
    row_name,
    service_table,
    windows_table,
    with_order_alone,
)
from dfopt.errors import DfoptError, FileError, MethodError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, read_json
from dfopt.files.storage import shown_name
from dfopt.files.strict import Document
from dfopt.render import FrameLibrary, counted, frame, html, share, terminal_text
from dfopt.structs import NULLABLE, REQUIRED, DocumentPart, Natural, Share, written
from dfopt.table import COST, TIME, Table, Value, columns, facts, side_by_side, table_of
from dfopt.time_units import readable_time
from dfopt.trace.quality import LabelledQuality
from dfopt.trace.service import Service
from dfopt.trace.trace import Assumed, Lengths

FramePart = Literal["windows", "trace", "causes", "fragments", "cpus", "frontier", "domains"]
"""The parts of a comparison that data frames are made of."""

ATTAINABLE = (
    "schedule", "cost", "bound", "bound with lengths", "mean wait", "p99 wait", "parallel",
)  # fmt: skip
"""The columns that are shown of schedules."""

OUTCOME = (
    f"attainable: the cost that was found for '{Scheduling.NOBODY_LATER}' "
    f"({SCHEDULES[Scheduling.NOBODY_LATER]}), or without wake-ups for "
    f"'{Scheduling.SAME_TIMELINE}'; nothing below the next column is possible then, with lengths "
    "as recorded, and what lies between the two is open",
    "by a rule: it does not know what arrives later, and lets single dispatches wait longer",
)

LOST = ("managed", "cost of each", "switches", "parallel", "mainly lost to", "write-back")
SERVED = ("realised total", "latency p50", "latency p99", "wait mean", "fairness", "migrations")
"""The columns that stand side by side, of those that describe a trace."""

MOST_FRAGMENTS = 10
"""At most this many fragments have a row of their own in what is shown."""


class Comparison(DocumentPart):
    """A trace against the best possible.

    Parameters
    ----------
    name
        Of the trace.
    model
        The costs under which it was compared.
    cost_unit, time_unit
        The unit of costs, and that of the trace's times.
    dispatches, managed
        How many dispatches the trace has, and how many of them have a fragment.
    realised
        What the trace paid.
    windows
        The best possible, one for each length of window that was asked for.
    causes
        What the trace paid by cause; adds up to ``realised.total``.
    fragments, cpus
        The same by fragment, the one that cost most first, and by CPU.
    quality
        How far the trace can be trusted.
    is_complete
        Whether no length of window, and no row of the frontier, was left out because of an
        interrupt.
    policy
        The scheduler, if the trace names it.
    frontier
        What schedules that keep cause and effect cost; None if that was not asked for.
    order_kept
        What other CPUs would have saved with the dispatches in their order; None if the objective
        is not the cost of all CPUs, or the document is older.
    service
        How tasks were served: wake-up latency, waits, fairness, migrations; None if the document is
        older.
    domains
        In how many cache domains fragments ran, and in how few they fit; None if no domains were
        given.
    parallel_share
        The share of the run time with a fragment in which another CPU ran the same fragment. Best
        schedules need not keep this. None if there is no such run time, or the document is older.
    lengths
        Whether the lengths of the trace's dispatches include what switches take; None if neither
        the trace nor the document says so.
    assumed
        What of the schedule was not recorded, so that what it paid is assumed, too; None: nothing.
    """

    name: str = field(name="trace")
    policy: str | None = written(None)
    model: CostModel
    cost_unit: str
    time_unit: str | None
    dispatches: Natural
    managed: Natural
    realised: Realised
    frontier: WaitingFrontier | None = written(None)
    order_kept: OrderKept | None = written(None)
    service: Service | None = written(None)
    domains: DomainComparison | None = written(None)
    parallel_share: Share | None = written(None)
    lengths: Lengths | None = written(None)
    assumed: Annotated[Assumed | None, NULLABLE] = None
    windows: tuple[WindowResult, ...]
    is_complete: Annotated[bool, REQUIRED] = written(True, "complete")
    causes: Causes
    fragments: tuple[FragmentResult, ...]
    cpus: tuple[CpuResult, ...]
    quality: LabelledQuality

    @property
    def unlabelled_share(self) -> float:
        """Share of the run time without a fragment."""
        return self.quality.unlabelled_share

    @property
    def known_frontier(self) -> WaitingFrontier:
        """What schedules that keep cause and effect cost; without rows if that was not asked."""
        return self.frontier or WaitingFrontier(rows=())

    def to_frame(self, part: FramePart = "windows", *, library: FrameLibrary | None = None) -> Any:
        """Return a part of the comparison as a data frame of pandas or polars.

        Every row begins with ``trace`` and ``policy``, so that frames of several traces can be
        concatenated. Names of columns end with the unit where there is one: ``bound_switches``,
        ``run_time_ns``.

        Parameters
        ----------
        part
            ``"windows"`` has a row for each length of window, ``"trace"`` a single row with what
            was paid and how tasks were served, ``"causes"`` a row for each cause, ``"fragments"``
            and ``"cpus"`` one for each of them, ``"frontier"`` one for each schedule that keeps
            cause and effect, and ``"domains"`` one for each length of window.
        library
            ``"pandas"`` or ``"polars"``; None takes pandas if it is installed, else polars.

        Raises
        ------
        MethodError
            When the part is unknown, or the library not installed.
        """
        if part not in get_args(FramePart):
            parts = ", ".join(get_args(FramePart))
            raise MethodError(f"{described(part)} is no part of a comparison; name one of {parts}")
        table = self.table(part)
        rows = len(table.rows)
        table = table.after("policy", [self.policy] * rows).after("trace", [self.name] * rows)
        return frame(table, library)

    def table(self, part: FramePart) -> Table:
        """Return a part with all its columns; see :meth:`to_frame`."""
        paid, frontier = self.realised.total, self.known_frontier
        domains = self.domains or DomainComparison(domains=(), arrivals=0, windows=())
        rows = (*frontier.rows, *frontier.patience)
        make: dict[FramePart, Callable[[], Table]] = {
            "causes": lambda: causes_table(self.causes, paid),
            "fragments": lambda: fragments_table(self.fragments, paid),
            "cpus": lambda: cpus_table(self.cpus, paid),
            "frontier": lambda: self._schedules("What was attainable", rows, FRONTIER),
            "windows": lambda: windows_table(self.windows),
            "domains": lambda: domains_table(domains),
            "trace": self._summary,
        }
        return self._in_units(make[part]())

    def _schedules(
        self, title: str, rows: Sequence[FrontierRow], shown: Mapping[str, str]
    ) -> Table:
        """Return a table of schedules, by their names."""
        names = [row_name(row, self.time_unit, self.assumed) for row in rows]
        return table_of(title, rows, shown).after("schedule", names)

    def _in_units(self, table: Table) -> Table:
        """Return a table whose costs and times have the units of the comparison."""
        units: dict[object, str] = {COST: self.cost_unit, TIME: self.time_unit or ""}
        shown = [replace(column, unit=units.get(column.format, "")) for column in table.columns]
        return replace(table, columns=shown)

    def tables(self, *, with_windows: bool = False, verbose: bool = False) -> list[Table]:
        """Return what a comparison says, from top to bottom.

        Parameters
        ----------
        with_windows
            Whether schedules that do without the order or the waits have tables, too. They say
            nothing about what a scheduler could attain. Without others they always have.
        verbose
            Whether there is also what the columns mean and assume, how tasks were served, and
            what each CPU paid.
        """
        return list(self.shown(with_windows=with_windows, verbose=verbose).values())

    def shown(self, *, with_windows: bool = False, verbose: bool = False) -> dict[str, Table]:
        """Return :meth:`tables`, by what they are about."""
        frontier = self.known_frontier
        with_windows = with_windows or not frontier.rows
        first = {"trace": self.name, **self.conclusion()}
        subject = self._subject(with_windows=with_windows, verbose=verbose)
        attainable = self.attainable(verbose=verbose)
        found = {
            "subject": facts({**first, **subject}),
            "frontier": attainable if attainable.rows else Table("", notes=attainable.notes),
            "switches": replace(
                self._schedules(
                    "With the time of switches",
                    [row for row in frontier.rows if row.with_switches],
                    SWITCHES,
                ),
                notes=[WITH_SWITCHES] if verbose else [],
            ),
        }
        lost, free = self._losses(verbose=verbose), {}
        if with_windows and self.order_kept is not None:
            table = order_kept_table(self.order_kept, self.realised.total)
            free["order kept"] = replace(table, notes=ORDER_KEPT if verbose else ())
        if with_windows:
            free["windows"] = self.possible("balanced", "proven", "count", verbose=verbose)
        found |= lost | free if frontier.rows else free | lost
        if self.domains is not None:
            found["domains"] = replace(self.table("domains"), notes=DOMAINS if verbose else ())
        if verbose and self.service is not None:
            found["service"] = replace(service_table(self.service), notes=SERVICE)
        return {
            part: self._in_units(table)
            for part, table in found.items()
            if table.rows or (table.notes and not table.columns)
        }

    def _losses(self, *, verbose: bool) -> dict[str, Table]:
        """Return what was paid for what, by which fragments, and if ``verbose`` by which CPUs."""
        causes = self.table("causes")
        causes = replace(
            causes,
            rows=[row for row in causes.rows if row[1]],
            notes=causes.notes if verbose else (),
        )
        parts: list[FragmentResult | CpuResult] = [*self.fragments, *self.cpus]
        # Where each switch costs 1, one of the two columns says everything.
        costs = ["switches", *["cost"] * any(one.cost != one.switches for one in parts)]
        found = {"causes": causes}
        shown: dict[FramePart, tuple[int, tuple[str, ...]]] = {
            "fragments": (MOST_FRAGMENTS, ("fragment", "dispatches", "tasks", "CPUs")),
            "cpus": (MOST_CPUS, ("CPU", "dispatches", "managed", "fragments")),
        }
        added = ("dispatches", "managed", "switches", "cost", "share")
        for part, (most, names) in shown.items():
            whole = self.table(part)
            if part == "fragments" or verbose:
                table = whole.only(*names, *costs, "share", "mainly").largest(most, *added)
                found[part] = replace(table, title=counted(len(whole.rows), names[0]))
        return found

    def outcome(self) -> Table:
        """Return what was paid, attainable and impossible as figures, in one row."""
        table = outcome_table(self.name, self.known_frontier, self.realised.total)
        return self._in_units(table)

    def attainable(self, *shown: str, verbose: bool = False) -> Table:
        """Return what schedules cost that keep cause and effect; see :meth:`tables`.

        The columns are those that are to be ``shown``, or those of a single comparison.
        """
        frontier = self.known_frontier
        model = self.model
        rows, notes = with_order_alone(frontier), left_out(frontier)
        shown = shown or (ATTAINABLE if verbose else ATTAINABLE[:-1])
        if verbose:
            includes = self.lengths is Lengths.WITH_SWITCHES and not model.counts_switches
            notes += meanings(
                frontier,
                includes_switches=includes,
                evicts=model.unmanaged == "evict",
                unlabelled=self.unlabelled_share,
            )
        table = self._schedules("What was attainable", rows, FRONTIER)
        return self._in_units(replace(table.only(*shown), notes=notes))

    def possible(self, *more: str, verbose: bool = False) -> Table:
        """Return what was possible in windows in any order, with ``more`` columns."""
        shown = ("window", "realised", "bound", "ratio", "rolling", "rolling ratio")
        table = self.table("windows").only(*shown, *more)
        said = [] if self.is_complete else ["interrupted: other windows are left out"]
        return replace(table, notes=[*(WINDOWS if verbose else ()), *table.notes, *said])

    def __repr__(self) -> str:
        """Return what was paid, and what each schedule of the frontier costs, as a table."""
        paid = f"{self.name}: {self.realised.total:,} {self.cost_unit} paid"
        table = self.attainable()
        return "\n".join([paid, *([terminal_text([table])] if table.rows else [])])

    def _repr_html_(self) -> str:
        """Return :meth:`tables` as notebooks show them."""
        return "\n".join(map(html, self.tables(with_windows=True)))

    def conclusion(self) -> dict[str, str]:
        """Return what was paid, attainable and impossible, and what a rule pays, in words.

        Without schedules that keep cause and effect it is about the longest window instead.
        """
        total = self.realised.total
        paid = counted(total, "switch")
        if not self.model.counts_switches:
            paid = f"{total:,} {self.cost_unit}{self._as_time()}"
        cause, cost = main_cause(self.causes)
        if cost:
            paid += f", mainly lost to: {cause} ({share(cost, total)})"
        said = {"paid": paid + self._movable()}
        if self.assumed is not None:
            when = "when and " if self.assumed is Assumed.STARTS else ""
            where = f"the source does not say {when}on which CPU each dispatch ran"
            said = {"assumed": f"{said['paid']}; {where}, so this is assumed"}
        found = conclusion(self.known_frontier, total, self.time_unit, self.assumed)
        if not found and self.windows:
            last = self.windows[-1]
            found["order-free"] = (
                f"{last.rolling:,} found, and less than {last.bound:,} impossible, if dispatches "
                f"may run in any order within windows ({last.window})"
            )
        return said | found

    def _subject(self, *, with_windows: bool, verbose: bool) -> dict[str, Value]:
        """Return what was compared, in words."""
        model, service, realised = self.model, self.service, self.realised
        problem, fairness = (getattr(service, name, None) for name in ("problem", "fairness"))
        managed = f"{self.managed:,} of {self.dispatches:,} have a fragment"
        if self.unlabelled_share:
            managed += f"; {self.unlabelled_share:.1%} of the run time has none"
        unit = f", in {self.cost_unit}" if self.cost_unit else ""
        costs = f"{cost_words(model)}; {model.objective}{unit}"
        if not verbose:
            return {"dispatches": managed, "costs": costs}
        paid = f"{realised.total:,} in all{self._as_time()}"
        paid += f", {realised.worst:,} on the most expensive CPU"
        if not model.counts_switches:
            paid += f"; {counted(realised.switches, 'switch')}"
        assumed = {
            capacity_words(model): with_windows,
            "first loads cost": model.cold_start,
            "the last write-back costs": model.final_write_back,
            unmanaged_words(model, self.unlabelled_share): self.unlabelled_share,
            "missing switches end a window": model.broken_chains == "cut",
        }
        parallel = self.parallel_share
        return {
            "dispatches": managed,
            "parallel": None
            if parallel is None
            else f"{parallel:.1%} of the run time ran beside the same fragment on another CPU",
            "costs": costs,
            "assumptions": "; ".join(words for words, holds in assumed.items() if holds) or None,
            "realised": f"{paid}{self._movable()}",
            "waits": problem and f"not known: {problem}",
            "still waiting": getattr(service, "still_waiting", None) or None,
            "fairness": fairness and f"{fairness:.2f}",
            "migrations": getattr(service, "migrations", None),
        }

    def _as_time(self) -> str:
        """Return what was paid as a time, and as a share of the run time; nothing for switches."""
        run_time, total = sum(cpu.run_time for cpu in self.cpus), self.realised.total
        if self.model.counts_switches or not run_time:
            return ""
        shown = readable_time(total, self.cost_unit)
        paid = "" if shown.startswith(f"{total:,} ") else f"{shown}, "
        return f" ({paid}{share(total, run_time)} of the run time)"

    def _movable(self) -> str:
        """Return what was paid by what schedules may move, where that is another sum."""
        frontier = self.known_frontier
        if not frontier.rows or frontier.rows[0].cost == self.realised.total:
            return ""
        kept = counted(frontier.kept, "dispatch")
        threads = f"{kept} of bound kernel threads, which no schedule moves"
        evicts = self.model.unmanaged == "evict"
        why = f"if the {threads}, only evict" if evicts else f"without {threads}"
        return f"; {frontier.rows[0].cost:,} {why}"

    def _summary(self) -> Table:
        """Return what was paid and how tasks were served, in one row."""
        realised, service = self.realised, self.service
        total = realised.total
        cause, largest = main_cause(self.causes)
        written = self.causes.get(Cause.WRITE_BACK, 0)
        row: dict[str, Value] = {
            "dispatches": self.dispatches,
            "managed": self.managed,
            "realised total :cost": total,
            "realised max :cost": realised.worst,
            "cost of each :cost": total / max(1, self.managed),
            "switches": realised.switches,
            "unlabelled share :.1%": self.unlabelled_share,
            "parallel :.1%": self.parallel_share,
            "mainly lost to": f"{cause.short} {share(largest, total)}" if cause else None,
            "write-back :.1%": written / total if written else None,
        }
        for name, figures, kinds in (
            ("latency", service and service.wakeup_latency, ("mean", "p50", "p99", "longest")),
            ("wait", service and service.wait, ("mean", "p99", "longest")),
            ("response", service and service.response, ("mean", "p99", "longest")),
        ):
            for kind in kinds:
                row[f"{name} {kind} :time"] = getattr(figures, kind, None)
        row["fairness :.2f"] = getattr(service, "fairness", None)
        row["migrations"] = getattr(service, "migrations", None)
        return Table("", columns(*row), [list(row.values())])


def policies_of(comparisons: Sequence[Comparison]) -> list[str] | None:
    """Return the policies of comparisons; None unless each has one, and all differ."""
    policies = [one.policy for one in comparisons if one.policy is not None]
    return policies if len(set(policies)) == len(comparisons) else None


def comparison_tables(
    comparisons: Sequence[Comparison], *, with_windows: bool = False, verbose: bool = False
) -> list[Table]:
    """Return what comparisons say: one by itself, or a row for each of several.

    Where each trace names another policy they are called by these, and costs for each dispatch
    let runs of different length compare.

    Parameters
    ----------
    comparisons
        The comparisons.
    with_windows, verbose
        As for :meth:`Comparison.tables`.
    """
    if len(comparisons) == 1:
        return comparisons[0].tables(with_windows=with_windows, verbose=verbose)
    policies = policies_of(comparisons)
    names = policies or [one.name for one in comparisons]
    called = "trace" if policies is None else "policy"
    if not all(one.known_frontier.rows for one in comparisons):
        with_windows = True
    found = [
        _rows(
            one,
            with_outcome=any(each.frontier for each in comparisons),
            with_windows=with_windows,
            verbose=verbose,
        )
        for one in comparisons
    ]
    tables = [
        table
        for of_each in zip(*found, strict=True)
        for table in side_by_side(names, of_each, called)
    ]
    if policies is not None:
        said = "traces: " + ", ".join(one.name for one in comparisons)
        tables.append(Table("", notes=[said]))
    return tables


def _rows(one: Comparison, *, with_outcome: bool, with_windows: bool, verbose: bool) -> list[Table]:
    """Return the rows of a comparison in each table; a table without rows is left out."""
    outcome, summary = one.outcome(), one.table("trace")
    attainable = one.attainable(*ATTAINABLE[:-1], verbose=verbose)
    possible = one.possible(verbose=verbose)
    service = one.service
    said = [] if service is None else [*SERVICE]
    if service is not None and service.problem is not None:
        said.append(f"–: {service.problem}")
    return [
        replace(
            outcome,
            title="What was paid, and what was attainable",
            rows=outcome.rows if with_outcome else (),
            notes=[*OUTCOME, *left_out(one.known_frontier)],
        ),
        replace(attainable, rows=attainable.rows if verbose else ()),
        replace(possible, rows=possible.rows if with_windows else ()),
        replace(one.table("domains"), notes=DOMAINS if verbose else ()),
        replace(summary.only(*LOST), title="What it was lost to", notes=_model_notes(one)),
        replace(summary.only(*SERVED), title="How tasks were served", notes=said),
    ]


def _model_notes(one: Comparison) -> list[str]:
    unit = f", in {one.cost_unit}" if one.cost_unit else ""
    said = [f"costs: {cost_words(one.model)}; {one.model.objective}{unit}"]
    if one.unlabelled_share:
        said.append(f"caches: {unmanaged_words(one.model, one.unlabelled_share)}")
    return [*said, *([] if one.parallel_share is None else [PARALLEL])]


class Comparisons(DocumentPart):
    """Several traces side by side.

    Parameters
    ----------
    traces
        Their comparisons.
    """

    traces: Annotated[tuple[Comparison, ...], Meta(min_length=1)]


ONE_TRACE = DocumentType(Format.COMPARISON, Comparison)
SEVERAL_TRACES = DocumentType(Format.COMPARISON, Comparisons)


def comparisons_document(comparisons: Sequence[Comparison]) -> Document:
    """Return the document of a comparison, or of several side by side."""
    if len(comparisons) == 1:
        return ONE_TRACE.to_document(comparisons[0])
    return SEVERAL_TRACES.to_document(Comparisons(traces=tuple(comparisons)))


def read_comparisons(path: str | Path) -> tuple[Comparison, ...]:
    """Return the comparisons of traces in a file that ``dfopt compare --json`` has printed.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, and one that ends in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError, MethodError
        With file, place and remedy, when the file holds no such document.
    """
    document = read_json(path, Format.COMPARISON)
    try:
        if "results" in document:
            raise FileError(
                "compares schedules of an instance; compare a trace, and save that", place="results"
            )
        if "traces" in document:
            return SEVERAL_TRACES.read_parsed(document).traces
        return (ONE_TRACE.read_parsed(document),)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None
