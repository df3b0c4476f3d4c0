"""The option ``--formula`` of the commands of ``dfopt model``.

A command takes it as a :class:`FormulaCommand` with the parameter
``formula: FormulaOption = None``. The option prints the formulas of the model that has the name of
the command, and ends. So the command needs no argument then.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from typer import Exit, Option

from dfopt_cli.options import HeadedCommand
from dfopt_cli.printing import print_text

OPTION = "--formula"


class Writing(StrEnum):
    """A way to write formulas."""

    TEXT = "text"
    LATEX = "latex"


class FormulaCommand(HeadedCommand):
    """A command whose option ``--formula`` may stand without a value, which then is text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        given = []
        for argument, after in zip(args, [*args[1:], ""], strict=False):
            given.append(argument)
            if argument == OPTION and after not in list(Writing):
                given.append(Writing.TEXT)
        return super().parse_args(ctx, given)


def print_formulas(ctx: typer.Context, writing: Writing | None) -> None:
    """Print the formulas of the command's model, and end."""
    if writing is None or ctx.resilient_parsing:
        return
    from dfopt_models.model import model_named

    assert ctx.info_name is not None
    formulas = model_named(ctx.info_name).formulas
    if writing is Writing.LATEX:
        texts = [
            f"% {formula.name}: {formula.meaning} ({formula.source})\n{formula.latex()}\n"
            for formula in formulas
        ]
    else:
        texts = [
            f"{formula.name}: {formula.meaning}\n  {formula.text()}\n  [{formula.source}]\n"
            for formula in formulas
        ]
        explained = {quantity: None for formula in formulas for quantity in formula.used}
        names = [quantity.symbol for quantity in explained]
        meanings = [
            f"{quantity.meaning}, {quantity.unit}" if quantity.unit else quantity.meaning
            for quantity in explained
        ]
        width = max(map(len, names))
        texts.append(
            "".join(
                f"{name:<{width}}  {meaning}\n"
                for name, meaning in zip(names, meanings, strict=True)
            )
        )
    print_text("\n".join(texts))
    raise Exit


FormulaOption = Annotated[
    Writing | None,
    Option(
        OPTION,
        callback=print_formulas,
        is_eager=True,
        help="Print the formulas of the model and their symbols, and exit; "
        "'--formula latex' writes them in LaTeX.",
    ),
]
