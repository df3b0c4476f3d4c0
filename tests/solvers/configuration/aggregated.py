"""Small instances as the configuration LP sees them."""

from dfopt import replace
from dfopt.problem.instance import Instance
from dfopt.solvers.aggregation import Aggregation, task_classes
from dfopt.solvers.search import Search


def aggregation_of(instance: Instance) -> Aggregation:
    """Return an aggregation with as many tokens as there are tasks."""
    search = Search(instance)
    whole = Aggregation.of(search)
    return replace(whole, classes=task_classes(search.types, whole.form, instance.task_count))
