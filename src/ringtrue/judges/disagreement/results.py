"""What `disagree` gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ringtrue.messages import Note
from ringtrue.stats.results import Estimate, plain_fields, to_plain

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One prediction of the model beside what happened: how often at least M of N users said the top, given `level`.

    `experimental` counts every way to draw N labels of a document, one of them being the given one; `predicted` is the
    weight by the same documents' p.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"doc": ["a"] * 4 + ["b"] * 4, "judge": list("wxyz") * 2, "label": [0, 1, 2, 2, 0, 0, 1, 2]}
        >>> (verification, *_) = rt.disagree(labels, "1/3", verify=["1/3"], resamples=0).verified
        >>> verification.level, round(verification.experimental.value, 4), round(verification.predicted.value, 4)
        ('0', 0.7778, 0.6914)
    """

    at_least: tuple[int, int]
    level: str
    experimental: Estimate
    predicted: Estimate

    def as_dict(self) -> dict[str, object]:
        """The two as plain data."""
        return plain_fields(self) | {"at_least": "/".join(map(str, self.at_least))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many judges, or documents, have a p of the top given the top in each tenth of 0 to 1.

    `within` counts by labels of the same judge, `across` by labels of different judges.
    """

    within: tuple[int, ...]
    across: tuple[int, ...]

    def as_dict(self) -> dict[str, object]:
        """The counts as plain data, with the ends of the bins."""
        bins = len(self.within)
        edges = [i / bins for i in range(bins + 1)]
        return {"edges": edges, "within": list(self.within), "across": list(self.across)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Is it disagreement between users, or does each contradict himself? p within a judge, and across judges.

    On the documents that some judge labelled again: `within` is p of the top from two labels of one judge, by level;
    `across` from labels of two judges. `overlap_*` is the share of pairs with a top label in which both are.
    """

    documents: int
    within: Mapping[str, Estimate]
    across: Mapping[str, Estimate]
    overlap_within: Estimate
    overlap_across: Estimate
    by_judge: Histogram
    by_document: Histogram

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data."""
        plain = plain_fields(self)
        plain["histograms"] = {"judges": plain.pop("by_judge"), "documents": plain.pop("by_document")}
        return plain


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Disagreement:
    """What each label is worth when users disagree: by level, from the lowest to the top.

    `p` is the probability that another user says the top level, `weights` that at least M of N do, one of whom said
    this level; `cases` counts the ordered pairs of labels behind p. `labels` are the whole numbers that stand for the
    levels in judgments. `flags` name what rests on few cases or on none. `strata` has the same for each value of a
    column, `verified` the model's predictions beside what happened, `consistency` the same judge again.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"doc": ["a"] * 3 + ["b"] * 3, "judge": list("xyz") * 2, "label": [2, 2, 1, 1, 1, 0]}
        >>> disagreement = rt.disagree(labels, "1/3", resamples=0)
        >>> print(disagreement)
        at least 1 of 3 users say 2: a label 0 is worth 0, 1 is worth 0.5556, 2 is worth 1
        >>> disagreement.gains
        {0: 0.0, 1: 0.5555555555555555, 2: 1.0}
    """

    at_least: tuple[int, int]
    levels: tuple[str, ...]
    labels: tuple[int, ...]
    top: tuple[str, ...]
    p: Mapping[str, Estimate]
    weights: Mapping[str, Estimate]
    cases: Mapping[str, int]
    documents: int
    queries: int
    judges: int
    votes: int
    min_labels: int
    flags: tuple[Note, ...] = ()
    strata: Mapping[str, Disagreement] = field(default_factory=dict)
    verified: tuple[Verification, ...] = ()
    consistency: Consistency | None = None
    notes: tuple[Note, ...] = ()

    @property
    def gains(self) -> dict[int, float]:
        """What each label is worth, for measures with gains; a level that was never seen has none."""
        values = {label: self.weights[name].value for name, label in zip(self.levels, self.labels, strict=True)}
        return {label: value for label, value in values.items() if value is not None}

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each level: its label, cases, p and weight, with their intervals."""
        import polars as pl

        schema = {"level": pl.String, "label": pl.Int64, "top": pl.Boolean, "cases": pl.Int64}
        columns = [f"{statistic}{end}" for statistic in ("p", "weight") for end in ("", "_low", "_high")]
        rows = []
        for name, label in zip(self.levels, self.labels, strict=True):
            p, weight = self.p[name], self.weights[name]
            ends = (p.value, p.low, p.high, weight.value, weight.low, weight.high)
            rows.append((name, label, name in self.top, self.cases[name], *ends))
        return pl.DataFrame(rows, schema=schema | dict.fromkeys(columns, pl.Float64), orient="row")

    def __str__(self) -> str:
        least, users = self.at_least
        phrases = ", ".join(
            f"{name} is worth {'nobody knows what' if estimate.value is None else f'{estimate.value:.4g}'}"
            for name, estimate in self.weights.items()
        )
        return f"at least {least} of {users} users say {' or '.join(self.top)}: a label {phrases}"

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        return {
            **plain_fields(self, "p", "weights", "cases", "flags"),
            "at_least": "/".join(map(str, self.at_least)),
            "top": list(self.top),
            "gains": {str(label): gain for label, gain in self.gains.items()},
            "levels": dict(zip(self.levels, self.labels, strict=True)),
            **plain_fields(self, "documents", "queries", "judges", "votes", "min_labels", "strata"),
            "verification": to_plain(self.verified),
            **plain_fields(self, "consistency", "notes"),
        }
