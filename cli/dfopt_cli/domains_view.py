"""The view of cache domains: in how many of them fragments ran, and in how few they fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from dfopt.compare.comparison import Comparison
from dfopt.compare.domains.domain_pairs import DomainWindow
from dfopt.problem.cache_domains import cpu_ranges
from dfopt.render import printable
from dfopt_cli.frontier_view import NOTHING
from dfopt_cli.tables import pairs, plain_table, times

WORDS = {
    "pairs": "a fragment and a domain where it runs, window by window; n domains make n pairs",
    "least": "no schedule of the same dispatches in the same windows has fewer pairs: each domain "
    "has its CPUs for as long as the window lasts; ratio: pairs / least",
    "arrivals": "of fragments: one runs in another domain than before, or for the first time; "
    "bound: no such schedule has fewer",
    "crossings": "of threads: one with a fragment runs in another domain than before. They have no "
    "bound, since data cross only where a fragment arrives",
}


def domains_tables(
    names: Sequence[str], comparisons: Sequence[Comparison], called: str, *, verbose: bool
) -> list[Table | Text]:
    """Return one row for each trace and length of window, and if ``verbose`` what columns mean.

    The column of names, under the heading ``called``, is there if there are several traces.
    """
    found = [comparison.domains for comparison in comparisons]
    if all(domains is None for domains in found):
        return []
    table = plain_table()
    if len(names) > 1:
        table.add_column(called, overflow="fold")
    table.add_column("window")
    for heading in ("windows", "pairs", "least", "ratio", "arrivals", "bound", "crossings"):
        table.add_column(heading, justify="right")
    said = []
    for name, domains in zip(names, found, strict=True):
        if domains is None:
            continue
        first = name
        said.append("; ".join(map(cpu_ranges, domains.domains)))
        for window in domains.windows:
            cells: list[str | Text] = [
                printable(window.window),
                f"{window.count:,}",
                f"{window.pairs:,}",
                least_cell(window),
                Text(times(window.ratio), style="bold"),
                f"{domains.arrivals:,}",
                f"{window.arrivals_bound:,}",
                NOTHING if domains.far_migrations is None else f"{domains.far_migrations:,}",
            ]
            table.add_row(*([first, *cells] if len(names) > 1 else cells))
            first = ""
    words = {"domains": " | ".join(dict.fromkeys(said)), **(WORDS if verbose else {})}
    return [table, Text(""), pairs(words, style="dim"), Text("")]


def least_cell(window: DomainWindow) -> str:
    """Return the least pairs, or a bound of them where that is all that is known."""
    return f"{'' if window.proven == window.count else '≥ '}{window.bound:,}"
