"""What every method gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from ringtrue.preference.outcome_model import Outcome
from ringtrue.stats.student_t import normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.preference.judge_sensitivity import RatedTogether
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["Rated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Ratings of all documents, and whatever the method knows beside them.

    `unit` is how many points are one in log odds, None where a rating says nothing about chances. `low` and `high` are
    None where no interval can be defended. `ahead` is how sure it is that a document is better than the next of its
    group, NaN for the last; `drawn` how many standard errors the ridge draws it towards the mean. `after` has the
    ratings after every pass.
    """

    ratings: FloatArray
    unit: float | None
    outcome: Outcome = field(default_factory=Outcome)
    errors: FloatArray | None = None
    low: FloatArray | None = None
    high: FloatArray | None = None
    ahead: FloatArray | None = None
    drawn: FloatArray | None = None
    after: tuple[FloatArray, ...] = ()
    together: RatedTogether | None = None
    judge_errors: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def with_errors(self, errors: FloatArray, level: float) -> Self:
        """The same with normal intervals."""
        half = normal_quantile((1 + level) / 2) * errors
        return replace(self, errors=errors, low=self.ratings - half, high=self.ratings + half)

    def with_leads(self, errors: FloatArray, behind: NDArray[np.int64]) -> Self:
        """The same, with how sure it is that each document is better than the one behind it, if there is one."""
        from scipy.special import ndtr

        leads = errors > 0
        ahead = np.full(len(errors), np.nan)
        ahead[leads] = ndtr((self.ratings - self.ratings[behind])[leads] / errors[leads])
        return replace(self, ahead=ahead)

    def expected(self, matches: Matches) -> FloatArray | None:
        """The score that the first document of each match can expect, from its judge where judges differ."""
        if self.together is not None:
            return self.together.expected(matches)
        if self.unit is None:
            return None
        return self.outcome.expected((self.ratings[matches.first] - self.ratings[matches.second]) / self.unit)
