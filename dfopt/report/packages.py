"""The packages that a report needs and that not every user has."""

from __future__ import annotations

from importlib.util import find_spec

from dfopt.errors import DfoptError


def check_packages() -> None:
    """Check that the packages are installed.

    Raises
    ------
    DfoptError
        When one is missing.
    """
    if any(find_spec(name) is None for name in ("bokeh", "jinja2")):
        raise DfoptError("a report needs a package more; install it: pip install 'dfopt[report]'")
