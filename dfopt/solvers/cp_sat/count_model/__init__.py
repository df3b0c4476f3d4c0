"""The count model for f and g: how many tasks of which class each CPU holds."""

from dfopt.solvers.cp_sat.count_model.model import CountModel

__all__ = ["CountModel"]
