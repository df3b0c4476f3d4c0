"""Tasks of different sizes: whether they fit on the CPUs, which is a question of bin packing."""

from dfopt.solvers.sizes.first_fit import packings
from dfopt.solvers.sizes.fitting import DoesNotFitError, find_room
from dfopt.solvers.sizes.pieces import bound_by_pieces, can_be_cut
from dfopt.solvers.sizes.refilling import refill

__all__ = ["DoesNotFitError", "bound_by_pieces", "can_be_cut", "find_room", "packings", "refill"]
