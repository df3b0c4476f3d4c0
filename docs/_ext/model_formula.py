"""The directive ``model-formula``: a formula of the response-time model, as SymPy has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ModelFormula(Directive):
    """Writes the formula whose name is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the formula."""
        from dfopt_models.response_time import formulas

        # The formula may change although the page does not.
        self.state.document.settings.env.note_reread()
        name = self.arguments[0]
        if name not in formulas.FORMULAS:
            raise self.error(
                f"there is no formula {name!r}; known are {', '.join(formulas.FORMULAS)}"
            )
        text = formulas.formula(name)
        node = nodes.math_block(text, text, nowrap=False, number=None, label=None)
        return [node]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("model-formula", ModelFormula)
    return {"parallel_read_safe": True}
