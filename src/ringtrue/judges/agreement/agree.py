"""How far do the judges agree?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ringtrue.errors import MismatchError, TableError, UsageError
from ringtrue.judges.agreement.all_judges import estimate_overall
from ringtrue.judges.agreement.bootstrap_intervals import FEW_CLUSTERS, AgreementSettings
from ringtrue.judges.agreement.consistency import estimate_consistency, estimate_drift, estimate_transitivity
from ringtrue.judges.agreement.judge_pairs import choose_judge_pairs, estimate_pair_agreements
from ringtrue.judges.agreement.results import Agreement, PairAgreement
from ringtrue.judges.votes import (
    Codes,
    Outside,
    Repeats,
    Votes,
    align_with_gold,
    find_isolated_judges,
    majority,
    make_votes,
)
from ringtrue.stats.intervals import require_level

MAX_PAIRS = 1_000
MIN_GOLD_SHARE = 0.5  # of the gold items that the judge with the most of them met


def agree(
    labels: object,
    *,
    gold: object = None,
    rel: int = 1,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    alone: bool = False,
    pairs: int = MAX_PAIRS,
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
    all_votes = judge_votes = make_votes(labels, scale=scale, outside=outside)
    gold_labels = None
    if gold is not None:
        try:
            all_votes, gold_labels = align_with_gold(all_votes, make_votes(gold, scale=scale, outside=outside))
        except MismatchError:
            if not alone:
                raise
    votes = all_votes.resolve_repeats(repeats)
    n_repeats = 0 if votes is all_votes and repeats != "all" else int(all_votes.find_repeats().sum())
    if not alone:
        _require_comparable_labels(all_votes, gold_labels, n_repeats)
    # How many labels there are matters to AC1 and Brennan–Prediger: those that only gold has are left out.
    own_scale_votes = votes.on_scale(judge_votes.labels)
    # Each part has draws of its own, so that its answer does not depend on what else was asked.
    for_all, for_pairs, for_gold = (
        AgreementSettings(
            relevant=np.array([label >= rel for label in part_votes.labels]) & (not votes.is_pairwise),
            resamples=resamples,
            level=level,
            rng=part_rng,
            progress=progress,
            mirrored=votes.is_pairwise,
        )
        for part_votes, part_rng in zip((own_scale_votes, votes, votes), rng.spawn(3), strict=True)
    )
    judge_pairs = estimate_pair_agreements(votes, choose_judge_pairs(votes, pairs), for_pairs)
    gold_pairs, consensus = _estimate_gold_agreement(votes, gold_labels, for_gold)
    gold_notes = []
    if gold_labels is not None:
        gold_notes = [f"{int((gold_labels >= 0).sum()):,} of {votes.items.height:,} items have a gold label"]
    return Agreement(
        judges=votes.judges,
        labels=votes.labels,
        used=tuple(votes.labels[code] for code in np.unique(votes.label)),
        votes=votes.size,
        items=votes.items.height,
        queries=votes.items["query"].n_unique(),
        overall=estimate_overall(own_scale_votes, for_all)
        | estimate_consistency(all_votes, has_repeats=n_repeats > 0, level=level),
        pairs=tuple(sorted(judge_pairs, key=lambda pair: -pair.n)),
        gold=gold_pairs,
        consensus=consensus,
        drift=estimate_drift(votes, level=level),
        transitivity=estimate_transitivity(votes, level=level) if votes.is_pairwise else None,
        notes=(
            *all_votes.notes,
            *_repeat_notes(n_repeats, repeats),
            *_overlap_notes(votes, n_shown=len(judge_pairs), max_pairs=pairs),
            *(_few_cluster_notes(votes) if resamples else ()),
            *gold_notes,
        ),
    )


def _require_comparable_labels(votes: Votes, gold_labels: Codes | None, n_repeats: int) -> None:
    if gold_labels is not None or n_repeats:
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


def _estimate_gold_agreement(
    votes: Votes, gold_labels: Codes | None, settings: AgreementSettings
) -> tuple[tuple[PairAgreement, ...], PairAgreement | None]:
    """Gold against each judge, the closest first, and against the label that most judges gave (of several, the lowest).

    Closest is who has the highest kappa; those who met few of the gold items come after, so that luck is not the best.
    """
    if gold_labels is None:
        return (), None
    majority_labels = majority(votes.counts())
    item = np.flatnonzero((gold_labels >= 0) & (majority_labels >= 0)).astype(np.int32)
    with_gold_judges = votes.with_judge("gold", item, gold_labels[item])
    with_gold_judges = with_gold_judges.with_judge("majority", item, majority_labels[item].astype(np.int32))
    n_judges = len(votes.judges)
    pairs = [(n_judges, judge) for judge in (n_judges + 1, *range(n_judges))]
    consensus, *gold_pairs = estimate_pair_agreements(with_gold_judges, pairs, settings)
    min_items = MIN_GOLD_SHARE * max((pair.n for pair in gold_pairs), default=0)

    def closeness(pair: PairAgreement) -> tuple[bool, float, int]:
        return pair.n >= min_items, -np.inf if pair.kappa.value is None else pair.kappa.value, pair.n

    return tuple(sorted(gold_pairs, key=closeness, reverse=True)), consensus


def _repeat_notes(n_repeats: int, repeats: Repeats | None) -> Iterator[str]:
    repetition = "1 label repeats" if n_repeats == 1 else f"{n_repeats:,} labels repeat"
    if n_repeats and repeats == "all":
        yield (
            f"{repetition} a judge's own label of an item, and each counts as another judge's would: "
            f"agreement is partly that of judges with themselves (--repeats last or first takes one)"
        )
    elif n_repeats:
        yield f"{repetition} a judge's own label of an item; the {repeats} one counts"


def _overlap_notes(votes: Votes, *, n_shown: int, max_pairs: int) -> Iterator[str]:
    n_judges = len(votes.judges)
    n_single = int((np.bincount(votes.item, minlength=votes.items.height) == 1).sum())
    if n_single and n_judges > 1:
        yield f"{n_single:,} of {votes.items.height:,} items have a single label and say nothing about agreement"
    isolated = [votes.judges[code] for code in np.flatnonzero(find_isolated_judges(votes))]
    if isolated and n_judges > 1:
        names = ", ".join(isolated[:3]) + (", …" if len(isolated) > 3 else "")
        yield f"{len(isolated):,} of {n_judges:,} judges share no item with another: {names}"
    n_pairs = n_judges * (n_judges - 1) // 2
    if 0 < n_shown < n_pairs and n_shown == max_pairs:
        yield f"{n_shown:,} of {n_pairs:,} pairs of judges are given, those with the most items in common"
    elif 0 < n_shown < n_pairs:
        yield f"{n_pairs - n_shown:,} of {n_pairs:,} pairs of judges have no item in common"


def _few_cluster_notes(votes: Votes) -> Iterator[str]:
    _, n_clusters, unit = votes.clusters()
    if n_clusters < FEW_CLUSTERS:
        yield f"only {n_clusters} {unit}: trust the intervals with care"
