"""The type of a sum that may have no terms."""

from ortools.sat.python import cp_model

Expression = cp_model.LinearExpr | int
