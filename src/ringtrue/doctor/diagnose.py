"""Files → what they are, how they fit together, and what can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import TypeVar

import polars as pl

from ringtrue.doctor.file_contents import FileContents, IdFile, LabelFile, NoteHandler, RunFile, VoteFile
from ringtrue.doctor.overlap import (
    compute_overlap,
    note_crowd_mismatches,
    note_gold_mismatches,
    note_identical_judgments,
    note_missing_texts,
    note_run_mismatches,
)
from ringtrue.doctor.recognise import recognise_file_kind
from ringtrue.doctor.results import Checkup, FileKind, FileSummary, Overlap
from ringtrue.doctor.roles import FileRoles, assign_roles
from ringtrue.doctor.shell_commands import FreeNames
from ringtrue.doctor.suggestions.collector import SuggestionCollector
from ringtrue.doctor.suggestions.gold import suggest_for_gold
from ringtrue.doctor.suggestions.judges import suggest_for_judges
from ringtrue.doctor.suggestions.next_steps import suggest_next_steps
from ringtrue.doctor.suggestions.runs import suggest_for_runs
from ringtrue.doctor.summaries.labels import summarise_labels
from ringtrue.doctor.summaries.other_files import (
    summarise_gains,
    summarise_ids,
    summarise_matrix,
    summarise_pairs,
    summarise_pool,
    summarise_scores,
    summarise_votes,
)
from ringtrue.doctor.summaries.runs import summarise_run
from ringtrue.errors import FileError, RingtrueError, UsageError
from ringtrue.files.byte_source import STDIN, Source

T = TypeVar("T", bound=FileContents)
ALIAS_HINT = re.compile(r" \(also known as [^)]*\)")  # other names of a column: too long for a list of files
NO_DOCS = pl.DataFrame(schema={"query": pl.String, "doc": pl.String})


def examine(paths: str | Path | Iterable[str | Path], *, progress: Callable[[int], None] = lambda _: None) -> Checkup:
    """Look at files: what they are, how they overlap, what is odd, and which commands they can be given to.

    Every file is read whole, by the readers that all commands use, one run at a time. A file that cannot be read is
    listed with what is wrong. Whether gold labels fit the runs is tried on the first ten documents of each query.
    `progress` is called with the number of bytes that were read since it was last called.

    Examples:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "bm25.run").write_text("q1 Q0 d1 1 3.5 BM25\\nq1 Q0 d2 2 3.1 BM25\\n")
        >>> _ = (folder / "human.qrels").write_text("q1 0 d1 2\\nq1 0 d2 0\\n")
        >>> checkup = examine([folder / "bm25.run", folder / "human.qrels"])
        >>> [file.kind for file in checkup.files]
        ['run', 'judgments']
        >>> checkup.can[0].question
        'Show me everything on one page'
        >>> [question.needs for question in checkup.cannot if question.verb == "compare"][0]
        'two runs or more'
    """
    path_list = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    path_list = list(dict.fromkeys(path_list))
    if not path_list:
        raise UsageError("which files? Name some: runs, judgments, labels, preferences, …")
    examination = _Examination(progress)
    examination.read_files(path_list)
    overlaps = [
        compute_overlap(run, labels, judged_docs)
        for labels, judged_docs in examination.judged_docs()
        for run in examination.files_of(RunFile)
    ]
    roles = assign_roles([examination.contents[path] for path in path_list if path in examination.contents], overlaps)
    _note_mismatches(examination, roles, overlaps)
    collector = SuggestionCollector(roles=roles, free_names=FreeNames())
    for suggest in (suggest_for_runs, suggest_for_gold, suggest_for_judges, suggest_next_steps):
        suggest(collector)
    can, cannot = collector.in_question_order()
    role_by_path = roles.role_by_path()
    return Checkup(
        files=tuple(examination.summarise(path, role_by_path.get(path)) for path in path_list),
        overlaps=tuple(overlaps),
        can=can,
        cannot=cannot,
    )


def _note_mismatches(examination: _Examination, roles: FileRoles, overlaps: list[Overlap]) -> None:
    runs, labels = examination.files_of(RunFile), examination.files_of(LabelFile)
    note_run_mismatches(
        runs, labels, overlaps, () if roles.traps is None else (roles.traps.path,), examination.add_mismatch
    )
    gold = [file for file in (roles.sample, roles.truth) if file is not None]
    note_gold_mismatches(gold, runs, examination.add_mismatch)
    other_judgments = [file for file in roles.judgments if file not in gold]
    note_identical_judgments(
        [*product(gold, other_judgments), *combinations(other_judgments, 2)], examination.add_mismatch
    )
    trusted = [*gold, *(file for file in (roles.traps,) if file is not None)]
    note_crowd_mismatches(roles.crowds, trusted, examination.add_mismatch)
    note_missing_texts(
        examination.files_of(IdFile), runs, [*labels, *examination.files_of(VoteFile)], examination.add_mismatch
    )


class _Examination:
    """What was read so far, what was doubtful, and what could not be read."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self.progress = progress
        self.kinds: dict[str, FileKind] = {}
        self.contents: dict[str, FileContents] = {}
        self.errors: dict[str, str] = {}
        self.notes: dict[str, list[str]] = {}
        self.mismatches: dict[str, list[str]] = {}  # doubts about a file beside others

    def read_files(self, paths: list[str]) -> None:
        """Read all files, the runs last: gold labels are looked for in them."""
        sources = {path: Source(path, self.progress) for path in paths}
        for path, source in sources.items():
            self._record_error(path, partial(self._recognise_file, source))
        for path in sorted(self.kinds, key=lambda path: self.kinds[path] == "run"):
            self._record_error(path, partial(self._read_file, sources[path], self.kinds[path]))

    def _record_error(self, path: str, action: Callable[[], None]) -> None:
        try:
            action()
        except RingtrueError as error:
            message = str(error).removeprefix(f"{path}: ").removeprefix("standard input: ")
            if isinstance(error, FileError) and Path(path).is_dir() and path != STDIN:
                message = f"this is a folder; name the files in it: {path.rstrip('/')}/*"
            self.errors[path] = ALIAS_HINT.sub("", message)

    def _recognise_file(self, source: Source) -> None:
        self.kinds[source.path] = recognise_file_kind(source)

    def _read_file(self, source: Source, kind: FileKind) -> None:
        note = self._note_handler(source.path)
        if kind == "run":
            self.contents[source.path] = summarise_run(source, self._gold_docs(), note)
        elif kind == "judgments":
            self.contents[source.path] = summarise_labels(source, note)
        elif kind == "preferences":
            self.contents[source.path] = summarise_votes(source, note)
        elif kind == "pairs":
            self.contents[source.path] = summarise_pairs(source)
        elif kind in ("pool", "sample"):
            self.contents[source.path] = summarise_pool(source, kind, note)
        elif kind in ("topics", "documents"):
            self.contents[source.path] = summarise_ids(source, kind)
        elif kind == "scores":
            self.contents[source.path] = summarise_scores(source)
        elif kind == "confusion":
            self.contents[source.path] = summarise_matrix(source)
        else:
            self.contents[source.path] = summarise_gains(source)

    def _gold_docs(self) -> pl.DataFrame:
        """The documents of gold samples, to be looked for in the runs."""
        samples = [
            file.judgments.frame.select("query", "doc") for file in self.files_of(LabelFile) if file.kind == "gold"
        ]
        return pl.concat([NO_DOCS, *samples]).unique(maintain_order=True)

    def _note_handler(self, path: str) -> NoteHandler:
        return self.notes.setdefault(path, []).append

    def add_mismatch(self, path: str, message: str) -> None:
        """Take down how a file does not fit with others; these come first."""
        self.mismatches.setdefault(path, []).append(message)

    def files_of(self, file_type: type[T]) -> list[T]:
        """The files of a kind."""
        return [file for file in self.contents.values() if isinstance(file, file_type)]

    def judged_docs(self) -> list[tuple[LabelFile, pl.DataFrame]]:
        """The labels of documents of queries, and the documents that have one."""
        return [(file, file.judged_docs) for file in self.files_of(LabelFile) if file.has_query]

    def summarise(self, path: str, role: str | None) -> FileSummary:
        """What there is to say about a file."""
        notes = tuple(dict.fromkeys([*self.mismatches.get(path, ()), *self.notes.get(path, ())]))
        contents = self.contents.get(path)
        if contents is None:
            return FileSummary(path=path, kind=self.kinds.get(path), notes=notes, error=self.errors[path])
        return FileSummary(
            path=path, kind=contents.kind, form=contents.form, role=role, counts=contents.counts, notes=notes
        )
