"""Preferences → ratings, and what is doubtful about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError
from ringtrue.formatting.phrases import counted
from ringtrue.preference.elo import inverted
from ringtrue.preference.gold_agreement import AgainstGold
from ringtrue.preference.matches import Matches
from ringtrue.preference.rating_fit import Rated
from ringtrue.preference.rating_methods import IntervalKind, Method, Rating, TieModel
from ringtrue.preference.results import JudgeRating, Ratings
from ringtrue.stats.bootstrap import require_generator
from ringtrue.stats.intervals import require_level
from ringtrue.stats.student_t import normal_quantile
from ringtrue.tables import Preferences

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from ringtrue.judges.votes import Repeats
    from ringtrue.preference.judge_sensitivity import JudgeKind
    from ringtrue.preference.matches import FloatArray

__all__ = ["rate", "told_of_groups", "told_of_traps", "without_traps"]

TRUE, FALSE = ("true", "1", "1.0", "yes", "t", "y"), ("false", "0", "0.0", "no", "f", "n", "")
MANY_TIES = 0.1
HELD_BACK = 0.75  # standard errors by which the ridge may draw a rating towards the mean without a word
LISTED = 3


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
    how = Rating(
        method=method, em=em, by_judge=by_judge, ties=ties, passes=passes, k=k, start=start, scale=scale,
        variance=variance, ridge=ridge, balance=balance, each=each, interval=interval, resamples=resamples, level=level,
    )  # fmt: skip
    asked, trapped = without_traps(Preferences.of(preferences, answered_only=True))
    votes = Matches.of(asked, repeats=repeats)
    require_judges(how, votes)
    rated = how.rated(votes, rng=rng, progress=progress)
    known = None if gold is None else AgainstGold.of(gold, votes, rel=rel)
    group = votes.components()
    return _answer(how, votes, rated, group, known, (*told_of_traps(trapped), *_doubts(how, votes, group)))


def require_judges(how: Rating, votes: Matches) -> None:
    """Refuse to weigh judges where there is only one."""
    if (how.em or how.by_judge) and len(votes.judges) == 1:
        option = "--em" if how.em else "--by-judge"
        raise UsageError(
            f"{option} weighs judges against each other, and there is one; name the judges in a column 'judge'"
        )


def without_traps(preferences: Preferences) -> tuple[Preferences, int]:
    """The votes on pairs whose answer was not known, and how many others there were."""
    frame = preferences.frame
    if "trap" not in frame.columns:
        return preferences, 0
    words = frame["trap"].cast(pl.String).str.to_lowercase().str.strip_chars().fill_null("")
    unknown = words.filter(~words.is_in([*TRUE, *FALSE]))
    if len(unknown):
        raise TableError(f"the column 'trap' should say true or false, found '{unknown[0]}'")
    trap = words.is_in(TRUE)
    if trap.all():
        raise TableError("all votes are on traps, which say something about judges only; none is left to rate by")
    return Preferences(frame.filter(~trap)), int(trap.sum())


def _answer(
    how: Rating,
    votes: Matches,
    rated: Rated,
    group: NDArray[np.int32],
    gold: AgainstGold | None,
    notes: tuple[str, ...],
) -> Ratings:
    matches, unknown = votes if how.each == "vote" else votes.paired(), np.full(votes.docs.height, np.nan)
    frame = votes.docs.with_columns(
        rating=rated.ratings,
        se=unknown if rated.errors is None else rated.errors,
        low=unknown if rated.low is None else rated.low,
        high=unknown if rated.high is None else rated.high,
        ahead=unknown if rated.ahead is None else rated.ahead,
        matches=matches.met(),
        votes=votes.met(),
        group=group,
        place=votes.query,
        size=np.bincount(group)[group],
    ).with_columns(pl.col("se", "low", "high", "ahead").fill_nan(None))
    frame = frame.sort("place", "size", "group", "rating", "doc", descending=[False, True, False, True, False])
    return Ratings(
        method=how.method + "+em" * how.em,
        frame=frame.with_columns(pl.col("group").rle_id().over("query") + 1).drop("place", "size"),
        settings=how.describe() | ({"nu": rated.outcome.ties} if rated.outcome.ties else {}),
        level=how.level,
        votes=votes.size,
        unit=rated.unit,
        outcome=rated.outcome,
        judge_model=how.by_judge,
        judges=_judges(how, votes, rated),
        passes=_passes(matches, rated.after),
        auc=None if gold is None else gold.areas(rated.ratings),
        tau=None if gold is None else gold.taus(rated.ratings),
        notes=(*notes, *rated.notes, *_held_back(how, rated), *(() if gold is None else gold.notes)),
    )


def _passes(matches: Matches, after: tuple[FloatArray, ...]) -> pl.DataFrame:
    """For each query and each pass after the first, how many of the matches are between two that changed places."""
    query = matches.query[matches.first]
    size = len(matches.queries)
    pairs = np.bincount(query, minlength=size)
    return pl.DataFrame(
        [
            {"pass": turn, "query": name, "inverted": int(changed), "pairs": int(all_of_it)}
            for turn, (before, now) in enumerate(pairwise(after), start=2)
            for name, changed, all_of_it in zip(
                matches.queries, np.bincount(query[inverted(matches, before, now)], minlength=size), pairs, strict=True
            )
        ],
        schema={"pass": pl.Int64, "query": pl.String, "inverted": pl.Int64, "pairs": pl.Int64},
    )


def _judges(how: Rating, votes: Matches, rated: Rated) -> dict[str, JudgeRating]:
    if rated.together is None:
        return {}
    half = normal_quantile((1 + how.level) / 2)
    counts = np.bincount(votes.judge, minlength=len(votes.judges)).tolist()
    errors = [None] * len(counts) if rated.judge_errors is None else rated.judge_errors.tolist()
    floor, top = (0.0, 1.0) if how.by_judge == "crowd-bt" else (-np.inf, np.inf)
    return {
        name: JudgeRating(
            judge=name, votes=count, value=value, se=se,
            low=None if se is None else max(value - half * se, floor),
            high=None if se is None else min(value + half * se, top),
        )
        for name, count, value, se in zip(votes.judges, counts, rated.together.judges.tolist(), errors, strict=True)
    }  # fmt: skip


def told_of_traps(trapped: int) -> Iterator[str]:
    """What is said of votes on traps."""
    if trapped:
        yield f"{counted(trapped, 'vote')} on traps left out; `ringtrue judges … --traps FILE` says who passed them"


def _doubts(how: Rating, votes: Matches, group: NDArray[np.int32]) -> Iterator[str]:
    """What the votes cannot tell."""
    yield from told_of_groups(votes, group)
    if how.method == "bradley-terry":
        yield from _one_sided(how, votes)
    tied = float(votes.tied.mean())
    if how.method == "bradley-terry" and how.ties == "half" and tied > MANY_TIES and not how.em:
        yield f"{tied:.0%} of the votes are ties, half a win each; --ties davidson gives ties a chance of their own"
    if how.em or how.by_judge:
        few = int((np.bincount(votes.judge, minlength=len(votes.judges)) == 1).sum())
        if few:
            yield f"{counted(few, 'judge')} with a single vote: what is said of them is mostly what was assumed"


def _held_back(how: Rating, rated: Rated) -> Iterator[str]:
    """How many documents the ridge draws towards the mean by much, for what is known of them."""
    far = 0 if rated.drawn is None else int((rated.drawn > HELD_BACK).sum())
    if far:
        yield (
            f"{counted(far, 'document')} so far from the others that the ridge of {how.ridge:g} holds them back: they "
            f"may lie further out than their intervals say; compare --ridge {how.ridge / 5:g}"
        )


def told_of_groups(votes: Matches, group: NDArray[np.int32]) -> Iterator[str]:
    """Which documents cannot be compared."""
    groups = np.array(
        [len(np.unique(group[low:high])) for low, high in zip(votes.start[:-1], votes.start[1:], strict=True)]
    )
    several = np.flatnonzero(groups > 1)
    if not len(several):
        return
    first = int(several[0])
    low, high = votes.start[first], votes.start[first + 1]
    docs, own = votes.docs["doc"][low:high], group[low:high]
    parts = [docs.filter(pl.Series(own == one)).to_list() for one in np.unique(own)]
    shown = " | ".join(_listed(part) for part in parts[:LISTED]) + " | …" * (len(parts) > LISTED)
    more = f", and in {counted(len(several) - 1, 'other query')}" if len(several) > 1 else ""
    yield (
        f"in query '{votes.queries[first]}'{more} some documents cannot be compared: no chain of votes joins the "
        f"{groups[first]} groups {shown}; each has its own mean, and ratings, orders and labels of two groups say "
        f"nothing about each other"
    )


def _one_sided(how: Rating, votes: Matches) -> Iterator[str]:
    """How many documents never won, or never lost."""
    won, met = votes.won(), votes.met()
    never, always = int((won == 0).sum()), int((won == met).sum())
    if never or always:
        yield (
            f"{counted(never, 'document')} never won and {always:,} never lost: how far from the others these lie is "
            f"mostly what the ridge of {how.ridge:g} assumes"
        )


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:LISTED]) + ", …" * (len(names) > LISTED)
