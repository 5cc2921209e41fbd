"""What files are, how they fit together, and what can be asked of them: `examine` → `Checkup`."""

from ringtrue.doctor.diagnose import examine
from ringtrue.doctor.results import Checkup, FileSummary, Overlap, Suggestion, UnansweredQuestion

__all__ = ["Checkup", "FileSummary", "Overlap", "Suggestion", "UnansweredQuestion", "examine"]
