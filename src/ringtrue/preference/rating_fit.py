"""What every method gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from ringtrue.preference.outcome_model import OutcomeModel
from ringtrue.stats.student_t import normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.preference.judge_aware_ratings import JudgeFit
    from ringtrue.preference.matches import FloatArray, Matches


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFit:
    """Ratings of all documents, and whatever the method knows beside them.

    `unit` is how many points are one in log odds, None where a rating says nothing about chances. `low` and `high` are
    None where no interval can be defended. `ahead` is how sure it is that a document is better than the next of its
    group, NaN for the last; `shrinkage` how many standard errors the ridge draws it towards the mean. `pass_ratings`
    has the ratings after every pass.
    """

    ratings: FloatArray
    unit: float | None
    outcome: OutcomeModel = field(default_factory=OutcomeModel)
    errors: FloatArray | None = None
    low: FloatArray | None = None
    high: FloatArray | None = None
    ahead: FloatArray | None = None
    shrinkage: FloatArray | None = None
    pass_ratings: tuple[FloatArray, ...] = ()
    judge_fit: JudgeFit | None = None
    judge_errors: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def with_errors(self, errors: FloatArray, level: float) -> Self:
        """The same with normal intervals."""
        half = normal_quantile((1 + level) / 2) * errors
        return replace(self, errors=errors, low=self.ratings - half, high=self.ratings + half)

    def with_leads(self, errors: FloatArray, behind: NDArray[np.int64]) -> Self:
        """The same, with how sure it is that each document is better than the one behind it, if there is one."""
        from scipy.special import ndtr

        has_lead = errors > 0
        ahead = np.full(len(errors), np.nan)
        ahead[has_lead] = ndtr((self.ratings - self.ratings[behind])[has_lead] / errors[has_lead])
        return replace(self, ahead=ahead)

    def expected_scores(self, matches: Matches) -> FloatArray | None:
        """The score that the first document of each match can expect, from its judge where judges differ."""
        if self.judge_fit is not None:
            return self.judge_fit.expected_scores(matches)
        if self.unit is None:
            return None
        return self.outcome.expected_score((self.ratings[matches.first] - self.ratings[matches.second]) / self.unit)
