"""All combinations of the policies' tie-breaks."""

from collections.abc import Iterator
from itertools import product

from dfopt import replace
from dfopt_models.space_sharing import Mix, TieBreak


def tie_breaks() -> Iterator[dict[str, object]]:
    """Yield every combination of the policies' tie-breaks, by their names."""
    for victim, worker, match in product(TieBreak, TieBreak, (False, True)):
        yield {"victim": victim, "worker": worker, "match": match}


def with_parameters(mix: Mix, **parameters: object) -> Mix:
    """Return a mix whose policies have other parameters."""
    return replace(mix, policy=replace(mix.policy, **parameters))
