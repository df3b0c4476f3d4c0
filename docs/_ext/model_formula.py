"""The directive ``model-formula``: an equation of a model, as ``dfopt model`` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive

from dfopt_models.errors import ModelError
from dfopt_models.model import model_named

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ModelFormula(Directive):
    """Writes the formula whose name, ``MODEL/FORMULA``, is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the formula."""
        # The formula may change although the page does not.
        self.state.document.settings.env.note_reread()
        model, _, name = self.arguments[0].partition("/")
        try:
            formulas = {formula.name: formula for formula in model_named(model).formulas}
            text = formulas[name].latex()
        except (ModelError, KeyError) as error:
            raise self.error(f"there is no formula {self.arguments[0]}: {error}") from None
        return [nodes.math_block(text, text, nowrap=False, number=None, label=None)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("model-formula", ModelFormula)
    return {"parallel_read_safe": True}
