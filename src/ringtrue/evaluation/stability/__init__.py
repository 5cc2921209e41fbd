"""The order of the runs by two judges: does it matter whom we ask?"""

from ringtrue.evaluation.stability.rank_stability import stability as stability
from ringtrue.evaluation.stability.results import Flip as Flip, Stability as Stability, Standing as Standing
