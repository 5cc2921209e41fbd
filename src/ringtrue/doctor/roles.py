"""What was read of each file, and which part it plays: the judge to be trusted, the cheap one, the crowd, traps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import polars as pl

from ringtrue.doctor.results import FileKind, Overlap
from ringtrue.messages import Note
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments, Preferences, Run

NoteHandler: TypeAlias = Callable[[Note], None]

TRUSTED_WORDS = ("gold", "human", "nist", "truth", "expert", "trusted", "official", "adjudicated", "reference")
CHEAP_WORDS = (
    "bronze", "silver", "llm", "gpt", "llama", "model", "claude", "gemini", "qwen", "mistral", "crowd", "turk", "cheap",
    "umbrela", "synthetic", "auto",
)  # fmt: skip
TRAP_WORDS = ("trap", "honeypot")
DOC_KEYS = ["query", "doc"]
MIN_JUDGED_SHARE = 0.5  # of the tops, for trusted labels to do alone


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileContents:
    """A file that could be read."""

    path: str
    kind: FileKind
    form: str | None
    counts: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name without the folder."""
        return Path(self.path).name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunFile(FileContents):
    """A run: its first ten documents of each query as a run of their own, and which `gold_docs` it has."""

    queries: tuple[str, ...]
    top: Run
    gold_docs: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedFile(FileContents):
    """What judges said, and what commands have to be told about it.

    `shared_count` documents, or pairs of them, were seen by several judges; `repeat_count` counts what a judge said of
    one that the same judge had seen before.
    """

    has_query: bool
    shared_count: int
    repeat_count: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelFile(JudgedFile):
    """Labels: all of them; `trusted_column` names a further column with trusted labels."""

    judgments: Judgments
    trusted_column: str | None = None

    @property
    def judged_docs(self) -> pl.DataFrame:
        """The documents with a label that says something: each once."""
        return self.judgments.frame.filter(pl.col("label") >= 0).select(DOC_KEYS).unique(maintain_order=True)

    @property
    def highest_label(self) -> int:
        """The highest label."""
        return int(self.judgments.frame["label"].max())  # type: ignore[arg-type]  # labels are numbers, and some

    @property
    def is_crowd(self) -> bool:
        """Whether several judges labelled the same documents."""
        return self.shared_count > 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteFile(JudgedFile):
    """Preferences: all of them."""

    preferences: Preferences


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnjudgedFile(FileContents):
    """Documents, or pairs of them, that wait for judges: `docs` has query and doc.

    `trusted_column` names a column with trusted labels, under a name of its own.
    """

    docs: pl.DataFrame
    trusted_column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IdFile(FileContents):
    """Topics or documents: their ids; per-query scores have those of queries."""

    ids: pl.Series


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatrixFile(FileContents):
    """A confusion matrix."""

    matrix: Confusion


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GainsFile(FileContents):
    """What each label is worth."""

    gains: Mapping[int, float]


T = TypeVar("T", bound=FileContents)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRoles:
    """The files by what they can be used for.

    `judgments` have one label for each document (of each judge's last word), the best to evaluate by first; `crowds`
    have several. `truth` are trusted labels, by their name; `bronze` cheap ones that gold can correct. `sample` is gold
    drawn with known probabilities.
    """

    runs: tuple[RunFile, ...]
    judgments: tuple[LabelFile, ...]
    crowds: tuple[LabelFile, ...]
    truth: LabelFile | None
    bronze: LabelFile | None
    sample: LabelFile | None
    traps: LabelFile | None
    votes: VoteFile | None
    vote_traps: VoteFile | None
    matrix: MatrixFile | None
    gains: GainsFile | None
    unjudged: tuple[UnjudgedFile, ...]
    texts: tuple[IdFile, ...]
    overlaps: Mapping[tuple[str, str], Overlap]

    @property
    def crowd(self) -> LabelFile | None:
        """The first file with labels of several judges."""
        return self.crowds[0] if self.crowds else None

    @property
    def main_judgments(self) -> LabelFile | None:
        """What runs are evaluated by."""
        return next((labels for labels in self.judgments if self.runs_judged_by(labels)), None)

    def runs_judged_by(self, labels: LabelFile) -> tuple[RunFile, ...]:
        """The runs that share a query with these labels."""
        run_overlaps = ((run, self.overlaps.get((run.path, labels.path))) for run in self.runs)
        return tuple(run for run, overlap in run_overlaps if overlap is not None and overlap.queries)

    def role_by_path(self) -> dict[str, str]:
        """What each file of labels is taken for."""
        has_gold = self.truth is not None or self.sample is not None
        roles: list[tuple[FileContents | None, str]] = [(file, "crowd") for file in self.crowds]
        roles += [(self.bronze if has_gold else None, "bronze"), (self.truth, "gold"), (self.sample, "gold")]
        roles += [(self.traps, "traps"), (self.vote_traps, "traps")]
        return {file.path: role for file, role in roles if file is not None}


def is_trusted(name: str) -> bool:
    """Whether a name says that these are the labels to be trusted.

    Examples:
        >>> is_trusted("nist-2019.qrels"), is_trusted("golden_retriever_llm.qrels"), is_trusted("labels.csv")
        (True, False, False)
    """
    return _has_word(name, TRUSTED_WORDS) and not is_cheap(name)


def is_cheap(name: str) -> bool:
    """Whether a name says that these are a cheap judge's labels.

    Examples:
        >>> is_cheap("llm-umbrela_gpt4.qrels"), is_cheap("human.qrels")
        (True, False)
    """
    return _has_word(name, CHEAP_WORDS)


def is_trap(name: str) -> bool:
    """Whether a name says that these are questions with a known answer.

    Examples:
        >>> is_trap("traps.csv"), is_trap("strap.csv")
        (True, False)
    """
    return _has_word(name, TRAP_WORDS)


def files_of(files: Iterable[FileContents], file_type: type[T]) -> list[T]:
    """The files of a type."""
    return [file for file in files if isinstance(file, file_type)]


def assign_roles(files: Sequence[FileContents], overlaps: Iterable[Overlap]) -> FileRoles:
    """Tell the parts by what is in the files, and where that leaves it open by their names."""
    overlap_by_paths = {(overlap.run, overlap.judgments): overlap for overlap in overlaps}
    runs, labels, votes = files_of(files, RunFile), files_of(files, LabelFile), files_of(files, VoteFile)
    traps = [file for file in labels if is_trap(file.name) and not file.is_crowd]
    sample = next((file for file in labels if file.kind == "gold"), None)
    single = [file for file in labels if not file.is_crowd and file.kind == "judgments" and file not in traps]

    def coverage(file: LabelFile) -> float:
        run_overlaps = [overlap_by_paths[run.path, file.path] for run in runs if file.has_query]
        return sum(overlap.judged for overlap in run_overlaps) / max(1, sum(overlap.top for overlap in run_overlaps))

    trusted = [file for file in single if _is_trusted_file(file)]
    truth = max(trusted, key=coverage, default=None)

    def rank(file: LabelFile) -> tuple[bool, float]:
        return (file is truth and coverage(file) >= MIN_JUDGED_SHARE, coverage(file))

    judgments = sorted((file for file in single if file.has_query), key=rank, reverse=True)
    gold = sample or truth

    def fitness(file: LabelFile) -> tuple[bool, bool, float]:
        has_cheap_name = is_cheap(file.name) or any(map(is_cheap, file.judgments.judges[:3]))
        return has_cheap_name, gold is not None and file.highest_label == gold.highest_label, coverage(file)

    bronze = max((file for file in judgments if file not in trusted), key=fitness, default=None)
    if bronze is None and sample is not None:
        bronze = next(iter(judgments), None)
    return FileRoles(
        runs=tuple(runs),
        judgments=tuple(judgments),
        crowds=tuple(file for file in labels if file.is_crowd and file.kind != "gold"),
        truth=truth if truth is not bronze else None,
        bronze=bronze,
        sample=sample,
        traps=next(iter(traps), None),
        votes=max((file for file in votes if not is_trap(file.name)), key=_vote_priority, default=None),
        vote_traps=next((file for file in votes if is_trap(file.name)), None),
        matrix=next(iter(files_of(files, MatrixFile)), None),
        gains=next(iter(files_of(files, GainsFile)), None),
        unjudged=tuple(files_of(files, UnjudgedFile)),
        texts=tuple(files_of(files, IdFile)),
        overlaps=overlap_by_paths,
    )


def shares_documents(first: LabelFile, second: LabelFile) -> bool:
    """Whether both have labels of some document, and both or neither have queries."""
    if first.has_query != second.has_query:
        return False
    return share_rows(first.judged_docs, second.judged_docs, DOC_KEYS if first.has_query else ["doc"])


def has_labels_of_voted_docs(labels: LabelFile, votes: VoteFile) -> bool:
    """Whether there are labels of documents that were compared."""
    frame = votes.preferences.frame
    docs = pl.concat([frame.select("query", doc=side) for side in ("left", "right")])
    return share_rows(labels.judged_docs, docs)


def share_rows(first: pl.DataFrame, second: pl.DataFrame, keys: Sequence[str] = DOC_KEYS) -> bool:
    """Whether a document of the one is in the other."""
    return bool(first.join(second, on=keys, how="semi").height)


def _has_word(name: str, words: tuple[str, ...]) -> bool:
    """Whether a word begins one of the parts of a name."""
    return any(part.startswith(words) for part in re.split(r"[^a-z]+", name.lower()))


def _is_trusted_file(file: LabelFile) -> bool:
    judges = file.judgments.judges
    return is_trusted(file.name) or (not is_cheap(file.name) and len(judges) == 1 and is_trusted(judges[0]))


def _vote_priority(file: VoteFile) -> tuple[bool, int]:
    return file.shared_count > 0, int(file.counts["votes"])
