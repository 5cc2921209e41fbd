"""Files → what they are, how they fit together, and what can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import TypeVar

import polars as pl

from ringtrue.doctor.file_contents import IdFile, LabelFile, Note, Read, RunFile, VoteFile
from ringtrue.doctor.overlap import (
    doubts_about_crowds,
    doubts_about_gold,
    doubts_about_runs,
    doubts_about_texts,
    doubts_about_twins,
    overlap_of,
)
from ringtrue.doctor.recognise import told_kind
from ringtrue.doctor.results import Checkup, File, FileKind, Overlap
from ringtrue.doctor.roles import Cast, cast
from ringtrue.doctor.shell_commands import Names
from ringtrue.doctor.suggestions.collector import Replies
from ringtrue.doctor.suggestions.gold import ask_about_gold
from ringtrue.doctor.suggestions.judges import ask_about_judges
from ringtrue.doctor.suggestions.next_steps import ask_what_next
from ringtrue.doctor.suggestions.runs import ask_about_runs
from ringtrue.doctor.summaries.labels import look_at_labels
from ringtrue.doctor.summaries.other_files import (
    look_at_gains,
    look_at_ids,
    look_at_matrix,
    look_at_pairs,
    look_at_pool,
    look_at_scores,
    look_at_votes,
)
from ringtrue.doctor.summaries.runs import look_at_run
from ringtrue.errors import FileError, RingtrueError, UsageError
from ringtrue.files.source import STDIN, Source

__all__ = ["examine"]

T = TypeVar("T", bound=Read)
ALSO = re.compile(r" \(also known as [^)]*\)")  # other names of a column: too long for a list of files
NOTHING = pl.DataFrame(schema={"query": pl.String, "doc": pl.String})


def examine(paths: str | Path | Iterable[str | Path], *, progress: Callable[[int], None] = lambda _: None) -> Checkup:
    """Look at files: what they are, how they overlap, what is odd, and which commands they can be given to.

    Every file is read whole, by the readers that all commands use, one run at a time. A file that cannot be read is
    listed with what is wrong. Whether gold labels fit the runs is tried on the first ten documents of each query.
    `progress` is called with the number of bytes that were read since it was last called.

    Examples:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "bm25.run").write_text("q1 Q0 d1 1 3.5 BM25\\nq1 Q0 d2 2 3.1 BM25\\n")
        >>> _ = (folder / "human.qrels").write_text("q1 0 d1 2\\nq1 0 d2 0\\n")
        >>> found = examine([folder / "bm25.run", folder / "human.qrels"])
        >>> [file.kind for file in found.files]
        ['run', 'judgments']
        >>> found.can[0].question
        'Show me everything on one page'
        >>> [one.needs for one in found.cannot if one.verb == "compare"][0]
        'two runs or more'
    """
    given = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    given = list(dict.fromkeys(given))
    if not given:
        raise UsageError("which files? Name some: runs, judgments, labels, preferences, …")
    look = _Look(progress)
    look.at(given)
    shared = [overlap_of(run, labels, judged) for labels, judged in look.judged() for run in look.all(RunFile)]
    parts = cast([look.read[path] for path in given if path in look.read], shared)
    _doubts(look, parts, shared)
    replies = Replies(cast=parts, names=Names())
    for ask in (ask_about_runs, ask_about_gold, ask_about_judges, ask_what_next):
        ask(replies)
    can, cannot = replies.sorted()
    roles = parts.roles()
    return Checkup(
        files=tuple(look.file(path, roles.get(path)) for path in given), overlaps=tuple(shared), can=can, cannot=cannot
    )


def _doubts(look: _Look, parts: Cast, shared: list[Overlap]) -> None:
    runs, labels = look.all(RunFile), look.all(LabelFile)
    doubts_about_runs(runs, labels, shared, () if parts.traps is None else (parts.traps.path,), look.say)
    gold = [one for one in (parts.sample, parts.truth) if one is not None]
    doubts_about_gold(gold, runs, look.say)
    others = [one for one in parts.judgments if one not in gold]
    doubts_about_twins([*product(gold, others), *combinations(others, 2)], look.say)
    known = [*gold, *(one for one in (parts.traps,) if one is not None)]
    doubts_about_crowds(parts.crowds, known, look.say)
    doubts_about_texts(look.all(IdFile), runs, [*labels, *look.all(VoteFile)], look.say)


class _Look:
    """What was read so far, what was doubtful, and what could not be read."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self.progress = progress
        self.kinds: dict[str, FileKind] = {}
        self.read: dict[str, Read] = {}
        self.errors: dict[str, str] = {}
        self.notes: dict[str, list[str]] = {}
        self.misfits: dict[str, list[str]] = {}  # doubts about a file beside others

    def at(self, paths: list[str]) -> None:
        """Read all files, the runs last: gold labels are looked for in them."""
        sources = {path: Source(path, self.progress) for path in paths}
        for path, source in sources.items():
            self._try(path, partial(self._recognise, source))
        for path in sorted(self.kinds, key=lambda path: self.kinds[path] == "run"):
            self._try(path, partial(self._read, sources[path], self.kinds[path]))

    def _try(self, path: str, do: Callable[[], None]) -> None:
        try:
            do()
        except RingtrueError as error:
            told = str(error).removeprefix(f"{path}: ").removeprefix("standard input: ")
            if isinstance(error, FileError) and Path(path).is_dir() and path != STDIN:
                told = f"this is a folder; name the files in it: {path.rstrip('/')}/*"
            self.errors[path] = ALSO.sub("", told)

    def _recognise(self, source: Source) -> None:
        self.kinds[source.path] = told_kind(source)

    def _read(self, source: Source, kind: FileKind) -> None:
        note = self._noted(source.path)
        if kind == "run":
            self.read[source.path] = look_at_run(source, self._wanted(), note)
        elif kind == "judgments":
            self.read[source.path] = look_at_labels(source, note)
        elif kind == "preferences":
            self.read[source.path] = look_at_votes(source, note)
        elif kind == "pairs":
            self.read[source.path] = look_at_pairs(source)
        elif kind in ("pool", "sample"):
            self.read[source.path] = look_at_pool(source, kind, note)
        elif kind in ("topics", "documents"):
            self.read[source.path] = look_at_ids(source, kind)
        elif kind == "scores":
            self.read[source.path] = look_at_scores(source)
        elif kind == "confusion":
            self.read[source.path] = look_at_matrix(source)
        else:
            self.read[source.path] = look_at_gains(source)

    def _wanted(self) -> pl.DataFrame:
        """The documents of gold samples, to be looked for in the runs."""
        drawn = [one.judgments.frame.select("query", "doc") for one in self.all(LabelFile) if one.kind == "gold"]
        return pl.concat([NOTHING, *drawn]).unique(maintain_order=True)

    def _noted(self, path: str) -> Note:
        return self.notes.setdefault(path, []).append

    def say(self, path: str, text: str) -> None:
        """Take down how a file does not fit with others; these come first."""
        self.misfits.setdefault(path, []).append(text)

    def all(self, kind: type[T]) -> list[T]:
        """The files of a kind."""
        return [one for one in self.read.values() if isinstance(one, kind)]

    def judged(self) -> list[tuple[LabelFile, pl.DataFrame]]:
        """The labels of documents of queries, and the documents that have one."""
        return [(one, one.judged) for one in self.all(LabelFile) if one.has_query]

    def file(self, path: str, role: str | None) -> File:
        """What there is to say about a file."""
        notes = tuple(dict.fromkeys([*self.misfits.get(path, ()), *self.notes.get(path, ())]))
        read = self.read.get(path)
        if read is None:
            return File(path=path, kind=self.kinds.get(path), notes=notes, error=self.errors[path])
        return File(path=path, kind=read.kind, form=read.form, role=role, counts=read.counts, notes=notes)
