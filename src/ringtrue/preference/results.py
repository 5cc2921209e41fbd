"""What comes out when documents are rated by preferences, and how ratings become labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.messages import Note, notes_as_dict
from ringtrue.preference.bradley_terry import OutcomeModel
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRating:
    """A judge as the ratings see them: how many votes, and how far these can be trusted.

    `value` is the sensitivity: 1 is a typical judge who looks, 0 one who guesses, below 0 one who says the opposite. By
    Crowd-BT it is how often the judge is honest: 1, ½ and 0.

    Examples:
        >>> import ringtrue as rt
        >>> votes = {"left": [*"aaab"] * 3, "right": [*"bbcc"] * 3, "winner": [*"aaab"] * 2 + [*"bbcc"],
        ...          "judge": [*"wxyz" * 2, *"vvvv"]}
        >>> judge = rt.rate(votes, by_judge="crowd-bt", repeats="all").judges["v"]
        >>> judge.votes, round(judge.value, 1)
        (4, 0.7)
    """

    judge: str
    votes: int
    value: float
    se: float | None = None
    low: float | None = None
    high: float | None = None

    def as_dict(self, name: str) -> dict[str, object]:
        """The judge as plain data; `name` says what the value is."""
        return {name if key == "value" else key: value for key, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """Every document's rating, how sure it is, and what follows from it.

    `frame` has a row for each document, the best of each group first: query, doc, rating, se, low, high, ahead (how
    sure it is that the document is better than the next of its group), matches (how many others it met), votes, and
    group: documents that no chain of votes joins are in different groups of their query, the largest first, and cannot
    be compared.
    Ratings of bradley-terry are in log odds around 0, those of elo and glicko in points around the start. `passes`
    says how many of the pairs that met changed places in each pass after the first, `auc` how well each query's
    ratings tell relevant documents from others, where gold was given.

    Examples:
        >>> import ringtrue as rt
        >>> votes = {"left": [*"aab"] * 4, "right": [*"bcc"] * 4, "winner": [*"aab"] * 3 + [*"bcb"]}
        >>> print(rt.rate(votes))
        3 documents of 1 query rated by bradley-terry from 12 votes
        best of query '0': a 0.74 (95% CI -0.31 to 1.79)
        >>> round(rt.rate(votes).chance("a", "c"), 2)
        0.86
    """

    method: str
    frame: pl.DataFrame
    settings: Mapping[str, object]
    level: float
    votes: int
    unit: float | None
    outcome: OutcomeModel = field(default_factory=OutcomeModel)
    judge_model: str | None = None
    judges: Mapping[str, JudgeRating] = field(default_factory=dict)
    passes: pl.DataFrame | None = None
    auc: Mapping[str, float | None] | None = None
    tau: Mapping[str, float | None] | None = None
    notes: tuple[Note, ...] = ()

    def chance(self, a: str, b: str, *, query: str | None = None) -> float:
        """How likely a vote prefers `a` to `b`, half of the ties counted; with several queries, say of which."""
        rows = self._rows_of_query(query)
        row_a, row_b = self._row_of_doc(rows, a), self._row_of_doc(rows, b)
        if rows["group"][row_a] != rows["group"][row_b]:
            raise UsageError(
                "unconnected-documents", f"'{a}' and '{b}' cannot be compared: no chain of votes joins them"
            )
        difference = np.array([rows["rating"][row_a] - rows["rating"][row_b]])
        return float(self.outcome.expected_score(difference / self._require_unit())[0])

    def chances(self, *, query: str | None = None) -> pl.DataFrame:
        """The chance of every document against every other of a query, or of all: query, a, b, chance, tie.

        Each pair stands once, the better document first; half of the ties are in `chance`, and `tie` is empty where
        ties are half wins. Pairs that no chain of votes joins are left out.
        """
        frames = [self._rows_of_query(query)] if query else self._frames_by_query().values()
        return pl.concat([self._pair_chances(rows) for rows in frames])

    def labels(
        self,
        *,
        thresholds: Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None,
        gaps: int | None = None,
    ) -> Judgments:
        """The ratings as labels for evaluation, cut in each query at thresholds, at quantiles or at the widest gaps.

        Examples:
            >>> import ringtrue as rt
            >>> votes = {"left": [*"aab"], "right": [*"bcc"], "winner": [*"aab"]}
            >>> rt.rate(votes).labels(quantiles=[0.4, 0.9]).frame["label"].to_list()
            [2, 1, 0]
        """
        if sum(cutoffs is not None for cutoffs in (thresholds, quantiles, gaps)) != 1:
            raise UsageError(
                "not-one-cut", "ratings become labels by one of three: thresholds, quantiles or the widest gaps"
            )
        parts = []
        for rows in self._frames_by_query().values():
            ratings = rows["rating"].to_numpy()
            if thresholds is not None:
                label = label_by_thresholds(ratings, thresholds)
            elif quantiles is not None:
                label = label_by_quantiles(ratings, quantiles)
            else:
                label = label_by_gaps(ratings, gaps or 0)
            parts.append(rows.select("query", "doc", label=pl.Series(label)))
        return Judgments.of(pl.concat(parts))

    def run(self) -> Run:
        """The ratings as a run, the best document of every query first."""
        return Run.of(self.frame.select("query", "doc", score="rating"), name=self.method)

    def groups(self) -> dict[str, list[list[str]]]:
        """The documents that cannot be compared with each other, as groups, for the queries that have several."""
        disconnected = self.frame.filter(pl.col("group").n_unique().over("query") > 1)
        return {
            str(query): [part["doc"].to_list() for _, part in rows.group_by("group", maintain_order=True)]
            for (query,), rows in disconnected.group_by("query", maintain_order=True)
        }

    def __str__(self) -> str:
        docs, queries = self.frame.height, self.frame["query"].n_unique()
        best = self.frame.row(0, named=True)
        summary = (
            f"{docs:,} document{'s' * (docs > 1)} of {queries:,} {'query' if queries == 1 else 'queries'} rated by "
            f"{self.method} from {self.votes:,} vote{'s' * (self.votes > 1)}\n"
            f"best of query '{best['query']}': {best['doc']} {best['rating']:.2f}"
        )
        if best["low"] is None:
            return summary
        return summary + f" ({100 * self.level:g}% CI {best['low']:.2f} to {best['high']:.2f})"

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        columns = ("doc", "rating", "low", "high", "matches", "se", "ahead", "votes")
        payload: dict[str, object] = {
            "queries": {query: rows.select(columns).to_dicts() for query, rows in self._frames_by_query().items()},
            "passes": self._inverted_shares(),
            "auc": dict(self.auc or {}),
            "tau": dict(self.tau or {}),
            "method": self.method,
            "settings": dict(self.settings),
            "level": self.level,
            "votes": self.votes,
            "groups": self.groups(),
        }
        if self.judge_model is not None:
            name = "sensitivity" if self.judge_model == "sensitivity" else "honesty"
            payload["judges"] = [judge.as_dict(name) for judge in self.judges.values()]
        return payload | notes_as_dict(self.notes)

    def _inverted_shares(self) -> list[dict[str, object]]:
        """Of the pairs that met in any query, the share that changed places in each pass after the first."""
        if self.passes is None:
            return []
        shares = self.passes.group_by("pass", maintain_order=True).agg(
            inverted=pl.col("inverted").sum() / pl.col("pairs").sum()
        )
        return shares.to_dicts()

    def _frames_by_query(self) -> dict[str, pl.DataFrame]:
        return {str(query): rows for (query,), rows in self.frame.group_by("query", maintain_order=True)}

    def _rows_of_query(self, query: str | None) -> pl.DataFrame:
        queries = self.frame["query"].unique(maintain_order=True)
        if query is None:
            if len(queries) > 1:
                text = f"of which query? There are {len(queries):,}, from '{queries[0]}' on"
                raise UsageError("query-not-given", text, parameter="query")
            return self.frame
        if query not in queries:
            near = did_you_mean(query, queries)
            raise UsageError("unknown-query", f"no query '{query}' was rated{near}", parameter="query")
        return self.frame.filter(pl.col("query") == query)

    @staticmethod
    def _row_of_doc(rows: pl.DataFrame, doc: str) -> int:
        matching = (rows["doc"] == doc).arg_true()
        if not len(matching):
            raise UsageError("unknown-document", f"document '{doc}' was not rated{did_you_mean(doc, rows['doc'])}")
        return int(matching[0])

    def _require_unit(self) -> float:
        if self.unit is None:
            raise UsageError(
                "no-chance-of-a-win", "a win rate says nothing about the chance of a win; rate by another method"
            )
        return self.unit

    def _pair_chances(self, rows: pl.DataFrame) -> pl.DataFrame:
        i, j = np.triu_indices(rows.height, k=1)
        group = rows["group"].to_numpy()
        comparable = group[i] == group[j]
        i, j = i[comparable], j[comparable]
        difference: FloatArray = (rows["rating"].to_numpy()[i] - rows["rating"].to_numpy()[j]) / self._require_unit()
        return pl.DataFrame(
            {
                "query": rows["query"].gather(i),
                "a": rows["doc"].gather(i),
                "b": rows["doc"].gather(j),
                "chance": self.outcome.expected_score(difference),
                "tie": self.outcome.tie_probability(difference) if self.outcome.ties else [None] * len(i),
            },
            schema_overrides={"tie": pl.Float64},
        )


def label_by_thresholds(ratings: FloatArray, thresholds: Sequence[float]) -> NDArray[np.int32]:
    """0 below the first threshold, 1 from there on, 2 from the second, and so on.

    Examples:
        >>> label_by_thresholds(np.array([-1.0, 0.0, 2.0]), [0, 1]).tolist()
        [0, 1, 2]
    """
    require_increasing("thresholds", thresholds)
    return np.searchsorted(np.asarray(thresholds, dtype=np.float64), ratings, side="right").astype(np.int32)


def label_by_quantiles(ratings: FloatArray, quantiles: Sequence[float]) -> NDArray[np.int32]:
    """0 for the documents below the first quantile, 1 from there on, and so on; equal ratings get equal labels.

    A document's place is the share of the others of its query that are rated below it, those rated the same half.

    Examples:
        >>> label_by_quantiles(np.array([5.0, 1.0, 3.0, 2.0]), [0.5, 0.9]).tolist()
        [2, 0, 1, 0]
    """
    require_quantiles(quantiles)
    ordered, other_count = np.sort(ratings), max(len(ratings) - 1, 1)
    below, up_to = (np.searchsorted(ordered, ratings, side=side) for side in ("left", "right"))
    percentile = (below + (up_to - below - 1) / 2) / other_count
    return np.searchsorted(np.asarray(quantiles, dtype=np.float64), percentile, side="right").astype(np.int32)


def label_by_gaps(ratings: FloatArray, labels: int) -> NDArray[np.int32]:
    """So many labels, cut where the ratings leave the widest gaps; fewer where fewer ratings differ.

    Examples:
        >>> label_by_gaps(np.array([0.0, 0.1, 2.0, 2.1, 5.0]), 3).tolist()
        [0, 0, 1, 1, 2]
    """
    if labels < 2:
        raise UsageError("out-of-range", f"gaps cut ratings into 2 labels or more, found {labels}", parameter="gaps")
    distinct = np.unique(ratings)
    widest = np.sort(np.argsort(-np.diff(distinct), kind="stable")[: labels - 1])
    return np.searchsorted(distinct[widest + 1], ratings, side="right").astype(np.int32)


def require_quantiles(quantiles: Sequence[float]) -> None:
    """Refuse what does not rise from above 0 to below 1."""
    require_increasing("quantiles", quantiles)
    if not all(0 < quantile < 1 for quantile in quantiles):
        text = f"quantiles lie between 0 and 1, found {_format_cutoffs(quantiles)}"
        raise UsageError("out-of-range", text, parameter="quantiles")


def require_increasing(name: str, numbers: Sequence[float]) -> None:
    """Refuse no number, numbers that do not rise, and what is none."""
    if not numbers:
        raise UsageError("no-cut", f"{name} need at least one number, found none", parameter=name)
    if not np.isfinite(numbers).all():
        raise UsageError(
            "bad-number", f"{name} must be finite numbers, found {_format_cutoffs(numbers)}", parameter=name
        )
    if not all(lower < upper for lower, upper in pairwise(numbers)):
        text = f"{name} must rise, found {_format_cutoffs(numbers)}"
        raise UsageError("unordered-cuts", text, parameter=name)


def _format_cutoffs(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
