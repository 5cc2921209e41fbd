"""What is being gathered: questions that can be asked, those that cannot, and the words of the commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from ringtrue.doctor.results import Suggestion, UnansweredQuestion
from ringtrue.doctor.roles import FileContents, FileRoles, JudgedFile, LabelFile
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
# What is missing, and what to do about it.
NO_RUN = ("a run: what a system returned", "write lines of `query Q0 doc rank score tag`, a file for each system")
SECOND_JUDGE = ("labels of the same documents by several judges", "put them into one table: query, doc, judge, label")
LABEL_LINES = "write lines of `query 0 doc label`, or a table with query, doc, judge, label"
MORE_RUNS = ("two runs or more", "give another run of the same queries")
MIN_GLOB_FILES = 3  # files that are named one by one


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
    can: dict[str, Suggestion] = field(default_factory=dict)
    cannot: dict[str, UnansweredQuestion] = field(default_factory=dict)

    def suggest(self, question: str, *arguments: str, why: str = "") -> None:
        """This can be asked, with these words after the verb."""
        verb = VERB_BY_QUESTION.get(question, question)
        command = build_command(verb.split()[0], *arguments)
        self.can[question] = Suggestion(verb=verb, question=QUESTIONS[question], command=command, why=why)

    def suggest_if_computable(
        self, question: str, compute: Callable[[], object], *arguments: str, why: str = "", todo: str
    ) -> None:
        """This can be asked, unless the library refuses it; `todo` is what to do then."""
        refusal = find_refusal(compute)
        if refusal is None:
            self.suggest(question, *arguments, why=why)
        else:
            self.add_missing(question, "", todo, why=refusal)

    def add_missing(self, question: str, needs: str, todo: str, why: str = "") -> None:
        """This cannot be asked: something is missing, or it was tried and refused."""
        verb = VERB_BY_QUESTION.get(question, question)
        self.cannot[question] = UnansweredQuestion(
            verb=verb, question=QUESTIONS[question], needs=needs, why=why, todo=todo
        )

    def output(self, name: str) -> tuple[str, str]:
        """The words for a file to write, under a name that is still free."""
        return "-o", quote_path(self.free_names.claim(name))

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


def missing_for_evaluation(roles: FileRoles) -> tuple[str, str]:
    """What is missing to evaluate runs, and what to do about it."""
    if not roles.runs:
        return NO_RUN
    if roles.judgments:
        return (
            f"queries that runs and judgments share: {roles.judgments[0].path} has none of the runs'",
            "write the ids alike in both files, or give judgments of these queries",
        )
    crowd = next((file for file in roles.crowds if file.has_query and roles.runs_judged_by(file)), None)
    if crowd is not None:
        return f"one label for each document, and {crowd.path} has those of several judges", aggregation_advice(crowd)
    if roles.sample is not None:
        return (
            f"judgments of all the documents, and {roles.sample.path} is a sample of them",
            "give the labels that it was drawn to correct",
        )
    unjudged = next((file for file in roles.unjudged if file.kind in ("pool", "sample")), None)
    if unjudged is not None:
        needs = f"labels: those of {unjudged.path} are still to be given"
        return needs, "fill in a column label, or use `ringtrue serve`"
    return "judgments: which documents are relevant", f"`ringtrue pool` lists what to judge; {LABEL_LINES}"


def aggregation_advice(crowd: LabelFile) -> str:
    """How several judges' labels become one."""
    command = f"ringtrue aggregate {quote_path(crowd.path)} -o FILE.qrels"
    return f"make one label of them with `{command}`, and give that file too"


def relevance_levels(gold: LabelFile, bronze: LabelFile) -> tuple[int, int]:
    """From which label on each of two judges calls a document relevant.

    On the same scale, from 1 on. Where one has more grades than the other, the upper half of each scale counts.
    """
    if gold.highest_label == bronze.highest_label or min(gold.highest_label, bronze.highest_label) < 1:
        return 1, 1
    return (gold.highest_label + 1) // 2, (bronze.highest_label + 1) // 2


def run_arguments(roles: FileRoles, labels: LabelFile) -> tuple[str, ...]:
    """The words for the runs that these labels judge, and for the labels."""
    runs = quote_paths([run.path for run in roles.runs_judged_by(labels)])
    return runs, *file_option("--judgments", labels), repeats_option(labels)


def file_option(option: str, file: FileContents | None) -> tuple[str, ...]:
    """An option with a file, where there is one."""
    return () if file is None else (option, quote_path(file.path))


def repeats_option(file: JudgedFile) -> str:
    """The option that says what to do with a judge's second word, where there is one."""
    if not file.repeat_count:
        return ""
    return "--repeats last" if file.has_query else "--repeats all"


def quote_path(path: str) -> str:
    """A file's name as a shell takes it; one that begins with a hyphen would be an option.

    Examples:
        >>> quote_path("my runs/bm25.run"), quote_path("-odd.run"), quote_path("-")
        ("'my runs/bm25.run'", './-odd.run', '-')
    """
    return quote(f"./{path}" if path.startswith("-") and path != "-" else path)


def build_command(verb: str, *arguments: str) -> str:
    """A command line of ours; words are quoted already, and empty ones left out.

    Examples:
        >>> build_command("pool", "a.run", "", "--depth", "10")
        'ringtrue pool a.run --depth 10'
    """
    return " ".join(["ringtrue", verb, *(argument for argument in arguments if argument)])


def quote_paths(paths: Sequence[str]) -> str:
    """The files, by patterns such as runs/*.run where they match these files and no others."""
    paths_by_folder: dict[str, list[str]] = {}
    for path in paths:
        paths_by_folder.setdefault(path.rpartition("/")[0] if "/" in path else "", []).append(path)
    return " ".join(
        _find_glob(folder, folder_paths) or " ".join(map(quote_path, folder_paths))
        for folder, folder_paths in paths_by_folder.items()
    )


def _find_glob(folder: str, paths: Sequence[str]) -> str | None:
    if len(paths) < MIN_GLOB_FILES or "-" in paths:
        return None
    names = [path.rpartition("/")[2] for path in paths]
    directory = Path(folder or ("/" if paths[0].startswith("/") else "."))
    try:
        entries = {entry.name for entry in directory.iterdir() if not entry.name.startswith(".")}
    except OSError:
        return None
    shortest = min(map(len, names))
    prefix = _common_prefix(names)[: shortest - 1]
    suffix = _common_prefix([name[::-1] for name in names])[: shortest - len(prefix)][::-1]
    extension = "".join(Path(names[0]).suffixes[-2:])
    extension = extension if suffix.endswith(extension) else ""
    for glob_prefix, glob_suffix in (("", extension), ("", suffix), (prefix, extension), (prefix, suffix)):
        matched = {
            name
            for name in entries
            if len(name) >= len(glob_prefix) + len(glob_suffix)
            and name.startswith(glob_prefix)
            and name.endswith(glob_suffix)
        }
        if matched == set(names) and (glob_prefix or glob_suffix):
            start = f"{folder}/{glob_prefix}" if "/" in paths[0] else glob_prefix
            return f"{quote_path(start) if start else ''}*{quote(glob_suffix) if glob_suffix else ''}"
    return None


def _common_prefix(names: Sequence[str]) -> str:
    low, high = min(names), max(names)
    return next((low[:position] for position, letter in enumerate(low) if letter != high[position]), low)
