"""The methods by name, each from matches to ratings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.preference.bradley_terry import fit, most_likely_ties
from ringtrue.preference.elo import elo
from ringtrue.preference.em import probable_scores
from ringtrue.preference.glicko import glicko
from ringtrue.preference.judge_sensitivity import JudgeKind, by_sensitivity, crowd_bt
from ringtrue.preference.laplace import Told
from ringtrue.preference.outcome_model import Outcome
from ringtrue.preference.rating_fit import Rated
from ringtrue.preference.rating_intervals import by_bootstrap, by_curvature
from ringtrue.preference.win_rate import win_rate

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["METHODS", "PASSES", "IntervalKind", "Method", "Rating", "TieModel"]

Method: TypeAlias = Literal["bradley-terry", "elo", "glicko", "win-rate"]
TieModel: TypeAlias = Literal["half", "davidson"]
Progress: TypeAlias = Callable[[int], None]
IntervalKind: TypeAlias = Literal["laplace", "bootstrap", "none"]
METHODS: tuple[Method, ...] = get_args(Method)
TIE_TURNS = 100
LEAST, MOST = 1e-12, 1e12  # of settings: beyond, numbers of 64 bits do not suffice
MOST_K = 10  # scales: a match decides everything long before
PASSES = 20  # of elo
NARROW = 0.5  # log odds: a ridge that allows less leaves nothing to the votes
MIRRORED = 0.1  # how probable the opposite order may be


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """How to rate: the method and its numbers. `rated` carries it out.

    Examples:
        >>> Rating(method="elo", k=32, scale=400).describe()
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
        for name, choices in CHOICES.items():
            if (said := getattr(self, name)) not in choices:
                near = did_you_mean(str(said), [one for one in choices if one]) or "; there is " + ", ".join(
                    one for one in choices if one
                )
                raise UsageError(f"no {name.replace('_', '-')} '{said}'{near}")
        for name in ("k", "start", "scale", "variance", "ridge", "balance", "level"):
            if not isinstance(value := getattr(self, name), Real):
                raise UsageError(f"{name} must be a number, found {value!r}; {_usual(name)} is usual")
        for name in ("passes", "resamples"):
            if not isinstance(value := getattr(self, name), Integral | None):
                raise UsageError(f"{name} must be a whole number, found {value!r}")
        for name in ("k", "scale", "variance", "ridge"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise UsageError(f"{name} must be a number above 0, found {value:g}; {_usual(name)} is usual")
            if not LEAST <= value <= MOST:
                raise UsageError(
                    f"{name} lies between {LEAST:g} and {MOST:g}, found {value:g}; {_usual(name)} is usual"
                )
        if self.method == "elo" and self.k > MOST_K * self.scale:
            raise UsageError(f"k is at most {MOST_K} times the scale of {self.scale:g}, found {self.k:g}; 16 is usual")
        if not abs(self.start) <= MOST:
            raise UsageError(f"the start must be a number, at most {MOST:g}, found {self.start:g}; 100 is usual")
        if not 0 <= self.balance <= 1:
            raise UsageError(f"the balance lies between 0 and 1, found {self.balance:g}; 0.5 is usual")
        if self.passes is not None and self.passes < 1:
            raise UsageError(f"at least one pass is needed, found {self.passes}")
        if self.resamples < 100:
            raise UsageError(f"at least 100 resamples are needed for an interval, found {self.resamples}")
        self._require_company()

    def _require_company(self) -> None:
        """Refuse what does not go together."""
        if self.method != "bradley-terry":
            for name, asked in (
                ("by-judge", self.by_judge is not None), ("ties", self.ties != "half"),
                ("interval bootstrap", self.interval == "bootstrap"),
            ):  # fmt: skip
                if asked:
                    raise UsageError(f"--{name} is for bradley-terry, and this is {self.method}")
        if self.em and self.by_judge:
            raise UsageError("--em and --by-judge both weigh the judges; choose one")
        if self.em and self.ties == "davidson":
            raise UsageError("after --em a match has a probable score and no ties; leave out --ties davidson")
        if self.interval == "bootstrap" and (self.em or self.by_judge):
            raise UsageError("the bootstrap draws votes of judges who are alike; leave out --em and --by-judge")
        if self.passes is not None and self.method not in PASSING:
            raise UsageError(f"--passes is for {' and '.join(PASSING)}, and {self.method} takes all matches at once")

    def describe(self) -> dict[str, object]:
        """The numbers that this method uses, by name."""
        names = {"bradley-terry": ("ridge", "ties"), "elo": ("k", "start", "scale"),
                 "glicko": ("start", "variance", "scale"), "win-rate": ("balance",)}[self.method]  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def rated(
        self, votes: Matches, *, rng: np.random.Generator | None = None, progress: Progress | None = None
    ) -> Rated:
        """The ratings from these votes; `progress` is told how many votes were drawn anew.

        They are rounded to nine decimals, so that documents with the same votes are rated the same.
        """
        found = RATE[self.method](self, votes, rng or np.random.default_rng(0), progress or (lambda _: None))
        return replace(found, ratings=found.ratings.round(9) + 0.0)

    def matches(self, votes: Matches) -> Matches:
        """The matches that are played: pairs with the mean of their votes or a probable score, or single votes."""
        if self.em:
            return probable_scores(votes)
        return votes.paired() if self.each == "pair" else votes


def _by_bradley_terry(how: Rating, votes: Matches, rng: np.random.Generator, progress: Progress) -> Rated:
    if how.by_judge is not None:
        return _by_judge(how, votes)
    matches = how.matches(votes) if how.em else votes.paired()
    outcome, ratings = Outcome(), fit(matches, ridge=how.ridge)
    if how.ties == "davidson":
        outcome, ratings = _with_ties(matches, ratings, how.ridge)
    rated = Rated(ratings=ratings, unit=1.0, outcome=outcome)
    if how.interval == "none":
        return rated
    if how.em:
        note = "no intervals: after --em they would take the probable scores for votes; --by-judge gives intervals"
        return replace(rated, notes=(note,))
    if (narrow := _narrow(how)) is not None:
        return replace(rated, notes=(narrow,))
    if how.interval == "bootstrap":
        return by_bootstrap(votes, rated, ridge=how.ridge, level=how.level, resamples=how.resamples, rng=rng,
                            progress=progress)  # fmt: skip
    apart = ratings[matches.first] - ratings[matches.second]
    told = Told(difference=matches.weight * outcome.information(apart))
    return by_curvature(matches, rated, told, ridge=how.ridge, level=how.level)


def _with_ties(matches: Matches, ratings: FloatArray, ridge: float) -> tuple[Outcome, FloatArray]:
    """How common ties are, and the ratings, each given the other until neither moves."""
    if not matches.tied.any():
        return Outcome(), ratings
    ties = 1.0
    for _ in range(TIE_TURNS):
        ratings = fit(matches, ridge=ridge, outcome=Outcome(ties=ties), start=ratings)
        before, ties = ties, most_likely_ties(matches, ratings[matches.first] - ratings[matches.second], ties)
        if abs(ties - before) < 1e-8 * ties:
            break
    return Outcome(ties=ties), ratings


def _by_judge(how: Rating, votes: Matches) -> Rated:
    solve = by_sensitivity if how.by_judge == "sensitivity" else crowd_bt
    outcome = Outcome()
    if how.ties == "davidson":  # as common as they are when judges are alike
        outcome, _ = _with_ties(votes, np.zeros(votes.docs.height), how.ridge)
    found = solve(votes, ridge=how.ridge, outcome=outcome)
    notes = () if found.converged else ("documents and judges still moved when the turns were over",)
    rated = Rated(ratings=found.ratings, unit=1.0, outcome=outcome, together=found, notes=notes)
    if found.mirrored > MIRRORED:
        doubt = (
            f"no intervals: judges contradict each other so much that the opposite order of all documents has a "
            f"probability of {found.mirrored:.0%}; who of them is right, votes cannot tell"
        )
        return replace(rated, notes=(*notes, doubt))
    if how.interval == "none":
        return rated
    if found.told is None:
        note = "no intervals: votes cannot tell well how honest judges are and how far apart documents; sensitivity can"
        return replace(rated, notes=(*notes, note))
    if (narrow := _narrow(how)) is not None:
        return replace(rated, notes=(*notes, narrow))
    return by_curvature(votes, rated, found.told, ridge=how.ridge, level=how.level)


def _narrow(how: Rating) -> str | None:
    """What is said where the ridge alone decides how far apart documents can be."""
    if (wide := how.ridge**-0.5) >= NARROW:
        return None
    return (
        f"no intervals: a ridge of {how.ridge:g} claims that documents lie within some {wide:.2g} in log odds of their "
        f"mean, whatever the votes say; 0.25 leaves that to the votes"
    )


def _by_elo(how: Rating, votes: Matches, *_: object) -> Rated:
    matches = how.matches(votes)
    after = elo(matches, k=how.k, start=how.start, scale=how.scale, passes=how.passes or PASSES)
    return Rated(ratings=after[-1], unit=how.scale / math.log(10), after=tuple(after))


def _by_glicko(how: Rating, votes: Matches, *_: object) -> Rated:
    unit = how.scale / math.log(10)
    passes = how.passes or 1
    after, variances = glicko(
        how.matches(votes), start=how.start, variance=how.variance, scale=how.scale, passes=passes
    )
    rated = Rated(ratings=after[-1], unit=unit, after=tuple(after))
    if how.interval == "none":
        return rated
    if passes > 1:
        return replace(rated, notes=("no standard errors: each pass beyond the first counts every vote again",))
    note = (
        "no intervals: the variance of glicko depends on the order of the matches and on the one it began with, and "
        "intervals from it hold too seldom; se is its root"
    )
    return replace(rated, errors=np.sqrt(variances), notes=(note,))


def _by_win_rate(how: Rating, votes: Matches, *_: object) -> Rated:
    return Rated(ratings=win_rate(how.matches(votes), balance=how.balance), unit=None)


RATE: dict[Method, Callable[[Rating, Matches, np.random.Generator, Progress], Rated]] = {
    "bradley-terry": _by_bradley_terry,
    "elo": _by_elo,
    "glicko": _by_glicko,
    "win-rate": _by_win_rate,
}
PASSING = ("elo", "glicko")
CHOICES: dict[str, tuple[str | None, ...]] = {
    "method": METHODS,
    "by_judge": (None, *get_args(JudgeKind)),
    "ties": get_args(TieModel),
    "each": ("pair", "vote"),
    "interval": get_args(IntervalKind),
}


def _usual(name: str) -> str:
    return f"{Rating.__dataclass_fields__[name].default:g}"
