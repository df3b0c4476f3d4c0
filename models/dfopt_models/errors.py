"""The error that the models raise on purpose."""

from __future__ import annotations

from dfopt.errors import DfoptError


class ModelError(DfoptError):
    """Parameters for which a model is not defined."""
