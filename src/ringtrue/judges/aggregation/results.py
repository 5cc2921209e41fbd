"""What comes out when many judges' labels are made into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.aggregation.judge_models import Prior
from ringtrue.messages import Note
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate, plain_fields
from ringtrue.tables import Judgments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeModel:
    """A judge as the aggregation sees them: how many labels, how often right, and what is said given the truth.

    Nobody knows the truth. By a vote it is the majority of the *other* judges, and items that nobody else labelled
    say nothing; by a model it is each label with its probability, so that counts are expected ones. `rates` is the
    matrix that the model takes for the judge, prior included, a row for each true label; None where a vote was taken.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"item": [1, 1, 1, 2, 2, 2], "worker": [*"abcabc"], "label": [0, 0, 1, 1, 1, 1]}
        >>> ann = rt.aggregate(labels, method="majority").judges[0]
        >>> ann.judge, ann.labels, ann.accuracy.value
        ('a', 2, 0.75)
    """

    judge: str
    labels: int
    accuracy: Estimate
    confusion: Confusion
    rates: NDArray[np.float64] | None = None

    def as_dict(self) -> dict[str, object]:
        """The judge as plain data, in the key order of the command line's JSON."""
        plain: dict[str, object] = {
            "judge": self.judge,
            "labels": self.labels,
            "accuracy": self.accuracy.as_dict(),
            "confusion": self.confusion.as_dict(level=self.accuracy.level),
        }
        return plain if self.rates is None else plain | {"rates": self.rates.tolist()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aggregation:
    """One label for each item, how probable it is, and what that says of the judges.

    `items` has a row for each item: query, doc (or query, first, second for preferences), label, its probability,
    and how many votes it had; with mean and median also their value before it became a label. `probabilities` has a
    column for each of `labels`; after a vote these are shares of the votes. `class_shares` says how common each label
    is. `objective` is the log posterior after each iteration (without a prior, the log likelihood), and empty after a
    vote. `ties` counts the items whose label the tie rule chose, `gold` those whose label was given.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"item": [1, 1, 1, 2, 2, 2], "worker": [*"abcabc"], "label": [0, 0, 1, 1, 1, 1]}
        >>> aggregation = rt.aggregate(labels, method="majority")
        >>> print(aggregation)
        2 items by majority: 0 for 50.0%, 1 for 50.0%; 3 judges
        >>> aggregation.items.rows()
        [('0', '1', 0, 0.6666666666666666, 3), ('0', '2', 1, 1.0, 3)]
    """

    method: str
    labels: tuple[int, ...]
    items: pl.DataFrame
    probabilities: NDArray[np.float64]
    class_shares: Mapping[int, float]
    judges: tuple[JudgeModel, ...]
    objective: tuple[float, ...] = ()
    log_likelihood: float | None = None
    converged: bool = True
    ties: int = 0
    gold: int = 0
    prior: Prior | None = None
    notes: tuple[Note, ...] = ()

    @property
    def iterations(self) -> int:
        """How often labels and judges were estimated from each other; 0 for a vote."""
        return len(self.objective)

    @property
    def frame(self) -> pl.DataFrame:
        """The items with the probability of every label, p_0 and so on."""
        columns = [pl.Series(f"p_{label}", self.probabilities[:, k]) for k, label in enumerate(self.labels)]
        votes_index = self.items.columns.index("votes")
        return self.items.select(self.items.columns[:votes_index]).hstack(columns).hstack(self.items[:, votes_index:])

    def judgments(self) -> Judgments:
        """The labels as one judge's, ready for `evaluate`."""
        if "doc" not in self.items.columns:
            raise UsageError(
                "not-for-preferences",
                "these are pairs of documents, not judgments; `items` has who was preferred in each",
            )
        return Judgments.of(self.items.select("query", "doc", "label"))

    def __str__(self) -> str:
        shares = ", ".join(f"{label} for {share:.1%}" for label, share in self.class_shares.items())
        items, judges = format_count(self.items.height, "item"), format_count(len(self.judges), "judge")
        return f"{items} by {self.method}: {shares}; {judges}"

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON; the items are counted, not listed."""
        return {
            "items": self.items.height,
            "method": self.method,
            "class_shares": {str(label): share for label, share in self.class_shares.items()},
            **plain_fields(self, "objective", "log_likelihood", "judges", "iterations", "converged"),
            **plain_fields(self, "ties", "gold", "prior", "notes"),
        }
