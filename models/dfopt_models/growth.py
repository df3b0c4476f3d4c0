"""How speed and cache of future machines grow together."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dfopt_models.response_time.numeric import Numbers


class GrowthPath(StrEnum):
    """A path through the plane of speed and cache, both relative to today's machine.

    It begins today, at speed 1 and cache 1, and is measured by the product of both.
    """

    EQUAL = "equal"
    """Speed and cache grow alike: s = c."""

    SPEED = "speed"
    """Processors grow faster, caches stay as they are: c = 1."""

    CACHE = "cache"
    """Caches grow, processors stay as they are: s = 1."""

    LIMIT = "limit"
    """Caches are so large that what has affinity pays no penalty: the affinity term is dropped."""

    def machine(self, product: ArrayLike) -> tuple[Numbers, Numbers]:
        """Return speed and cache of the machines along this path, by their product.

        Along ``limit`` the cache is 1, which means something only without the affinity term.

        Raises
        ------
        ModelError
            When a product is not more than 0.
        """
        import numpy as np

        from dfopt_models.response_time.numeric import positive

        products = positive(product, "the product of speed and cache")
        match self:
            case GrowthPath.EQUAL:
                return np.sqrt(products), np.sqrt(products)
            case GrowthPath.CACHE:
                return np.ones_like(products), products
        return products, np.ones_like(products)
