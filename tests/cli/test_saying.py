"""Messages on standard error beside a live line, and where standard error is closed."""

import io
import sys

import pytest
from rich.console import Console

from dfopt_cli import progress
from dfopt_cli.printing import say


def test_what_is_said_meanwhile_stands_on_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.TextIOWrapper):
        """A stream with a buffer, as files have, to which Typer would write directly."""

    written = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", Terminal(written, encoding="utf-8"))
    console = Console(file=sys.stderr, force_terminal=True, width=60)
    monkeypatch.setattr(progress, "stderr_console", lambda: console)
    monkeypatch.setattr(progress, "shows_progress", lambda *, quiet: not quiet)
    with progress.live_line(progress.search_status, quiet=False, beginning="reading"):
        say("dfopt: a.txt: warning: 3 broken chains")
    sys.stderr.flush()
    before, _, after = written.getvalue().decode().partition("dfopt: a.txt: warning: 3 broken")
    assert "reading" in before
    assert before.endswith("\r\x1b[2K")  # the live line is gone
    assert after.startswith(" chains\n")


def test_nothing_is_said_to_nobody(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    say("dfopt: lost")
    assert capsys.readouterr().out == ""


def test_what_is_said_is_one_line_whatever_files_are_called(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("dfopt: a\nb\x1b[2J.txt: labels are taken from tgid")
    assert capsys.readouterr().err == r"dfopt: a\nb\x1b[2J.txt: labels are taken from tgid" + "\n"
