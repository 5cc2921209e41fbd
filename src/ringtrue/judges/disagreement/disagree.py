"""What is each label worth when users disagree?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.agreement.bootstrap_intervals import BootstrapSettings
from ringtrue.judges.disagreement.levels import LevelNames, Levels, add_gold_as_judge, read_votes_on_levels
from ringtrue.judges.disagreement.results import Disagreement, Verification
from ringtrue.judges.disagreement.top_given_label import (
    LabelledDocuments,
    Ratios,
    UserShare,
    estimate_consistency,
    fixed_weight,
    observed_top_shares,
    parse_user_share,
    select_labelled_documents,
    top_given_label,
    transform_estimate,
    weight,
)
from ringtrue.judges.votes import Outside, Repeats, Votes
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.encoding import encode_column
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate
from ringtrue.tables.columns import COLUMN_ALIASES
from ringtrue.tables.judgments import NO_JUDGE

FEW_CASES = 50
EMPTY_STRATUM = "(empty)"  # what a stratum is called whose cells are


@dataclass(frozen=True, slots=True, kw_only=True)
class _DisagreeSettings:
    at_least: UserShare
    repeats: Repeats | None
    gold: object
    min_labels: int
    keep_lowest: bool
    verify: tuple[UserShare, ...]
    bootstrap: BootstrapSettings


def disagree(
    labels: object,
    at_least: str | UserShare,
    *,
    levels: LevelNames = None,
    top: str | None = None,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    gold_as_judge: object = None,
    min_labels: int = 2,
    keep_lowest: bool = False,
    by: str | None = None,
    verify: Iterable[str | UserShare] = (),
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
        >>> disagreement = disagree(labels, "1/3", resamples=0)
        >>> [round(estimate.value, 4) for estimate in disagreement.p.values()]
        [0.0, 0.3333, 0.5]
        >>> disagreement.gains
        {0: 0.0, 1: 0.5555555555555555, 2: 1.0}
    """
    require_level(level)
    if resamples < 0 or resamples == 1 or min_labels < 2:
        raise UsageError(
            "out-of-range",
            f"resamples are 0 or at least 2, labels of a document at least 2, for p needs a second one; "
            f"found {resamples} and {min_labels}",
            parameter="min_labels" if min_labels < 2 else "resamples",
        )
    settings = _DisagreeSettings(
        at_least=parse_user_share(at_least),
        repeats=repeats,
        gold=gold_as_judge,
        min_labels=min_labels,
        keep_lowest=keep_lowest,
        verify=tuple(parse_user_share(user_share) for user_share in verify),
        bootstrap=BootstrapSettings(
            resamples=resamples, level=level, rng=np.random.default_rng(0) if rng is None else rng, progress=progress
        ),
    )
    votes, resolved_levels = read_votes_on_levels(labels, levels=levels, top=top, scale=scale, outside=outside)
    if votes.is_pairwise:
        raise TableError(
            "not-for-preferences",
            "these are preferences, which have no top level; give judgments (query, doc, judge, label)",
        )
    if len(resolved_levels.names) < 2:
        raise TableError(
            "one-level",
            f"every label is {resolved_levels.names[0]}, and nothing lies below the top",
            suggestions=[Suggestion("declares labels that nobody used", scale=...)],
        )
    overall = _estimate_disagreement(votes, resolved_levels, settings)
    if by is None:
        return overall
    strata = {}
    for name, part in _split_strata(votes, by):
        try:
            strata[name] = _estimate_disagreement(
                part, resolved_levels, replace(settings, verify=(), bootstrap=settings.bootstrap.spawn())
            )
        except TableError as error:
            left_out = Note("stratum-left-out", f"left out: {error.text}", suggestions=error.note.suggestions)
            overall = replace(overall, notes=(*overall.notes, left_out.about(f"{by} {name}")))
    return replace(overall, strata=strata)


def _split_strata(votes: Votes, by: str) -> Iterable[tuple[str, Votes]]:
    """The votes for each value of a column, which are taken apart before anything is counted."""
    columns = ["query", *votes.others.columns]
    if by not in columns and by.lower() in COLUMN_ALIASES["query"]:
        by = "query"
    if by not in columns:
        near = did_you_mean(by, columns) or "; there is " + ", ".join(columns)
        raise UsageError("unknown-column", f"no column '{by}' to group the labels by{near}", parameter="by")
    column = votes.items["query"].gather(votes.item) if by == "query" else votes.others[by]
    stratum, names = encode_column(column.cast(pl.String).fill_null("").replace("", EMPTY_STRATUM))
    for code, name in sorted(enumerate(names), key=lambda code_and_name: code_and_name[1]):
        yield name, votes.keep(stratum == code)


def _estimate_disagreement(all_votes: Votes, levels: Levels, settings: _DisagreeSettings) -> Disagreement:
    settled = all_votes.resolve_repeats(settings.repeats)
    votes = settled
    if settings.gold is not None:
        votes = add_gold_as_judge(settled, settings.gold, levels, repeats=settings.repeats)
    documents = select_labelled_documents(votes, levels.top, settings.min_labels)
    _require_two_judges(votes, documents, settings.min_labels)
    ratios = top_given_label(documents, settings.bootstrap.spawn())
    # How many ordered pairs of labels begin with each level.
    pair_counts = (documents.counts * (documents.label_totals - 1)[:, None]).sum(axis=0)
    cases = dict(zip(levels.names, pair_counts.tolist(), strict=True))
    p = {
        name: ratios.estimate(
            i, Note("unseen-level", f"nobody said {name} of a document with {settings.min_labels} labels or more")
        )
        for i, name in enumerate(levels.names)
    }
    weights = _estimate_weights(p, ratios, levels, settings)
    verifications = _verify_predictions(documents, levels, settings)
    return Disagreement(
        at_least=settings.at_least,
        levels=levels.names,
        labels=levels.labels,
        top=tuple(np.array(levels.names)[levels.top].tolist()),
        p=p,
        weights=weights,
        cases=cases,
        documents=len(documents.counts),
        queries=documents.votes.items["query"].n_unique(),
        judges=len(np.unique(documents.votes.judge)),
        votes=documents.votes.size,
        min_labels=settings.min_labels,
        flags=tuple(_few_case_flags(cases)),
        verified=verifications,
        consistency=estimate_consistency(all_votes, levels, settings.bootstrap.spawn()),
        notes=(
            *_disagreement_notes(all_votes, settled, votes, documents, settings, levels),
            *_misfit_notes(verifications, weights, settings.at_least),
        ),
    )


def _require_two_judges(votes: Votes, documents: LabelledDocuments, min_labels: int) -> None:
    per_document = np.bincount(votes.item, minlength=votes.items.height)
    active = np.unique(votes.judge)
    if len(active) == 1 and (votes.judges != (NO_JUDGE,) or per_document.max() == 1):
        raise TableError(
            "one-judge",
            f"all {votes.size:,} labels are by one judge, '{votes.judges[active[0]]}': disagreement needs two or more, "
            f"in a column 'judge' or in the second field of qrels",
        )
    if len(documents.counts):
        return
    if per_document.max() == 1:
        raise TableError(
            "no-shared-items",
            f"{len(active):,} judges, and no document that two of them labelled: disagreement needs some; "
            f"are documents and queries called alike for all judges?",
        )
    raise TableError(
        "too-few-labels",
        f"no document has {min_labels} labels or more, {per_document.max()} are the most",
        suggestions=[Suggestion("asks for fewer", min_labels=int(per_document.max()))],
    )


def _estimate_weights(
    p: dict[str, Estimate], ratios: Ratios, levels: Levels, settings: _DisagreeSettings
) -> dict[str, Estimate]:
    """Each level's weight: a rising function of its p, or known without."""
    weights = {}
    for i, (name, estimate) in enumerate(p.items()):
        is_top = bool(levels.top[i])
        fixed = fixed_weight(*settings.at_least, top=is_top)
        method, notes = "by definition", tuple[Note, ...]()
        if levels.lowest[i] and not is_top and not settings.keep_lowest:
            keep = Suggestion("weighs it too", keep_lowest=True)
            note = Note("lowest-level", "the lowest level counts as worth nothing", suggestions=[keep])
            fixed, method, notes = 0.0, "lowest level", (note,)
        if fixed is not None:
            weights[name] = replace(estimate, value=fixed, se=0.0, low=fixed, high=fixed, method=method, notes=notes)
            continue

        weigh = partial(weight, least=settings.at_least[0], users=settings.at_least[1], top=is_top)
        weights[name] = transform_estimate(estimate, weigh, ratios.standard_error(i, weigh))
    return weights


def _verify_predictions(
    documents: LabelledDocuments, levels: Levels, settings: _DisagreeSettings
) -> tuple[Verification, ...]:
    """What the model predicts beside what happened, on the documents that have N labels."""
    verifications = []
    for share in settings.verify:
        with_enough_labels = select_labelled_documents(documents.votes, levels.top, share[1])
        if not len(with_enough_labels.counts):
            continue
        bootstrap = settings.bootstrap.spawn()
        # The same queries drawn anew for both: with two users they are the same number.
        observed = observed_top_shares(with_enough_labels, share, replace(bootstrap, rng=deepcopy(bootstrap.rng)))
        ratios = top_given_label(with_enough_labels, bootstrap)
        unseen = Note("unseen-level", f"nobody said it of a document with {share[1]} labels or more")
        p = {name: ratios.estimate(i, unseen) for i, name in enumerate(levels.names)}
        predicted = _estimate_weights(p, ratios, levels, replace(settings, at_least=share, keep_lowest=True))
        for i, (name, weight_estimate) in enumerate(predicted.items()):
            is_certain = weight_estimate.method == "by definition"  # what holds for any labels needs no interval
            experimental = weight_estimate if is_certain else observed.estimate(i, unseen)
            verifications.append(
                Verification(at_least=share, level=name, predicted=weight_estimate, experimental=experimental)
            )
    return tuple(verifications)


def _misfit_notes(
    verifications: Iterable[Verification], weights: dict[str, Estimate], at_least: UserShare
) -> list[Note]:
    """A note where the weight that was asked for is not what happens."""
    notes = []
    for verification in verifications:
        observed, predicted = verification.experimental, verification.predicted.value
        if weights[verification.level].method == "lowest level":  # worth 0 whatever happens
            continue
        if verification.at_least != at_least or observed.low is None or observed.high is None or predicted is None:
            continue
        if not observed.low <= predicted <= observed.high:
            text = (
                f"the model says {predicted:.2f} for {at_least[0]}/{at_least[1]}, and {observed.value:.2f} "
                f"({observed.low:.2f} to {observed.high:.2f}) happened: documents with this label are not alike"
            )
            notes.append(Note("misfit", text, subject=f"level {verification.level}"))
    return notes


def _few_case_flags(cases: dict[str, int]) -> list[Note]:
    flags = []
    for name, n in cases.items():
        if n == 0:
            flags.append(Note("unseen-level", "never seen, p is undefined", subject=f"level {name}"))
        elif n < FEW_CASES:
            text = f"{format_count(n, 'case')}, fewer than {FEW_CASES}: p is not accurate"
            flags.append(Note("few-cases", text, subject=f"level {name}"))
    return flags


def _disagreement_notes(
    all_votes: Votes,
    settled: Votes,
    votes: Votes,
    documents: LabelledDocuments,
    settings: _DisagreeSettings,
    levels: Levels,
) -> list[Note]:
    notes = list(all_votes.notes)
    repeated = int(all_votes.find_repeats().sum())
    repetition = f"{repeated:,} label{'s repeat' if repeated > 1 else ' repeats'} a judge's own label of a document"
    if repeated and settings.repeats == "all":
        text = f"{repetition}, and each counts as another user's would"
        take_one = [Suggestion(repeats="last"), Suggestion("takes one", repeats="first")]
        notes.append(Note("repeats-count", text, parameter="repeats", suggestions=take_one))
    elif repeated:
        notes.append(Note("repeats-dropped", f"{repetition}; the {settings.repeats} one counts", parameter="repeats"))
    else:
        text = "no judge labelled a document again: how far judges contradict themselves is unknown"
        notes.append(Note("no-repeated-labels", text))
    if votes is not settled:
        added = len(np.unique(votes.item[settled.size :]))
        notes.append(Note("gold-as-judge", f"gold counts as one more judge of {format_count(added, 'document')}"))
    with_any = len(np.unique(votes.item))
    few = with_any - len(documents.counts)
    if few:
        too_few = "a single label" if settings.min_labels == 2 else f"fewer than {settings.min_labels} labels"
        notes.append(Note("thinly-labelled-items", f"{few:,} of {with_any:,} documents have {too_few}; left out"))
    if not documents.counts[:, levels.top].any():
        highest = " or ".join(np.array(levels.names)[levels.top])
        notes.append(Note("unseen-top", f"nobody said {highest}, the top level: no p differs from 0"))
    for least, users in settings.verify:
        if not (documents.label_totals >= users).any():
            text = f"no document has {users} labels: {least}/{users} cannot be verified"
            notes.append(Note("unverifiable-share", text))
    return notes
