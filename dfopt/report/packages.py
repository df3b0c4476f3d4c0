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
    for name in ("bokeh", "jinja2"):
        if find_spec(name) is None:
            raise DfoptError(
                f"a report needs the package {name}; type 'make solve' in a checkout, or "
                "python -m pip install 'dfopt[report]' in dfopt's environment"
            )
