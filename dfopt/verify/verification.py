"""What the checker says, as a document."""

from __future__ import annotations

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.strict import Document
from dfopt.render import html
from dfopt.structs import DocumentPart, Natural
from dfopt.table import Table, columns


class ScheduleFigures(DocumentPart):
    """Figures of a schedule of a trace, in the trace's unit of time.

    Parameters
    ----------
    recorded_cost
        What the recording cost.
    permitted_wait
        The least wait that must be permitted; 0 if nobody waits longer than recorded.
    total_wait
        The sum of all waits; None if it is unknown when dispatches were ready.
    p99_wait
        The 99th percentile of the waits (nearest rank), or None.
    """

    recorded_cost: Natural
    permitted_wait: Natural
    total_wait: Natural | None
    p99_wait: Natural | None


class Verification(DocumentPart):
    """What ``dfopt verify`` says about a result, or about a proof or a schedule of a trace.

    Parameters
    ----------
    ok
        Whether nothing is wrong.
    objective
        The schedule's value, recomputed; None where there is no valid schedule.
    lower_bound
        The bound that is claimed; None where a result claims that there is no schedule, and for a
        schedule of a trace.
    bound_checked
        Whether that bound was proven here, independently of the solver that found it.
    problems
        The errors, each with its place in the result document.
    schedule
        Figures of a schedule of a trace.
    certificate_kind
        The kind of the result's certificate; for a proof of a trace ``prices``.
    unchecked
        The claims that could not be checked, and why.
    """

    ok: bool
    objective: Natural | None
    lower_bound: Natural | None
    bound_checked: bool
    problems: tuple[str, ...]
    schedule: ScheduleFigures | None = None
    certificate_kind: str | None = None
    unchecked: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return a table with what was checked and what is wrong, as notebooks show it."""
        names = ("objective", "lower bound", "proven by", "bound checked", "problems", "unchecked")
        row = (
            self.objective,
            self.lower_bound,
            self.certificate_kind,
            self.bound_checked,
            "; ".join(self.problems) or None,
            "; ".join(self.unchecked) or None,
        )
        return html(Table("verified" if self.ok else "wrong", columns(*names), [row]))

    def to_document(self) -> Document:
        """Return the document of the format ``dfopt-verification/1``."""
        return VERIFICATIONS.to_document(self)


VERIFICATIONS = DocumentType(Format.VERIFICATION, Verification)
