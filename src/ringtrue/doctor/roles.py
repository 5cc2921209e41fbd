"""Who plays which part, by contents and by names: the judge to be trusted, the cheap one, the crowd, traps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from ringtrue.doctor.file_contents import (
    GainsFile,
    IdFile,
    LabelFile,
    MatrixFile,
    PairFile,
    Read,
    RunFile,
    VoteFile,
)
from ringtrue.doctor.results import Overlap

__all__ = ["Cast", "cast", "in_common", "is_cheap", "is_trap", "is_trusted", "shares_documents"]

TRUSTED = ("gold", "human", "nist", "truth", "expert", "trusted", "official", "adjudicated", "reference")
CHEAP = (
    "bronze", "silver", "llm", "gpt", "llama", "model", "claude", "gemini", "qwen", "mistral", "crowd", "turk", "cheap",
    "umbrela", "synthetic", "auto",
)  # fmt: skip
TRAPS = ("trap", "honeypot")


def is_trusted(name: str) -> bool:
    """Whether a name says that these are the labels to be trusted.

    Examples:
        >>> is_trusted("nist-2019.qrels"), is_trusted("golden_retriever_llm.qrels"), is_trusted("labels.csv")
        (True, False, False)
    """
    return _has(name, TRUSTED) and not is_cheap(name)


def is_cheap(name: str) -> bool:
    """Whether a name says that these are a cheap judge's labels.

    Examples:
        >>> is_cheap("llm-umbrela_gpt4.qrels"), is_cheap("human.qrels")
        (True, False)
    """
    return _has(name, CHEAP)


def is_trap(name: str) -> bool:
    """Whether a name says that these are questions with a known answer.

    Examples:
        >>> is_trap("traps.csv"), is_trap("strap.csv")
        (True, False)
    """
    return _has(name, TRAPS)


def _has(name: str, words: tuple[str, ...]) -> bool:
    """Whether a word begins one of the parts of a name."""
    parts = re.split(r"[^a-z]+", name.lower())
    return any(part.startswith(word) for part in parts for word in words)


KEYS = ["query", "doc"]
T = TypeVar("T", bound=Read)
ENOUGH_JUDGED = 0.5  # of the tops, for trusted labels to do alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
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
    waiting: tuple[PairFile, ...]
    texts: tuple[IdFile, ...]
    overlaps: Mapping[tuple[str, str], Overlap]

    @property
    def crowd(self) -> LabelFile | None:
        """The first file with labels of several judges."""
        return self.crowds[0] if self.crowds else None

    @property
    def main(self) -> LabelFile | None:
        """What runs are evaluated by."""
        return next((one for one in self.judgments if self.judged_by(one)), None)

    def judged_by(self, labels: LabelFile) -> tuple[RunFile, ...]:
        """The runs that share a query with these labels."""
        found = ((run, self.overlaps.get((run.path, labels.path))) for run in self.runs)
        return tuple(run for run, one in found if one is not None and one.queries)

    def roles(self) -> dict[str, str]:
        """What each file of labels is taken for."""
        found = {one.path: "crowd" for one in self.crowds}
        corrected = self.bronze if self.truth is not None or self.sample is not None else None
        for role, one in (("bronze", corrected), ("gold", self.truth), ("gold", self.sample), ("traps", self.traps),
                          ("traps", self.vote_traps)):  # fmt: skip
            if one is not None:
                found[one.path] = role
        return found


def cast(files: Sequence[Read], overlaps: Iterable[Overlap]) -> Cast:
    """Tell the parts by what is in the files, and where that leaves it open by their names."""
    shared = {(one.run, one.judgments): one for one in overlaps}
    runs = tuple(one for one in files if isinstance(one, RunFile))
    labels = [one for one in files if isinstance(one, LabelFile)]
    votes = [one for one in files if isinstance(one, VoteFile)]
    crowds = tuple(one for one in labels if one.is_crowd and one.kind != "gold")
    traps = [one for one in labels if is_trap(_name(one)) and not one.is_crowd]
    sample = next((one for one in labels if one.kind == "gold"), None)
    single = [one for one in labels if not one.is_crowd and one.kind == "judgments" and one not in traps]

    def coverage(one: LabelFile) -> float:
        found = [shared[run.path, one.path] for run in runs if one.has_query]
        return sum(each.judged for each in found) / max(1, sum(each.top for each in found))

    trusted = [one for one in single if _is_trusted(one)]
    truth = max(trusted, key=coverage, default=None)

    def rank(one: LabelFile) -> tuple[bool, float]:
        return (one is truth and coverage(one) >= ENOUGH_JUDGED, coverage(one))

    fit = [one for one in single if one.has_query]
    judgments = tuple(sorted(fit, key=rank, reverse=True))
    cheap = [one for one in judgments if one not in trusted]
    gold = sample or truth

    def fitness(one: LabelFile) -> tuple[bool, bool, float]:
        named = is_cheap(_name(one)) or any(map(is_cheap, one.judgments.judges[:3]))
        return named, gold is not None and one.highest == gold.highest, coverage(one)

    cheap.sort(key=fitness, reverse=True)
    bronze = next(iter(cheap), None)
    if bronze is None and sample is not None:
        bronze = next(iter(judgments), None)
    return Cast(
        runs=runs, judgments=judgments, crowds=crowds, truth=truth if truth is not bronze else None, bronze=bronze,
        sample=sample, traps=traps[0] if traps else None,
        votes=max((one for one in votes if not is_trap(_name(one))), key=_weight, default=None),
        vote_traps=next((one for one in votes if is_trap(_name(one))), None),
        matrix=_first(files, MatrixFile), gains=_first(files, GainsFile),
        waiting=tuple(one for one in files if isinstance(one, PairFile)),
        texts=tuple(one for one in files if isinstance(one, IdFile)), overlaps=shared,
    )  # fmt: skip


def shares_documents(one: LabelFile, other: LabelFile) -> bool:
    """Whether both have labels of some document; where one has no queries, by the document alone."""
    keys = KEYS if one.has_query and other.has_query else ["doc"]
    return bool(one.judged.join(other.judged, on=keys, how="semi").height) and one.has_query == other.has_query


def in_common(labels: LabelFile, votes: VoteFile) -> bool:
    """Whether there are labels of documents that were compared."""
    frame = votes.preferences.frame
    docs = pl.concat([frame.select("query", doc=side) for side in ("left", "right")])
    return bool(labels.judged.join(docs, on=KEYS, how="semi").height)


def _is_trusted(file: LabelFile) -> bool:
    judges = file.judgments.judges
    return is_trusted(_name(file)) or (not is_cheap(_name(file)) and len(judges) == 1 and is_trusted(judges[0]))


def _weight(file: VoteFile) -> tuple[bool, int]:
    return file.shared > 0, int(file.counts["votes"])


def _name(file: Read) -> str:
    return Path(file.path).name


def _first(files: Sequence[Read], kind: type[T]) -> T | None:
    return next((one for one in files if isinstance(one, kind)), None)
