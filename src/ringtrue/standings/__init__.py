"""The order of the runs by two judges: does it matter whom we ask?"""

from ringtrue.standings.answer import Flip, Stability, Standing
from ringtrue.standings.comparing import stability

__all__ = ["Flip", "Stability", "Standing", "stability"]
