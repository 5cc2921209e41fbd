"""How good is each judge? Accuracy, leniency, traps, speed, drift; and whom to look at."""

from ringtrue.judges.quality.judge_quality import judge_quality as judge_quality
from ringtrue.judges.quality.results import (
    Drift as Drift,
    Effect as Effect,
    Flag as Flag,
    JudgeQuality as JudgeQuality,
    JudgeReport as JudgeReport,
    SideBias as SideBias,
    Speed as Speed,
    Traps as Traps,
)
