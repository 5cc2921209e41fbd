"""What is being gathered: questions that can be asked, and those that cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ringtrue.doctor.file_contents import LabelFile, VoteFile
from ringtrue.doctor.results import Suggestion, UnansweredQuestion
from ringtrue.doctor.roles import FileRoles
from ringtrue.doctor.shell_commands import FreeNames, build_command
from ringtrue.errors import RingtrueError

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
VERB_BY_QUESTION = {"correct": "evaluate --gold", "gains": "evaluate --gains", "compare-corrected": "compare --gold"}


@dataclass(slots=True)
class SuggestionCollector:
    """Answers so far, in the order of the questions; each question is answered once."""

    roles: FileRoles
    free_names: FreeNames
    can: dict[str, Suggestion] = field(default_factory=dict)
    cannot: dict[str, UnansweredQuestion] = field(default_factory=dict)

    def suggest(self, question: str, *arguments: str, why: str = "") -> None:
        """This can be asked, with these words after the verb."""
        verb = VERB_BY_QUESTION.get(question, question)
        command = build_command(verb.split()[0], *arguments)
        self.can[question] = Suggestion(verb=verb, question=QUESTIONS[question], command=command, why=why)

    def add_missing(self, question: str, needs: str, todo: str) -> None:
        """This cannot be asked."""
        self.cannot[question] = UnansweredQuestion(
            verb=VERB_BY_QUESTION.get(question, question), question=QUESTIONS[question], needs=needs, todo=todo
        )

    def add_refusal(self, question: str, why: str, todo: str) -> None:
        """This was tried, and refused."""
        self.cannot[question] = UnansweredQuestion(
            verb=VERB_BY_QUESTION.get(question, question), question=QUESTIONS[question], why=why, todo=todo
        )

    def in_question_order(self) -> tuple[tuple[Suggestion, ...], tuple[UnansweredQuestion, ...]]:
        """All of them, in the order of the questions."""
        can = tuple(self.can[name] for name in QUESTIONS if name in self.can)
        return can, tuple(self.cannot[name] for name in QUESTIONS if name in self.cannot)


def find_refusal(compute: Callable[[], object]) -> str | None:
    """Why something cannot be computed, in the words of its error; None where it can."""
    try:
        compute()
    except RingtrueError as error:
        return str(error).rstrip(".")
    return None


def repeats_option(file: LabelFile | VoteFile) -> str:
    """The option that says what to do with a judge's second word, where there is one."""
    if not file.repeat_count:
        return ""
    return "--repeats last" if file.has_query else "--repeats all"
