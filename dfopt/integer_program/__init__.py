"""Integer programs of instances, to be read, taught, and solved by other solvers."""

from dfopt.integer_program.formulation import integer_program
from dfopt.integer_program.program import IntegerProgram, LinearConstraint, lp_text, mps_text

__all__ = ["IntegerProgram", "LinearConstraint", "integer_program", "lp_text", "mps_text"]
