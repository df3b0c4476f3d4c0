"""All real roots of a polynomial from 0 to 1: none missed, none invented.

Between two neighbouring roots of its derivative a polynomial is monotone (Rolle), so that it has
one root there if its signs at both ends differ, and none otherwise. The roots of the derivative
are found in the same way. A sign counts only if it is beyond what rounding can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.optimize import brentq

TINY = 1e-300
"""How near a root is bracketed: roots may lie at any order of magnitude."""

RELATIVE = 4 * 2.0**-52
MOST_STEPS = 5000
ROUNDING = 16 * 2.0**-52
"""How wrong a sum of a few terms may be, as a share of the largest of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A root, and the signs beside it.

    Parameters
    ----------
    at
        Where it is, above 0 and up to 1.
    below, above
        The signs, -1 or 1, of the polynomial on either side; ``above`` is 0 for a root at 1.
    """

    at: float
    below: int
    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial:
    """A polynomial whose coefficients are known up to some error.

    Parameters
    ----------
    coefficients
        That of the power 0 first.
    errors
        How far each coefficient may be off.
    """

    coefficients: tuple[float, ...]
    errors: tuple[float, ...]

    @classmethod
    def difference(cls, one: Sequence[float], other: Sequence[float]) -> Polynomial:
        """Return ``one`` minus ``other``, with the errors that rounding leaves."""
        return cls(
            coefficients=tuple(a - b for a, b in zip(one, other, strict=True)),
            errors=tuple(ROUNDING * (abs(a) + abs(b)) for a, b in zip(one, other, strict=True)),
        )

    def value(self, at: float) -> float:
        """Return the value at a place."""
        result = 0.0
        for coefficient in reversed(self.coefficients):
            result = result * at + coefficient
        return result

    def sign(self, at: float) -> int:
        """Return the sign at a place, 0 where rounding leaves it open."""
        result, scale, error = 0.0, 0.0, 0.0
        terms = zip(reversed(self.coefficients), reversed(self.errors), strict=True)
        for coefficient, wrong in terms:
            result = result * at + coefficient
            scale = scale * at + abs(coefficient)
            error = error * at + wrong
        if abs(result) <= error + ROUNDING * scale:
            return 0
        return 1 if result > 0 else -1

    def derivative(self) -> Polynomial:
        """Return the derivative."""
        return Polynomial(
            coefficients=tuple(n * c for n, c in enumerate(self.coefficients))[1:],
            errors=tuple(n * e for n, e in enumerate(self.errors))[1:],
        )

    def reduced(self) -> Polynomial:
        """Return the polynomial without coefficients that may be 0 at either end.

        Dividing by a power of the variable changes no root but 0.
        """
        known = [
            abs(value) > error for value, error in zip(self.coefficients, self.errors, strict=True)
        ]
        if True not in known:
            return Polynomial(coefficients=(), errors=())
        part = slice(known.index(True), len(known) - known[::-1].index(True))
        return Polynomial(coefficients=self.coefficients[part], errors=self.errors[part])


def roots(polynomial: Polynomial) -> tuple[Root, ...]:
    """Return all roots above 0 and up to 1 in increasing order; a double one once.

    A polynomial that may be 0 everywhere has none.
    """
    reduced = polynomial.reduced()
    if len(reduced.coefficients) <= 1:
        return ()
    turns = [root.at for root in roots(reduced.derivative()) if root.at < 1]
    places = [0.0, *turns, 1.0]
    signs = [reduced.sign(place) for place in places]
    found = []
    for number, (place, sign) in enumerate(zip(places, signs, strict=True)):
        # Neighbouring places that are both 0 within rounding are one root; one at 0 does not count.
        if number > 0 and sign == 0 and signs[number - 1] != 0:
            before, after = signs[number - 1], nearest_sign(signs[number:])
            found.append(Root(at=place, below=before, above=after))
    for below, above, low, high in zip(signs, signs[1:], places, places[1:], strict=False):
        if below * above < 0:
            at = brentq(reduced.value, low, high, xtol=TINY, rtol=RELATIVE, maxiter=MOST_STEPS)
            found.append(Root(at=float(at), below=below, above=above))
    return tuple(sorted(found, key=lambda root: root.at))


def nearest_sign(signs: Sequence[int]) -> int:
    """Return the first sign that is not 0, or 0."""
    return next((sign for sign in signs if sign), 0)
