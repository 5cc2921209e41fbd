"""How good is each judge? Accuracy, leniency, traps, speed, drift; and whom to look at."""

from ringtrue.judges.quality.judge_findings import Drift, Effect, Flag, SideBias, Speed, Traps
from ringtrue.judges.quality.judge_quality import judge_quality
from ringtrue.judges.quality.results import JudgeQuality, JudgeReport

__all__ = [
    "Drift",
    "Effect",
    "Flag",
    "JudgeQuality",
    "JudgeReport",
    "SideBias",
    "Speed",
    "Traps",
    "judge_quality",
]
