"""What is each label worth when users disagree?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.disagreement.gold_as_judge import with_gold_as_judge
from ringtrue.judges.disagreement.label_pairs import Counted, counted, experimental, top_given_label
from ringtrue.judges.disagreement.levels import Levels, LevelsAsked, votes_on_levels
from ringtrue.judges.disagreement.ratio_estimates import Drawing, Ratios, transformed
from ringtrue.judges.disagreement.results import Disagreement, Verification
from ringtrue.judges.disagreement.self_consistency import consistency_of
from ringtrue.judges.disagreement.user_weights import Share, share_of_users, weight, without_data
from ringtrue.judges.votes import Outside, Repeats, Votes
from ringtrue.stats.encoding import codes
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate
from ringtrue.tables.columns import NAMES
from ringtrue.tables.judgments import NO_JUDGE

__all__ = ["FEW_CASES", "disagree"]

FEW_CASES = 50
EMPTY = "(empty)"  # what a stratum is called whose cells are


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    at_least: Share
    repeats: Repeats | None
    gold: object
    min_labels: int
    keep_lowest: bool
    verify: tuple[Share, ...]
    drawing: Drawing


def disagree(
    labels: object,
    at_least: str | Share,
    *,
    levels: LevelsAsked = None,
    top: str | None = None,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    gold_as_judge: object = None,
    min_labels: int = 2,
    keep_lowest: bool = False,
    by: str | None = None,
    verify: Iterable[str | Share] = (),
    resamples: int = 1_000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Disagreement:
    """What each label is worth when users disagree: how likely at least M of N of them would call it top [Demeester14].

    `labels` are judgments of several judges, `at_least` is M/N. From documents with `min_labels` labels or more comes
    p, how likely another user says the top level given one label, each document weighing the same; from p the weight.
    The lowest level is worth 0 unless `keep_lowest`. `levels` names labels that are words, the lowest first; or by
    column, {"snippet": […], "page": […]}, and then each combination is a level and `top` may name the column whose top
    counts. `gold_as_judge` counts gold as one more label: a column of the labels, or a table. `by` is a column to
    do it all again for each of its values. `verify` are further M/N to hold against what happened. Intervals
    hold for queries like these, or documents like these where there is one query; `resamples=0` leaves them out.

    Examples:
        >>> labels = {"doc": ["a"] * 3 + ["b"] * 3, "judge": list("xyz") * 2, "label": [2, 2, 1, 1, 1, 0]}
        >>> found = disagree(labels, "1/3", resamples=0)
        >>> [round(one.value, 4) for one in found.p.values()]
        [0.0, 0.3333, 0.5]
        >>> found.gains
        {0: 0.0, 1: 0.5555555555555555, 2: 1.0}
    """
    require_level(level)
    if resamples < 0 or resamples == 1 or min_labels < 2:
        raise UsageError(
            f"resamples are 0 or at least 2, min_labels (--min-labels) at least 2: p needs a second label; "
            f"found {resamples} and {min_labels}"
        )
    asked = _Asked(
        at_least=share_of_users(at_least), repeats=repeats, gold=gold_as_judge, min_labels=min_labels,
        keep_lowest=keep_lowest, verify=tuple(share_of_users(one) for one in verify),
        drawing=Drawing(
            resamples=resamples, level=level, rng=np.random.default_rng(0) if rng is None else rng, progress=progress
        ),
    )  # fmt: skip
    given, found = votes_on_levels(labels, levels=levels, top=top, scale=scale, outside=outside)
    if "first" in given.items.columns:
        raise TableError("these are preferences, which have no top level; give judgments (query, doc, judge, label)")
    if len(found.names) < 2:
        raise TableError(
            f"every label is {found.names[0]}, and nothing lies below the top; --scale declares labels that nobody used"
        )
    whole = _answer(given, found, asked)
    if by is None:
        return whole
    strata = {}
    for name, part in _strata(given, by):
        try:
            strata[name] = _answer(part, found, replace(asked, verify=(), drawing=asked.drawing.again()))
        except TableError as error:
            whole = replace(whole, notes=(*whole.notes, f"{by} {name} is left out: {error}"))
    return replace(whole, strata=strata)


def _strata(votes: Votes, by: str) -> Iterable[tuple[str, Votes]]:
    """The votes for each value of a column, which are taken apart before anything is counted."""
    known = ["query", *votes.others.columns]
    if by not in known and by.lower() in NAMES["query"]:
        by = "query"
    if by not in known:
        near = did_you_mean(by, known) or "; there is " + ", ".join(known)
        raise UsageError(f"no column '{by}' to tell the labels apart by{near}")
    column = votes.items["query"].gather(votes.item) if by == "query" else votes.others[by]
    stratum, names = codes(column.cast(pl.String).fill_null("").replace("", EMPTY))
    for place, name in sorted(enumerate(names), key=lambda one: one[1]):
        yield name, votes.keep(stratum == place)


def _answer(given: Votes, levels: Levels, asked: _Asked) -> Disagreement:
    settled = given.settled(asked.repeats)
    votes = settled
    if asked.gold is not None:
        votes = with_gold_as_judge(settled, asked.gold, levels, repeats=asked.repeats)
    found = counted(votes, levels.top, asked.min_labels)
    _require_company(votes, found, asked.min_labels)
    ratios = top_given_label(found, asked.drawing.again())
    cases = dict(zip(levels.names, found.cases.tolist(), strict=True))
    p = {
        name: ratios.estimate(place, f"nobody said {name} of a document with {asked.min_labels} labels or more")
        for place, name in enumerate(levels.names)
    }
    weights, verified = _weights(p, ratios, levels, asked), _verified(found, levels, asked)
    return Disagreement(
        at_least=asked.at_least,
        levels=levels.names,
        labels=levels.labels,
        top=tuple(np.array(levels.names)[levels.top].tolist()),
        p=p,
        weights=weights,
        cases=cases,
        documents=len(found.counts),
        queries=found.votes.items["query"].n_unique(),
        judges=len(np.unique(found.votes.judge)),
        votes=found.votes.size,
        min_labels=asked.min_labels,
        flags=tuple(_flags(cases)),
        verified=verified,
        consistency=consistency_of(given, levels, asked.drawing.again()),
        notes=(*_notes(given, settled, votes, found, asked, levels), *_misfits(verified, weights, asked.at_least)),
    )


def _require_company(votes: Votes, found: Counted, least: int) -> None:
    per_document = np.bincount(votes.item, minlength=votes.items.height)
    active = np.unique(votes.judge)
    if len(active) == 1 and (votes.judges != (NO_JUDGE,) or per_document.max() == 1):
        raise TableError(
            f"all {votes.size:,} labels are by one judge, '{votes.judges[active[0]]}': disagreement needs two or more, "
            f"in a column 'judge' or in the second field of qrels"
        )
    if len(found.counts):
        return
    if per_document.max() == 1:
        raise TableError(
            f"{len(active):,} judges, and no document that two of them labelled: disagreement needs some; "
            f"are documents and queries called alike for all judges?"
        )
    raise TableError(
        f"no document has {least} labels or more, {per_document.max()} are the most; ask for fewer (--min-labels)"
    )


def _weights(p: dict[str, Estimate], ratios: Ratios, levels: Levels, asked: _Asked) -> dict[str, Estimate]:
    """Each level's weight: a rising function of its p, or known without."""
    weights = {}
    for place, (name, one) in enumerate(p.items()):
        is_top = bool(levels.top[place])
        known = without_data(*asked.at_least, top=is_top)
        method, notes = "by definition", list[str]()
        if levels.lowest[place] and not is_top and not asked.keep_lowest:
            known, method, notes = 0.0, "lowest level", ["worth nothing unless the lowest level is kept"]
        if known is not None:
            weights[name] = Estimate(value=known, se=0.0, low=known, high=known, level=one.level, n=one.n,
                                     method=method, notes=tuple(notes))  # fmt: skip
            continue

        def weighed(some: np.typing.NDArray[np.float64], top: bool = is_top) -> np.typing.NDArray[np.float64]:
            return weight(some, *asked.at_least, top=top)

        weights[name] = transformed(one, weighed, ratios.standard_error(place, weighed))
    return weights


def _verified(found: Counted, levels: Levels, asked: _Asked) -> tuple[Verification, ...]:
    """What the model predicts beside what happened, on the documents that have N labels."""
    rows = []
    for least, users in asked.verify:
        enough = counted(found.votes, levels.top, users)
        if not len(enough.counts):
            continue
        drawing = asked.drawing.again()
        # The same queries drawn anew for both: with two users they are the same number.
        happened = experimental(enough, [(least, users)], replace(drawing, rng=deepcopy(drawing.rng)))
        ratios = top_given_label(enough, drawing)
        unseen = f"nobody said it of a document with {users} labels or more"
        p = {name: ratios.estimate(place, unseen) for place, name in enumerate(levels.names)}
        kept = replace(asked, at_least=(least, users), keep_lowest=True)
        predicted = _weights(p, ratios, levels, kept)
        rows += [
            Verification(
                at_least=(least, users), level=name, predicted=predicted[name],
                # What holds for any labels needs no interval.
                experimental=predicted[name] if predicted[name].method == "by definition"
                else happened.estimate(place, unseen),
            )
            for place, name in enumerate(levels.names)
        ]  # fmt: skip
    return tuple(rows)


def _misfits(verified: Iterable[Verification], weights: dict[str, Estimate], at_least: Share) -> list[str]:
    """A word where the weight that was asked for is not what happens."""
    notes = []
    for one in verified:
        happened, predicted = one.experimental, one.predicted.value
        if weights[one.level].method == "lowest level":  # worth 0 whatever happens
            continue
        if one.at_least != at_least or happened.low is None or happened.high is None or predicted is None:
            continue
        if not happened.low <= predicted <= happened.high:
            notes.append(
                f"level {one.level}: the model says {predicted:.2f} for {at_least[0]}/{at_least[1]}, and "
                f"{happened.value:.2f} ({happened.low:.2f} to {happened.high:.2f}) happened: documents with this label "
                f"are not alike"
            )
    return notes


def _flags(cases: dict[str, int]) -> list[str]:
    flags = []
    for name, n in cases.items():
        if n == 0:
            flags.append(f"level {name}: never seen, p is undefined")
        elif n < FEW_CASES:
            flags.append(f"level {name}: {n} case{'s' * (n > 1)}, fewer than {FEW_CASES}: p is not accurate")
    return flags


def _notes(given: Votes, settled: Votes, votes: Votes, found: Counted, asked: _Asked, levels: Levels) -> list[str]:
    notes = list(given.notes)
    again = int(given.repeated().sum())
    if again and asked.repeats == "all":
        notes.append(
            f"{again:,} label{'s repeat' if again > 1 else ' repeats'} a judge's own label of a document, and each "
            f"counts as another user's would (--repeats last or first takes one)"
        )
    elif again:
        notes.append(
            f"{again:,} label{'s repeat' if again > 1 else ' repeats'} a judge's own label of a document; "
            f"the {asked.repeats} one counts"
        )
    else:
        notes.append("no judge labelled a document again: how far each contradicts himself cannot be told")
    if votes is not settled:
        added = len(np.unique(votes.item[settled.size :]))
        notes.append(f"gold counts as one more judge of {added:,} document{'s' * (added != 1)}")
    with_any = len(np.unique(votes.item))
    few = with_any - len(found.counts)
    if few:
        what = "a single label and say" if asked.min_labels == 2 else f"fewer than {asked.min_labels} labels and say"
        notes.append(f"{few:,} of {with_any:,} documents have {what} nothing here")
    if not found.counts[:, levels.top].any():
        highest = " or ".join(np.array(levels.names)[levels.top])
        notes.append(f"nobody said {highest}, the top level: no p can be told from 0")
    for least, users in asked.verify:
        if not (found.labels >= users).any():
            notes.append(f"no document has {users} labels: {least}/{users} cannot be verified")
    return notes
