"""The errors that the models raise on purpose."""

from __future__ import annotations

from dfopt.errors import DfoptError


class ModelError(DfoptError):
    """Parameters for which a model is not defined."""


class OptionError(ModelError):
    """A wrong value of what a model is asked for beside its parameters, which ``place`` names."""
