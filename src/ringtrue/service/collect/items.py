"""What is to be judged: from runs, a pool, a judged table or a file of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from ringtrue.errors import FormatError, InputError, TableError, UsageError
from ringtrue.evaluation.pooling import pool
from ringtrue.files import read_judgments, read_run, recognise_kind
from ringtrue.files.formats import TABLES, recognise
from ringtrue.files.read import run_name
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import counted
from ringtrue.preference import choose_pairs
from ringtrue.preference.candidates import Candidates
from ringtrue.service.collect.inputs import trap_rows
from ringtrue.service.collect.uploads import GivenFile, as_table, source_of
from ringtrue.tables.columns import NAMES, identifiers, rename

if TYPE_CHECKING:
    import numpy as np

    from ringtrue.files.source import Source
    from ringtrue.preference import PairChoice
    from ringtrue.service.store import Scale, Settings
    from ringtrue.tables import Run

__all__ = ["CANDIDATES", "Asked", "read_asked", "read_runs"]

AskKind: TypeAlias = Literal["run", "pool", "judgments", "pairs"]
CANDIDATES = "candidates.csv"  # what pairs are chosen from, the likeliest first
SHOWN = ("title", "url", "snippet", "text")  # columns of a pool that say what a document is
WORDS: dict[AskKind, str] = {"run": "runs", "pool": "a pool", "judgments": "judgments", "pairs": "pairs"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """What files ask for: `items` has query and doc, and for pairs other; `docs` names every document in them.

    `texts` are what a pool says of its documents, `files` what should be kept and as what.
    """

    items: pl.DataFrame
    docs: pl.Series
    texts: pl.DataFrame | None = None
    files: tuple[tuple[str, GivenFile], ...] = ()
    notes: tuple[str, ...] = field(default=())


def read_asked(
    files: Sequence[GivenFile], scale: Scale, settings: Settings, *, depth: int, rng: np.random.Generator
) -> Asked:
    """What is to be judged, by files that are told apart by what is in them.

    Runs are pooled at `depth`. In a project of pairs, a run or a pool gives the documents, and pairs of them are
    chosen: the first for active projects, the published design for others.
    """
    if depth < 1:
        raise UsageError(f"a pool needs a depth of at least 1, found {depth}")
    notes: list[str] = []
    kinds = [_kind(file) for file in files]
    if len(set(kinds)) > 1 or (len(files) > 1 and kinds[0] != "run"):
        told = ", ".join(f"{file.name} ({WORDS[kind]})" for file, kind in zip(files, kinds, strict=True))
        raise UsageError(f"several files can be put together only if all are runs; found {told}")
    kind, texts = kinds[0], None
    if kind == "pairs":
        if scale.kind == "graded":
            raise FormatError(f"{files[0].name}: these are pairs, and this project asks for labels of single documents")
        if settings.active:
            raise UsageError(
                f"{files[0].name}: these are pairs, and this project chooses its own; give a run or a pool"
            )
        items = _pairs(files[0], settings.judges, notes.append)
        docs = pl.concat([items["doc"], items["other"]])
        used = as_table(files[0].name, items.rename({"doc": "left", "other": "right"}))
        return Asked(items=items, docs=docs.unique(), files=(("pairs", used),), notes=tuple(notes))
    if kind == "run":
        runs = read_runs(files, notes.append)
        documents = pool(runs, depth=depth).select("query", "doc")
        docs = pl.concat([run.docs for run in runs])
    elif kind == "judgments":
        documents = read_judgments(source_of(files[0]), note=notes.append).frame.select("query", "doc")
        documents = documents.unique(maintain_order=True)
        docs = documents["doc"]
        notes.append(f"{files[0].name}: its documents are asked about; to count its labels too, import them")
    else:
        documents, texts = _pool(files[0])
        docs = documents["doc"]
    sent = tuple((kind, as_table(file.name, documents) if kind == "judgments" else file) for file in files)
    if scale.kind == "graded":
        return Asked(items=documents, docs=docs.unique(), texts=texts, files=sent, notes=tuple(notes))
    if kind == "run":  # the order of one run, and of several that of their pool
        documents = Candidates.of(runs, depth=depth).docs
    chosen = choose_pairs(
        documents, design="active" if settings.active else "seed", votes=None if settings.active else settings.judges,
        budget=None, rng=rng,
    )  # fmt: skip
    kept = GivenFile(name=CANDIDATES, content=documents.write_csv().encode())
    return Asked(
        items=named_pairs(chosen.frame, once=not settings.active), docs=docs.unique(), texts=texts,
        files=(*sent, ("candidates", kept)), notes=(*notes, *chosen.notes, _told(chosen, settings)),
    )  # fmt: skip


def _told(chosen: PairChoice, settings: Settings) -> str:
    """How pairs were chosen; tasks are made of them later, as long as this project's are."""
    pairs, queries = counted(chosen.pairs, "pair"), counted(chosen.queries, "query")
    if settings.active:
        return (
            f"the first {pairs} of {queries} were chosen; more follow as votes arrive, for one judge at a time, and a "
            f"pair whose order is open is asked about again"
        )
    return f"{pairs} of {queries} were chosen by the published design, for {counted(settings.judges, 'judge')} each"


def read_runs(files: Sequence[GivenFile], note: Callable[[str], None] = lambda _: None) -> list[Run]:
    """The runs, by the names of their files; two of one name are told apart by a number."""
    runs: list[Run] = []
    for file in files:
        name = run_name(file.name)
        used = [run.name for run in runs]
        name = next(one for one in (name, *(f"{name}-{at}" for at in range(2, len(files) + 2))) if one not in used)
        runs.append(read_run(source_of(file), note=note).called(name))
    return runs


def named_pairs(frame: pl.DataFrame, *, once: bool = True) -> pl.DataFrame:
    """Pairs as query, doc and other, the lesser name first; without traps, each once or as often as it is asked.

    Examples:
        >>> named_pairs(pl.DataFrame({"query": ["q", "q"], "left": ["b", "a"], "right": ["a", "b"]})).rows()
        [('q', 'a', 'b')]
    """
    left, right = pl.col("left"), pl.col("right")
    pairs = frame.filter(~trap_rows(frame)).select(
        "query", doc=pl.min_horizontal(left, right), other=pl.max_horizontal(left, right)
    )
    return pairs.unique(maintain_order=True) if once else pairs


def _kind(file: GivenFile) -> AskKind:
    """What a file holds, of what can be asked about."""
    source = source_of(file)
    try:
        found = recognise_kind(source)
    except FormatError as error:
        raise FormatError(
            str(error).replace("; say what it is with --as", "; expected a run, a pool or pairs")
        ) from error
    if found == "run" or found == "judgments":
        return found
    if found == "preferences":
        return "pairs"
    columns = {name.lower() for name in _table(source).columns} if recognised_table(source) else set()
    if columns & set(NAMES["left"]) and columns & set(NAMES["right"]) and columns & set(NAMES["query"]):
        return "pairs"
    if columns & set(NAMES["query"]) and columns & set(NAMES["doc"]):
        return "pool"
    raise FormatError(
        f"{file.name}: this looks like {found}; expected what is to be judged: runs, a pool with the columns query and "
        f"doc, or pairs with query, left and right"
    )


def recognised_table(source: Source) -> bool:
    """Whether a file is a table with named columns."""
    try:
        return recognise(source, "topics") in TABLES
    except FormatError:
        return False


def _table(source: Source, note: Callable[[str], None] = lambda _: None) -> pl.DataFrame:
    return read_table(source, recognise(source, "topics"), note=note)


def _pool(file: GivenFile) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The documents of a pool, in its order, and what it says of them."""
    try:
        frame = rename(_table(source_of(file)), required=["query", "doc"], what="pool")
        frame = frame.with_columns(identifiers(frame, "query"), identifiers(frame, "doc"))
    except TableError as error:
        raise TableError(f"{file.name}: {error}") from error
    told = [name for name in SHOWN if name in frame.columns]
    texts = frame.select("doc", *told).unique("doc", maintain_order=True) if told else None
    return frame.select("query", "doc").unique(maintain_order=True), texts


def _pairs(file: GivenFile, judges: int, note: Callable[[str], None]) -> pl.DataFrame:
    """The pairs of a file, those with a winner too; traps among them have answers that are not here."""
    source = source_of(file)
    try:
        if recognised_table(source):
            frame = rename(_table(source, note), required=["query", "left", "right"], what="pairs")
            frame = frame.with_columns(identifiers(frame, name) for name in ("query", "left", "right"))
        else:
            from ringtrue.files import read_preferences

            frame = read_preferences(source, note=note).frame
    except TableError as error:
        raise TableError(str(error) if str(error).startswith(file.name) else f"{file.name}: {error}") from error
    same = frame.filter(pl.col("left") == pl.col("right"))
    if same.height:
        raise TableError(
            f"{file.name}: document '{same['left'][0]}' of query '{same['query'][0]}' is paired with itself"
        )
    asked = named_pairs(frame, once=False)
    if asked.height < frame.height:
        note(f"{file.name}: {counted(frame.height - asked.height, 'trap')} left out; give their answers as traps")
    pairs = asked.unique(maintain_order=True)
    if not pairs.height:
        raise InputError(f"{file.name}: there is no pair in it to ask about")
    if asked.height > pairs.height:
        note(f"{file.name}: it asks {asked.height:,} times about {counted(pairs.height, 'pair')}; here {judges} judges "
             f"are asked about each")  # fmt: skip
    return pairs
