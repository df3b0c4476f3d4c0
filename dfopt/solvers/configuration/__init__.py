"""The method ``configuration``: linear programming over what a CPU can hold."""

from dfopt.solvers.configuration.configuration_search import solve_by_configurations

__all__ = ["solve_by_configurations"]
