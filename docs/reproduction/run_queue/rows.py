"""What the report on run queues is made of: shapes that a paper reports, beside the simulation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A shape that is evidence: its criterion could have failed, and it could have held."""

    shape: str
    published: str
    simulated: str
    criterion: str
    holds: bool


def evidence(  # noqa: PLR0913 -- a row of a table
    *,
    shape: str,
    published: str,
    simulated: str,
    criterion: str,
    passes: Callable[[Found], bool],
    found: Found,
    without: Sequence[Found] = (),
) -> Row:
    """Return a row.

    Parameters
    ----------
    shape, published, simulated, criterion
        Texts.
    passes
        The criterion.
    found
        What comes out here.
    without
        Outcomes that show nothing: the old scheduler in place of the new, or one and the same value
        everywhere.

    Raises
    ------
    ValueError
        When one of them passes: then the row is no evidence.
    """
    if any(map(passes, without)):
        raise ValueError(f"{shape}: the criterion holds for what shows nothing")
    return Row(
        shape=shape,
        published=published,
        simulated=simulated,
        criterion=criterion,
        holds=passes(found),
    )


@dataclass(frozen=True, kw_only=True)
class Section:
    """A paper; all texts are Markdown.

    Parameters
    ----------
    title, paper
        Heading, and the short name in tables.
    intro, notes
        What stands before and after the parameters.
    wrong
        What is wrong, a sentence or two each.
    rows
        The evidence.
    parameters
        What the paper does not give: parameter, value, and what it was fitted to or is from.
    """

    title: str
    paper: str
    intro: str
    wrong: tuple[str, ...]
    rows: tuple[Row, ...]
    parameters: tuple[tuple[str, str, str], ...]
    notes: str = ""
