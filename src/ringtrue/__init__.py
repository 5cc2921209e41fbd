"""ringtrue: search evaluation when the judges are imperfect.

    import ringtrue as rt

    run = rt.read_run("bm25.run")
    judgments = rt.read_judgments("human.qrels")
    print(rt.evaluate(run, judgments, "nDCG@10").means())

Everything public is named here and loaded when it is first used, so that importing costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ringtrue._version import __version__

if TYPE_CHECKING:
    from ringtrue.aggregation import Aggregation, JudgeModel, Prior, aggregate
    from ringtrue.agreement import Agreement, PairAgreement, Period, Transitivity, agree, krippendorff_alpha
    from ringtrue.ceilings import Ceiling, CeilingScatter, RunCeiling, ceiling, ceiling_scatter, estimate_confusion
    from ringtrue.confusion import Confusion
    from ringtrue.correction import (
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
    from ringtrue.curves import curve
    from ringtrue.disagreement import Disagreement, MutualEvaluation, disagree, mutual_evaluation
    from ringtrue.doctoring import Checkup, examine
    from ringtrue.errors import InputError, RingtrueError, UsageError
    from ringtrue.evaluation import evaluate
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
    from ringtrue.judges import Flag, JudgeQuality, JudgeReport, judge_quality
    from ringtrue.measures import Measure, parse
    from ringtrue.planning import Plan, Plans, plan
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
    from ringtrue.reporting import Figure, Report, Section, report
    from ringtrue.results import Comparison, Comparisons, Curve, Curves, Estimate
    from ringtrue.sampling import GoldDraw, sample, sample_queries
    from ringtrue.significance import compare, compare_by, differences
    from ringtrue.standings import Flip, Stability, Standing, stability
    from ringtrue.tables import Judgments, Preferences, Run, Scores

_HOME = {
    "Aggregation": "aggregation",
    "Agreement": "agreement",
    "BronzeScore": "correction",
    "Ceiling": "ceilings",
    "CeilingScatter": "ceilings",
    "Check": "correction",
    "Checkup": "doctoring",
    "Comparison": "results",
    "Comparisons": "results",
    "Confusion": "confusion",
    "Correction": "correction",
    "Curve": "results",
    "Curves": "results",
    "Disagreement": "disagreement",
    "Estimate": "results",
    "Figure": "reporting",
    "Flag": "judges",
    "Flip": "standings",
    "GoldDraw": "sampling",
    "HeldOut": "preference",
    "InputError": "errors",
    "JudgeModel": "aggregation",
    "JudgeQuality": "judges",
    "JudgeRating": "preference",
    "JudgeReport": "judges",
    "Judgments": "tables",
    "Measure": "measures",
    "MethodScores": "preference",
    "MutualEvaluation": "disagreement",
    "PairAgreement": "agreement",
    "PairChoice": "preference",
    "Period": "agreement",
    "Plan": "planning",
    "Plans": "planning",
    "Preferences": "tables",
    "Prior": "aggregation",
    "Rates": "correction",
    "RatingComparison": "preference",
    "Ratings": "preference",
    "Report": "reporting",
    "RingtrueError": "errors",
    "Run": "tables",
    "RunCeiling": "ceilings",
    "ScoreCorrection": "correction",
    "ScoreDifference": "correction",
    "Scores": "tables",
    "Section": "reporting",
    "Stability": "standings",
    "Standing": "standings",
    "Transitivity": "agreement",
    "UsageError": "errors",
    "aggregate": "aggregation",
    "agree": "agreement",
    "ceiling": "ceilings",
    "ceiling_scatter": "ceilings",
    "choose_pairs": "preference",
    "compare": "significance",
    "compare_by": "significance",
    "compare_corrected": "correction",
    "compare_ratings": "preference",
    "correct": "correction",
    "correct_score": "correction",
    "curve": "curves",
    "differences": "significance",
    "disagree": "disagreement",
    "estimate_confusion": "ceilings",
    "evaluate": "evaluation",
    "examine": "doctoring",
    "implied_preferences": "preference",
    "judge_quality": "judges",
    "krippendorff_alpha": "agreement",
    "mutual_evaluation": "disagreement",
    "parse": "measures",
    "plan": "planning",
    "rate": "preference",
    "read_confusion": "files",
    "read_documents": "files",
    "read_gains": "files",
    "read_judgments": "files",
    "read_preferences": "files",
    "read_run": "files",
    "read_topics": "files",
    "report": "reporting",
    "sample": "sampling",
    "sample_queries": "sampling",
    "stability": "standings",
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
