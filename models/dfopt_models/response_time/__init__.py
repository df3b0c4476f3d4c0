"""Response times under space sharing, today and on future machines.

The model of Vaswani and Zahorjan: equations (1) and (2), and its extension to faster processors
and larger caches.
"""

from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.bounds import (
    Bounds,
    Trade,
    bounds,
    non_dominated,
    pareto_front,
    trade,
)
from dfopt_models.response_time.case import Case
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.crossover import (
    Crossover,
    Direction,
    closed_form_crossover,
    crossovers,
    crossovers_against_waste,
)
from dfopt_models.response_time.document import (
    model_text,
    parse_model,
    read_model,
    shipped_models,
    write_model,
)
from dfopt_models.response_time.machine_use import MachineUse, machine_uses, useful_share
from dfopt_models.response_time.measured import Measured
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import (
    exchange_rate,
    relative_along,
    relative_response_time,
    response_time,
    response_time_along,
    waste_budget,
)
from dfopt_models.response_time.parameters import JobParameters, PolicyParameters
from dfopt_models.response_time.penalties import PenaltiesOfQuantum, penalties_at
from dfopt_models.response_time.product_spread import Region, largest_spread, product_spread
from dfopt_models.response_time.ranges import possible_crossovers, relative_range_along
from dfopt_models.response_time.table import (
    CrossoverRow,
    ResponseTimeRow,
    crossover_document,
    crossover_table,
    crossover_tables,
    response_time_document,
    response_time_table,
    response_time_tables,
)

__all__ = [
    "Bounds",
    "Case",
    "Crossover",
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
    "Region",
    "ResponseModel",
    "ResponseTimeRow",
    "Trade",
    "bounds",
    "closed_form_crossover",
    "crossover_document",
    "crossover_table",
    "crossover_tables",
    "crossovers",
    "crossovers_against_waste",
    "exchange_rate",
    "largest_spread",
    "machine_uses",
    "model_text",
    "non_dominated",
    "pareto_front",
    "parse_model",
    "penalties_at",
    "possible_crossovers",
    "product_spread",
    "read_model",
    "relative_along",
    "relative_range_along",
    "relative_response_time",
    "response_time",
    "response_time_along",
    "response_time_document",
    "response_time_table",
    "response_time_tables",
    "shipped_models",
    "trade",
    "useful_share",
    "waste_budget",
    "write_model",
]
