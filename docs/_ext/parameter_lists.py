"""The directive ``parameter-lists``: every workload, or policy, with its parameters.

What there is comes from the registries, so that the page has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ParameterLists(Directive):
    """Writes a heading and the documentation of each class."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what autodoc says of each."""
        from dfopt.simulate import POLICIES, WORKLOADS

        # Parameters may change although the page does not.
        self.state.document.settings.env.note_reread()
        registered: dict[str, type] = {"workloads": WORKLOADS, "policies": POLICIES}[
            self.arguments[0]
        ]  # type: ignore[assignment]
        lines: list[str] = []
        for name, kind in registered.items():
            lines += [f".. rubric:: {name}", ""]
            lines += [f".. autoclass:: {kind.__module__}.{kind.__qualname__}", ""]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source="parameter-lists"), 0, node)
        return node.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("parameter-lists", ParameterLists)
    return {"parallel_read_safe": True}
