"""What is true in a seeded world of runs and two judges: relevance, what the systems share, and how bronze errs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class BronzeJudge:
    """How often the bronze judge is right on relevant documents and on the others, and where it errs otherwise.

    It calls documents relevant more often, by `favours`, if only the first system shows them; by up to `by_rank`, the
    higher they stand. `moods` is how alike its labels are within a query beyond that (an intraclass correlation).
    """

    relevant: float = 0.85
    nonrelevant: float = 0.85
    favours: float = 0.0
    by_rank: float = 0.0
    moods: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedWorld:
    """What is true: queries, systems that show k documents of each, and a judge.

    `shares` has the share of relevant documents that each system shows, over all queries there could be. Systems have a
    part of their documents in `common`. Queries differ: `query_icc` is the intraclass correlation of the relevance of a
    query's documents, and `system_icc` that of the documents of one system beyond it. Relevant documents stand by
    `order` standard deviations of a system's scores before others. Relevant ones have `grades` different grades.
    `unseen` documents of each query are judged, but no system shows them. A `second_judge` labels what only the second
    system shows, instead of the first.
    """

    queries: int = 50
    k: int = 10
    shares: tuple[float, ...] = (0.4, 0.4)
    common: float = 0.5
    query_icc: float = 0.2
    system_icc: float = 0.05
    order: float = 1.0
    grades: int = 1
    unseen: int = 0
    judge: BronzeJudge = BronzeJudge()
    second_judge: BronzeJudge | None = None

    def __post_init__(self) -> None:
        if self.queries < 2 or self.k < 1 or not self.shares or self.grades < 1 or self.unseen < 0:
            raise UsageError(
                f"a world needs 2 queries, a document, a system and a grade; found {self.queries}, {self.k}, "
                f"{len(self.shares)} and {self.grades}, with {self.unseen} documents unseen"
            )
        judges = [judge for judge in (self.judge, self.second_judge) if judge is not None]
        rates = [*self.shares, self.common, *(rate for judge in judges for rate in (judge.relevant, judge.nonrelevant))]
        correlations = [self.query_icc, self.system_icc, *(judge.moods for judge in judges)]
        if not all(0 <= probability <= 1 for probability in rates) or not all(
            0 <= probability < 1 for probability in correlations
        ):
            raise UsageError(
                f"shares and rates lie from 0 to 1, and likeness below 1; found {rates} and {correlations}"
            )
        if max(self.shares) > min(self.shares) and max(self.own_lift) >= 1:
            raise UsageError(
                f"systems with {self.shared} of {self.k} documents in common cannot have shares as far apart as "
                f"{min(self.shares):g} and {max(self.shares):g}"
            )

    @property
    def shared(self) -> int:
        """How many of its k documents each system has in common with all others."""
        return round(self.common * self.k)

    @property
    def own_lift(self) -> FloatArray:
        """How much of what is missing to 1 each system's own documents have beyond those in common."""
        base, own_share = min(self.shares), 1 - self.shared / self.k
        lift = np.array(self.shares) - base
        return np.divide(
            lift, own_share * (1 - base), out=np.where(lift > 0, np.inf, 0.0), where=own_share * (1 - base) > 0
        )
