"""What files are, how they fit together, and what can be asked of them: `examine` → `Checkup`."""

from ringtrue.doctor.diagnose import examine
from ringtrue.doctor.results import Checkup, File, Overlap, Possible, Unanswered

__all__ = ["Checkup", "File", "Overlap", "Possible", "Unanswered", "examine"]
