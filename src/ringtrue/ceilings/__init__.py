"""How high nDCG can go when the judge who trained a ranker and the one who tests it disagree."""

from ringtrue.ceilings.answer import Ceiling, CeilingScatter, RunCeiling
from ringtrue.ceilings.bounding import ceiling
from ringtrue.ceilings.estimating import estimate_confusion
from ringtrue.ceilings.scattering import ceiling_scatter

__all__ = ["Ceiling", "CeilingScatter", "RunCeiling", "ceiling", "ceiling_scatter", "estimate_confusion"]
