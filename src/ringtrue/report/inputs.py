"""What a report is made from: tables that were read, and what several sections need of them, made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import Measure
from ringtrue.gold.correction import Correction, correct
from ringtrue.gold.correction.gold_sample import comparison_measures
from ringtrue.judges.votes import Repeats
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Comparisons
from ringtrue.tables import Judgments, Preferences, Run, Scores

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, kw_only=True)
class ReportInputs:
    """All that was given. Sections leave alone what they are told of here, and ask for no file.

    `judgments` has one label for each document: bronze, where there is `gold` to correct it. `labels` are of several
    judges, `truth` those of a perfect judge for everything, which a simulation knows. `measures` come from what
    somebody asked for; the page is about the first. `names` are what people call the things that were given, such as
    their files.
    """

    runs: tuple[Run, ...] = ()
    judgments: Judgments | None = None
    measures: tuple[Measure, ...] = ()
    gold: Judgments | Confusion | None = None
    truth: Judgments | None = None
    labels: Judgments | None = None
    traps: Judgments | Preferences | None = None
    preferences: Preferences | None = None
    confusion: Confusion | None = None
    correction_options: Mapping[str, Any] = field(default_factory=dict)  # design, method, population, bronze_rel
    # missing, judges, depth, compat, collection_size
    evaluation_options: Mapping[str, Any] = field(default_factory=dict)
    repeats: Repeats | None = None  # which label, or vote, of a judge counts where there are several of one item
    rel: int = 1
    level: float = 0.95
    seed: int = 0
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """The measure that the page is about."""
        return str(self.measures[0])

    def rng(self, purpose: str) -> np.random.Generator:
        """Random numbers for one section: the same seed gives the same page, whichever other sections there are."""
        return np.random.default_rng([self.seed, *purpose.encode()])

    @cached_property
    def scores(self) -> Scores | None:
        """Each run's value for each query, by the judgments as they are."""
        if not self.runs or self.judgments is None:
            return None
        return evaluate(self.runs, self.judgments, self.measures, **self.evaluation_options)

    @property
    def correction(self) -> Correction | None:
        """The same as a perfect judge would have it, where there is gold; an error where this gold cannot tell."""
        return _raise_if_error(self.correction_or_error)

    @cached_property
    def correction_or_error(self) -> Correction | InputError | None:
        """The correction, or why there is none; worked out once, although several sections ask."""
        if not self.runs or self.judgments is None or self.gold is None:
            return None
        try:
            return correct(
                self.runs,
                self.judgments,
                self.gold,
                self.measures,
                level=self.level,
                rng=self.rng("correction"),
                **self.correction_options,
            )
        except InputError as error:
            return error

    @property
    def comparisons(self) -> Comparisons | None:
        """All pairs of runs by the measure of the page; corrected, where there is gold."""
        return _raise_if_error(self.comparisons_or_error)

    @cached_property
    def comparisons_or_error(self) -> Comparisons | InputError | None:
        """The comparisons, or why there are none; worked out once."""
        from ringtrue.evaluation.significance import compare
        from ringtrue.gold.correction import compare_corrected

        if self.scores is None or len(self.runs) < 2:
            return None
        try:
            if self.gold is None:
                measure_scores = Scores(self.scores.frame.filter(measure=self.measure))
                return compare(measure_scores, level=self.level, rng=self.rng("comparisons"))
            return compare_corrected(
                self.runs,
                self.judgments,
                self.gold,
                self.measures[0],
                level=self.level,
                rng=self.rng("comparisons"),
                **self.correction_options,
            )
        except InputError as error:
            return error

    def require_measurable(self) -> None:
        """Refuse runs that cannot be measured, or corrected, in the words of `evaluate` and `compare`.

        Gold that was drawn to compare runs says nothing of a single one, and is enough if it compares them.
        """
        if self.gold is not None:
            to_compare = isinstance(self.gold, Judgments) and comparison_measures(self.gold)
            _raise_if_error(self.comparisons_or_error if to_compare else self.correction_or_error)
        _ = self.scores


def _raise_if_error(outcome: Outcome | InputError) -> Outcome:
    if isinstance(outcome, InputError):
        raise outcome
    return outcome
