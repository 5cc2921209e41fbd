"""`ringtrue pairs`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import Command, columns_of, conditions_of, output_options
from ringtrue.cli.options.files import (
    Sources,
    refuse_to_lose,
    refuse_to_overwrite,
    require_table,
    shared_out,
    table_columns,
)
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.errors import FormatError, InputError, TableError, UsageError, did_you_mean
from ringtrue.formatting.phrases import counted

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.files import Kind
    from ringtrue.preference import PairChoice
    from ringtrue.tables import Preferences, Run

__all__ = ["command"]

DESIGNS = ("active", "seed", "swiss", "random")  # as `choosing` has them, without loading it for --help
RULE, STRICT = (2, 5), (4, 5)  # how `ringtrue judges` accepts a batch, if nobody says otherwise, and how it should
GUESS = 0.5  # the chance to pass a trap by luck
KINDS: dict[Kind, str] = {"judgments": "judgments", "preferences": "preferences", "documents": "documents"}


def _design(ctx: click.Context, param: click.Parameter, said: str) -> str:  # noqa: ARG001 - click's signature
    if said not in DESIGNS:
        near = did_you_mean(said, DESIGNS) or "; there is " + ", ".join(DESIGNS)
        raise UsageError(f"no design '{said}'{near}")
    return said


@click.command("pairs", cls=Command)
@click.argument("candidates", nargs=-1, metavar="[RUN…|POOL]")
@click.option("--design", default=DESIGNS[0], show_default=True, metavar="|".join(DESIGNS), callback=_design,
              help="Which pairs: those that teach most about the top; the published design; neighbours in the order "
                   "so far; any.")  # fmt: skip
@click.option("--preferences", multiple=True, metavar="FILE",
              help="What people preferred so far, to be continued; may be repeated.")  # fmt: skip
@click.option("--budget", type=click.IntRange(1), metavar="N",
              help="How many pairs, over all queries; with active, which may choose a pair again, how many votes "
                   "(choices, where --votes is more than 1). Usually a task a query for active, all of seed's, as many "
                   "for random, a round of swiss.")  # fmt: skip
@click.option("--votes", type=click.IntRange(1), metavar="N",
              help="How many people should see each pair. Usually 4; with active 1 for each time that it chooses a "
                   "pair, up to 4 times.")  # fmt: skip
@click.option("--traps", metavar="FILE", help="Pairs with a known winner to mix in, to see who pays attention.")
@click.option("--per-task", type=click.IntRange(1), default=20, show_default=True, help="How many pairs in a task.")
@click.option("--traps-per-task", type=click.IntRange(0), metavar="N",
              help="How many of them are traps, with --traps. Usually 5.")  # fmt: skip
@click.option("--depth", type=click.IntRange(2), default=100, show_default=True,
              help="How many documents of each query, from the top; of several runs, of each run.")  # fmt: skip
@click.option("--documents", metavar="FILE", help="Texts of documents, to be ranked by BM25 first; with --topics.")
@click.option("--topics", metavar="FILE", help="Texts of queries, for BM25.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same pairs.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write it: .csv, .tsv, .jsonl, .parquet.")
@click.option("--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md.")
@click.option("--columns", multiple=True, metavar="NAME=COLUMN",
              help="What the preferences, or another table, call a column: left=url_a.")  # fmt: skip
@click.option("--where", multiple=True, metavar="COLUMN=VALUE",
              help="Keep only the preferences, and rows of other tables with this column, that have this value; "
                   "COLUMN!=VALUE, those without; COLUMN!= , those not empty.")  # fmt: skip
@output_options
def command(
    design: Any, budget: int | None, votes: int | None, per_task: int, traps_per_task: int | None, seed: int,
    output: str, form: OutputFormat, **given: Any,
) -> None:  # fmt: skip
    """Which pairs should be compared next?

    From the documents of a run, best first, of several runs, which are pooled, or of a pool; with --documents and
    --topics BM25 ranks the pool, or all documents. Writes tasks of one query each, with sides and order drawn by lot.
    Fill in the columns judge and winner, and give the file to rate, or again to pairs as --preferences. Do not show
    people the column trap.
    """
    import numpy as np

    from ringtrue.files import write_table
    from ringtrue.preference import choose_pairs

    files = _Files(**{one.name: given.pop(one.name) for one in fields(_Files) if one.name in given})
    require_table(output)
    refuse_to_overwrite(files.paths, output)
    refuse_to_lose("winner", output, instead=f"continue it (--preferences {output} -o ANOTHER)")
    traps = None if files.traps is None else files.read_traps(files.traps)
    found = choose_pairs(
        files.ranking(), design=design, preferences=files.known(), budget=budget,
        votes=votes, traps=traps, per_task=per_task, traps_per_task=traps_per_task, depth=files.depth,
        rng=np.random.default_rng(seed),
    )  # fmt: skip
    write_table(found.frame, output)
    notes = [*files.notes, *found.notes]
    if found.traps:
        notes.append(_rule(found))
    tell(notes)
    plain = {key: value for key, value in found.as_dict().items() if key != "notes"}
    data = plain | {"file": output, "seed": seed, "notes": notes}
    emit(form, data=data, grid=partial(_grid, found, output, files), flat=partial(_flat, data))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
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
    notes: list[str] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        if (self.documents is None) != (self.topics is None):
            raise UsageError("BM25 needs the texts of both: --documents FILE and --topics FILE")
        if not self.candidates and self.documents is None:
            raise UsageError("which documents? Runs, a pool (`ringtrue pool`), or --documents FILE --topics FILE")
        if self.paths.count("-") > 1:
            raise UsageError("standard input (-) can be read only once; put the others into files")

    @property
    def paths(self) -> list[str]:
        """Every file that is read."""
        named = (*self.candidates, *self.preferences, self.traps, self.documents, self.topics)
        return [path for path in named if path is not None]

    def ranking(self) -> list[Run] | pl.DataFrame:
        """The runs, the pool in its own order, or what BM25 makes of texts."""
        given = self._given() if self.candidates else None
        if self.documents is None or self.topics is None:
            assert given is not None  # there is one or the other
            return given
        from ringtrue.evaluation.bm25 import bm25_run
        from ringtrue.evaluation.pooling import pool
        from ringtrue.files import read_documents, read_topics

        among = pool(given, depth=self.depth) if isinstance(given, list) else given
        texts = [read(self.sources[path], note=self.notes.append, **self._asked(path))
                 for read, path in ((read_topics, self.topics), (read_documents, self.documents))]  # fmt: skip
        return [bm25_run(texts[0], texts[1], depth=self.depth, pool=among)]

    def _given(self) -> list[Run] | pl.DataFrame:
        from ringtrue.cli.options.files import run_names
        from ringtrue.tables import Run

        names, runs = run_names(self.candidates), []
        for path, name in zip(self.candidates, names, strict=True):
            found = self._run_or_pool(path)
            if isinstance(found, Run):
                runs.append(found.called(name))
            elif len(names) == 1:
                return found
            else:
                raise UsageError(f"{path}: this is a pool, and only runs are put together; give it alone, or only runs")
        return runs

    def known(self) -> Preferences | None:
        """All preferences so far."""
        from ringtrue.tables.preferences import joined

        return joined([self.read_preferences(path) for path in self.preferences]) if self.preferences else None

    def read_preferences(self, path: str) -> Preferences:
        """A file of preferences."""
        from ringtrue.files import read_preferences

        return read_preferences(
            self.sources[path], note=self.notes.append, form=self._form("preferences"), **self._asked(path)
        )

    def read_traps(self, path: str) -> Preferences:
        """Pairs with a known winner."""
        try:
            return self.read_preferences(path)
        except InputError as error:
            if not self._has_labels(path):
                raise
            raise FormatError(
                f"{self.sources[path].shown}: these look like traps for labels; pairs need two documents and a winner "
                f"(query, left, right, winner)"
            ) from error

    def _has_labels(self, path: str) -> bool:
        from ringtrue.files import recognise_kind

        try:
            return recognise_kind(self.sources[path], columns=columns_of(self.columns)) == "judgments"
        except InputError:  # nothing that we know
            return False

    def _run_or_pool(self, path: str) -> Run | pl.DataFrame:
        from ringtrue.files import read_run, recognise_kind
        from ringtrue.files.formats import TABLES, recognise
        from ringtrue.files.tabular import read_table
        from ringtrue.tables.columns import identifiers, rename

        source, asked = self.sources[path], self._asked(path)
        kind = recognise_kind(source, columns=asked["columns"]) if self._form("run") is None else "run"
        if kind in KINDS:
            hint = "; what people preferred so far is --preferences" if kind == "preferences" else ""
            raise FormatError(f"{source.shown}: this looks like {KINDS[kind]}, expected a run or a pool{hint}")
        form = recognise(source, "run", columns=asked["columns"].values()) if kind == "topics" else None
        if form not in TABLES:
            return read_run(source, note=self.notes.append, form=self._form("run"), **asked)
        try:
            frame = rename(read_table(source, form, **asked), required=["query", "doc"], what="pool")
            return frame.with_columns(identifiers(frame, name) for name in ("query", "doc"))
        except TableError as error:
            raise TableError(f"{source.shown}: {error}") from error

    def _asked(self, path: str) -> dict[str, Any]:
        """What `--columns` and `--where` say about a file."""
        columns, where = columns_of(self.columns), conditions_of(self.where)
        tables = [one for one in self.paths if self._is_table(one, columns)]
        if not tables:  # reading it says what is wrong
            return {"columns": columns, "where": where}
        shared = shared_out([self.sources[one] for one in tables], columns, where, None)
        return dict(zip(("columns", "where"), dict(zip(tables, shared, strict=True)).get(path, ({}, {})), strict=True))

    def _is_table(self, path: str, columns: dict[str, str]) -> bool:
        try:
            return bool(table_columns(self.sources[path], columns.values(), None))
        except FormatError:  # lines of a run
            return False

    def _form(self, kind: Kind) -> Any:
        from ringtrue.cli.options.files import forms_for

        return forms_for(("run", "preferences"), self.forced)[kind]


def _rule(found: PairChoice) -> str:
    """How many people who guess get through, as `ringtrue judges` counts, with the traps that the tasks have."""
    from ringtrue.judges.quality.reference_labels import percent
    from ringtrue.judges.quality.traps import chance_accepted

    in_tasks = found.frame.filter("trap").group_by("batch").len()["len"].to_list()

    def let_through(rule: tuple[int, int]) -> str:
        return percent(sum(chance_accepted(count, rule, GUESS) for count in in_tasks) / len(in_tasks))

    few, many = min(in_tasks), max(in_tasks)
    having = f"{few} to {many} traps" if few < many else counted(few, "trap")
    return (
        f"a task has {having}: with `ringtrue judges`, it is accepted at {RULE[0]} of {RULE[1]} passed, and so are "
        f"{let_through(RULE)} of tasks that are guessed; {STRICT[0]} of {STRICT[1]} (--accept {STRICT[0]}/{STRICT[1]}) "
        f"would let {let_through(STRICT)} through"
    )


def _grid(found: PairChoice, output: str, files: _Files) -> Grid:
    counts = {"pairs": found.pairs, "votes": found.votes, "queries": found.queries, "tasks": found.tasks}
    counts |= {"traps": found.traps} if files.traps is not None else {}
    all_votes = (*files.preferences, output)
    where = "".join(f" --where {shlex.quote(one)}" for one in files.where if files.preferences)
    then = [f"`ringtrue rate {' '.join(all_votes)}{where}`"]
    if found.traps:
        then.insert(0, f"`ringtrue judges {output} --traps {files.traps} --accept 4/5 --repeats all`")
    continued = " ".join(f"--preferences {path}" for path in all_votes)
    caption = [
        "next: let people fill in judge and winner (left, right or tie), somebody else in each task",
        f"then: {' and '.join(then)}; `ringtrue pairs … {continued}{where}` for the next pairs",
    ]
    return Grid(
        columns=[*counts, "design", "file"],
        rows=[[*(f"{count:,}" for count in counts.values()), found.design, output]],
        caption="\n".join(caption),
        left=0,
    )


def _flat(data: dict[str, object]) -> Grid:
    kept = {name: str(value) for name, value in data.items() if name != "notes"}
    return Grid(columns=list(kept), rows=[list(kept.values())])
