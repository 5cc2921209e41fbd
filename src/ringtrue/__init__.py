"""ringtrue: search evaluation when the judges are imperfect.

    import ringtrue as rt

    run = rt.read_run("bm25.run")
    judgments = rt.read_judgments("human.qrels")
    print(rt.evaluate(run, judgments, "nDCG@10").means())

Everything public is named here and loaded when it is first used, so that importing costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from ringtrue._version import __version__

if TYPE_CHECKING:
    from ringtrue.doctor import Checkup, examine
    from ringtrue.errors import InputError, RingtrueError, UsageError
    from ringtrue.evaluation.curves import curve
    from ringtrue.evaluation.evaluate import evaluate
    from ringtrue.evaluation.measures import Measure, parse
    from ringtrue.evaluation.significance import compare, compare_by, differences
    from ringtrue.evaluation.stability import Flip, Stability, Standing, stability
    from ringtrue.files import (
        read_confusion,
        read_documents,
        read_gains,
        read_judgments,
        read_preferences,
        read_run,
        read_topics,
        write_confusion,
        write_table,
    )
    from ringtrue.gold.correction import (
        BronzeScore,
        Check,
        Correction,
        Rates,
        ScoreCorrection,
        ScoreDifference,
        compare_corrected,
        correct,
        correct_score,
    )
    from ringtrue.gold.planning import Plan, Plans, plan
    from ringtrue.gold.sampling import GoldDraw, sample, sample_queries
    from ringtrue.judges.aggregation import Aggregation, JudgeModel, Prior, aggregate
    from ringtrue.judges.agreement import Agreement, PairAgreement, Period, Transitivity, agree, krippendorff_alpha
    from ringtrue.judges.ceiling import (
        Ceiling,
        CeilingScatter,
        RunCeiling,
        ceiling,
        ceiling_scatter,
        estimate_confusion,
    )
    from ringtrue.judges.disagreement import Disagreement, MutualEvaluation, disagree, mutual_evaluation
    from ringtrue.judges.quality import Flag, JudgeQuality, JudgeReport, judge_quality
    from ringtrue.preference import (
        HeldOut,
        JudgeRating,
        MethodScores,
        PairChoice,
        RatingComparison,
        Ratings,
        choose_pairs,
        compare_ratings,
        implied_preferences,
        rate,
    )
    from ringtrue.report import Figure, Report, Section, report
    from ringtrue.stats.confusion import Confusion
    from ringtrue.stats.results import Comparison, Comparisons, Curve, Curves, Estimate
    from ringtrue.tables import Judgments, Preferences, Run, Scores

_HOME = {
    "Aggregation": "judges.aggregation",
    "Agreement": "judges.agreement",
    "BronzeScore": "gold.correction",
    "Ceiling": "judges.ceiling",
    "CeilingScatter": "judges.ceiling",
    "Check": "gold.correction",
    "Checkup": "doctor",
    "Comparison": "stats.results",
    "Comparisons": "stats.results",
    "Confusion": "stats.confusion",
    "Correction": "gold.correction",
    "Curve": "stats.results",
    "Curves": "stats.results",
    "Disagreement": "judges.disagreement",
    "Estimate": "stats.results",
    "Figure": "report",
    "Flag": "judges.quality",
    "Flip": "evaluation.stability",
    "GoldDraw": "gold.sampling",
    "HeldOut": "preference",
    "InputError": "errors",
    "JudgeModel": "judges.aggregation",
    "JudgeQuality": "judges.quality",
    "JudgeRating": "preference",
    "JudgeReport": "judges.quality",
    "Judgments": "tables",
    "Measure": "evaluation.measures",
    "MethodScores": "preference",
    "MutualEvaluation": "judges.disagreement",
    "PairAgreement": "judges.agreement",
    "PairChoice": "preference",
    "Period": "judges.agreement",
    "Plan": "gold.planning",
    "Plans": "gold.planning",
    "Preferences": "tables",
    "Prior": "judges.aggregation",
    "Rates": "gold.correction",
    "RatingComparison": "preference",
    "Ratings": "preference",
    "Report": "report",
    "RingtrueError": "errors",
    "Run": "tables",
    "RunCeiling": "judges.ceiling",
    "ScoreCorrection": "gold.correction",
    "ScoreDifference": "gold.correction",
    "Scores": "tables",
    "Section": "report",
    "Stability": "evaluation.stability",
    "Standing": "evaluation.stability",
    "Transitivity": "judges.agreement",
    "UsageError": "errors",
    "aggregate": "judges.aggregation",
    "agree": "judges.agreement",
    "ceiling": "judges.ceiling",
    "ceiling_scatter": "judges.ceiling",
    "choose_pairs": "preference",
    "compare": "evaluation.significance",
    "compare_by": "evaluation.significance",
    "compare_corrected": "gold.correction",
    "compare_ratings": "preference",
    "correct": "gold.correction",
    "correct_score": "gold.correction",
    "curve": "evaluation.curves",
    "differences": "evaluation.significance",
    "disagree": "judges.disagreement",
    "estimate_confusion": "judges.ceiling",
    "evaluate": "evaluation.evaluate",
    "examine": "doctor",
    "implied_preferences": "preference",
    "judge_quality": "judges.quality",
    "krippendorff_alpha": "judges.agreement",
    "mutual_evaluation": "judges.disagreement",
    "parse": "evaluation.measures",
    "plan": "gold.planning",
    "rate": "preference",
    "read_confusion": "files",
    "read_documents": "files",
    "read_gains": "files",
    "read_judgments": "files",
    "read_preferences": "files",
    "read_run": "files",
    "read_topics": "files",
    "report": "report",
    "sample": "gold.sampling",
    "sample_queries": "gold.sampling",
    "stability": "evaluation.stability",
    "write_confusion": "files",
    "write_table": "files",
}

__all__ = [
    "Aggregation",
    "Agreement",
    "BronzeScore",
    "Ceiling",
    "CeilingScatter",
    "Check",
    "Checkup",
    "Comparison",
    "Comparisons",
    "Confusion",
    "Correction",
    "Curve",
    "Curves",
    "Disagreement",
    "Estimate",
    "Figure",
    "Flag",
    "Flip",
    "GoldDraw",
    "HeldOut",
    "InputError",
    "JudgeModel",
    "JudgeQuality",
    "JudgeRating",
    "JudgeReport",
    "Judgments",
    "Measure",
    "MethodScores",
    "MutualEvaluation",
    "PairAgreement",
    "PairChoice",
    "Period",
    "Plan",
    "Plans",
    "Preferences",
    "Prior",
    "Rates",
    "RatingComparison",
    "Ratings",
    "Report",
    "RingtrueError",
    "Run",
    "RunCeiling",
    "ScoreCorrection",
    "ScoreDifference",
    "Scores",
    "Section",
    "Stability",
    "Standing",
    "Transitivity",
    "UsageError",
    "__version__",
    "aggregate",
    "agree",
    "ceiling",
    "ceiling_scatter",
    "choose_pairs",
    "compare",
    "compare_by",
    "compare_corrected",
    "compare_ratings",
    "correct",
    "correct_score",
    "curve",
    "differences",
    "disagree",
    "estimate_confusion",
    "evaluate",
    "examine",
    "implied_preferences",
    "judge_quality",
    "krippendorff_alpha",
    "mutual_evaluation",
    "parse",
    "plan",
    "rate",
    "read_confusion",
    "read_documents",
    "read_gains",
    "read_judgments",
    "read_preferences",
    "read_run",
    "read_topics",
    "report",
    "sample",
    "sample_queries",
    "stability",
    "write_confusion",
    "write_table",
]


if not TYPE_CHECKING:  # type checkers see the imports above, and typing mistakes with them

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'ringtrue' has no attribute '{name}'")
        return getattr(import_module(f"ringtrue.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _FrontDoor(ModuleType):
    """A room never hides a public name: `ringtrue.report` stays the function when the package is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        is_room = isinstance(value, ModuleType) and value.__name__ == f"{__name__}.{name}"
        if not (is_room and name in _HOME):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor
