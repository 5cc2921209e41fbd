"""Which method, and what is doubtful about its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.judges.aggregation.em import Fit, are_pairs, both_ways, fit, incidence, vote_shares
from ringtrue.judges.aggregation.initial_estimates import starting_point
from ringtrue.judges.aggregation.judge_accuracy import judged_by_model, judged_by_others
from ringtrue.judges.aggregation.judge_models import USUAL_PRIOR, DawidSkene, FloatArray, Mace, Model, OneCoin, Prior
from ringtrue.judges.aggregation.results import Aggregation
from ringtrue.judges.aggregation.voting import Rule, Ties, Voted, chosen, majority_vote, mean_vote, median_vote
from ringtrue.judges.votes import Codes, Outside, Repeats, Votes, votes_of, with_gold, without_company
from ringtrue.stats.intervals import require_level

__all__ = ["METHODS", "Method", "aggregate"]

Method: TypeAlias = Literal["majority", "mean", "median", "dawid-skene", "one-coin", "mace"]
METHODS: tuple[Method, ...] = get_args(Method)
VOTES: dict[str, Callable[..., Voted]] = {"majority": majority_vote, "mean": mean_vote, "median": median_vote}
MODELS: dict[str, Callable[..., Model]] = {"dawid-skene": DawidSkene, "one-coin": OneCoin, "mace": Mace}
FEW = 3  # labels of an item, on average
SHIFT = 0.3  # how much more common a label may become
NO_PRIOR = Prior(diagonal=0, cell=0)


def aggregate(
    labels: object,
    *,
    method: Method = "dawid-skene",
    gold: object | None = None,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    prior: Prior | None = USUAL_PRIOR,
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
        >>> one = aggregate(table)
        >>> one.items["label"].to_list(), one.items["probability"].round(2).to_list()
        ([0, 1], [0.77, 0.98])
    """
    _require(method, ties, max_iterations, tolerance, start)
    require_level(level)
    rng = rng or np.random.default_rng(0)
    votes = _labelled(votes_of(labels, scale=scale, outside=outside).settled(repeats))
    known: Codes = np.full(votes.items.height, -1, dtype=np.int32)
    if gold is not None:
        votes, known = with_gold(votes, votes_of(gold, scale=scale, outside=outside))
    rule: Rule = "middle" if are_pairs(votes) else ties
    if method in VOTES:
        return _by_vote(votes, known, method, rule, rng, level)
    if len(votes.judges) == 1 and gold is None:  # a model of one judge, with nothing to check them, may say anything
        return replace(_by_vote(votes, known, "majority", rule, rng, level), method=method, prior=prior)
    found, told = _fitted(
        votes, known, MODELS[method](prior=prior or NO_PRIOR), start, max_iterations, tolerance, progress
    )
    answer = _by_model(votes, known, found, method, rule, rng, level)
    return replace(answer, prior=prior, notes=(*answer.notes, *told, *_doubts_of_the_model(votes, found)))


def _fitted(
    votes: Votes,
    known: Codes,
    model: Model,
    earlier: Aggregation | None,
    max_iterations: int,
    tolerance: float,
    progress: Callable[[int], None] | None,
) -> tuple[Fit, tuple[str, ...]]:
    """What the model finds, and a note where the start was of no use; all that is large on the way is let go."""
    said = incidence(votes)
    start, told = starting_point(votes, said, known, earlier)
    found = fit(
        said, model, start, gold=known, max_iterations=max_iterations, tolerance=tolerance,
        progress=progress or (lambda _: None), pairs=are_pairs(votes),
    )  # fmt: skip
    return found, told


def _require(method: str, ties: str, max_iterations: int, tolerance: float, start: Aggregation | None) -> None:
    if method not in METHODS:
        near = did_you_mean(method, METHODS) or f"; there is {', '.join(METHODS)}"
        raise UsageError(f"no method '{method}'{near}")
    if ties not in get_args(Ties):
        raise UsageError(f"ties go to the low label, the high one or a random one; found '{ties}'")
    if max_iterations < 1:
        raise UsageError(f"at least one iteration is needed, found {max_iterations}; 500 is usual")
    if not tolerance >= 0:
        raise UsageError(f"the tolerance must be 0 or more, found {tolerance:g}; 1e-6 is usual")
    if start is not None and method in VOTES:
        raise UsageError(f"a start is for methods that iterate ({', '.join(MODELS)}), and {method} is a vote")


def _labelled(votes: Votes) -> Votes:
    """Without items that have no vote."""
    seen = np.bincount(votes.item, minlength=votes.items.height) > 0
    if seen.all():
        return votes
    missing = int((~seen).sum())
    left = "1 item has no label and is" if missing == 1 else f"{missing:,} items have no label and are"
    places = (np.cumsum(seen) - 1).astype(np.int32)
    items = votes.items.filter(pl.Series(seen))
    return replace(votes, items=items, item=places[votes.item], notes=(*votes.notes, f"{left} left out"))


def _by_vote(
    votes: Votes, known: Codes, method: str, ties: Rule, rng: np.random.Generator, level: float
) -> Aggregation:
    voted = VOTES[method](votes.counts(), votes.labels, ties, rng)
    label, value = voted.label, voted.value
    if value is not None:
        value = np.where(known < 0, value, np.array(votes.labels)[known])
    label = np.where(known < 0, label, known)
    tied = int((voted.tied & (known < 0)).sum())
    shares = vote_shares(incidence(votes), len(votes.labels), known)
    what = "has several labels with the most votes" if value is None else f"has a {method} halfway between two labels"
    return Aggregation(
        method=method, labels=votes.labels, items=_items(votes, label, shares, value), probabilities=shares,
        class_shares=_named(votes.labels, np.bincount(label, minlength=len(votes.labels)) / len(label)),
        judges=judged_by_others(votes, known, level=level), ties=tied, gold=int((known >= 0).sum()),
        notes=(*votes.notes, *_doubts(votes), *_tie_note(tied, what, ties)),
    )  # fmt: skip


def _by_model(
    votes: Votes, known: Codes, found: Fit, method: str, ties: Rule, rng: np.random.Generator, level: float
) -> Aggregation:
    best = chosen(found.truth, ties, rng)
    tied = int((best.tied & (known < 0)).sum())
    return Aggregation(
        method=method, labels=votes.labels, items=_items(votes, best.label, found.truth), probabilities=found.truth,
        class_shares=_named(votes.labels, found.shares), judges=judged_by_model(votes, found, level=level),
        objective=found.objective, log_likelihood=found.log_likelihood, converged=found.converged, ties=tied,
        gold=int((known >= 0).sum()),
        notes=(*votes.notes, *_doubts(votes), *_tie_note(tied, "has several labels equally probable", ties)),
    )  # fmt: skip


def _items(
    votes: Votes, label: NDArray[np.integer], probabilities: FloatArray, value: FloatArray | None = None
) -> pl.DataFrame:
    further = {
        "label": pl.Series(np.array(votes.labels, dtype=np.int32)[label]),
        "probability": probabilities[np.arange(len(label)), label],
        "votes": np.bincount(votes.item, minlength=len(label)),
    }
    return votes.items.with_columns(**further, **({} if value is None else {"value": value}))


def _named(labels: tuple[int, ...], shares: FloatArray) -> dict[int, float]:
    return {label: float(share) for label, share in zip(labels, shares, strict=True)}


def _doubts(votes: Votes) -> Iterator[str]:
    """What the votes cannot tell, whatever the method."""
    if len(votes.judges) == 1:
        yield "a single judge: nobody else says how good these labels are"
        return
    alone = int(without_company(votes).sum())
    if alone:
        judges = "1 judge" if alone == 1 else f"{alone:,} judges"
        yield f"{judges} whose items nobody else labelled: what is said of them is guesswork"


def _doubts_of_the_model(votes: Votes, found: Fit) -> Iterator[str]:
    if len(votes.judges) > 1 and votes.size < FEW * votes.items.height:
        yield f"fewer than {FEW} labels an item: judges are hard to tell apart, and their intervals are too narrow"
    said = np.bincount(votes.label, minlength=len(votes.labels)) / votes.size
    if are_pairs(votes):
        said = both_ways(said)
    most = int((found.shares - said).argmax())
    if found.shares[most] - said[most] > SHIFT:
        yield (
            f"{votes.labels[most]} is the label of {found.shares[most]:.0%} of the items and of {said[most]:.0%} of "
            f"the votes: few data mislead a model, and so do judges who always say the same; compare a majority vote"
        )
    if not found.converged:
        turns = "1 iteration" if len(found.objective) == 1 else f"{len(found.objective):,} iterations"
        yield f"the probabilities still moved after {turns}; --max-iterations allows more"


def _tie_note(tied: int, what: str, ties: Rule) -> Iterator[str]:
    if tied:
        chose = {
            "low": "the lowest of them is taken (--ties)", "high": "the highest of them is taken (--ties)",
            "random": "one of them at random is taken (--ties)", "middle": "a tie is taken",
        }[ties]  # fmt: skip
        items = "1 item" if tied == 1 else f"{tied:,} items"
        yield f"{items} {what if tied == 1 else what.replace('has', 'have', 1)}; {chose}"
