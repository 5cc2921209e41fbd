"""The calculator: from summary numbers to corrected scores, and to whether two of them differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.gold.correction.diagnostics import CHECK_ALPHA, sample_share_p
from ringtrue.gold.correction.proportion import Interval, correct_share, correct_share_by_label
from ringtrue.gold.correction.rate_inversion import BronzeScore, Rates
from ringtrue.gold.correction.score_tests import ScoreDifference, naive_test, separate_judges_test, shared_judge_test
from ringtrue.messages import Note, Suggestion, notes_as_dict
from ringtrue.stats.intervals import t_quantile, wilson
from ringtrue.stats.results import Estimate

RatesDesign: TypeAlias = Literal["pool_random", "external", "known"]
OTHER_DOCUMENTS = ("external", "known")  # designs that say nothing about these documents


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCheck:
    """Are the gold labels a random draw from these documents? The share that bronze calls relevant, in both."""

    sample: float
    n: int
    pool: float
    p_value: float

    @property
    def description(self) -> Note:
        """The check in words."""
        shares = f"bronze calls {self.sample:.0%} of the {self.n} gold documents relevant, and {self.pool:.0%} of all"
        p = f"p = {self.p_value:.1g}" if self.p_value < 0.1 else f"p = {self.p_value:.2f}"
        p = "p < 1e-15" if self.p_value < 1e-15 else p
        if self.p_value < CHECK_ALPHA:
            text = f"{shares} ({p}): they are no random draw from these documents, where the rates may be others"
            return Note("sample-does-not-fit", text)
        return Note("sample-fits", f"{shares} ({p}): as a random draw from these documents would have it")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCorrection:
    """What `correct_score` gives: the score as it is, corrected, and the judge; with a second score, how both compare.

    `versus` is the same for the second score. `comparison` has "naive", "shared_judge" (where one judge labelled both)
    and "independent". `direct` is the score from the gold labels alone, by bronze label, where they are a random draw
    from these documents; `check` tells whether they can be.

    Examples:
        >>> answer = correct_score(BronzeScore(mean=0.6, sd=0.3, queries=400), Rates(relevant=0.9, nonrelevant=0.8))
        >>> print(answer)
        0.60 (95% CI 0.57 to 0.63) by bronze, corrected 0.57 (95% CI 0.53 to 0.61)
    """

    raw: Estimate
    corrected: Estimate
    judge: Mapping[str, Estimate]
    versus: ScoreCorrection | None = None
    comparison: Mapping[str, ScoreDifference] | None = None
    direct: Estimate | None = None
    check: PoolCheck | None = None
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        return f"{self.raw} by bronze, corrected {self.corrected}"

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        comparison = (
            {name: estimate.as_dict() for name, estimate in self.comparison.items()} if self.comparison else None
        )
        return {
            "raw": self.raw.as_dict(),
            "corrected": self.corrected.as_dict(),
            "versus": self.versus.as_dict() if self.versus else None,
            "comparison": comparison,
            "judge": {name: estimate.as_dict() for name, estimate in self.judge.items()},
            "direct": self.direct.as_dict() if self.direct else None,
            "check": asdict(self.check) if self.check else None,
            **notes_as_dict(self.notes),
        }


def correct_score(
    score: BronzeScore,
    rates: Rates,
    *,
    versus: BronzeScore | None = None,
    versus_rates: Rates | None = None,
    difference_sd: float | None = None,
    design: RatesDesign | None = None,
    interval: Interval = "fieller",
    level: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> ScoreCorrection:
    """The score that a gold judge would give, for people who have only summary numbers [Goldberg17].

        θ = (j − 1 + m_N) / (m_R + m_N − 1)

    `rates` say how often the bronze judge is right, `versus` is a second score to compare with, of the same judge
    unless `versus_rates` are given. Where both scores are about the same queries, `difference_sd` is the standard
    deviation of the differences of single queries. `design` says where the rates come from: "pool_random", a random
    draw from these documents; "external", other documents; "known". Where it is not said, gold labels are compared with
    these documents as if they were a draw.

    Holds where the judge errs on these documents as often as on those where the rates were measured. Judges err more
    on documents that systems rank high: rates from a whole pool will not do for the top of a ranking.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> first = BronzeScore(mean=0.6260, sd=0.414, queries=10278)
        >>> second = BronzeScore(mean=0.6385, sd=0.402, queries=20604)
        >>> answer = correct_score(first, rates, versus=second)
        >>> print(answer.corrected)
        0.80 (95% CI 0.66 to 1.00)
        >>> {name: round(test.p_value, 4) for name, test in answer.comparison.items()}
        {'shared_judge': 0.0116, 'independent': 0.8541, 'naive': 0.0116}
    """
    _require_calculable(design, rates, versus, versus_rates, difference_sd)
    rng = rng or np.random.default_rng(0)
    one_judge = versus_rates is None
    pool = (score, versus) if versus and one_judge else (score,)
    scored = [(score, rates, pool)]
    if versus is not None:
        scored.append((versus, rates, pool) if versus_rates is None else (versus, versus_rates, (versus,)))
    corrections = []
    for bronze_score, judge_rates, documents in scored:
        corrected = correct_share(
            bronze_score, judge_rates, interval=interval, level=level, resamples=resamples, rng=rng
        )
        corrections.append(
            _correct_one_score(
                bronze_score,
                judge_rates,
                corrected,
                None if design in OTHER_DOCUMENTS else _check_pool(judge_rates, documents),
                design,
            )
        )
    if versus is None:
        return corrections[0]
    comparison = {
        "independent": separate_judges_test(
            score, versus, rates, versus_rates, difference_sd=difference_sd, level=level
        ),
        "naive": naive_test(score, versus, difference_sd=difference_sd, level=level),
    }
    if one_judge:
        shared = shared_judge_test(score, versus, rates, difference_sd=difference_sd, level=level)
        comparison = {"shared_judge": shared, **comparison}
    return replace(corrections[0], versus=corrections[1], comparison=comparison)


def _correct_one_score(
    score: BronzeScore, rates: Rates, corrected: Estimate, check: PoolCheck | None, design: RatesDesign | None
) -> ScoreCorrection:
    """One score, without a second."""
    direct = correct_share_by_label(score, rates, level=corrected.level) if design == "pool_random" else None
    check_notes = [check.description] if check and (design or check.p_value < CHECK_ALPHA) else []
    return ScoreCorrection(
        raw=_bronze_estimate(score, corrected.level),
        corrected=corrected,
        judge=rates.estimates(corrected.level),
        direct=direct,
        check=check,
        notes=(*corrected.notes, *check_notes),
    )


def _bronze_estimate(score: BronzeScore, level: float) -> Estimate:
    """The score as if no label were wrong: Student's t over queries, or Wilson's interval for one document each."""
    se, n = math.sqrt(score.variance), score.queries
    if score.sd is None:
        low, high = (float(end) for end in wilson(score.mean, n, level=level))
        return Estimate(value=score.mean, se=se, low=low, high=high, level=level, n=n, method="wilson")
    if n == 1:
        note = Note("single-query", "a single query: no interval can be given")
        return Estimate(value=score.mean, level=level, n=n, method="t", notes=(note,))
    half_width = t_quantile((1 + level) / 2, n - 1) * se
    note = Note(
        "all-queries-alike",
        f"all {n:,} queries have the same score: the interval cannot show what other queries would give",
    )
    low, high = score.mean - half_width, score.mean + half_width
    notes = () if se else (note,)
    return Estimate(value=score.mean, se=se, low=low, high=high, level=level, n=n, method="t", notes=notes)


def _check_pool(rates: Rates, pool: tuple[BronzeScore, ...]) -> PoolCheck | None:
    """z test of the share that bronze calls relevant, among the gold labels against all documents."""
    bronze_relevant = rates.bronze_relevant
    if bronze_relevant is None:
        return None
    hits, n = bronze_relevant
    share = sum(score.mean * score.queries for score in pool) / sum(score.queries for score in pool)
    p = sample_share_p(hits / n, share, n)
    return None if p is None else PoolCheck(sample=hits / n, n=n, pool=share, p_value=p)


def _require_calculable(
    design: RatesDesign | None,
    rates: Rates,
    versus: BronzeScore | None,
    versus_rates: Rates | None,
    difference_sd: float | None,
) -> None:
    if design is not None and design not in get_args(RatesDesign):
        suggestion = did_you_mean(design, get_args(RatesDesign)) or f"; there is {', '.join(get_args(RatesDesign))}"
        raise UsageError("unknown-design", f"no design '{design}' for rates{suggestion}", parameter="design")
    if design == "pool_random" and any(
        judge_rates is not None and judge_rates.bronze_relevant is None for judge_rates in (rates, versus_rates)
    ):
        raise UsageError(
            "rates-without-counts",
            "rates from a random draw need the numbers of labels: give both as right/labels, as in 43/59",
            parameter="design",
            suggestions=[Suggestion("takes them as known", design="known")],
        )
    if versus is None and (versus_rates is not None or difference_sd is not None):
        what = "the rates of a second judge" if versus_rates is not None else "a standard deviation of differences"
        raise UsageError(
            "no-second-score",
            f"{what} without a second score",
            parameter="difference_sd" if versus_rates is None else "versus_rates",
            suggestions=[Suggestion("gives the score to compare with", versus=...)],
        )
