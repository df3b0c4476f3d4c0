"""What each dispatch of a trace paid, for viewers that show costs as they add up."""

from __future__ import annotations

import numpy as np

from dfopt.compare.model import CostModel
from dfopt.compare.realised import charges_of
from dfopt.compare.runs import runs_of
from dfopt.trace import Trace
from dfopt.trace.events import Integers


def realised_costs(trace: Trace, model: CostModel) -> Integers:
    """Return what the switch to each dispatch of a trace cost, row by row.

    What a CPU pays after its last dispatch counts with that dispatch, so that all together are
    what the trace paid.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment.
    InstanceError
        When the model does not say what a dispatch costs.
    """
    runs = runs_of(trace, model)
    charges = charges_of(runs, model)
    costs = np.zeros(len(trace), np.int64)
    np.add.at(costs, runs.row[charges.run], charges.cost)
    return costs
