"""How high nDCG can go when the judge who trained a ranker and the one who tests it disagree."""

from ringtrue.judges.ceiling.ceiling_scatter import ceiling_scatter
from ringtrue.judges.ceiling.estimate_confusion import estimate_confusion
from ringtrue.judges.ceiling.ndcg_ceiling import ceiling
from ringtrue.judges.ceiling.results import Ceiling, CeilingScatter, RunCeiling

__all__ = ["Ceiling", "CeilingScatter", "RunCeiling", "ceiling", "ceiling_scatter", "estimate_confusion"]
