"""Errors of the library, as the command line shows them."""

import pytest
from typer.main import get_command

from dfopt_cli.app import app
from dfopt_cli.failures import OPTIONS, with_options


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
