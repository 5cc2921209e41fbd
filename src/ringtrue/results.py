"""Answers as frozen values."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number, how sure we are of it, and every doubt that travels with it.

    `value` is None where the quantity is undefined; a note then says why. `se`, `low` and `high` are
    None where the data cannot tell them.

    Examples:
        >>> print(Estimate(value=0.4612, se=0.036, low=0.39, high=0.5318, n=43, method="t"))
        0.46 (95% CI 0.39 to 0.53)
        >>> print(Estimate(value=None, n=0, method="t", notes=("no query was judged",)))
        undefined: no query was judged
    """

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    n: int
    method: str
    notes: tuple[str, ...] = ()

    @property
    def decimals(self) -> int:
        """How many decimals the standard error supports; four where there is none."""
        if not self.se or not math.isfinite(self.se):
            return 4
        return max(0, -math.floor(math.log10(self.se)))

    def __str__(self) -> str:
        if self.value is None:
            return "undefined: " + "; ".join(self.notes)
        digits = self.decimals
        if self.low is None or self.high is None:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} ({self.level * 100:g}% CI {self.low:.{digits}f} to {self.high:.{digits}f})"

    def as_dict(self) -> dict[str, object]:
        """The estimate as plain data, in the key order of the command line's JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"notes": list(self.notes)}
