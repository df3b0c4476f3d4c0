"""Writes formulas as MathML, which browsers show by themselves: no script, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils.nodes import SkipNode
from docutils.utils.math import latex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """Return a formula as MathML; warn where it cannot be read."""
    source = node.astext()
    try:
        return latex2mathml.tex2mathml(source, as_block=as_block)
    except Exception as error:
        logger.warning("formula cannot be written: %s\n%s", error, source, location=node)
        return ""


def visit_inline(self: Any, node: nodes.Element) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node, as_block=False))
    raise SkipNode


def visit_block(self: Any, node: nodes.Element) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
