"""Response times under space sharing, today and on future machines.

The model of Vaswani and Zahorjan: equations (1) and (2), and its extension to faster processors
and larger caches.
"""

from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.bounds import (
    Bounds,
    MachineUse,
    Trade,
    bounds,
    machine_uses,
    non_dominated,
    pareto_front,
    trade,
    useful_share,
)
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.crossover import (
    Crossover,
    Direction,
    closed_form_crossover,
    crossovers,
    crossovers_against_waste,
)
from dfopt_models.response_time.model import (
    ResponseModel,
    assumptions_of_case,
    assumptions_of_comparison,
    assumptions_of_use,
)
from dfopt_models.response_time.numeric import (
    exchange_rate,
    relative_along,
    relative_response_time,
    response_time,
    response_time_along,
    waste_budget,
)
from dfopt_models.response_time.parameters import (
    MEASURED_NUMBERS,
    POLICY_NUMBERS,
    Case,
    JobParameters,
    Measured,
    PenaltiesOfQuantum,
    PolicyParameters,
    penalties_at,
    penalties_of_policy,
)
from dfopt_models.response_time.product_spread import Region, largest_spread, product_spread
from dfopt_models.response_time.ranges import possible_crossovers, relative_range_along
from dfopt_models.response_time.table import (
    CROSSOVER,
    RESPONSE_TIME,
    CrossoverResult,
    CrossoverRow,
    PossibleProducts,
    ResponseTimeResult,
    ResponseTimeRow,
    crossover_result,
    crossover_table,
    response_time_result,
    response_time_table,
)

__all__ = [
    "CROSSOVER",
    "MEASURED_NUMBERS",
    "POLICY_NUMBERS",
    "RESPONSE_TIME",
    "Bounds",
    "Case",
    "Crossover",
    "CrossoverResult",
    "CrossoverRow",
    "Direction",
    "GrowthPath",
    "JobParameters",
    "MachineUse",
    "Measured",
    "ModelError",
    "PenaltiesOfQuantum",
    "PolicyComparison",
    "PolicyParameters",
    "PossibleProducts",
    "Region",
    "ResponseModel",
    "ResponseTimeResult",
    "ResponseTimeRow",
    "Trade",
    "assumptions_of_case",
    "assumptions_of_comparison",
    "assumptions_of_use",
    "bounds",
    "closed_form_crossover",
    "crossover_result",
    "crossover_table",
    "crossovers",
    "crossovers_against_waste",
    "exchange_rate",
    "largest_spread",
    "machine_uses",
    "non_dominated",
    "pareto_front",
    "penalties_at",
    "penalties_of_policy",
    "possible_crossovers",
    "product_spread",
    "relative_along",
    "relative_range_along",
    "relative_response_time",
    "response_time",
    "response_time_along",
    "response_time_result",
    "response_time_table",
    "trade",
    "useful_share",
    "waste_budget",
]
