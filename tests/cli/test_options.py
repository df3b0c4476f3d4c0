"""What docstrings and annotations say of options, by commands made for that."""

import re
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from dfopt.structs import Natural, Share
from dfopt_cli.options import HeadedCommand, as_command


@dataclass(frozen=True, kw_only=True)
class Base:
    """Options of a base.

    How to search
    -------------
    depth
        How deep to look.
    """

    depth: Natural | None = None


@dataclass(frozen=True, kw_only=True)
class More(Base):
    """Options of an heir.

    Options
    -------
    name : -n NAME
        What to call it,
        on two lines.
    """

    name: str = "it"


def made(files: list[str], *, share: Share = 0.5, loud: bool = False, more: More) -> None:
    """Do something.

    And say it in two paragraphs.

    Arguments
    ---------
    files : FILE
        What to read.

    Options
    -------
    share : --part PART
        A part of it.
    loud
        Say it loudly.
    """
    typer.echo(f"{files} {share} {loud} {more}")


def command() -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(cls=HeadedCommand)(as_command(made))
    return app


def test_a_docstring_names_options_and_says_what_they_mean() -> None:
    shown = CliRunner().invoke(command(), ["--help"], env={"COLUMNS": "80"}).output
    assert "And say it in two paragraphs." in shown
    usual, _, searching = shown.partition("How to search:")
    assert re.search(r"  --depth .*  How deep to look\.  \[x>=0\]", searching)
    assert re.search(r"  FILE.*  What to read\.  \[required\]", usual)
    assert re.search(r"  -n, --name NAME  What to call it, on two lines\.", usual)
    assert "--part PART" in usual
    assert "[default: 0.5; 0<=x<=1]" in usual
    assert "--loud " in usual
    assert "--no-loud" not in usual
    assert "-------" not in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a"], "['a'] 0.5 False More(depth=None, name='it')"),
        (
            ["a", "b", "--part", "1", "--loud", "-n", "x", "--depth", "3"],
            "['a', 'b'] 1.0 True More(depth=3, name='x')",
        ),
    ],
)
def test_a_command_gets_the_values_and_groups_of_them(words: list[str], expected: str) -> None:
    assert CliRunner().invoke(command(), words).output.strip() == expected


@pytest.mark.parametrize("words", [["a", "--depth", "-1"], ["a", "--part", "2"], []])
def test_limits_are_those_of_the_types(words: list[str]) -> None:
    assert CliRunner().invoke(command(), words).exit_code == 2


def test_groups_may_have_other_defaults() -> None:
    def other(*, more: More = More(name="other")) -> None:
        """Say a name."""
        typer.echo(more.name)

    other.__annotations__["more"] = More
    app = typer.Typer()
    app.command()(as_command(other))
    assert CliRunner().invoke(app, []).output.strip() == "other"


def test_what_typer_knows_stays() -> None:
    def plain(*, size: Annotated[int, typer.Option("--big", help="How big.")] = 1) -> None:
        """Say a size."""
        typer.echo(size)

    app = typer.Typer()
    app.command()(as_command(plain))
    assert CliRunner().invoke(app, ["--big", "7"]).output.strip() == "7"
