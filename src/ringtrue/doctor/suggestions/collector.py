"""What is being gathered: questions that can be asked, and those that cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ringtrue.doctor.file_contents import LabelFile, VoteFile
from ringtrue.doctor.results import Possible, Unanswered
from ringtrue.doctor.roles import Cast
from ringtrue.doctor.shell_commands import Names, command
from ringtrue.errors import RingtrueError

__all__ = ["QUESTIONS", "Replies", "again", "refused"]

QUESTIONS = {
    "report": "Show me everything on one page",
    "evaluate": "How good is each run?",
    "correct": "What would a perfect judge say of each run?",
    "gains": "How good is each run, by what labels are worth?",
    "compare": "Is one run better than another?",
    "compare-corrected": "Would a perfect judge find one run better?",
    "stability": "Does the judge change the order of the runs?",
    "curve": "How do precision and recall trade off?",
    "ceiling": "What is the best nDCG that disagreement allows?",
    "agree": "How far do the judges agree?",
    "judges": "How good is each judge?",
    "aggregate": "What is the one label of each document?",
    "disagreement": "What is each label worth when users disagree?",
    "rate": "Which documents are preferred?",
    "sample": "Which documents should the gold judge see?",
    "plan": "How many queries and gold labels do I need?",
    "pool": "Which documents should be judged at all?",
    "pairs": "Which pairs should be compared next?",
    "serve": "How do I collect judgments in a browser?",
}
VERBS = {"correct": "evaluate --gold", "gains": "evaluate --gains", "compare-corrected": "compare --gold"}


@dataclass(slots=True)
class Replies:
    """Answers so far, in the order of the questions; each question is answered once."""

    cast: Cast
    names: Names
    can: dict[str, Possible] = field(default_factory=dict)
    cannot: dict[str, Unanswered] = field(default_factory=dict)

    def yes(self, question: str, *words: str, why: str = "") -> None:
        """This can be asked, with these words after the verb."""
        verb = VERBS.get(question, question)
        asked = command(verb.split()[0], *words)
        self.can[question] = Possible(verb=verb, question=QUESTIONS[question], command=asked, why=why)

    def no(self, question: str, needs: str, todo: str) -> None:
        """This cannot be asked."""
        self.cannot[question] = Unanswered(
            verb=VERBS.get(question, question), question=QUESTIONS[question], needs=needs, todo=todo
        )

    def refuse(self, question: str, why: str, todo: str) -> None:
        """This was tried, and refused."""
        self.cannot[question] = Unanswered(
            verb=VERBS.get(question, question), question=QUESTIONS[question], why=why, todo=todo
        )

    def sorted(self) -> tuple[tuple[Possible, ...], tuple[Unanswered, ...]]:
        """All of them, in the order of the questions."""
        can = tuple(self.can[name] for name in QUESTIONS if name in self.can)
        return can, tuple(self.cannot[name] for name in QUESTIONS if name in self.cannot)


def refused(compute: Callable[[], object]) -> str | None:
    """Why something cannot be computed, in the words of its error; None where it can."""
    try:
        compute()
    except RingtrueError as error:
        return str(error).rstrip(".")
    return None


def again(file: LabelFile | VoteFile) -> str:
    """The option that says what to do with a judge's second word, where there is one."""
    if not file.again:
        return ""
    return "--repeats last" if file.has_query else "--repeats all"
