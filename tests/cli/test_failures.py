"""Errors of the library, as the command line shows them."""

import os
import signal
import subprocess
import sys

import pytest
from typer.main import get_command

from dfopt_cli.app import app
from dfopt_cli.exit_codes import INTERRUPTED
from dfopt_cli.failures import interruptions
from dfopt_cli.printing import OPTIONS, with_options
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("take fewer workers (`workers=1`)", "take fewer workers (--workers 1)"),
        ("`read_line` belongs to f, and `fill` means g",
         "--read-line belongs to f, and --fill means g"),
        ("label it (`labels=tgid`)", "label it (--df tgid)"),
        ("the fragment `x` is no type", "the fragment `x` is no type"),
    ],
)  # fmt: skip
def test_parameters_are_shown_as_options(message: str, shown: str) -> None:
    assert with_options(message) == shown


def test_every_parameter_has_an_option_that_exists() -> None:
    def options(command) -> set[str]:
        inner = getattr(command, "commands", {}).values()
        own = {name for parameter in command.params for name in parameter.opts}
        return own.union(*map(options, inner))

    assert set(OPTIONS.values()) <= options(get_command(app))


def interrupted(number: int) -> None:
    """Raise what a package may make of a signal that comes while it is loaded."""
    try:
        os.kill(os.getpid(), number)
        subprocess.run([sys.executable, "-c", ""], check=True)  # by now the signal has come
    except KeyboardInterrupt:
        raise ImportError("cannot load this module") from None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_package_is_loaded_is_an_interrupt(
    run: Run, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr("dfopt.files.schema", lambda _: interrupted(number))
    before = signal.getsignal(number)
    assert run("schema", "result") == (INTERRUPTED, "", "")
    assert signal.getsignal(number) is before


def test_a_package_that_is_missing_is_no_interrupt(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> str:
        raise ImportError("no such module")

    monkeypatch.setattr("dfopt.files.schema", fail)
    with pytest.raises(ImportError, match="no such module"):
        run("schema", "result")


def test_of_signals_that_are_held_only_the_first_one_waits() -> None:
    with interruptions, interruptions.held():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
