"""Files → what they are, how they fit together, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import TypeAlias

import polars as pl

from ringtrue.doctor.label_suggestions import suggest_for_gold, suggest_for_judges
from ringtrue.doctor.label_summaries import summarise_labels, summarise_votes
from ringtrue.doctor.recognise import recognise_file_kind
from ringtrue.doctor.results import AnswerableQuestion, Checkup, FileKind, FileSummary, Overlap, UnansweredQuestion
from ringtrue.doctor.roles import (
    DOC_KEYS,
    FileContents,
    FileRoles,
    IdFile,
    LabelFile,
    RunFile,
    assign_roles,
    files_of,
    share_rows,
)
from ringtrue.doctor.run_suggestions import suggest_for_runs, suggest_next_steps
from ringtrue.doctor.suggestions import SuggestionCollector
from ringtrue.doctor.summaries import (
    TOP_DEPTH,
    summarise_gains,
    summarise_ids,
    summarise_matrix,
    summarise_pairs,
    summarise_pool,
    summarise_run,
    summarise_scores,
)
from ringtrue.errors import RingtrueError, UsageError
from ringtrue.files.byte_source import Source
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.messages import Note

NO_DOCS = pl.DataFrame(schema={"query": pl.String, "doc": pl.String})
FileNotes: TypeAlias = Iterator[tuple[str, Note]]  # a file's path, and a caveat about it
FEW_JUDGED_SHARE = 0.5
MIN_SHARED_LABELS = 20  # labels on the same documents that should differ somewhere
MAX_RUN_PAIRS = 2_000  # of runs that are held against each other
MIN_MATCHED_SHARE = 0.5  # of the ids of the smaller side
MAX_IDS = 100_000  # ids that are looked at


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
        raise UsageError("no-files", "which files? Name some: runs, judgments, labels, preferences, …")
    examination = _Examination(progress)
    examination.read_files(path_list)
    files = list(examination.contents.values())
    overlaps = [
        compute_overlap(run, labels, judged_docs)
        for labels, judged_docs in [(file, file.judged_docs) for file in files_of(files, LabelFile) if file.has_query]
        for run in files_of(files, RunFile)
    ]
    roles = assign_roles([examination.contents[path] for path in path_list if path in examination.contents], overlaps)
    mismatches: dict[str, list[Note]] = {}
    for path, note in find_mismatches(files, roles, overlaps):
        mismatches.setdefault(path, []).append(note)
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


def suggest_commands(roles: FileRoles) -> tuple[tuple[AnswerableQuestion, ...], tuple[UnansweredQuestion, ...]]:
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
        self.errors: dict[str, Note] = {}
        self.notes: dict[str, list[Note]] = {}

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
            note = error.note if error.line is None else error.note.about(f"line {error.line:,}")
            is_folder = error.code == "is-a-folder"
            self.errors[path] = note.changed(text=f"{note.text}: {path.rstrip('/')}/*") if is_folder else note

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
            "frame": lambda: summarise_pool(source, kind, note),
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

    def summarise(self, path: str, role: str | None, mismatches: list[Note]) -> FileSummary:
        """What there is to say about a file; how it does not fit with others comes first."""
        notes = tuple(dict.fromkeys([*mismatches, *self.notes.get(path, ())]))
        contents = self.contents.get(path)
        if contents is None:
            return FileSummary(path=path, kind=self.kinds.get(path), notes=notes, error=self.errors[path])
        return FileSummary(
            path=path, kind=contents.kind, form=contents.form, role=role, counts=contents.counts, notes=notes
        )


def compute_overlap(run: RunFile, labels: LabelFile, judged_docs: pl.DataFrame) -> Overlap:
    """What a run and judgments share; `judged_docs` are the documents with labels."""
    judged_queries = set(labels.judgments.frame["query"].unique().to_list())
    shared_queries = [query for query in run.queries if query in judged_queries]
    top_docs = run.top.frame.filter(pl.col("query").is_in(shared_queries)).select(DOC_KEYS)
    return Overlap(
        run=run.path,
        judgments=labels.path,
        queries=len(shared_queries),
        not_judged=len(run.queries) - len(shared_queries),
        not_run=len(judged_queries) - len(shared_queries),
        top=top_docs.height,
        judged=top_docs.join(judged_docs, on=DOC_KEYS, how="semi").height,
    )


def find_mismatches(files: Sequence[FileContents], roles: FileRoles, overlaps: Iterable[Overlap]) -> FileNotes:
    """Where files do not fit with each other: the path of one of them, and what is odd about it."""
    runs, labels = files_of(files, RunFile), files_of(files, LabelFile)
    gold = [file for file in (roles.sample, roles.truth) if file is not None]
    traps = [] if roles.traps is None else [roles.traps]
    others = [file for file in roles.judgments if file not in gold]
    yield from _run_mismatches(runs, labels, overlaps, traps)
    yield from _copied_runs(runs)
    for file in gold:
        if file.kind == "gold" and runs:
            yield from _unretrieved_gold(file, runs)
    for first, second in (*product(gold, others), *combinations(others, 2)):
        yield from _identical_judgments(first, second)
    for crowd, trusted in product(roles.crowds, [*gold, *traps]):
        if crowd.has_query == trusted.has_query and not share_rows(trusted.judged_docs, crowd.judged_docs):
            docs = trusted.judgments.frame["doc"], crowd.judgments.frame["doc"]
            text = f"no document in common with {crowd.path}{_mismatch_phrase(*docs)}"
            yield trusted.path, Note("no-common-document", text)
    for texts in files_of(files, IdFile):
        yield from _missing_texts(texts, runs, labels)


def _run_mismatches(
    runs: Sequence[RunFile], labels: Sequence[LabelFile], overlaps: Iterable[Overlap], traps: Sequence[LabelFile]
) -> FileNotes:
    """Where runs and judgments do not meet, and where much is not judged.

    Gold samples and `traps` need not know what the runs show.
    """
    run_of, labels_of = {run.path: run for run in runs}, {file.path: file for file in labels}
    for overlap in overlaps:
        run, judgments = run_of[overlap.run], labels_of[overlap.judgments]
        frame = judgments.judgments.frame
        if judgments.kind == "gold" or judgments in traps:
            continue
        if not overlap.queries:
            ids = _mismatch_phrase(pl.Series(run.queries), frame["query"])
            yield run.path, Note("no-common-query", f"no query in common with {judgments.path}{ids}")
        elif not overlap.judged:
            ids = _mismatch_phrase(run.top.docs, frame["doc"])
            text = f"no document of its top {TOP_DEPTH} is judged in {judgments.path}{ids}"
            yield run.path, Note("none-judged", text)
        else:
            for note in _unjudged_parts(overlap, run, set(frame["query"].unique().to_list())):
                yield run.path, note


def _unjudged_parts(overlap: Overlap, run: RunFile, judged_queries: set[str]) -> Iterator[Note]:
    path = overlap.judgments
    if overlap.not_judged:
        names = join_first_few([query for query in run.queries if query not in judged_queries])
        text = f"{format_count(overlap.not_judged, 'query')} not judged in {path}, and not counted: {names}"
        yield Note("queries-not-judged", text)
    if overlap.not_run:
        names = join_first_few(sorted(judged_queries.difference(run.queries)))
        text = f"{format_count(overlap.not_run, 'query')} of {path} not in the run, and counted as 0: {names}"
        yield Note("queries-not-in-run", text)
    if overlap.share is not None and overlap.share < FEW_JUDGED_SHARE:
        text = f"most of its top {TOP_DEPTH} is not judged in {path}, and counts as not relevant"
        yield Note("few-judged", text)


def _copied_runs(runs: Sequence[RunFile]) -> FileNotes:
    for first, second in list(combinations(runs, 2))[:MAX_RUN_PAIRS]:
        if first.top.queries == second.top.queries and first.top.docs.equals(second.top.docs):
            text = f"the same top {TOP_DEPTH} as {first.path} in every query: is it a copy?"
            yield second.path, Note("copied-run", text)


def _unretrieved_gold(gold: LabelFile, runs: Sequence[RunFile]) -> FileNotes:
    """Gold samples that do not come from the runs."""
    gold_docs = gold.judgments.frame.select(DOC_KEYS).unique(maintain_order=True)
    retrieved = pl.concat([run.gold_docs.join(gold_docs, on=DOC_KEYS, how="semi") for run in runs]).unique()
    missing, total = gold_docs.height - retrieved.height, gold_docs.height
    if not retrieved.height:
        ids = _mismatch_phrase(gold_docs["doc"], pl.concat([run.top.docs for run in runs]))
        text = f"none of its {format_count(total, 'document')} is in these runs: it was drawn from others{ids}"
        yield gold.path, Note("gold-outside-runs", text)
    elif missing:
        text = f"{missing:,} of {total:,} documents are in none of these runs: was it drawn from others?"
        yield gold.path, Note("gold-partly-outside-runs", text)


def _identical_judgments(first: LabelFile, second: LabelFile) -> FileNotes:
    """Two files of judgments that say the same of every document."""
    ours, theirs = (
        file.judgments.frame.filter(pl.col("label") >= 0)
        .unique(DOC_KEYS, maintain_order=True)
        .select(*DOC_KEYS, pl.col("label").alias(name))
        for file, name in ((first, "ours"), (second, "theirs"))
    )
    shared = ours.join(theirs, on=DOC_KEYS)
    same = (shared["ours"] == shared["theirs"]).all() and shared["ours"].n_unique() > 1
    if shared.height >= MIN_SHARED_LABELS and same:
        documents = f"all {shared.height:,} documents that both judged"
        text = f"the same label as {second.path} on {documents}: is it one judge?"
        yield first.path, Note("copied-judgments", text)


def _missing_texts(texts: IdFile, runs: Sequence[RunFile], labels: Sequence[LabelFile]) -> FileNotes:
    """Where queries have no topic, or documents no text."""
    unit, column = ("query", "query") if texts.kind == "topics" else ("document", "doc")
    needed_ids = _ids_to_read(column, runs, labels)
    if texts.kind == "scores" or not len(needed_ids):
        return
    missing_ids = needed_ids.filter(~needed_ids.is_in(texts.ids.implode()))
    if len(missing_ids) == len(needed_ids):
        text = f"no {unit} of the other files is here{_mismatch_phrase(needed_ids, texts.ids)}"
        yield texts.path, Note("no-common-query" if unit == "query" else "no-common-document", text)
    elif len(missing_ids):
        place = f"in the top {TOP_DEPTH} of the runs " if unit == "document" and runs else ""
        names = join_first_few(missing_ids.to_list())
        yield texts.path, Note("missing-texts", f"{format_count(len(missing_ids), unit)} {place}not here: {names}")


def _ids_to_read(column: str, runs: Sequence[RunFile], labels: Sequence[LabelFile]) -> pl.Series:
    """The queries or documents that people may want to read: those of the runs, else of the labels."""
    id_columns = [run.top.docs if column == "doc" else pl.Series(run.queries) for run in runs]
    if not id_columns:
        id_columns = [file.judgments.frame[column] for file in labels if file.has_query]
    nonempty = [ids.alias("id") for ids in id_columns if len(ids)]
    return pl.concat(nonempty).unique(maintain_order=True) if nonempty else pl.Series("id", [], dtype=pl.String)


def _mismatch_phrase(left_ids: pl.Series, right_ids: pl.Series) -> str:
    """Why ids do not match, as the end of a sentence, with one of each side."""
    mismatch = explain_id_mismatch(left_ids, right_ids)
    if mismatch is None:
        return f": here '{left_ids[0]}', there '{right_ids[0]}'; are they of the same collection?"
    ids = f"here '{mismatch.left_id}', there '{mismatch.right_id}'"
    return f": the ids differ only in {mismatch.differ_in}, {ids}; write them alike"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdMismatch:
    """In what ids of two sides differ, and one of each that seem to be the same."""

    differ_in: str
    left_id: str
    right_id: str


def explain_id_mismatch(left_ids: pl.Series, right_ids: pl.Series) -> IdMismatch | None:
    """How ids that have nothing in common would match: None where no simple change does it.

    Examples:
        >>> explain_id_mismatch(pl.Series(["q001", "q002"]), pl.Series(["2", "1"]))
        IdMismatch(differ_in='a prefix and leading zeros', left_id='q001', right_id='1')
        >>> explain_id_mismatch(pl.Series(["D1"]), pl.Series(["d1"])).differ_in
        'capital letters'
    """
    sides = [series.head(MAX_IDS).unique(maintain_order=True).rename("id") for series in (left_ids, right_ids)]
    smaller_size = min(map(len, sides))
    lower = pl.col("id").str.strip_chars().str.to_lowercase()
    number = lower.str.replace(r"^\D+", "")
    keys_by_difference = {
        "capital letters": lower,
        "leading zeros": lower.str.strip_chars_start("0"),
        "a prefix": number,
        "a prefix and leading zeros": number.str.strip_chars_start("0"),
        "an ending": lower.str.replace(r"(\.[a-z]+|[#_/][^#_/]*)$", ""),
    }
    for difference, key in keys_by_difference.items():
        left, right = (side.to_frame().with_columns(key=key).filter(pl.col("key") != "") for side in sides)
        matches = left.join(right, on="key", how="inner", maintain_order="left")
        if matches.height and matches["key"].n_unique() >= MIN_MATCHED_SHARE * smaller_size:
            return IdMismatch(differ_in=difference, left_id=matches["id"][0], right_id=matches["id_right"][0])
    return None
