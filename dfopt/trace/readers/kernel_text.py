"""Kernel traces that are text, whatever family their lines are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dfopt.errors import FileError
from dfopt.trace.dispatches import trace_of
from dfopt.trace.events import ANY_CPU, KernelEvents, Loss
from dfopt.trace.readers.collected import PREVIOUS, Collected
from dfopt.trace.readers.grammar import Grammar
from dfopt.trace.readers.pieces import Piece
from dfopt.trace.readers.rows import Fields, Row
from dfopt.trace.trace import Trace

GONE = -1
"""What perf calls a thread that is no more."""

MOST_UNPARSED = 0.5
"""A text of which more than this share cannot be understood is something else."""


def read_kernel_text(pieces: Iterable[Piece], grammar: Grammar, other: Grammar) -> Trace:
    """Return the trace in a text.

    Parameters
    ----------
    pieces
        The text.
    grammar
        What its lines are to be.
    other
        What they must not be: a trace has one clock and one set of threads, so lines of another
        family come from another recording.

    Raises
    ------
    FileError
        When it is no such trace, or not one only.
    """
    reading = _Reading(grammar, other)
    for piece in pieces:
        reading.add(piece)
    return trace_of(reading.events())


class _Reading:
    def __init__(self, grammar: Grammar, other: Grammar) -> None:
        self._grammar = grammar
        self._other = other
        self._fields = Fields(grammar.line)
        self._usual_fields = Fields(grammar.usual)
        self._usual_tries = 1
        self._collected = Collected()
        self._losses: list[Loss] = []
        self._cpus: int | None = None
        self._online: int | None = None
        self._overwritten = 0
        self._lines = 0
        self._blanks = 0
        self._unparsed = 0
        self._first_unparsed: int | None = None
        self._first_unparsed_words = b""

    def add(self, piece: Piece) -> None:
        text = piece.text
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        if self._cpus is None and self._online is None and not self._collected.switch_count:
            declared = self._grammar.declared.search(text)
            if declared is not None:
                found = declared.groupdict()
                self._cpus, self._online = _number(found, "cpus"), _number(found, "online")
                self._overwritten = int(found.get("written") or 0) - int(found.get("kept") or 0)
        line, position = piece.first_line, 0
        if any(words in text for words in self._grammar.loss_words):
            for loss in self._grammar.loss.finditer(text):
                before = text[position : loss.start()]
                self._add_lines(before, line)
                self._losses.append(self._loss(loss["loss_cpu"], loss["lost"]))
                self._lines += 1
                line += before.count(b"\n") + 1
                position = loss.end() + 1
        self._add_lines(text[position:], line, cut=piece.cut)

    def _loss(self, cpu: bytes | None, events: bytes | None) -> Loss:
        return Loss(
            cpu=ANY_CPU if cpu is None else int(cpu),
            switches_before=self._collected.switch_count,
            events=int(events or 0),
        )

    def _add_lines(self, text: bytes, first_line: int, *, cut: bool = False) -> None:
        rows, fields = self._found(text)
        self._lines += len(rows)
        last = rows[-1:]
        if cut and (fields.having(last, "fork") or fields.having(last, "mark")):
            # Its last word may have been longer.
            self._add_unparsed(b"", first_line + len(rows) - 1)
            del rows[-1]
        if fields.have(rows, "unparsed"):
            self._blanks += text.count(b"\n\n")
            for line, words in enumerate(fields.words(rows, "unparsed"), first_line):
                if words:
                    self._check_family(words, line)
                    self._add_unparsed(words, line)
        if fields is self._fields:  # else the pattern has seen to it
            previous = fields.words(rows, *PREVIOUS)
            self._check_threads(fields.words(rows, "pid"), previous, first_line)
        if self._cpus is not None:
            self._check_cpus(fields.words(rows, "cpu"), self._cpus, first_line)
        self._collected.add(rows, fields)

    def _found(self, text: bytes) -> tuple[list[Row], Fields]:
        if self._usual_tries:
            rows: list[Row] = self._grammar.usual.findall(text)
            if not self._usual_fields.have(rows, "unparsed"):
                self._usual_tries += 1
                return rows, self._usual_fields
            self._usual_tries -= 1
        return self._grammar.line.findall(text), self._fields

    def _add_unparsed(self, words: bytes, line: int) -> None:
        self._unparsed += 1
        if self._first_unparsed is None:
            self._first_unparsed = line
            self._first_unparsed_words = words

    def _check_family(self, text: bytes, line: int) -> None:
        if self._other.head.match(text) and not self._grammar.head.match(text):
            raise FileError(
                f"is {self._other.name}, but what precedes it is {self._grammar.name}; "
                "name a file with one recording only",
                place=f"line {line}",
            )

    @staticmethod
    def _check_threads(running: list[bytes], left: list[bytes], first_line: int) -> None:
        """Refuse lines of another thread than the one that their switch leaves.

        Who wakes whom, and who belongs to which process, is told by the lines' own threads.
        """
        for line, (thread, previous) in enumerate(zip(running, left, strict=True), first_line):
            if previous and thread != previous and int(thread) not in (int(previous), GONE):
                raise FileError(
                    f"is about thread {int(thread)}, but its sched_switch is from thread "
                    f"{int(previous)}; print tid and not pid alone, and record outside of "
                    "containers",
                    place=f"line {line}",
                )

    @staticmethod
    def _check_cpus(words: Sequence[bytes], cpus: int, first_line: int) -> None:
        beyond = {word for word in set(words) if word and int(word) >= cpus}
        for line, word in enumerate(words, first_line) if beyond else ():
            if word in beyond:
                raise FileError(
                    f"is an event on CPU {int(word)}, but the header declares {cpus} CPUs; "
                    "correct the header",
                    place=f"line {line}",
                )

    def events(self) -> KernelEvents:
        """Return all that was found.

        Raises
        ------
        FileError
            When most lines could not be understood.
        """
        if self._unparsed > MOST_UNPARSED * (self._lines - self._blanks):
            words = self._first_unparsed_words
            remedies = (remedy for form, remedy in self._grammar.hints if form.search(words))
            raise FileError(
                f"is the first of {self._unparsed} lines, out of {self._lines}, that are no "
                f"{self._grammar.name}; {next(remedies, self._grammar.remedy)}",
                place=f"line {self._first_unparsed}",
            )
        collected = self._collected
        switches = collected.switches()
        cpus = self._cpus
        if self._online is not None and len(switches.cpu):
            cpus = max(self._online, int(switches.cpu.max()) + 1)
        return KernelEvents(
            switches=switches,
            wakeups=collected.wakeups(),
            forks=collected.forks(),
            exits=collected.exits(),
            groups=collected.groups(),
            marks=collected.marks(),
            losses=tuple(self._losses),
            comms=collected.comms,
            cpus=cpus,
            overwritten=max(0, self._overwritten),
            lines=self._lines,
            unparsed=self._unparsed,
            first_unparsed=self._first_unparsed,
        )


def _number(found: dict[str, bytes | None], name: str) -> int | None:
    digits = found.get(name)
    return None if digits is None else int(digits)
