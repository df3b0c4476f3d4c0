"""Integer programs of instances, to be read, taught, and solved by other solvers."""

from dfopt.integer_program.program import IntegerProgram, LinearConstraint, ProgramVariable
from dfopt.integer_program.program_of import integer_program
from dfopt.integer_program.texts import lp_text, mps_text

__all__ = [
    "IntegerProgram",
    "LinearConstraint",
    "ProgramVariable",
    "integer_program",
    "lp_text",
    "mps_text",
]
