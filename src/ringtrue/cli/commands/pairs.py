"""`ringtrue pairs`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.files import (
    Sources,
    columns_per_file,
    list_table_columns,
    refuse_to_overwrite,
    refuse_to_overwrite_filled,
    require_table,
)
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.errors import FormatError, InputError, TableError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.files import TableKind
    from ringtrue.preference import PairChoice
    from ringtrue.tables import Preferences, Run

DESIGNS = ("active", "seed", "swiss", "random")  # as `choose_pairs` has them, without loading it for --help
# how `ringtrue judges` accepts a batch, if nobody says otherwise, and how it should
DEFAULT_ACCEPTANCE, STRICT_ACCEPTANCE = (2, 5), (4, 5)
GUESS_CHANCE = 0.5  # the chance to pass a trap by luck
OTHER_KINDS: dict[TableKind, str] = {"judgments": "judgments", "preferences": "preferences", "documents": "documents"}


@click.command("pairs", cls=common.Command)
@click.argument("candidates", nargs=-1, metavar="[RUN…|POOL]")
@option(
    "--design",
    "Which pairs: those that teach most about the top; the published design; neighbours in the order so far; any.",
    choices=DESIGNS,
    default=DESIGNS[0],
)
@option("--preferences FILE", "Preferences between two documents.", multiple=True)
@option(
    "--budget N",
    "How many pairs, over all queries; with active, which may choose a pair again, how many votes "
    "(choices, where --votes is more than 1). Usually a task a query for active, all of seed's, as many "
    "for random, a round of swiss.",
    type=click.IntRange(1),
)
@option(
    "--votes N",
    "How many people should see each pair. Usually 4; with active 1 for each time that it chooses a "
    "pair, up to 4 times.",
    type=click.IntRange(1),
)
@option("--traps FILE", "Items with a known answer, to see who pays attention.")
@option("--per-task", "How many pairs in a task.", type=click.IntRange(1), default=20)
@option("--traps-per-task N", "How many of them are traps, with --traps. Usually 5.", type=click.IntRange(0))
@option(
    "--depth K",
    "Cut every list at this rank.",
    type=click.IntRange(2),
    default=100,
)
@option("--documents FILE", "Texts of documents, to be ranked by BM25 first; with --topics.")
@common.topics_option
@common.seed_option
@common.table_output_option
@common.as_option
@common.table_options
@common.output_options
def command(seed: int, output: str, form: OutputFormat, **options: Any) -> None:
    """Which pairs should be compared next?

    From the documents of a run, best first, of several runs, which are pooled, or of a pool; with --documents and
    --topics BM25 ranks the pool, or all documents. Writes tasks of one query each, with sides and order drawn by lot.
    Fill in the columns judge and winner, and give the file to rate, or again to pairs as --preferences. Do not show
    people the column trap. --columns and --where are about the preferences, and about other tables with such columns.
    """
    import numpy as np

    from ringtrue.files import write_table
    from ringtrue.preference import choose_pairs

    files = common.take(_PairFiles, options)
    require_table(output)
    refuse_to_overwrite(files.paths, output)
    refuse_to_overwrite_filled("winner", output, instead=f"continue it (--preferences {output} -o ANOTHER)")
    traps = None if files.traps is None else files.read_traps(files.traps)
    choice = choose_pairs(
        files.read_ranking(),
        preferences=files.read_all_preferences(),
        traps=traps,
        depth=files.depth,
        rng=np.random.default_rng(seed),
        **options,
    )
    write_table(choice.frame, output)
    notes = [*files.notes, *choice.notes]
    if choice.traps:
        notes.append(_acceptance_note(choice))
    summary = {key: value for key, value in choice.as_dict().items() if key not in ("notes", "note_codes")}
    payload = summary | {"file": output, "seed": seed}
    emit(
        form,
        notes=notes,
        payload=payload,
        grid=partial(_choice_grid, choice, output, files),
        csv_grid=partial(_choice_csv, payload),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairFiles:
    """What is read, and how; `notes` gathers what is doubtful."""

    candidates: tuple[str, ...]
    preferences: tuple[str, ...]
    traps: str | None
    documents: str | None
    topics: str | None
    depth: int
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]
    notes: list[Note] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        if (self.documents is None) != (self.topics is None):
            raise OptionError(
                "needs-parameter",
                "BM25 needs the texts of both: --documents FILE and --topics FILE",
                parameter="documents" if self.documents is None else "topics",
            )
        if not self.candidates and self.documents is None:
            raise OptionError(
                "needs-parameter",
                "which documents? Runs, a pool (`ringtrue pool`), or --documents FILE --topics FILE",
                parameter="candidates",
            )
        common.require_one_stdin(self.paths, common.ALL_OTHERS)

    @property
    def paths(self) -> list[str]:
        """Every file that is read."""
        optional_paths = (*self.candidates, *self.preferences, self.traps, self.documents, self.topics)
        return [path for path in optional_paths if path is not None]

    def read_ranking(self) -> list[Run] | pl.DataFrame:
        """The runs, the pool in its own order, or what BM25 makes of texts."""
        candidates = self._read_candidates() if self.candidates else None
        if self.documents is None or self.topics is None:
            assert candidates is not None  # there is one or the other
            return candidates
        from ringtrue.evaluation.bm25 import bm25_run
        from ringtrue.evaluation.inputs import pool
        from ringtrue.files import read_documents, read_topics

        candidate_pool = pool(candidates, depth=self.depth) if isinstance(candidates, list) else candidates
        texts = [
            read(self.sources[path], note=self.notes.append, **self._selection_of(path))
            for read, path in ((read_topics, self.topics), (read_documents, self.documents))
        ]
        return [bm25_run(texts[0], texts[1], depth=self.depth, pool=candidate_pool)]

    def _read_candidates(self) -> list[Run] | pl.DataFrame:
        from ringtrue.cli.options.files import name_runs
        from ringtrue.tables import Run

        names, runs = name_runs(self.candidates), []
        for path, name in zip(self.candidates, names, strict=True):
            run_or_pool = self._read_run_or_pool(path)
            if isinstance(run_or_pool, Run):
                runs.append(run_or_pool.called(name))
            elif len(names) == 1:
                return run_or_pool
            else:
                raise OptionError(
                    "mixed-kinds",
                    "this is a pool, and only runs are put together; give it alone, or only runs",
                    parameter="candidates",
                    file=path,
                )
        return runs

    def read_all_preferences(self) -> Preferences | None:
        """All preferences so far."""
        from ringtrue.tables.preferences import concat_tables

        return concat_tables([self.read_preferences(path) for path in self.preferences]) if self.preferences else None

    def read_preferences(self, path: str) -> Preferences:
        """A file of preferences."""
        from ringtrue.files import read_preferences

        return read_preferences(
            self.sources[path],
            note=self.notes.append,
            form=self._forced_format("preferences"),
            **self._selection_of(path),
        )

    def read_traps(self, path: str) -> Preferences:
        """Pairs with a known winner."""
        try:
            return self.read_preferences(path)
        except InputError as error:
            if not self._has_labels(path):
                raise
            raise FormatError(
                "other-kind",
                "these look like traps for labels; pairs need two documents and a winner (query, left, right, winner)",
                parameter="traps",
                file=self.sources[path].display_name,
            ) from error

    def _has_labels(self, path: str) -> bool:
        from ringtrue.files import recognise_kind

        try:
            return recognise_kind(self.sources[path], columns=common.parse_columns(self.columns)) == "judgments"
        except InputError:  # nothing that we know
            return False

    def _read_run_or_pool(self, path: str) -> Run | pl.DataFrame:
        from ringtrue.files import read_run, recognise_kind
        from ringtrue.files.formats import TABLE_FORMATS, recognise_format
        from ringtrue.files.tabular import read_table
        from ringtrue.tables.columns import parse_ids, rename_columns

        source, selection = self.sources[path], self._selection_of(path)
        kind = recognise_kind(source, columns=selection["columns"]) if self._forced_format("run") is None else "run"
        if kind in OTHER_KINDS:
            hint = "; what people preferred so far is --preferences" if kind == "preferences" else ""
            raise FormatError(
                "other-kind",
                f"this looks like {OTHER_KINDS[kind]}, expected a run or a pool{hint}",
                parameter="candidates",
                file=source.display_name,
            )
        form = recognise_format(source, "run", columns=selection["columns"].values()) if kind == "topics" else None
        if form not in TABLE_FORMATS:
            return read_run(source, note=self.notes.append, form=self._forced_format("run"), **selection)
        try:
            frame = rename_columns(read_table(source, form, **selection), required=["query", "doc"], table_kind="pool")
            return frame.with_columns(parse_ids(frame, name) for name in ("query", "doc"))
        except TableError as error:
            raise error.found_in(source.display_name) from error

    def _selection_of(self, path: str) -> dict[str, Any]:
        """What `--columns` and `--where` say about a file."""
        columns, where = common.parse_columns(self.columns), common.parse_conditions(self.where)
        table_paths = [table_path for table_path in self.paths if self._is_table(table_path, columns)]
        if not table_paths:  # reading it says what is wrong
            return {"columns": columns, "where": where}
        selections = columns_per_file([self.sources[table_path] for table_path in table_paths], columns, where, None)
        return dict(
            zip(("columns", "where"), dict(zip(table_paths, selections, strict=True)).get(path, ({}, {})), strict=True)
        )

    def _is_table(self, path: str, columns: dict[str, str]) -> bool:
        try:
            return bool(list_table_columns(self.sources[path], columns.values(), None))
        except FormatError:  # lines of a run
            return False

    def _forced_format(self, kind: TableKind) -> Any:
        from ringtrue.cli.options.files import formats_by_kind

        return formats_by_kind(("run", "preferences"), self.forced)[kind]


def _acceptance_note(choice: PairChoice) -> Note:
    """How many people who guess get through, as `ringtrue judges` counts, with the traps that the tasks have."""
    from ringtrue.judges.quality.traps import chance_accepted

    trap_counts = choice.frame.filter("trap").group_by("batch").len()["len"].to_list()

    def share_accepted(rule: tuple[int, int]) -> str:
        return f"{sum(chance_accepted(count, rule, GUESS_CHANCE) for count in trap_counts) / len(trap_counts):.0%}"

    fewest, most = min(trap_counts), max(trap_counts)
    traps_text = f"{fewest} to {most} traps" if fewest < most else format_count(fewest, "trap")
    text = (
        f"a task has {traps_text}: with `ringtrue judges`, it is accepted at {DEFAULT_ACCEPTANCE[0]} of "
        f"{DEFAULT_ACCEPTANCE[1]} passed, and so are "
        f"{share_accepted(DEFAULT_ACCEPTANCE)} of tasks that are guessed; {STRICT_ACCEPTANCE[0]} of "
        f"{STRICT_ACCEPTANCE[1]} (--accept {STRICT_ACCEPTANCE[0]}/{STRICT_ACCEPTANCE[1]}) "
        f"would let {share_accepted(STRICT_ACCEPTANCE)} through"
    )
    return Note("accept-rule", text)


def _choice_grid(choice: PairChoice, output: str, files: _PairFiles) -> Grid:
    counts = {"pairs": choice.pairs, "votes": choice.votes, "queries": choice.queries, "tasks": choice.tasks}
    counts |= {"traps": choice.traps} if files.traps is not None else {}
    vote_files = (*files.preferences, output)
    where_options = "".join(f" --where {shlex.quote(condition)}" for condition in files.where if files.preferences)
    next_commands = [f"`ringtrue rate {' '.join(vote_files)}{where_options}`"]
    if choice.traps:
        next_commands.insert(0, f"`ringtrue judges {output} --traps {files.traps} --accept 4/5 --repeats all`")
    preference_options = " ".join(f"--preferences {path}" for path in vote_files)
    caption = [
        "next: let people fill in judge and winner (left, right or tie), somebody else in each task",
        (
            f"then: {' and '.join(next_commands)}; `ringtrue pairs … {preference_options}{where_options}` for "
            "the next pairs"
        ),
    ]
    return Grid(
        columns=[*counts, "design", "file"],
        rows=[[*(f"{count:,}" for count in counts.values()), choice.design, output]],
        caption="\n".join(caption),
        left=0,
    )


def _choice_csv(payload: dict[str, object]) -> Grid:
    cells = {name: str(figure) for name, figure in payload.items() if name not in ("notes", "note_codes")}
    return Grid(columns=list(cells), rows=[list(cells.values())])
