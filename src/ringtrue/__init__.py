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
    from ringtrue.curves import curve
    from ringtrue.errors import InputError, RingtrueError, UsageError
    from ringtrue.evaluation import evaluate
    from ringtrue.files import (
        read_documents,
        read_judgments,
        read_preferences,
        read_run,
        read_topics,
        write_table,
    )
    from ringtrue.judges import Flag, JudgeQuality, JudgeReport, judge_quality
    from ringtrue.measures import Measure, parse
    from ringtrue.results import Comparison, Comparisons, Curve, Curves, Estimate
    from ringtrue.significance import compare, compare_by, differences
    from ringtrue.standings import Flip, Stability, Standing, stability
    from ringtrue.tables import Judgments, Preferences, Run, Scores

_HOME = {
    "Aggregation": "aggregation",
    "Agreement": "agreement",
    "Comparison": "results",
    "Comparisons": "results",
    "Curve": "results",
    "Curves": "results",
    "Estimate": "results",
    "Flag": "judges",
    "Flip": "standings",
    "InputError": "errors",
    "JudgeModel": "aggregation",
    "JudgeQuality": "judges",
    "JudgeReport": "judges",
    "Judgments": "tables",
    "Measure": "measures",
    "PairAgreement": "agreement",
    "Period": "agreement",
    "Preferences": "tables",
    "Prior": "aggregation",
    "RingtrueError": "errors",
    "Run": "tables",
    "Scores": "tables",
    "Stability": "standings",
    "Standing": "standings",
    "Transitivity": "agreement",
    "UsageError": "errors",
    "aggregate": "aggregation",
    "agree": "agreement",
    "compare": "significance",
    "compare_by": "significance",
    "curve": "curves",
    "differences": "significance",
    "evaluate": "evaluation",
    "judge_quality": "judges",
    "krippendorff_alpha": "agreement",
    "parse": "measures",
    "read_documents": "files",
    "read_judgments": "files",
    "read_preferences": "files",
    "read_run": "files",
    "read_topics": "files",
    "stability": "standings",
    "write_table": "files",
}

__all__ = [
    "Aggregation",
    "Agreement",
    "Comparison",
    "Comparisons",
    "Curve",
    "Curves",
    "Estimate",
    "Flag",
    "Flip",
    "InputError",
    "JudgeModel",
    "JudgeQuality",
    "JudgeReport",
    "Judgments",
    "Measure",
    "PairAgreement",
    "Period",
    "Preferences",
    "Prior",
    "RingtrueError",
    "Run",
    "Scores",
    "Stability",
    "Standing",
    "Transitivity",
    "UsageError",
    "__version__",
    "aggregate",
    "agree",
    "compare",
    "compare_by",
    "curve",
    "differences",
    "evaluate",
    "judge_quality",
    "krippendorff_alpha",
    "parse",
    "read_documents",
    "read_judgments",
    "read_preferences",
    "read_run",
    "read_topics",
    "stability",
    "write_table",
]


if not TYPE_CHECKING:  # type checkers see the imports above, and typing mistakes with them

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'ringtrue' has no attribute '{name}'")
        return getattr(import_module(f"ringtrue.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
