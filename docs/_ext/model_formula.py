"""The directive ``model-formula``: an equation of a model, as ``dfopt model`` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive

from dfopt_models.errors import ModelError
from dfopt_models.model import formula_named

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ModelFormula(Directive):
    """Writes the formula whose name, ``MODEL/FORMULA``, is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the formula."""
        # The formula may change although the page does not.
        self.state.document.settings.env.note_reread()
        try:
            text = formula_named(self.arguments[0]).latex()
        except ModelError as error:
            raise self.error(str(error)) from None
        return [nodes.math_block(text, text, nowrap=False, number=None, label=None)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("model-formula", ModelFormula)
    return {"parallel_read_safe": True}
