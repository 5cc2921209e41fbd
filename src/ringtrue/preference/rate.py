"""Preferences → ratings, and what is doubtful about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note, Suggestion
from ringtrue.preference.elo_and_glicko import find_inverted
from ringtrue.preference.gold_agreement import GoldComparison
from ringtrue.preference.matches import Matches
from ringtrue.preference.rating_fit import RatingFit
from ringtrue.preference.rating_methods import IntervalKind, Method, RatingSettings, TieModel
from ringtrue.preference.results import JudgeRating, Ratings
from ringtrue.stats.intervals import normal_quantile, require_generator, require_level
from ringtrue.tables import Preferences

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from ringtrue.judges.votes import Repeats
    from ringtrue.preference.judge_aware_ratings import JudgeKind
    from ringtrue.preference.matches import FloatArray

TRUE_WORDS, FALSE_WORDS = ("true", "1", "1.0", "yes", "t", "y"), ("false", "0", "0.0", "no", "f", "n", "")
MANY_TIES = 0.1
MAX_SHRINKAGE = 0.75  # standard errors by which the ridge may draw a rating towards the mean without a word
MAX_LISTED = 3


def rate(
    preferences: object,
    *,
    method: Method = "bradley-terry",
    em: bool = False,
    by_judge: JudgeKind | None = None,
    ties: TieModel = "half",
    passes: int | None = None,
    k: float = 16.0,
    start: float = 100.0,
    scale: float = 200.0,
    variance: float = 10.0,
    ridge: float = 0.25,
    balance: float = 0.5,
    each: Literal["pair", "vote"] = "pair",
    interval: IntervalKind = "laplace",
    resamples: int = 1000,
    repeats: Repeats | None = None,
    gold: object | None = None,
    rel: int = 1,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] | None = None,
) -> Ratings:
    """Rate the documents of each query by votes between two of them.

    - `bradley-terry`: from all votes at once, in log odds; documents that never won, or always, have a rating too,
      thanks to the `ridge`, a normal prior with variance 1 / ridge. A tie is half a win, or has a chance of its own
      (`ties="davidson"`). `by_judge` rates judges along with documents: each has a sensitivity, or (`crowd-bt`, without
      intervals) a probability of being honest; ties are then as common as they are where judges are alike. Intervals
      are of a rating less the mean of its group, from the curvature of the posterior (`laplace`) or from votes drawn
      anew (`bootstrap`).
    - `elo`: after every match the winner takes points from the loser, `k` at most; 20 `passes` through all matches.
      How far ratings spread depends on both, and no interval can be defended.
    - `glicko`: the same with a `variance` for each document [Glickman99], in one pass. Its root is given as `se`; it
      depends on the order of the matches, and intervals from it would hold too seldom.
    - `win-rate`: what was won, and how often a document was compared [Bashir13].

    `em` weighs the judges first: a match then has the score that is probable once it is known how good they are. `each`
    says whether a match of elo and glicko is a pair with the mean of its votes, or a single vote. Where a judge with a
    name voted on a pair again, `repeats` says which vote counts; votes without a judge all count. Rows with a true
    value in a column `trap` are left out.

    With `gold` judgments, `auc` says how well the ratings tell documents labelled at least `rel` from others.
    `progress` is told how many votes were drawn anew, of votes × resamples.

    Examples:
        >>> votes = {"left": [*"aab"], "right": [*"bcc"], "winner": [*"aab"]}
        >>> rate(votes).frame.select("doc", "rating").rows()
        [('a', 1.225...), ('b', 0.0), ('c', -1.225...)]
    """
    require_generator(rng)
    require_level(level)
    settings = RatingSettings(
        method=method,
        em=em,
        by_judge=by_judge,
        ties=ties,
        passes=passes,
        k=k,
        start=start,
        scale=scale,
        variance=variance,
        ridge=ridge,
        balance=balance,
        each=each,
        interval=interval,
        resamples=resamples,
        level=level,
    )
    answered, trap_votes = drop_traps(Preferences.of(preferences, answered_only=True))
    votes = Matches.of(answered, repeats=repeats)
    if settings.weighs_judges and len(votes.judges) == 1:
        raise UsageError(
            "one-judge",
            "judges are weighed against each other, and there is one; name the judges in a column 'judge'",
            parameter="em" if em else "by_judge",
        )
    rating_fit = settings.rate_votes(votes, rng=rng, progress=progress)
    gold_comparison = None if gold is None else GoldComparison.of(gold, votes, rel=rel)
    matches, group = votes if each == "vote" else votes.merge_by_pair(), votes.components()
    return Ratings(
        method=method + "+em" * em,
        frame=_rating_table(votes, matches, rating_fit, group),
        settings=settings.describe() | ({"nu": rating_fit.outcome.ties} if rating_fit.outcome.ties else {}),
        level=level,
        votes=votes.size,
        unit=rating_fit.unit,
        outcome=rating_fit.outcome,
        judge_model=by_judge,
        judges=_build_judge_ratings(settings, votes, rating_fit),
        passes=_count_inversions(matches, rating_fit.pass_ratings),
        auc=None if gold_comparison is None else gold_comparison.aucs(rating_fit.ratings),
        tau=None if gold_comparison is None else gold_comparison.taus(rating_fit.ratings),
        notes=(
            *trap_notes(trap_votes),
            *_rating_notes(settings, votes, group),
            *rating_fit.notes,
            *_shrinkage_notes(settings, rating_fit),
            *(() if gold_comparison is None else gold_comparison.notes),
        ),
    )


def drop_traps(preferences: Preferences) -> tuple[Preferences, int]:
    """The votes on pairs whose answer was not known, and how many others there were."""
    frame = preferences.frame
    if "trap" not in frame.columns:
        return preferences, 0
    words = frame["trap"].cast(pl.String).str.to_lowercase().str.strip_chars().fill_null("")
    unrecognised = words.filter(~words.is_in([*TRUE_WORDS, *FALSE_WORDS]))
    if len(unrecognised):
        raise TableError(
            "bad-trap-word",
            f"expected true or false in the column 'trap', found '{unrecognised[0]}'",
            columns=["trap"],
        )
    is_trap = words.is_in(TRUE_WORDS)
    if is_trap.all():
        raise TableError(
            "only-traps", "all votes are on traps, which say something about judges only; none is left to rate by"
        )
    return Preferences(frame.filter(~is_trap)), int(is_trap.sum())


def _rating_table(votes: Matches, matches: Matches, rating_fit: RatingFit, group: NDArray[np.int32]) -> pl.DataFrame:
    """Every document in its place: by query, then by group, the largest first, then by rating."""
    columns = {"se": rating_fit.errors, "low": rating_fit.low, "high": rating_fit.high, "ahead": rating_fit.ahead}
    missing = np.full(votes.docs.height, np.nan)
    frame = votes.docs.with_columns(
        rating=rating_fit.ratings,
        **{name: missing if values is None else values for name, values in columns.items()},
        matches=matches.match_counts(),
        votes=votes.match_counts(),
        group=group,
        place=votes.query,
        size=np.bincount(group)[group],
    ).with_columns(pl.col("se", "low", "high", "ahead").fill_nan(None))
    frame = frame.sort("place", "size", "group", "rating", "doc", descending=[False, True, False, True, False])
    return frame.with_columns(pl.col("group").rle_id().over("query") + 1).drop("place", "size")


def _count_inversions(matches: Matches, pass_ratings: tuple[FloatArray, ...]) -> pl.DataFrame:
    """For each query and each pass after the first, how many of the matches are between two that changed places."""
    query = matches.query[matches.first]
    size = len(matches.queries)
    pairs = np.bincount(query, minlength=size)
    return pl.DataFrame(
        [
            {"pass": pass_number, "query": name, "inverted": int(changed), "pairs": int(pair_count)}
            for pass_number, (before, after) in enumerate(pairwise(pass_ratings), start=2)
            for name, changed, pair_count in zip(
                matches.queries,
                np.bincount(query[find_inverted(matches, before, after)], minlength=size),
                pairs,
                strict=True,
            )
        ],
        schema={"pass": pl.Int64, "query": pl.String, "inverted": pl.Int64, "pairs": pl.Int64},
    )


def _build_judge_ratings(settings: RatingSettings, votes: Matches, rating_fit: RatingFit) -> dict[str, JudgeRating]:
    if rating_fit.judge_fit is None:
        return {}
    half = normal_quantile((1 + settings.level) / 2)
    counts = np.bincount(votes.judge, minlength=len(votes.judges)).tolist()
    errors = [None] * len(counts) if rating_fit.judge_errors is None else rating_fit.judge_errors.tolist()
    floor, top = (0.0, 1.0) if settings.by_judge == "crowd-bt" else (-np.inf, np.inf)
    return {
        name: JudgeRating(
            judge=name,
            votes=count,
            value=value,
            se=se,
            low=None if se is None else max(value - half * se, floor),
            high=None if se is None else min(value + half * se, top),
        )
        for name, count, value, se in zip(
            votes.judges, counts, rating_fit.judge_fit.judges.tolist(), errors, strict=True
        )
    }


def trap_notes(trap_votes: int) -> Iterator[Note]:
    """What is said of votes on traps."""
    if trap_votes:
        yield Note(
            "votes-on-traps",
            f"{format_count(trap_votes, 'vote')} on traps left out",
            suggestions=[Suggestion("shows who passed them", function="judge_quality", traps=...)],
        )


def _rating_notes(settings: RatingSettings, votes: Matches, group: NDArray[np.int32]) -> Iterator[Note]:
    """What the votes cannot show."""
    yield from group_notes(votes, group)
    if settings.method == "bradley-terry":
        yield from _one_sided_notes(settings, votes)
    tied = float(votes.tied.mean())
    if settings.method == "bradley-terry" and settings.ties == "half" and tied > MANY_TIES and not settings.em:
        yield Note(
            "many-ties",
            f"{tied:.0%} of the votes are ties, half a win each",
            parameter="ties",
            suggestions=[Suggestion("gives ties a chance of their own", ties="davidson")],
        )
    if settings.weighs_judges:
        few = int((np.bincount(votes.judge, minlength=len(votes.judges)) == 1).sum())
        if few:
            judges = f"{format_count(few, 'judge')} with a single vote"
            yield Note("single-vote-judges", f"{judges}: what is estimated of them is mostly what was assumed")


def _shrinkage_notes(settings: RatingSettings, rating_fit: RatingFit) -> Iterator[Note]:
    """How many documents the ridge draws towards the mean by much, for what is known of them."""
    far = 0 if rating_fit.shrinkage is None else int((rating_fit.shrinkage > MAX_SHRINKAGE).sum())
    if far:
        yield Note(
            "held-back-by-ridge",
            f"{format_count(far, 'document')} so far from the others that the ridge of {settings.ridge:g} holds them "
            f"back: they may lie further out than their intervals say",
            parameter="ridge",
            suggestions=[Suggestion("shows by how much", ridge=float(f"{settings.ridge / 5:g}"))],
        )


def group_notes(votes: Matches, group: NDArray[np.int32]) -> Iterator[Note]:
    """Which documents cannot be compared."""
    groups = np.array(
        [len(np.unique(group[low:high])) for low, high in zip(votes.start[:-1], votes.start[1:], strict=True)]
    )
    several = np.flatnonzero(groups > 1)
    if not len(several):
        return
    first_query = int(several[0])
    low, high = votes.start[first_query], votes.start[first_query + 1]
    docs, own_group = votes.docs["doc"][low:high], group[low:high]
    parts = [docs.filter(pl.Series(own_group == group_id)).to_list() for group_id in np.unique(own_group)]
    listed = " | ".join(_format_doc_names(part) for part in parts[:MAX_LISTED]) + " | …" * (len(parts) > MAX_LISTED)
    more = f", and in {format_count(len(several) - 1, 'other query')}" if len(several) > 1 else ""
    yield Note(
        "unconnected-documents",
        f"in query '{votes.queries[first_query]}'{more} some documents cannot be compared: no chain of votes joins the "
        f"{groups[first_query]} groups {listed}; each has its own mean, and ratings, orders and labels of two groups "
        f"say nothing about each other",
    )


def _one_sided_notes(settings: RatingSettings, votes: Matches) -> Iterator[Note]:
    """How many documents never won, or never lost."""
    wins, match_counts = votes.win_totals(), votes.match_counts()
    never, always = int((wins == 0).sum()), int((wins == match_counts).sum())
    if never or always:
        yield Note(
            "one-sided-documents",
            f"{format_count(never, 'document')} never won and {always:,} never lost: how far from the others these lie "
            f"is mostly what the ridge of {settings.ridge:g} assumes",
            parameter="ridge",
        )


def _format_doc_names(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:MAX_LISTED]) + ", …" * (len(names) > MAX_LISTED)
