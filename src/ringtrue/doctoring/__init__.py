"""What files are, how they fit together, and what can be asked of them: `examine` → `Checkup`."""

from ringtrue.doctoring.answer import Checkup, File, Overlap, Possible, Unanswered
from ringtrue.doctoring.examining import examine

__all__ = ["Checkup", "File", "Overlap", "Possible", "Unanswered", "examine"]
