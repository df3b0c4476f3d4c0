"""Tasks of different sizes: whether they fit on the CPUs, which is a question of bin packing."""

from dfopt.solvers.sizes.fitting import DoesNotFitError, find_room
from dfopt.solvers.sizes.packings import packings

__all__ = ["DoesNotFitError", "find_room", "packings"]
