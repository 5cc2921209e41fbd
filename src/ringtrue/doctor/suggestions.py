"""What is being gathered: questions that can be asked, by which call, and those that cannot, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ringtrue.doctor.results import AnswerableQuestion, Obstacle, UnansweredQuestion
from ringtrue.doctor.roles import FileContents, FileRoles, JudgedFile, LabelFile
from ringtrue.errors import RingtrueError
from ringtrue.messages import Argument, Call, Note

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
# Which command answers a question, and the argument that makes it answer this one; others are called as the command.
COMMAND_BY_QUESTION = {
    "correct": ("evaluate", "gold"),
    "gains": ("evaluate", "gains"),
    "compare-corrected": ("compare", "gold"),
}
NO_RUN = Obstacle(
    reason=Note("needs-runs", "a run: what a system returned"),
    advice="write lines of `query Q0 doc rank score tag`, a file for each system",
)
SECOND_JUDGE = Obstacle(
    reason=Note("needs-second-judge", "labels of the same documents by several judges"),
    advice="put them into one table: query, doc, judge, label",
)
LABEL_LINES = "write lines of `query 0 doc label`, or a table with query, doc, judge, label"
MORE_RUNS = Obstacle(reason=Note("needs-two-runs", "two runs or more"), advice="give another run of the same queries")
Arguments: TypeAlias = dict[str, Argument]


class FreeNames:
    """Names for files to write here: of no file that there is, and each given once."""

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, name: str) -> str:
        """The name, or with a number where there is such a file here already.

        Examples:
            >>> names = FreeNames()
            >>> names.claim("a-pool.csv"), names.claim("a-pool.csv")
            ('a-pool.csv', 'a-pool-2.csv')
        """
        stem, dot, extension = name.partition(".")
        for number in range(1, 1_000):
            candidate = name if number == 1 else f"{stem}-{number}{dot}{extension}"
            if candidate not in self._claimed and not Path(candidate).exists():
                self._claimed.add(candidate)
                return candidate
        return name


@dataclass(slots=True)
class SuggestionCollector:
    """Answers so far, in the order of the questions; each question is answered once."""

    roles: FileRoles
    free_names: FreeNames = field(default_factory=FreeNames)
    can: dict[str, AnswerableQuestion] = field(default_factory=dict)
    cannot: dict[str, UnansweredQuestion] = field(default_factory=dict)

    def suggest(self, question: str, files: Sequence[str], arguments: Arguments, *, why: str = "") -> None:
        """This can be asked, of these files and with these arguments."""
        command, argument = COMMAND_BY_QUESTION.get(question, (question, ""))
        call = Call(command, tuple(files), arguments)
        self.can[question] = AnswerableQuestion(argument=argument, question=QUESTIONS[question], call=call, why=why)

    def suggest_if_computable(
        self,
        question: str,
        compute: Callable[[], object],
        files: Sequence[str],
        arguments: Arguments,
        *,
        why: str = "",
        advice: str = "",
        calls: tuple[Call, ...] = (),
    ) -> None:
        """This can be asked, unless the library refuses it; `advice` and `calls` are what to do then."""
        refusal = find_refusal(compute)
        if refusal is None:
            self.suggest(question, files, arguments, why=why)
        else:
            self.add_obstacle(question, Obstacle(reason=refusal, is_refusal=True, advice=advice, calls=calls))

    def add_obstacle(self, question: str, obstacle: Obstacle) -> None:
        """This cannot be asked: something is missing, or it was tried and refused."""
        command, argument = COMMAND_BY_QUESTION.get(question, (question, ""))
        self.cannot[question] = UnansweredQuestion(
            command=command, argument=argument, question=QUESTIONS[question], obstacle=obstacle
        )

    def output(self, name: str) -> Arguments:
        """A file to write, under a name that is still free."""
        return {"output": self.free_names.claim(name)}

    def in_question_order(self) -> tuple[tuple[AnswerableQuestion, ...], tuple[UnansweredQuestion, ...]]:
        """All of them, in the order of the questions."""
        can = tuple(self.can[name] for name in QUESTIONS if name in self.can)
        return can, tuple(self.cannot[name] for name in QUESTIONS if name in self.cannot)


def find_refusal(compute: Callable[[], object]) -> Note | None:
    """Why something cannot be computed, as its error says; None where it can."""
    try:
        compute()
    except RingtrueError as error:
        return error.note
    return None


def obstacle_to_evaluation(roles: FileRoles) -> Obstacle:
    """What is missing to evaluate runs, and what to do about it."""
    if not roles.runs:
        return NO_RUN
    if roles.judgments:
        shared = f"queries that runs and judgments share: {roles.judgments[0].path} has none of the runs'"
        advice = "write the ids alike in both files, or give judgments of these queries"
        return Obstacle(reason=Note("needs-common-queries", shared), advice=advice)
    crowd = next((file for file in roles.crowds if file.has_query and roles.runs_judged_by(file)), None)
    if crowd is not None:
        needs = f"one label for each document, and {crowd.path} has those of several judges"
        return Obstacle(reason=Note("needs-one-label", needs), calls=(aggregation_call(crowd),))
    if roles.sample is not None:
        needs = f"judgments of all the documents, and {roles.sample.path} is a sample of them"
        return Obstacle(
            reason=Note("needs-all-labels", needs), advice="give the labels that the sample was drawn to correct"
        )
    unjudged = next((file for file in roles.unjudged if file.kind in ("pool", "sample")), None)
    if unjudged is not None:
        needs = f"labels: those of {unjudged.path} are still to be given"
        return Obstacle(
            reason=Note("needs-labels", needs),
            advice="fill in a column label",
            calls=(Call("serve", purpose="collects labels in a browser"),),
        )
    return Obstacle(
        reason=Note("needs-judgments", "judgments: which documents are relevant"),
        advice=LABEL_LINES,
        calls=(Call("pool", purpose="lists what to judge"),),
    )


def aggregation_call(crowd: LabelFile) -> Call:
    """How several judges' labels become one."""
    purpose = "makes one label of them: give that file too"
    return Call("aggregate", (crowd.path,), {"output": "FILE.qrels"}, purpose)


def relevance_levels(gold: LabelFile, bronze: LabelFile) -> tuple[int, int]:
    """From which label on each of two judges calls a document relevant.

    On the same scale, from 1 on. Where one has more grades than the other, the upper half of each scale counts.
    """
    if gold.highest_label == bronze.highest_label or min(gold.highest_label, bronze.highest_label) < 1:
        return 1, 1
    return (gold.highest_label + 1) // 2, (bronze.highest_label + 1) // 2


def judged_runs(roles: FileRoles, labels: LabelFile) -> list[str]:
    """The runs that these labels judge."""
    return [run.path for run in roles.runs_judged_by(labels)]


def judgment_arguments(labels: LabelFile) -> Arguments:
    """The labels that runs are measured by."""
    return {"judgments": labels.path, **repeats_argument(labels)}


def named_files(**files: FileContents | None) -> Arguments:
    """The paths of those files that there are, by the names of arguments."""
    return {name: file.path for name, file in files.items() if file is not None}


def repeats_argument(file: JudgedFile) -> Arguments:
    """What to do with a judge's second word, where there is one."""
    return {"repeats": "last" if file.has_query else "all"} if file.repeat_count else {}
