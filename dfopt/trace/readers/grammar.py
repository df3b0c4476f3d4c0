"""What the reader of kernel text has to know about a family of traces."""

from __future__ import annotations

import re
from dataclasses import dataclass

Pattern = re.Pattern[bytes]

COMMENT = "#.*"
SURE_COMMENT = r"#(?!.*\d: ).*"
"""For where not every event is looked for first: a line with an event may begin with ``#``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How the lines of a family look.

    Parameters
    ----------
    name
        What the family is called in errors.
    remedy
        How a user gets such text.
    hints
        What lines of other forms look like, and how a user gets such text instead of them.
    line
        Matches any one line with its end. Its groups are those of
        :data:`~dfopt.trace.readers.event_lines.EVENT` and of the head: ``pid``, ``tgid``,
        ``cpu``, ``flags``; the last one, ``unparsed``, holds a line that is not understood.
    usual
        The same for events in their usual form, in less time. It understands no line otherwise
        than ``line`` does, but not all of them.
    head
        Matches the beginning of a line with an event.
    declared
        Finds the number of CPUs that the file declares: all that there are, ``cpus``, or those in
        use, ``online``, which may have higher numbers than their number. It may have the groups
        ``kept`` and ``written``: how many events are still there, and how many there were.
    loss
        Finds a line about lost events, with the groups ``loss_cpu`` and ``lost``.
    loss_words
        One of them is in every such line.
    """

    name: str
    remedy: str
    hints: tuple[tuple[Pattern, str], ...]
    line: Pattern
    usual: Pattern
    head: Pattern
    declared: Pattern
    loss: Pattern
    loss_words: tuple[bytes, ...]


def any_line(*kinds: str) -> Pattern:
    """Return a pattern for one line with its end: one of these kinds, a blank or another one."""
    known = "|".join(kinds)
    return re.compile(rf"(?:(?:{known}|[ \t]*)\n|(?P<unparsed>.*)\n)".encode())
