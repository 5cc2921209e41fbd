"""Two judges' labels as each other's ranking: how much a measure depends on whose labels it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.measures.graded import Discount, tied_dcg, tied_gap
from ringtrue.judges.disagreement.levels import read_votes_on_levels
from ringtrue.judges.disagreement.top_given_label import UserShare, parse_user_share, weight
from ringtrue.judges.votes import Outside, Repeats, Votes
from ringtrue.messages import Note
from ringtrue.stats.encoding import cross_tabulate, divide_or_nan

USUAL_SHARES = ("1/2", "1/3", "1/4")  # M/N of the source
SUMMARY_SCHEMA = {"measure": pl.String, "mean": pl.Float64, "sd": pl.Float64, "queries": pl.Int64, "left_out": pl.Int64}

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Formula: TypeAlias = Callable[[Counts, Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MutualEvaluation:
    """How each measure scores one judge's order by the other's labels: 1 where both agree on what it looks at.

    `table` has measure, mean, sd over queries (n − 1), queries, and how many were left out because the measure is
    undefined there; `values` has query, measure, value; `judges` the two judges of each query.

    Examples:
        >>> queries, docs = ["q1", "q1", "q1", "q1", "q2", "q2", "q2", "q2"], ["x", "x", "y", "y"] * 2
        >>> labels = {"query": queries, "doc": docs, "judge": ["a", "b"] * 4, "label": [1, 1, 0, 1, 1, 1, 0, 0]}
        >>> evaluation = mutual_evaluation(labels)
        >>> evaluation.judges["q1"], evaluation.values.row(0)
        (('a', 'b'), ('q1', 'AP', 0.875))
    """

    table: pl.DataFrame
    values: pl.DataFrame
    judges: dict[str, tuple[str, str]]
    notes: tuple[Note, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data."""
        return {"measures": self.table.to_dicts(), "judges": {query: list(pair) for query, pair in self.judges.items()}}


def mutual_evaluation(
    labels: object,
    *,
    judges: Sequence[str] | None = None,
    at_least: Iterable[str | UserShare] = USUAL_SHARES,
    levels: Sequence[str] | None = None,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    keep_lowest: bool = False,
) -> MutualEvaluation:
    """Rank the documents of a query by one judge's labels, score the order by the other's, and the other way round.

    Of each query the documents that both `judges` labelled; without names, the two who labelled the most in common.
    `levels` names labels that are words, the lowest first.
    Ties in random order, by their exact expectation; the weights of a query come from the double judgments of all
    others [Demeester14, section 6.1]. AP takes the top label alone as relevant, GAP and nDCG the weights for at least
    M of N users, nDCG also gains of 2^level − 1, with discounts 1/log₂(k + 1) and 1/k. Of a judge's repeats the last
    counts, unless `repeats` says the first.

    Examples:
        >>> docs = [doc for doc in "abcd" for _ in "xy"] * 3
        >>> queries = [query for query in ("q1", "q2", "q3") for _ in range(8)]
        >>> given_labels = [2, 2, 1, 2, 0, 0, 1, 0] * 2 + [2, 2, 1, 1, 0, 0, 0, 0]
        >>> labels = {"query": queries, "doc": docs, "judge": ["x", "y"] * 12, "label": given_labels}
        >>> mutual_evaluation(labels, at_least=["1/3"]).table.select("measure", pl.col("mean").round(3)).rows()
        [('AP', 0.889), ('GAP(1/3)', 0.938), ('nDCG(exp, zipf)', 0.934), ('nDCG(exp)', 0.954), ('nDCG(1/3)', 0.96)]
    """
    shares = [parse_user_share(user_share) for user_share in at_least]
    votes, _ = read_votes_on_levels(labels, levels=levels, top=None, scale=scale, outside=outside)
    votes = votes.resolve_repeats("last" if repeats == "all" else repeats)
    joint, pairs = _joint_label_counts(votes, judges)
    if len(joint) < 2:
        raise MismatchError(
            "too-few-queries",
            f"{len(joint)} of the queries have documents that two judges labelled, and the weights of one come from "
            f"the others: expected two queries or more",
        )
    both = joint + joint.transpose(0, 2, 1)  # asked in both directions
    elsewhere = both.sum(axis=0) - both
    with np.errstate(invalid="ignore"):
        p = elsewhere[:, :, -1] / elsewhere.sum(axis=2)  # NaN: never seen elsewhere
    needed = both.sum(axis=2) > 0
    weights_by_share, usable_by_share = {}, {}
    for least, users in shares:
        weights = _level_weights(p, least, users, keep_lowest=keep_lowest)
        usable_by_share[f"{least}/{users}"] = ~(needed & np.isnan(weights)).any(axis=1)
        weights_by_share[f"{least}/{users}"] = np.where(np.isnan(weights), 0.0, weights)

    def by_share(measure: str, formula: Formula) -> dict[str, Floats]:
        return {
            f"{measure}({share})": np.where(
                usable_by_share[share], _average_directions(joint, formula, weights), np.nan
            )
            for share, weights in weights_by_share.items()
        }

    top = (np.arange(joint.shape[1]) == joint.shape[1] - 1).astype(np.float64)
    exp = np.exp2(np.array(votes.labels) - min(votes.labels)) - 1  # from the lowest level, as the weights
    values = {
        "AP": _average_directions(joint, _expected_tied_gap, top),
        **by_share("GAP", _expected_tied_gap),
        "nDCG(exp, zipf)": _average_directions(joint, partial(_expected_tied_ndcg, discount="zipf"), exp),
        "nDCG(exp)": _average_directions(joint, _expected_tied_ndcg, exp),
        **by_share("nDCG", _expected_tied_ndcg),
    }
    return MutualEvaluation(
        table=pl.DataFrame(
            [_summarise_values(*entry) for entry in values.items()], schema=SUMMARY_SCHEMA, orient="row"
        ),
        values=pl.concat(
            pl.DataFrame({"query": list(pairs), "measure": [name] * len(pairs), "value": by_query})
            for name, by_query in values.items()
        ).with_columns(pl.col("value").fill_nan(None)),
        judges=pairs,
        notes=votes.notes,
    )


def _summarise_values(name: str, values: Floats) -> tuple[str, float | None, float | None, int, int]:
    defined = values[~np.isnan(values)]
    return (
        name,
        float(defined.mean()) if len(defined) else None,
        float(defined.std(ddof=1)) if len(defined) > 1 else None,
        len(defined),
        len(values) - len(defined),
    )


def _level_weights(p: Floats, least: int, users: int, *, keep_lowest: bool) -> Floats:
    """The weight of each level for each query: queries × levels."""
    weights = weight(p, least, users)
    weights[:, -1] = weight(p[:, -1], least, users, top=True)
    if not keep_lowest:
        weights[:, 0] = 0.0
    return weights


def _average_directions(joint: Counts, formula: Formula, weights: Floats) -> Floats:
    """The mean of both directions; NaN where either is undefined."""
    return (formula(joint, weights) + formula(joint.transpose(0, 2, 1), weights)) / 2


def _expected_tied_gap(joint: Counts, weights: Floats) -> Floats:
    """Expected graded average precision."""
    total_weight = np.einsum("qij,qi->q", joint, np.broadcast_to(weights, joint.shape[:2]))
    return divide_or_nan(tied_gap(joint, weights), total_weight)


def _expected_tied_ndcg(joint: Counts, weights: Floats, *, discount: Discount = "log2") -> Floats:
    """Expected nDCG; the ideal is sorted by worth, not by label."""
    weights = np.broadcast_to(weights, joint.shape[:2])
    by_weight = np.argsort(weights, axis=1, kind="stable")
    counts = np.take_along_axis(joint.sum(axis=2), by_weight, axis=1)
    ideal_joint = counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    ideal = tied_dcg(ideal_joint, np.take_along_axis(weights, by_weight, 1), discount=discount)
    return divide_or_nan(tied_dcg(joint, weights, discount=discount), ideal)


def _joint_label_counts(votes: Votes, judges: Sequence[str] | None) -> tuple[Counts, dict[str, tuple[str, str]]]:
    """How many documents of each query have each label by one judge and by the other; and who the two are."""
    if votes.is_pairwise:
        raise UsageError(
            "not-for-preferences", "these are preferences; mutual evaluation takes judgments (query, doc, judge, label)"
        )
    judge_codes = _find_judge_codes(votes, judges)
    frame = pl.DataFrame({"item": votes.item, "judge": votes.judge, "label": votes.label}).with_columns(
        query=votes.items["query"].gather(votes.item)
    )
    label_pairs = frame.join(frame.drop("query"), on="item", suffix="_b").filter(pl.col("judge") < pl.col("judge_b"))
    if judge_codes is not None:
        label_pairs = label_pairs.filter(pl.col("judge").is_in(judge_codes) & pl.col("judge_b").is_in(judge_codes))
    overlaps = label_pairs.group_by("query", "judge", "judge_b", maintain_order=True).len()
    overlaps = overlaps.sort("len", descending=True, maintain_order=True)
    largest_overlaps = overlaps.unique("query", keep="first", maintain_order=True)
    chosen = label_pairs.join(largest_overlaps, on=["query", "judge", "judge_b"])
    n_labels = len(votes.labels)
    joint, pairs = [], {}
    for (query,), rows in chosen.group_by("query", maintain_order=True):
        labels, other_labels = rows["label"].to_numpy(), rows["label_b"].to_numpy()
        joint.append(cross_tabulate(labels, other_labels, n_labels, n_labels))
        pairs[str(query)] = (votes.judges[rows["judge"][0]], votes.judges[rows["judge_b"][0]])
    return np.array(joint, dtype=np.int64).reshape(-1, n_labels, n_labels), pairs


def _find_judge_codes(votes: Votes, judges: Sequence[str] | None) -> list[int] | None:
    if judges is None:
        return None
    if len(set(judges)) != 2:
        raise UsageError(
            "not-two-judges",
            f"mutual evaluation takes two judges, found {len(set(judges))}: {', '.join(judges)}",
            parameter="judges",
        )
    for judge in judges:
        if judge not in votes.judges:
            near = did_you_mean(judge, votes.judges) or "; there is " + ", ".join(votes.judges[:5])
            raise UsageError("unknown-judge", f"no judge '{judge}'{near}", parameter="judges")
    return [votes.judges.index(judge) for judge in judges]
