"""The order of the runs by two judges: does it matter whom we ask?"""

from ringtrue.evaluation.stability.rank_stability import stability
from ringtrue.evaluation.stability.results import Flip, Stability, Standing

__all__ = ["Flip", "Stability", "Standing", "stability"]
