"""The earlier name of :mod:`dfopt.simulate`, so that users' policies and workloads still run."""

import sys

from dfopt import simulate
from dfopt.simulate import *  # noqa: F403 - the same names

HERE = simulate.__name__

for name, module in list(sys.modules.items()):
    if name.startswith(f"{HERE}."):
        sys.modules[name.replace(HERE, __name__, 1)] = module
sys.modules[__name__] = simulate
