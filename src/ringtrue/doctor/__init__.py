"""What files are, how they fit together, and what can be asked of them: `examine` → `Checkup`."""

from ringtrue.doctor.diagnose import examine as examine
from ringtrue.doctor.results import (
    AnswerableQuestion as AnswerableQuestion,
    Checkup as Checkup,
    FileSummary as FileSummary,
    Overlap as Overlap,
    UnansweredQuestion as UnansweredQuestion,
)
