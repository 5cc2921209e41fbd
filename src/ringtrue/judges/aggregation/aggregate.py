"""One label for each item, by a vote or by a model of the judges, and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.aggregation.em import EmFit, estimate_judges_by_model, fit_em, symmetrise_labels, vote_shares
from ringtrue.judges.aggregation.judge_models import (
    DEFAULT_PRIOR,
    DawidSkene,
    ErrorModel,
    FloatArray,
    Mace,
    OneCoin,
    Prior,
)
from ringtrue.judges.aggregation.results import Aggregation, JudgeModel
from ringtrue.judges.votes import (
    Codes,
    Outside,
    Repeats,
    Votes,
    align_with_gold,
    find_isolated_judges,
    leave_one_out_consensus,
    make_votes,
)
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate, rows_by_group
from ringtrue.stats.intervals import estimate_share, require_level

Method: TypeAlias = Literal["majority", "mean", "median", "dawid-skene", "one-coin", "mace"]
METHODS: tuple[Method, ...] = get_args(Method)
MODEL_METHODS: dict[str, Callable[..., ErrorModel]] = {"dawid-skene": DawidSkene, "one-coin": OneCoin, "mace": Mace}
FEW_LABELS = 3  # labels of an item, on average
MAX_SHIFT = 0.3  # how much more common a label may become
NO_PRIOR = Prior(diagonal=0, cell=0)
Ties: TypeAlias = Literal["low", "high", "random"]
TieRule: TypeAlias = Ties | Literal["middle"]  # the middle label, whichever tie: for pairs, that neither wins
Counts = NDArray[np.int64]
ROUNDING = 1e-9  # probabilities this close differ by rounding alone


def aggregate(
    labels: object,
    *,
    method: Method = "dawid-skene",
    gold: object | None = None,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    prior: Prior | None = DEFAULT_PRIOR,
    ties: Ties = "low",
    max_iterations: int = 500,
    tolerance: float = 1e-6,
    start: Aggregation | None = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] | None = None,
) -> Aggregation:
    """One label for each item from the labels of many judges.

    `labels` are judgments, preferences, or a table of either.

    - `majority`: the label that most judges gave. `mean`, `median`: that number, and the label nearest to it.
    - `dawid-skene`: each judge has a matrix of what they say given what is true; labels and matrices are estimated
      from each other until they agree [Dawid79].
    - `one-coin`: each judge has one accuracy. `mace`: each judge knows the label or says one by habit [Hovy13].

    The last three hold where judges err independently of each other, given the true label, and most are right more
    often than wrong. In simulation the 95% intervals of a judge's matrix and accuracy then hold in 92 to 98% of the
    cases, with three labels for each item or more; they take the other judges' matrices for known, and with two
    judges in all they are far too narrow.

    `prior` keeps judges with few labels from being taken for perfect or perverse; with None it is plain maximum
    likelihood. Models begin with the share of each label among an item's votes, or where `start`, an earlier
    aggregation, left the judges whom it knows. Without gold, a single judge gets the labels back.

    `gold` labels are taken for true, and items that have one keep it. Where several labels are equally good, `ties`
    chooses the low one, the high one or a random one (`rng`, seeded with 0 where it is not given). `progress` is told
    how many votes × labels were gone through.

    A pair of documents has no first one: with preferences, models count every vote both ways round, so that what the
    documents are called changes nothing, and where several labels are equally good it is a tie, whatever `ties` says.

    Examples:
        >>> table = {"item": [1, 1, 1, 2, 2, 2], "worker": [*"abcabc"], "label": [0, 0, 1, 1, 1, 1]}
        >>> aggregation = aggregate(table)
        >>> aggregation.items["label"].to_list(), aggregation.items["probability"].round(2).to_list()
        ([0, 1], [0.77, 0.98])
    """
    _require_aggregation_options(method, ties, max_iterations, tolerance, start)
    require_level(level)
    rng = rng or np.random.default_rng(0)
    votes = _drop_unlabelled_items(make_votes(labels, scale=scale, outside=outside).resolve_repeats(repeats))
    gold_labels: Codes = np.full(votes.items.height, -1, dtype=np.int32)
    if gold is not None:
        votes, gold_labels = align_with_gold(votes, make_votes(gold, scale=scale, outside=outside))
    rule: TieRule = "middle" if votes.is_pairwise else ties
    # A model of one judge, with nothing to check them, may say anything.
    if method in VOTE_METHODS or (len(votes.judges) == 1 and gold is None):
        aggregation = _aggregate_by_vote(votes, gold_labels, method, rule, rng, level)
    else:
        model = MODEL_METHODS[method](prior=prior or NO_PRIOR)
        em_fit = fit_em(
            votes,
            gold_labels,
            model,
            earlier=start,
            max_iterations=max_iterations,
            tolerance=tolerance,
            progress=progress or (lambda _: None),
        )
        aggregation = _aggregate_by_model(votes, gold_labels, em_fit, method, rule, rng, level)
    return aggregation if method in VOTE_METHODS else replace(aggregation, prior=prior)


def _require_aggregation_options(
    method: str, ties: str, max_iterations: int, tolerance: float, start: Aggregation | None
) -> None:
    if method not in METHODS:
        suggestion = did_you_mean(method, METHODS) or f"; there is {', '.join(METHODS)}"
        raise UsageError("unknown-choice", f"no method '{method}'{suggestion}", parameter="method")
    if ties not in get_args(Ties):
        rules = "ties go to the low label, the high one or a random one"
        raise UsageError("unknown-choice", f"{rules}; found '{ties}'", parameter="ties")
    if max_iterations < 1:
        raise UsageError(
            "out-of-range",
            f"at least one iteration is needed, found {max_iterations}",
            parameter="max_iterations",
            suggestions=[Suggestion("is usual", max_iterations=500)],
        )
    if not tolerance >= 0:
        raise UsageError(
            "out-of-range",
            f"the tolerance must be 0 or more, found {tolerance:g}",
            parameter="tolerance",
            suggestions=[Suggestion("is usual", tolerance=1e-6)],
        )
    if start is not None and method in VOTE_METHODS:
        raise UsageError(
            "start-of-a-vote",
            f"a start is for methods that iterate ({', '.join(MODEL_METHODS)}), and {method} is a vote",
            parameter="start",
        )


def _drop_unlabelled_items(votes: Votes) -> Votes:
    """Without items that have no vote."""
    has_vote = np.bincount(votes.item, minlength=votes.items.height) > 0
    if has_vote.all():
        return votes
    n_missing = int((~has_vote).sum())
    text = "1 item has no label and is" if n_missing == 1 else f"{n_missing:,} items have no label and are"
    return replace(votes.keep_items(has_vote), notes=(*votes.notes, Note("unlabelled-items", f"{text} left out")))


def _aggregate_by_vote(
    votes: Votes, gold_labels: Codes, method: Method, ties: TieRule, rng: np.random.Generator, level: float
) -> Aggregation:
    vote = VOTE_METHODS.get(method, majority_vote)
    outcome = vote(votes.counts(), votes.labels, ties, rng)
    label, value = np.where(gold_labels < 0, outcome.label, gold_labels), outcome.value
    tie_phrase = "several labels with the most votes"
    if value is not None:
        tie_phrase = f"a {method} halfway between two labels"
        value = np.where(gold_labels < 0, value, np.array(votes.labels)[gold_labels])
    n_tied = int((outcome.tied & (gold_labels < 0)).sum())
    shares = vote_shares(votes, gold_labels)
    return Aggregation(
        method=method,
        labels=votes.labels,
        items=_item_frame(votes, label, shares, value),
        probabilities=shares,
        class_shares=_shares_by_label(votes, np.bincount(label, minlength=len(votes.labels)) / len(label)),
        judges=estimate_judges_by_others(votes, gold_labels, level=level),
        ties=n_tied,
        gold=int((gold_labels >= 0).sum()),
        notes=(*votes.notes, *_vote_notes(votes), *_tie_notes(n_tied, tie_phrase, ties)),
    )


def _aggregate_by_model(
    votes: Votes,
    gold_labels: Codes,
    em_fit: EmFit,
    method: Method,
    ties: TieRule,
    rng: np.random.Generator,
    level: float,
) -> Aggregation:
    outcome = choose_labels(em_fit.truth, ties, rng)
    n_tied = int((outcome.tied & (gold_labels < 0)).sum())
    tie_notes = _tie_notes(n_tied, "several labels equally probable", ties)
    return Aggregation(
        method=method,
        labels=votes.labels,
        items=_item_frame(votes, outcome.label, em_fit.truth),
        probabilities=em_fit.truth,
        class_shares=_shares_by_label(votes, em_fit.shares),
        judges=estimate_judges_by_model(votes, em_fit, level=level),
        objective=em_fit.objective,
        log_likelihood=em_fit.log_likelihood,
        converged=em_fit.converged,
        ties=n_tied,
        gold=int((gold_labels >= 0).sum()),
        notes=(*votes.notes, *_vote_notes(votes), *tie_notes, *em_fit.notes, *_model_notes(votes, em_fit)),
    )


def _item_frame(
    votes: Votes, label: NDArray[np.integer], probabilities: FloatArray, value: FloatArray | None = None
) -> pl.DataFrame:
    items = votes.items.with_columns(
        label=pl.Series(np.array(votes.labels, dtype=np.int32)[label]),
        probability=probabilities[np.arange(len(label)), label],
        votes=np.bincount(votes.item, minlength=len(label)),
    )
    return items if value is None else items.with_columns(value=value)


def _shares_by_label(votes: Votes, shares: FloatArray) -> dict[int, float]:
    return dict(zip(votes.labels, shares.tolist(), strict=True))


def _vote_notes(votes: Votes) -> Iterator[Note]:
    """What the votes cannot show, whatever the method."""
    if len(votes.judges) == 1:
        yield Note("one-judge", "a single judge: nobody else says how good these labels are")
        return
    n_isolated = int(find_isolated_judges(votes).sum())
    if n_isolated:
        judges = format_count(n_isolated, "judge")
        yield Note("isolated-judges", f"{judges} whose items nobody else labelled: their accuracy is guesswork")


def _model_notes(votes: Votes, em_fit: EmFit) -> Iterator[Note]:
    if len(votes.judges) > 1 and votes.size < FEW_LABELS * votes.items.height:
        yield Note(
            "few-labels-per-item",
            f"fewer than {FEW_LABELS} labels an item: judges are hard to distinguish, and their intervals too narrow",
        )
    vote_share = np.bincount(votes.label, minlength=len(votes.labels)) / votes.size
    if votes.is_pairwise:
        vote_share = symmetrise_labels(vote_share)
    label = int((em_fit.shares - vote_share).argmax())
    if em_fit.shares[label] - vote_share[label] > MAX_SHIFT:
        yield Note(
            "shares-unlike-votes",
            f"{votes.labels[label]} is the label of {em_fit.shares[label]:.0%} of the items and of "
            f"{vote_share[label]:.0%} of the votes: few data mislead a model, and so do judges who always say the same",
            suggestions=[Suggestion("takes a vote to compare", method="majority")],
        )
    if not em_fit.converged:
        turns = format_count(len(em_fit.objective), "iteration")
        yield Note(
            "not-converged",
            f"the probabilities still moved after {turns}",
            suggestions=[Suggestion("allows more", max_iterations=...)],
        )


def _tie_notes(n_tied: int, tie_phrase: str, ties: TieRule) -> Iterator[Note]:
    if n_tied:
        choices = {"low": "the lowest of them", "high": "the highest of them", "random": "one of them at random"}
        verb = "has" if n_tied == 1 else "have"
        first, second = (rule for rule in choices if rule != ties) if ties in choices else ("", "")
        yield Note(
            "tied-items",
            f"{format_count(n_tied, 'item')} {verb} {tie_phrase}; {choices.get(ties, 'a tie')} is taken",
            parameter="ties",
            suggestions=[Suggestion(ties=first), Suggestion("takes another", ties=second)] if first else [],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOutcome:
    """The label of each item as a position, whether it was a tie, and the value where it is a number of its own."""

    label: NDArray[np.int64]
    tied: NDArray[np.bool_]
    value: NDArray[np.float64] | None = None


def choose_labels(weights: NDArray[np.float64] | Counts, ties: TieRule, rng: np.random.Generator) -> VoteOutcome:
    """The label with the most weight in each row; of several, as the tie rule says.

    Examples:
        >>> choose_labels(np.array([[2, 1, 2], [0, 3, 1]]), "high", np.random.default_rng(0)).label.tolist()
        [2, 1]
    """
    is_best = weights >= weights.max(axis=1, keepdims=True) - ROUNDING
    n_best = is_best.sum(axis=1)
    if ties == "low":
        label = is_best.argmax(axis=1)
    elif ties == "high":
        label = is_best.shape[1] - 1 - is_best[:, ::-1].argmax(axis=1)
    elif ties == "middle":
        label = np.where(n_best > 1, is_best.shape[1] // 2, is_best.argmax(axis=1))
    else:
        nth = rng.integers(n_best)
        label = (np.cumsum(is_best, axis=1) > nth[:, None]).argmax(axis=1)
    return VoteOutcome(label=label, tied=n_best > 1)


def majority_vote(counts: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator) -> VoteOutcome:  # noqa: ARG001
    """The label that most judges gave."""
    return choose_labels(counts, ties, rng)


def mean_vote(counts: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator) -> VoteOutcome:
    """The mean of the labels, and the label nearest to it.

    Examples:
        >>> voted = mean_vote(np.array([[1, 0, 2], [1, 1, 0]]), (0, 1, 2), "low", np.random.default_rng(0))
        >>> voted.value.round(3).tolist(), voted.label.tolist(), voted.tied.tolist()
        ([1.333, 0.5], [1, 0], [False, True])
    """
    return _choose_nearest(counts @ np.array(labels, dtype=np.int64), counts.sum(axis=1), labels, ties, rng)


def median_vote(counts: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator) -> VoteOutcome:
    """The label in the middle, or the mean of the two there, and the label nearest to it.

    Examples:
        >>> voted = median_vote(np.array([[1, 0, 2], [1, 0, 1]]), (0, 1, 2), "low", np.random.default_rng(0))
        >>> voted.value.tolist(), voted.label.tolist()
        ([2.0, 1.0], [2, 1])
    """
    running, total = np.cumsum(counts, axis=1), counts.sum(axis=1, keepdims=True)
    grades = np.array(labels, dtype=np.int64)
    low, high = ((running > middle).argmax(axis=1) for middle in ((total - 1) // 2, total // 2))
    return _choose_nearest(grades[low] + grades[high], np.full(len(counts), 2), labels, ties, rng)


VOTE_METHODS: dict[str, Callable[..., VoteOutcome]] = {
    "majority": majority_vote,
    "mean": mean_vote,
    "median": median_vote,
}


def _choose_nearest(
    numerator: Counts, denominator: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator
) -> VoteOutcome:
    """The label nearest to the fraction top / bottom; in whole numbers, so that a half is a half."""
    grades = np.array(labels, dtype=np.int64)
    above = (numerator[:, None] > denominator[:, None] * grades).sum(axis=1).clip(0, len(grades) - 1)
    below = np.maximum(above - 1, 0)
    nearer = 2 * numerator - denominator * (grades[below] + grades[above])  # below 0: the lower one is nearer
    tied = (nearer == 0) & (above > below)
    goes_up = rng.random(len(numerator)) < 0.5 if ties == "random" else np.full(len(numerator), ties == "high")
    label = np.where((nearer > 0) | (tied & goes_up), above, below)
    if ties == "middle":
        label = np.where(tied, len(grades) // 2, label)
    return VoteOutcome(label=label, tied=tied, value=numerator / denominator)


def estimate_judges_by_others(votes: Votes, gold: Codes, *, level: float) -> tuple[JudgeModel, ...]:
    """Each judge against the majority of the others, and against gold where there is any.

    Labels of items that nobody else labelled count for nothing. Where the others tie between m labels, saying one of
    them is right by 1/m, and is not in the matrix. Labels of one query are taken for alike.
    """
    cluster, _, _ = votes.clusters()
    n_labels = len(votes.labels)
    others, gold_label = leave_one_out_consensus(votes), gold[votes.item]
    truth = np.where(gold_label >= 0, gold_label, others.label)
    hit = np.where(gold_label >= 0, gold_label == votes.label, others.credit)
    models = []
    for name, rows in zip(votes.judges, rows_by_group(votes.judge, len(votes.judges)), strict=True):
        in_matrix, checked = rows[truth[rows] >= 0], rows[~np.isnan(hit[rows])]
        table = cross_tabulate(truth[in_matrix], votes.label[in_matrix], n_labels, n_labels)
        accuracy = estimate_share(
            hit[checked], cluster[votes.item[checked]], level=level, case_name="item that another judge labelled"
        )
        confusion = Confusion(rows="majority of the others", columns=name, labels=votes.labels, counts=table)
        models.append(JudgeModel(judge=name, labels=len(rows), accuracy=accuracy, confusion=confusion))
    return tuple(models)
