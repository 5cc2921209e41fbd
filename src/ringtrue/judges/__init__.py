"""How good is each judge? Accuracy, leniency, traps, speed, drift; and whom to look at."""

from ringtrue.judges.answer import JudgeQuality, JudgeReport
from ringtrue.judges.assessing import judge_quality
from ringtrue.judges.records import Drift, Effect, Flag, SideBias, Speed, Traps

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
