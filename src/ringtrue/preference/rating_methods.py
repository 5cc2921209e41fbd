"""The methods by name, each from matches to ratings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.votes import FIRST, SECOND, TIE, Votes
from ringtrue.messages import Note, Suggestion
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
                raise UsageError("unknown-choice", f"no such choice as '{choice}'{suggestion}", parameter=name)
        for name in ("k", "start", "scale", "variance", "ridge", "balance", "level"):
            if not isinstance(setting := getattr(self, name), Real):
                text = f"{name} must be a number, found {setting!r}"
                raise UsageError("bad-number", text, parameter=name, suggestions=[_usual(name)])
        for name in ("passes", "resamples"):
            if not isinstance(setting := getattr(self, name), Integral | None):
                text = f"expected a whole number, found {setting!r}"
                raise UsageError("not-a-whole-number", text, parameter=name)
        for name in ("k", "scale", "variance", "ridge"):
            setting = getattr(self, name)
            if not (math.isfinite(setting) and setting > 0):
                raise _out_of_range(name, f"{name} must be a number above 0, found {setting:g}")
            if not MIN_SETTING <= setting <= MAX_SETTING:
                between = f"between {MIN_SETTING:g} and {MAX_SETTING:g}"
                raise _out_of_range(name, f"{name} must lie {between}, found {setting:g}")
        if self.method == "elo" and self.k > MAX_K_SCALES * self.scale:
            most = f"at most {MAX_K_SCALES} times the scale of {self.scale:g}"
            raise _out_of_range("k", f"k is {most}, found {self.k:g}")
        if not abs(self.start) <= MAX_SETTING:
            raise _out_of_range("start", f"the start must be a number, at most {MAX_SETTING:g}, found {self.start:g}")
        if not 0 <= self.balance <= 1:
            raise _out_of_range("balance", f"the balance lies between 0 and 1, found {self.balance:g}")
        if self.passes is not None and self.passes < 1:
            raise UsageError("out-of-range", f"at least one pass is needed, found {self.passes}", parameter="passes")
        if self.resamples < 100:
            text = f"at least 100 resamples are needed for an interval, found {self.resamples}"
            raise _out_of_range("resamples", text)
        self._require_compatible_settings()

    def _require_compatible_settings(self) -> None:
        """Refuse what does not go together."""
        if self.method != "bradley-terry":
            for name, what, is_set in (
                ("by_judge", "rating judges too", self.by_judge is not None),
                ("ties", "a chance of ties", self.ties != "half"),
                ("interval", "the bootstrap", self.interval == "bootstrap"),
            ):
                if is_set:
                    text = f"{what} is for bradley-terry, and this is {self.method}"
                    raise UsageError("unused-parameter", text, parameter=name)
        if self.em and self.by_judge:
            raise UsageError(
                "conflicting-parameters",
                "the EM algorithm and rating judges too both weigh the judges; choose one",
                parameter="em",
            )
        if self.em and self.ties == "davidson":
            text = "after the EM algorithm a match has a probable score and no ties"
            raise UsageError("conflicting-parameters", text, parameter="ties")
        if self.interval == "bootstrap" and (self.em or self.by_judge):
            text = "the bootstrap draws votes of judges who are alike; do not weigh judges"
            raise UsageError("conflicting-parameters", text, parameter="interval")
        if self.passes is not None and self.method not in METHODS_WITH_PASSES:
            text = f"passes are for {' and '.join(METHODS_WITH_PASSES)}, and {self.method} takes all matches at once"
            raise UsageError("unused-parameter", text, parameter="passes")

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
        text = "no intervals: after the EM algorithm they would take the probable scores for votes"
        with_intervals = Suggestion("gives intervals", by_judge="sensitivity")
        return rating_fit.with_note(Note("no-interval-after-em", text, parameter="em", suggestions=[with_intervals]))
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
    text = "documents and judges still moved when the iterations ended"
    notes = () if judge_fit.converged else (Note("not-converged", text),)
    rating_fit = RatingFit(ratings=judge_fit.ratings, unit=1.0, outcome=outcome, judge_fit=judge_fit, notes=notes)
    if judge_fit.mirror_probability > MAX_MIRROR_PROBABILITY:
        text = (
            f"no intervals: judges contradict each other so much that the opposite order of all documents has a "
            f"probability of {judge_fit.mirror_probability:.0%}; votes do not show who of them is right"
        )
        return rating_fit.with_note(Note("contradictory-judges", text))
    if settings.interval == "none":
        return rating_fit
    if judge_fit.information is None:
        text = "no intervals: votes do not separate how honest judges are from how far apart documents are"
        sensitivity = Suggestion("has intervals", by_judge="sensitivity")
        note = Note("no-interval-of-honesty", text, parameter="by_judge", suggestions=[sensitivity])
        return rating_fit.with_note(note)
    if narrow_note := _narrow_ridge_note(settings):
        return rating_fit.with_note(narrow_note)
    return add_laplace_intervals(votes, rating_fit, judge_fit.information, ridge=settings.ridge, level=settings.level)


def _narrow_ridge_note(settings: RatingSettings) -> Note | None:
    """What is said where the ridge alone decides how far apart documents can be."""
    if (prior_sd := settings.ridge**-0.5) >= MIN_PRIOR_SD:
        return None
    return Note(
        "strong-ridge",
        f"no intervals: a ridge of {settings.ridge:g} claims that documents lie within some {prior_sd:.2g} in log odds "
        f"of their mean, whatever the votes say",
        parameter="ridge",
        suggestions=[Suggestion("leaves that to the votes", ridge=0.25)],
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
        text = "no standard errors: each pass beyond the first counts every vote again"
        return rating_fit.with_note(Note("repeated-passes", text, parameter="passes"))
    text = (
        "no intervals: the variance of glicko depends on the order of the matches and on the one it began with, and "
        "intervals from it hold too seldom; se is its root"
    )
    return replace(rating_fit, errors=np.sqrt(variances)).with_note(Note("no-interval-of-glicko", text))


def _rate_by_win_rate(settings: RatingSettings, votes: Matches, *_: object) -> RatingFit:
    return RatingFit(ratings=win_rate(settings.select_matches(votes), balance=settings.balance), unit=None)


RATERS: dict[Method, Callable[[RatingSettings, Matches, np.random.Generator, Progress], RatingFit]] = {
    "bradley-terry": _rate_by_bradley_terry,
    "elo": _rate_by_elo,
    "glicko": _rate_by_glicko,
    "win-rate": _rate_by_win_rate,
}


def _usual(name: str) -> Suggestion:
    default = float(getattr(RatingSettings(), name))
    arguments: dict[str, Any] = {name: int(default) if default.is_integer() else default}
    return Suggestion("is usual", **arguments)


def _out_of_range(name: str, text: str) -> UsageError:
    return UsageError("out-of-range", text, parameter=name, suggestions=[_usual(name)])


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
