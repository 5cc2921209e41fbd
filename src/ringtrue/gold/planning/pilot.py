"""What runs, bronze labels and some gold ones say about the judge and the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import InputError, MismatchError, UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import Measure, parse
from ringtrue.evaluation.significance import differences
from ringtrue.gold.planning.assumptions import KnownQuantities, Source
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments, Run, Scores

MIN_GOLD_LABELS = 30
MIN_WHOLE_QUERIES = 10  # so many with gold on every document tell gold's own sd


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotObservations:
    """What is known from files, how many queries they have, how the judge did, and every doubt."""

    quantities: KnownQuantities
    queries: int
    confusion: Confusion | None
    notes: tuple[Note, ...] = ()


def observe_pilot(
    runs: Sequence[Run], bronze: Judgments, *, gold: Judgments | None, measure: str | Measure, bronze_rel: int | None
) -> PilotObservations:
    """Score, sd, accuracies and prevalence from one run; of two, from the documents that only one of them has.

        P = (x + ½)/(n + 1) of what bronze calls relevant is so by gold, Q alike of the others,
        θ = jP + (1−j)Q,    m_R = jP/θ,    m_N = (1−j)(1−Q)/(1−θ)

    A gold label that was drawn with a known probability (a column `prob`) counts by its inverse. Documents that bronze
    did not label count as non-relevant, as they do in the score.

    Examples:
        >>> run = Run.of({f"q{q}": {"a": 2.0, "b": 1.0} for q in range(4)})
        >>> bronze = Judgments.of({f"q{q}": {"a": 1, "b": q % 2} for q in range(4)})
        >>> pilot = observe_pilot([run], bronze, gold=None, measure="P@2", bronze_rel=None)
        >>> pilot.quantities.score, pilot.queries
        (0.75, 4)
    """
    k = require_precision_depth(measure)
    rel = int(dict(parse(measure).parameters).get("rel", 1))
    bronze_threshold = rel if bronze_rel is None else bronze_rel
    scores = evaluate(list(runs), bronze, f"P(rel={bronze_threshold})@{k}")
    queries = scores.frame["query"].unique().to_list()
    documents = _compared_documents(runs, queries, k)
    documents = _join_relevance(documents, bronze, bronze_threshold, "bronze").with_columns(
        pl.col("bronze").fill_null(False)
    )
    observed = _bronze_quantities(scores, documents, len(queries))
    notes = list(scores.notes)
    accuracy = confusion = None
    if gold is not None:
        labelled = _join_relevance(documents, gold, rel, "gold")
        judged = labelled.filter(pl.col("gold").is_not_null())
        _require_judged(judged, gold, documents)
        if judged.height < MIN_GOLD_LABELS:
            notes.append(
                Note(
                    "few-gold",
                    f"only {judged.height} gold labels show how good the judge is: the plan may be far off",
                    parameter="gold",
                )
            )
        confusion = _binary_confusion(judged)
        observed["prevalence"], accuracy = _estimate_accuracy(judged, observed["score"])
        observed |= _gold_quantities(labelled, k)
    sources: dict[str, Source] = dict.fromkeys([*observed, "accuracy"], "files")
    quantities = KnownQuantities(k=k, accuracy=accuracy, sources=sources, **observed)
    return PilotObservations(quantities=quantities, queries=len(queries), confusion=confusion, notes=tuple(notes))


def require_precision_depth(measure: str | Measure) -> int:
    """How many documents P@k looks at; other measures are refused."""
    parsed = parse(measure)
    if parsed.name == "P" and isinstance(parsed.cutoff, int):
        return parsed.cutoff
    raise UsageError(
        "plan-needs-precision",
        f"a plan is for P@k, and {parsed} is another measure",
        parameter="measure",
        suggestions=[
            Suggestion(
                "says what a draw gives, if it is a sum over documents", function="sample", measures=f"{parsed}"
            ),
            Suggestion("gives the sd of the scores, for the plan 'gold' of whole queries", gold_sd=...),
        ],
    )


def _compared_documents(runs: Sequence[Run], queries: list[str], k: int) -> pl.DataFrame:
    """The top k of a run; of two runs, what only one of them has there. `sign` says which one."""
    tops = [run.ranked(k).filter(pl.col("query").is_in(queries)) for run in runs]
    if len(tops) == 1:
        return tops[0].with_columns(sign=pl.lit(1.0))
    keys = ["query", "doc"]
    first = tops[0].join(tops[1], on=keys, how="anti").with_columns(sign=pl.lit(1.0))
    unshared = pl.concat([first, tops[1].join(tops[0], on=keys, how="anti").with_columns(sign=pl.lit(-1.0))])
    if not unshared.height:
        raise InputError(
            "same-documents",
            f"'{runs[0].name}' and '{runs[1].name}' have the same top {k}: they cannot differ in P@{k}",
        )
    return unshared


def _join_relevance(documents: pl.DataFrame, labels: Judgments, rel: int, name: str) -> pl.DataFrame:
    """Whether each document is relevant by these labels; null where there is none."""
    labels.require_one_label_each()
    frame = labels.frame.filter(pl.col("label") >= 0)
    probability = [pl.col("prob")] if name == "gold" and "prob" in frame.columns else []
    relevance = frame.select("query", "doc", (pl.col("label") >= rel).alias(name), *probability)
    return documents.join(relevance, on=["query", "doc"], how="left", maintain_order="left")


def _bronze_quantities(scores: Scores, documents: pl.DataFrame, queries: int) -> dict[str, float]:
    """The score and the sd; of two runs, those of the documents that they do not share, and how many these are."""
    runs = scores.frame["run"].unique(maintain_order=True).to_list()
    if len(runs) == 1:
        values = scores.frame["value"].to_numpy()
        quantities = {"score": float(values.mean()), "sd": _require_varying_sd(values)}
    else:
        query_differences = differences(scores, runs[0], runs[1])["difference"].to_numpy()
        share = float(documents["bronze"].to_numpy().mean())
        quantities = {
            "score": share,
            "difference_sd": _require_varying_sd(query_differences),
            "unshared": documents.height / queries,
        }
    if not 0 < quantities["score"] < 1:
        quantifier = "all" if quantities["score"] else "none"
        raise InputError(
            "bronze-all-alike",
            f"{quantifier} of the documents are relevant by the bronze labels, which says nothing about the judge",
            parameter="bronze_rel",
            suggestions=[Suggestion("sets the lowest label that counts", bronze_rel=...)],
        )
    return quantities


def _require_varying_sd(values: NDArray[np.float64]) -> float:
    if len(values) > 1 and np.ptp(values) > 0:
        return float(np.std(values, ddof=1))
    single = len(values) == 1
    reason = "known for one query only" if single else f"the same for all {len(values)} queries"
    raise InputError(
        "single-query" if single else "all-queries-alike",
        f"the score is {reason}: how far queries differ cannot be estimated",
        parameter="sd",
        suggestions=[Suggestion("gives it, without files", sd=...)],
    )


def _require_judged(judged: pl.DataFrame, gold: Judgments, documents: pl.DataFrame) -> None:
    if judged.height:
        return
    gold_row, run_row = gold.frame.row(0, named=True), documents.row(0, named=True)
    raise MismatchError(
        "gold-outside-runs",
        f"no gold label is of a document that counts: gold has '{gold_row['doc']}' of query '{gold_row['query']}', the "
        f"run '{run_row['doc']}' of query '{run_row['query']}'; gold must be drawn from the top of the runs, and for a "
        "difference from what they do not share",
        parameter="gold",
    )


def _binary_confusion(judged: pl.DataFrame) -> Confusion:
    gold, bronze = (judged[name].to_numpy().astype(np.int64) for name in ("gold", "bronze"))
    counts = np.bincount(2 * gold + bronze, minlength=4).reshape(2, 2)
    return Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=counts)


def _estimate_accuracy(judged: pl.DataFrame, score: float) -> tuple[float, tuple[float, float]]:
    """The prevalence and the accuracies that follow from gold given bronze."""
    weight = 1 / judged["prob"].fill_null(1.0).to_numpy() if "prob" in judged.columns else np.ones(judged.height)
    gold, bronze = judged["gold"].to_numpy(), judged["bronze"].to_numpy()
    shares = []
    for side in (bronze, ~bronze):
        n = int(side.sum())
        hits = n * float(weight[side] @ gold[side]) / float(weight[side].sum()) if n else 0.0
        shares.append((hits + 0.5) / (n + 1))
    prevalence = score * shares[0] + (1 - score) * shares[1]
    return prevalence, (score * shares[0] / prevalence, (1 - score) * (1 - shares[1]) / (1 - prevalence))


def _gold_quantities(labelled: pl.DataFrame, k: int) -> dict[str, float]:
    """Gold's own sd over queries, from those where gold judged every document, if there are enough."""
    by_query = labelled.group_by("query", maintain_order=True).agg(
        whole=pl.col("gold").is_not_null().all(), value=(pl.col("gold").cast(pl.Float64) * pl.col("sign")).sum() / k
    )
    values = by_query.filter("whole")["value"].to_numpy()
    return {"gold_sd": _require_varying_sd(values)} if len(values) >= MIN_WHOLE_QUERIES and np.ptp(values) > 0 else {}
