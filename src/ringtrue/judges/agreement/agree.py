"""How far do the judges agree?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError, TableError, UsageError
from ringtrue.judges.agreement.all_judges import overall
from ringtrue.judges.agreement.bootstrap_intervals import FEW, Settings
from ringtrue.judges.agreement.consistency import consistency
from ringtrue.judges.agreement.drift import drift
from ringtrue.judges.agreement.judge_pairs import agreement_of_pairs
from ringtrue.judges.agreement.results import Agreement, PairAgreement
from ringtrue.judges.agreement.tallies import meetings
from ringtrue.judges.agreement.transitivity import transitivity
from ringtrue.judges.votes import Codes, Outside, Repeats, Votes, majority, votes_of, with_gold, without_company
from ringtrue.stats.intervals import require_level

__all__ = ["agree"]

MOST_PAIRS = 1_000
FEW_SHARED = 0.5  # of the gold items that the judge with the most of them met


def agree(
    labels: object,
    *,
    gold: object = None,
    rel: int = 1,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    alone: bool = False,
    pairs: int = MOST_PAIRS,
    resamples: int = 1_000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Agreement:
    """How far judges agree, all together, two by two, with gold, with themselves, and over time.

    `labels` are judgments or preferences of several judges, any label may be missing. Labels of `rel` and higher are
    relevant for the overlap. `scale` declares the labels there are, which matters to AC1 and Brennan–Prediger where
    one was never used. Where there is nobody to agree with, that is an error, or with `alone` an answer with nothing
    in it. Of many pairs of judges, those with the most items in common are kept. Intervals hold for
    queries like these (for items like these where there is one query) and these judges; `resamples=0` leaves them out.

    Examples:
        >>> labels = {"doc": ["a", "a", "b", "b", "c", "c"], "judge": ["x", "y"] * 3, "label": [0, 0, 1, 1, 0, 1]}
        >>> print(agree(labels, resamples=0).overall["alpha_nominal"])
        0.4444
    """
    require_level(level)
    if resamples < 0 or resamples == 1 or pairs < 0:
        raise UsageError(f"resamples are 0 or at least 2, pairs 0 or more; found {resamples} and {pairs}")
    rng = np.random.default_rng(0) if rng is None else rng
    given = by_judges = votes_of(labels, scale=scale, outside=outside)
    known = None
    if gold is not None:
        try:
            given, known = with_gold(given, votes_of(gold, scale=scale, outside=outside))
        except MismatchError:
            if not alone:
                raise
    votes = given.settled(repeats)
    again = 0 if votes is given and repeats != "all" else int(given.repeated().sum())
    if not alone:
        _require_company(given, known, again)
    of_pairs = "first" in votes.items.columns
    own = _on_own_scale(votes, by_judges)
    # Each part has draws of its own, so that its answer does not depend on what else was asked.
    for_all, for_pairs, for_gold = (
        Settings(
            relevant=np.array([label >= rel for label in some.labels]) & (not of_pairs),
            resamples=resamples, level=level, rng=draws, progress=progress, mirrored=of_pairs,
        )
        for some, draws in zip((own, votes, votes), rng.spawn(3), strict=True)
    )  # fmt: skip
    two = agreement_of_pairs(votes, meetings(votes, pairs), for_pairs)
    with_judges, with_majority = _with_gold(votes, known, for_gold)
    return Agreement(
        judges=votes.judges,
        labels=votes.labels,
        used=tuple(votes.labels[place] for place in np.unique(votes.label)),
        votes=votes.size,
        items=votes.items.height,
        queries=votes.items["query"].n_unique(),
        overall=overall(own, for_all) | consistency(given, again=again > 0, level=level),
        pairs=tuple(sorted(two, key=lambda pair: -pair.n)),
        gold=with_judges,
        consensus=with_majority,
        drift=drift(votes, level=level),
        transitivity=transitivity(votes, level=level) if of_pairs else None,
        notes=tuple(_notes(given, votes, again, repeats, shown=len(two), most=pairs, known=known, resamples=resamples)),
    )


def _on_own_scale(votes: Votes, by_judges: Votes) -> Votes:
    """The votes without labels that only gold has: how many labels there are matters to AC1 and Brennan–Prediger."""
    if votes.labels == by_judges.labels:
        return votes
    place = np.searchsorted(np.array(by_judges.labels), np.array(votes.labels)).astype(np.int32)
    return replace(votes, labels=by_judges.labels, label=place[votes.label])


def _require_company(votes: Votes, known: Codes | None, again: int) -> None:
    if known is not None or again:
        return
    if len(votes.judges) > 1:
        if np.bincount(votes.item).max() == 1:
            raise TableError(
                f"{len(votes.judges):,} judges, and no item that two of them labelled: agreement needs some; "
                f"are documents and queries called alike for all judges?"
            )
        return
    raise TableError(
        f"all {votes.size:,} labels are by one judge, '{votes.judges[0]}': agreement needs two or more, in a column "
        f"'judge' or in the second field of qrels, or gold labels to compare with (--gold)"
    )


def _with_gold(
    votes: Votes, known: Codes | None, settings: Settings
) -> tuple[tuple[PairAgreement, ...], PairAgreement | None]:
    """Gold against each judge, the closest first, and against the label that most judges gave (of several, the lowest).

    Closest is who has the highest kappa; those who met few of the gold items come after, so that luck is not the best.
    """
    if known is None:
        return (), None
    most = majority(votes.counts())
    item = np.flatnonzero((known >= 0) & (most >= 0)).astype(np.int32)
    most = most[item]
    judges = len(votes.judges)
    widened = replace(
        votes,
        judges=(*votes.judges, "gold", "majority"),
        item=np.concatenate([votes.item, item, item]),
        judge=np.concatenate([votes.judge, np.repeat(np.array([judges, judges + 1], dtype=np.int32), len(item))]),
        label=np.concatenate([votes.label, known[item], most.astype(np.int32)]),
        others=pl.DataFrame(),
    )
    chosen = [(judges, judge) for judge in (judges + 1, *range(judges))]
    consensus, *each = agreement_of_pairs(widened, chosen, settings)
    enough = FEW_SHARED * max((pair.n for pair in each), default=0)

    def closeness(pair: PairAgreement) -> tuple[bool, float, int]:
        return pair.n >= enough, -np.inf if pair.kappa.value is None else pair.kappa.value, pair.n

    return tuple(sorted(each, key=closeness, reverse=True)), consensus


def _notes(
    given: Votes,
    votes: Votes,
    again: int,
    repeats: Repeats | None,
    *,
    shown: int,
    most: int,
    known: Codes | None,
    resamples: int,
) -> list[str]:
    notes = list(given.notes)
    if again and repeats == "all":
        notes.append(
            f"{_labels(again)} a judge's own label of an item, and each counts as another judge's would: "
            f"agreement is partly that of judges with themselves (--repeats last or first takes one)"
        )
    elif again:
        notes.append(f"{_labels(again)} a judge's own label of an item; the {repeats} one counts")
    per_item = np.bincount(votes.item, minlength=votes.items.height)
    alone = int((per_item == 1).sum())
    if alone and len(votes.judges) > 1:
        notes.append(f"{alone:,} of {votes.items.height:,} items have a single label and say nothing about agreement")
    lonely = [votes.judges[place] for place in np.flatnonzero(without_company(votes))]
    if lonely and len(votes.judges) > 1:
        names = ", ".join(lonely[:3]) + (", …" if len(lonely) > 3 else "")
        notes.append(f"{len(lonely):,} of {len(votes.judges):,} judges share no item with another: {names}")
    everybody = len(votes.judges) * (len(votes.judges) - 1) // 2
    if 0 < shown < everybody and shown == most:
        notes.append(f"{shown:,} of {everybody:,} pairs of judges are given, those with the most items in common")
    elif 0 < shown < everybody:
        notes.append(f"{everybody - shown:,} of {everybody:,} pairs of judges have no item in common")
    _, clusters, drawn = votes.clusters()
    if clusters < FEW and resamples:
        notes.append(f"only {clusters} {drawn}: trust the intervals with care")
    if known is not None:
        notes.append(f"{int((known >= 0).sum()):,} of {votes.items.height:,} items have a gold label")
    return notes


def _labels(again: int) -> str:
    return "1 label repeats" if again == 1 else f"{again:,} labels repeat"
