"""Who plays which part, by contents and by names: the judge to be trusted, the cheap one, the crowd, traps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from ringtrue.doctor.file_contents import (
    FileContents,
    GainsFile,
    IdFile,
    LabelFile,
    MatrixFile,
    RunFile,
    UnjudgedFile,
    VoteFile,
)
from ringtrue.doctor.results import Overlap

TRUSTED_WORDS = ("gold", "human", "nist", "truth", "expert", "trusted", "official", "adjudicated", "reference")
CHEAP_WORDS = (
    "bronze", "silver", "llm", "gpt", "llama", "model", "claude", "gemini", "qwen", "mistral", "crowd", "turk", "cheap",
    "umbrela", "synthetic", "auto",
)  # fmt: skip
TRAP_WORDS = ("trap", "honeypot")
DOC_KEYS = ["query", "doc"]
T = TypeVar("T", bound=FileContents)
MIN_JUDGED_SHARE = 0.5  # of the tops, for trusted labels to do alone


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
        role_by_path = {file.path: "crowd" for file in self.crowds}
        corrected = self.bronze if self.truth is not None or self.sample is not None else None
        for role, file in (
            ("bronze", corrected),
            ("gold", self.truth),
            ("gold", self.sample),
            ("traps", self.traps),
            ("traps", self.vote_traps),
        ):
            if file is not None:
                role_by_path[file.path] = role
        return role_by_path


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


def assign_roles(files: Sequence[FileContents], overlaps: Iterable[Overlap]) -> FileRoles:
    """Tell the parts by what is in the files, and where that leaves it open by their names."""
    overlap_by_paths = {(overlap.run, overlap.judgments): overlap for overlap in overlaps}
    runs = tuple(file for file in files if isinstance(file, RunFile))
    labels = [file for file in files if isinstance(file, LabelFile)]
    votes = [file for file in files if isinstance(file, VoteFile)]
    crowds = tuple(file for file in labels if file.is_crowd and file.kind != "gold")
    traps = [file for file in labels if is_trap(_file_name(file)) and not file.is_crowd]
    sample = next((file for file in labels if file.kind == "gold"), None)
    single = [file for file in labels if not file.is_crowd and file.kind == "judgments" and file not in traps]

    def coverage(file: LabelFile) -> float:
        run_overlaps = [overlap_by_paths[run.path, file.path] for run in runs if file.has_query]
        return sum(overlap.judged for overlap in run_overlaps) / max(1, sum(overlap.top for overlap in run_overlaps))

    trusted = [file for file in single if _is_trusted_file(file)]
    truth = max(trusted, key=coverage, default=None)

    def rank(file: LabelFile) -> tuple[bool, float]:
        return (file is truth and coverage(file) >= MIN_JUDGED_SHARE, coverage(file))

    with_query = [file for file in single if file.has_query]
    judgments = tuple(sorted(with_query, key=rank, reverse=True))
    cheap = [file for file in judgments if file not in trusted]
    gold = sample or truth

    def fitness(file: LabelFile) -> tuple[bool, bool, float]:
        has_cheap_name = is_cheap(_file_name(file)) or any(map(is_cheap, file.judgments.judges[:3]))
        return has_cheap_name, gold is not None and file.highest_label == gold.highest_label, coverage(file)

    cheap.sort(key=fitness, reverse=True)
    bronze = next(iter(cheap), None)
    if bronze is None and sample is not None:
        bronze = next(iter(judgments), None)
    return FileRoles(
        runs=runs,
        judgments=judgments,
        crowds=crowds,
        truth=truth if truth is not bronze else None,
        bronze=bronze,
        sample=sample,
        traps=traps[0] if traps else None,
        votes=max((file for file in votes if not is_trap(_file_name(file))), key=_vote_priority, default=None),
        vote_traps=next((file for file in votes if is_trap(_file_name(file))), None),
        matrix=_first_of_type(files, MatrixFile),
        gains=_first_of_type(files, GainsFile),
        unjudged=tuple(file for file in files if isinstance(file, UnjudgedFile)),
        texts=tuple(file for file in files if isinstance(file, IdFile)),
        overlaps=overlap_by_paths,
    )


def shares_documents(first: LabelFile, second: LabelFile) -> bool:
    """Whether both have labels of some document; where one has no queries, by the document alone."""
    keys = DOC_KEYS if first.has_query and second.has_query else ["doc"]
    return (
        bool(first.judged_docs.join(second.judged_docs, on=keys, how="semi").height)
        and first.has_query == second.has_query
    )


def has_labels_of_voted_docs(labels: LabelFile, votes: VoteFile) -> bool:
    """Whether there are labels of documents that were compared."""
    frame = votes.preferences.frame
    docs = pl.concat([frame.select("query", doc=side) for side in ("left", "right")])
    return bool(labels.judged_docs.join(docs, on=DOC_KEYS, how="semi").height)


def _has_word(name: str, words: tuple[str, ...]) -> bool:
    """Whether a word begins one of the parts of a name."""
    parts = re.split(r"[^a-z]+", name.lower())
    return any(part.startswith(word) for part in parts for word in words)


def _is_trusted_file(file: LabelFile) -> bool:
    judges = file.judgments.judges
    return is_trusted(_file_name(file)) or (
        not is_cheap(_file_name(file)) and len(judges) == 1 and is_trusted(judges[0])
    )


def _vote_priority(file: VoteFile) -> tuple[bool, int]:
    return file.shared_count > 0, int(file.counts["votes"])


def _file_name(file: FileContents) -> str:
    return Path(file.path).name


def _first_of_type(files: Sequence[FileContents], file_type: type[T]) -> T | None:
    return next((file for file in files if isinstance(file, file_type)), None)
