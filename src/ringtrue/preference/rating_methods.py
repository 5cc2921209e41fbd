"""The methods by name, each from matches to ratings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.votes import FIRST, SECOND, TIE, Votes
from ringtrue.preference.bradley_terry import OutcomeModel, fit_bradley_terry, fit_tie_parameter
from ringtrue.preference.elo_and_glicko import elo, glicko, win_rate
from ringtrue.preference.judge_aware_ratings import JudgeKind, fit_crowd_bt, fit_sensitivities
from ringtrue.preference.laplace import MatchInformation
from ringtrue.preference.rating_fit import RatingFit, add_bootstrap_intervals, add_laplace_intervals

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches


Method: TypeAlias = Literal["bradley-terry", "elo", "glicko", "win-rate"]
TieModel: TypeAlias = Literal["half", "davidson"]
Progress: TypeAlias = Callable[[int], None]
IntervalKind: TypeAlias = Literal["laplace", "bootstrap", "none"]
METHODS: tuple[Method, ...] = get_args(Method)
MAX_TIE_ITERATIONS = 100
MIN_SETTING, MAX_SETTING = 1e-12, 1e12  # of settings: beyond, numbers of 64 bits do not suffice
MAX_K_SCALES = 10  # scales: a match decides everything long before
ELO_PASSES = 20  # of elo
MIN_PRIOR_SD = 0.5  # log odds: a ridge that allows less leaves nothing to the votes
MAX_MIRROR_PROBABILITY = 0.1  # how probable the opposite order may be
METHODS_WITH_PASSES = ("elo", "glicko")
SETTING_CHOICES: dict[str, tuple[str | None, ...]] = {
    "method": METHODS,
    "by_judge": (None, *get_args(JudgeKind)),
    "ties": get_args(TieModel),
    "each": ("pair", "vote"),
    "interval": get_args(IntervalKind),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSettings:
    """How to rate: the method and its numbers. `rate_votes` carries it out.

    Examples:
        >>> RatingSettings(method="elo", k=32, scale=400).describe()
        {'k': 32, 'start': 100.0, 'scale': 400}
    """

    method: Method = "bradley-terry"
    em: bool = False
    by_judge: JudgeKind | None = None
    ties: TieModel = "half"
    passes: int | None = None
    k: float = 16.0
    start: float = 100.0
    scale: float = 200.0
    variance: float = 10.0
    ridge: float = 0.25
    balance: float = 0.5
    each: Literal["pair", "vote"] = "pair"
    interval: IntervalKind = "laplace"
    resamples: int = 1000
    level: float = 0.95

    def __post_init__(self) -> None:
        for name, choices in SETTING_CHOICES.items():
            if (choice := getattr(self, name)) not in choices:
                options = [option for option in choices if option]
                suggestion = did_you_mean(str(choice), options) or "; there is " + ", ".join(options)
                raise UsageError(f"no {name.replace('_', '-')} '{choice}'{suggestion}")
        for name in ("k", "start", "scale", "variance", "ridge", "balance", "level"):
            if not isinstance(setting := getattr(self, name), Real):
                raise UsageError(f"{name} must be a number, found {setting!r}; {_format_default(name)} is usual")
        for name in ("passes", "resamples"):
            if not isinstance(setting := getattr(self, name), Integral | None):
                raise UsageError(f"{name} must be a whole number, found {setting!r}")
        for name in ("k", "scale", "variance", "ridge"):
            setting, usual = getattr(self, name), f"{_format_default(name)} is usual"
            if not (math.isfinite(setting) and setting > 0):
                raise UsageError(f"{name} must be a number above 0, found {setting:g}; {usual}")
            if not MIN_SETTING <= setting <= MAX_SETTING:
                raise UsageError(f"{name} lies between {MIN_SETTING:g} and {MAX_SETTING:g}, found {setting:g}; {usual}")
        if self.method == "elo" and self.k > MAX_K_SCALES * self.scale:
            raise UsageError(
                f"k is at most {MAX_K_SCALES} times the scale of {self.scale:g}, found {self.k:g}; 16 is usual"
            )
        if not abs(self.start) <= MAX_SETTING:
            raise UsageError(f"the start must be a number, at most {MAX_SETTING:g}, found {self.start:g}; 100 is usual")
        if not 0 <= self.balance <= 1:
            raise UsageError(f"the balance lies between 0 and 1, found {self.balance:g}; 0.5 is usual")
        if self.passes is not None and self.passes < 1:
            raise UsageError(f"at least one pass is needed, found {self.passes}")
        if self.resamples < 100:
            raise UsageError(f"at least 100 resamples are needed for an interval, found {self.resamples}")
        self._require_compatible_settings()

    def _require_compatible_settings(self) -> None:
        """Refuse what does not go together."""
        if self.method != "bradley-terry":
            for name, is_set in (
                ("by-judge", self.by_judge is not None),
                ("ties", self.ties != "half"),
                ("interval bootstrap", self.interval == "bootstrap"),
            ):
                if is_set:
                    raise UsageError(f"--{name} is for bradley-terry, and this is {self.method}")
        if self.em and self.by_judge:
            raise UsageError("--em and --by-judge both weigh the judges; choose one")
        if self.em and self.ties == "davidson":
            raise UsageError("after --em a match has a probable score and no ties; leave out --ties davidson")
        if self.interval == "bootstrap" and (self.em or self.by_judge):
            raise UsageError("the bootstrap draws votes of judges who are alike; leave out --em and --by-judge")
        if self.passes is not None and self.method not in METHODS_WITH_PASSES:
            raise UsageError(
                f"--passes is for {' and '.join(METHODS_WITH_PASSES)}, and {self.method} takes all matches at once"
            )

    @property
    def weighs_judges(self) -> bool:
        """Whether some judges count for more than others."""
        return self.em or self.by_judge is not None

    def describe(self) -> dict[str, object]:
        """The numbers that this method uses, by name."""
        names = {
            "bradley-terry": ("ridge", "ties"),
            "elo": ("k", "start", "scale"),
            "glicko": ("start", "variance", "scale"),
            "win-rate": ("balance",),
        }[self.method]
        return {name: getattr(self, name) for name in names}

    def rate_votes(
        self, votes: Matches, *, rng: np.random.Generator | None = None, progress: Progress | None = None
    ) -> RatingFit:
        """The ratings from these votes; `progress` is told how many votes were drawn anew.

        They are rounded to nine decimals, so that documents with the same votes are rated the same.
        """
        rating_fit = RATERS[self.method](self, votes, rng or np.random.default_rng(0), progress or (lambda _: None))
        return replace(rating_fit, ratings=rating_fit.ratings.round(9) + 0.0)

    def select_matches(self, votes: Matches) -> Matches:
        """The matches that are played: pairs with the mean of their votes or a probable score, or single votes."""
        if self.em:
            return estimate_probable_scores(votes)
        return votes.merge_by_pair() if self.each == "pair" else votes


def _rate_by_bradley_terry(
    settings: RatingSettings, votes: Matches, rng: np.random.Generator, progress: Progress
) -> RatingFit:
    if settings.by_judge is not None:
        return _rate_with_judges(settings, votes)
    matches = settings.select_matches(votes) if settings.em else votes.merge_by_pair()
    outcome, ratings = OutcomeModel(), fit_bradley_terry(matches, ridge=settings.ridge)
    if settings.ties == "davidson":
        outcome, ratings = _fit_with_ties(matches, ratings, settings.ridge)
    rating_fit = RatingFit(ratings=ratings, unit=1.0, outcome=outcome)
    if settings.interval == "none":
        return rating_fit
    if settings.em:
        note = "no intervals: after --em they would take the probable scores for votes; --by-judge gives intervals"
        return rating_fit.with_note(note)
    if narrow_note := _narrow_ridge_note(settings):
        return rating_fit.with_note(narrow_note)
    ridge, level = settings.ridge, settings.level
    if settings.interval == "bootstrap":
        return add_bootstrap_intervals(
            votes, rating_fit, ridge=ridge, level=level, resamples=settings.resamples, rng=rng, progress=progress
        )
    difference = ratings[matches.first] - ratings[matches.second]
    information = MatchInformation(difference=matches.weight * outcome.information(difference))
    return add_laplace_intervals(matches, rating_fit, information, ridge=ridge, level=level)


def _fit_with_ties(matches: Matches, ratings: FloatArray, ridge: float) -> tuple[OutcomeModel, FloatArray]:
    """How common ties are, and the ratings, each given the other until neither moves."""
    if not matches.tied.any():
        return OutcomeModel(), ratings
    ties = 1.0
    for _ in range(MAX_TIE_ITERATIONS):
        ratings = fit_bradley_terry(matches, ridge=ridge, outcome=OutcomeModel(ties=ties), start=ratings)
        previous, ties = ties, fit_tie_parameter(matches, ratings[matches.first] - ratings[matches.second], ties)
        if abs(ties - previous) < 1e-8 * ties:
            break
    return OutcomeModel(ties=ties), ratings


def _rate_with_judges(settings: RatingSettings, votes: Matches) -> RatingFit:
    fit_judges = fit_sensitivities if settings.by_judge == "sensitivity" else fit_crowd_bt
    outcome = OutcomeModel()
    if settings.ties == "davidson":  # as common as they are when judges are alike
        outcome, _ = _fit_with_ties(votes, np.zeros(votes.docs.height), settings.ridge)
    judge_fit = fit_judges(votes, ridge=settings.ridge, outcome=outcome)
    notes = () if judge_fit.converged else ("documents and judges still moved when the turns were over",)
    rating_fit = RatingFit(ratings=judge_fit.ratings, unit=1.0, outcome=outcome, judge_fit=judge_fit, notes=notes)
    if judge_fit.mirror_probability > MAX_MIRROR_PROBABILITY:
        return rating_fit.with_note(
            f"no intervals: judges contradict each other so much that the opposite order of all documents has a "
            f"probability of {judge_fit.mirror_probability:.0%}; who of them is right, votes cannot tell"
        )
    if settings.interval == "none":
        return rating_fit
    if judge_fit.information is None:
        note = "no intervals: votes cannot tell well how honest judges are and how far apart documents; sensitivity can"
        return rating_fit.with_note(note)
    if narrow_note := _narrow_ridge_note(settings):
        return rating_fit.with_note(narrow_note)
    return add_laplace_intervals(votes, rating_fit, judge_fit.information, ridge=settings.ridge, level=settings.level)


def _narrow_ridge_note(settings: RatingSettings) -> str | None:
    """What is said where the ridge alone decides how far apart documents can be."""
    if (prior_sd := settings.ridge**-0.5) >= MIN_PRIOR_SD:
        return None
    return (
        f"no intervals: a ridge of {settings.ridge:g} claims that documents lie within some {prior_sd:.2g} in log odds "
        f"of their mean, whatever the votes say; 0.25 leaves that to the votes"
    )


def _rate_by_elo(settings: RatingSettings, votes: Matches, *_: object) -> RatingFit:
    matches = settings.select_matches(votes)
    pass_ratings = elo(
        matches, k=settings.k, start=settings.start, scale=settings.scale, passes=settings.passes or ELO_PASSES
    )
    return RatingFit(ratings=pass_ratings[-1], unit=settings.scale / math.log(10), pass_ratings=tuple(pass_ratings))


def _rate_by_glicko(settings: RatingSettings, votes: Matches, *_: object) -> RatingFit:
    start, variance, scale, passes = settings.start, settings.variance, settings.scale, settings.passes or 1
    matches = settings.select_matches(votes)
    pass_ratings, variances = glicko(matches, start=start, variance=variance, scale=scale, passes=passes)
    rating_fit = RatingFit(ratings=pass_ratings[-1], unit=scale / math.log(10), pass_ratings=tuple(pass_ratings))
    if settings.interval == "none":
        return rating_fit
    if passes > 1:
        return rating_fit.with_note("no standard errors: each pass beyond the first counts every vote again")
    return replace(rating_fit, errors=np.sqrt(variances)).with_note(
        "no intervals: the variance of glicko depends on the order of the matches and on the one it began with, and "
        "intervals from it hold too seldom; se is its root"
    )


def _rate_by_win_rate(settings: RatingSettings, votes: Matches, *_: object) -> RatingFit:
    return RatingFit(ratings=win_rate(settings.select_matches(votes), balance=settings.balance), unit=None)


RATERS: dict[Method, Callable[[RatingSettings, Matches, np.random.Generator, Progress], RatingFit]] = {
    "bradley-terry": _rate_by_bradley_terry,
    "elo": _rate_by_elo,
    "glicko": _rate_by_glicko,
    "win-rate": _rate_by_win_rate,
}


def _format_default(name: str) -> str:
    return f"{RatingSettings.__dataclass_fields__[name].default:g}"


def estimate_probable_scores(matches: Matches) -> Matches:
    """One match for each pair; its score is what the first document probably got, by an EM algorithm over judges.

    S = P(first won | votes) + ½ P(tie | votes)    [Dawid79] [Bashir13]
    """
    pairs, docs = matches.merge_by_pair(), matches.docs["doc"]
    keys = pairs.first.astype(np.int64) * matches.docs.height + pairs.second
    order = np.argsort(keys)
    vote_keys = matches.first.astype(np.int64) * matches.docs.height + matches.second
    votes = Votes(
        items=pl.DataFrame(
            {
                "query": matches.docs["query"].gather(pairs.first),
                "first": docs.gather(pairs.first),
                "second": docs.gather(pairs.second),
            }
        ),
        judges=matches.judges,
        labels=(SECOND, TIE, FIRST),
        item=order[np.searchsorted(keys[order], vote_keys)].astype(np.int32),
        judge=matches.judge,
        label=np.rint(2 * matches.score).astype(np.int32),
        others=pl.DataFrame(),
    )
    probabilities = aggregate(votes, method="dawid-skene", repeats="all").probabilities
    return replace(pairs, score=probabilities @ np.array([0.0, 0.5, 1.0]), tied=np.zeros(pairs.size))
