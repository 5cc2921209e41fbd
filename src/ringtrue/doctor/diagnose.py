"""Files → what they are, how they fit together, and what can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import polars as pl

from ringtrue.doctor.label_suggestions import suggest_for_gold, suggest_for_judges
from ringtrue.doctor.label_summaries import summarise_labels, summarise_votes
from ringtrue.doctor.overlap import compute_overlap, find_mismatches
from ringtrue.doctor.recognise import recognise_file_kind
from ringtrue.doctor.results import Checkup, FileKind, FileSummary, Suggestion, UnansweredQuestion
from ringtrue.doctor.roles import DOC_KEYS, FileContents, FileRoles, LabelFile, RunFile, assign_roles, files_of
from ringtrue.doctor.run_suggestions import suggest_for_runs, suggest_next_steps
from ringtrue.doctor.suggestions import SuggestionCollector
from ringtrue.doctor.summaries import (
    summarise_gains,
    summarise_ids,
    summarise_matrix,
    summarise_pairs,
    summarise_pool,
    summarise_run,
    summarise_scores,
)
from ringtrue.errors import FileError, RingtrueError, UsageError
from ringtrue.files.byte_source import STDIN, Source

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
    path_list = list(dict.fromkeys(map(str, [paths] if isinstance(paths, str | Path) else paths)))
    if not path_list:
        raise UsageError("which files? Name some: runs, judgments, labels, preferences, …")
    examination = _Examination(progress)
    examination.read_files(path_list)
    files = list(examination.contents.values())
    overlaps = [
        compute_overlap(run, labels, judged_docs)
        for labels, judged_docs in [(file, file.judged_docs) for file in files_of(files, LabelFile) if file.has_query]
        for run in files_of(files, RunFile)
    ]
    roles = assign_roles([examination.contents[path] for path in path_list if path in examination.contents], overlaps)
    mismatches: dict[str, list[str]] = {}
    for path, message in find_mismatches(files, roles, overlaps):
        mismatches.setdefault(path, []).append(message)
    can, cannot = suggest_commands(roles)
    role_by_path = roles.role_by_path()
    return Checkup(
        files=tuple(
            examination.summarise(path, role_by_path.get(path), mismatches.get(path, [])) for path in path_list
        ),
        overlaps=tuple(overlaps),
        can=can,
        cannot=cannot,
    )


def suggest_commands(roles: FileRoles) -> tuple[tuple[Suggestion, ...], tuple[UnansweredQuestion, ...]]:
    """What can and what cannot be asked of these files."""
    collector = SuggestionCollector(roles=roles)
    for suggest in (suggest_for_runs, suggest_for_gold, suggest_for_judges, suggest_next_steps):
        suggest(collector)
    return collector.in_question_order()


class _Examination:
    """What was read so far, what was doubtful, and what could not be read."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self.progress = progress
        self.kinds: dict[str, FileKind] = {}
        self.contents: dict[str, FileContents] = {}
        self.errors: dict[str, str] = {}
        self.notes: dict[str, list[str]] = {}

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
        note = self.notes.setdefault(source.path, []).append
        readers: dict[FileKind, Callable[[], FileContents]] = {
            "run": lambda: summarise_run(source, self._gold_docs(), note),
            "judgments": lambda: summarise_labels(source, note),
            "preferences": lambda: summarise_votes(source, note),
            "pairs": lambda: summarise_pairs(source),
            "pool": lambda: summarise_pool(source, kind, note),
            "sample": lambda: summarise_pool(source, kind, note),
            "topics": lambda: summarise_ids(source, kind),
            "documents": lambda: summarise_ids(source, kind),
            "scores": lambda: summarise_scores(source),
            "confusion": lambda: summarise_matrix(source),
            "gains": lambda: summarise_gains(source),
        }
        self.contents[source.path] = readers[kind]()

    def _gold_docs(self) -> pl.DataFrame:
        """The documents of gold samples, to be looked for in the runs."""
        label_files = files_of(self.contents.values(), LabelFile)
        samples = [file.judgments.frame.select(DOC_KEYS) for file in label_files if file.kind == "gold"]
        return pl.concat([NO_DOCS, *samples]).unique(maintain_order=True)

    def summarise(self, path: str, role: str | None, mismatches: list[str]) -> FileSummary:
        """What there is to say about a file; how it does not fit with others comes first."""
        notes = tuple(dict.fromkeys([*mismatches, *self.notes.get(path, ())]))
        contents = self.contents.get(path)
        if contents is None:
            return FileSummary(path=path, kind=self.kinds.get(path), notes=notes, error=self.errors[path])
        return FileSummary(
            path=path, kind=contents.kind, form=contents.form, role=role, counts=contents.counts, notes=notes
        )
