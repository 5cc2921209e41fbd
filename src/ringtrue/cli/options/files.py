"""Files that commands read and write: names of runs, which file `--columns` is about, and what must not be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from ringtrue.cli.output import progress_bar
from ringtrue.errors import InputError, UsageError, did_you_mean
from ringtrue.files import FORMATS, Format, Kind, read_run
from ringtrue.files.read import run_name
from ringtrue.tables import Run

if TYPE_CHECKING:
    from ringtrue.files import Format
    from ringtrue.files.source import Source

__all__ = [
    "Sources",
    "asked_of",
    "forms_for",
    "known_format",
    "named_column",
    "read_runs",
    "refuse_to_lose",
    "refuse_to_overwrite",
    "require_table",
    "run_names",
    "same_file",
    "shared_out",
    "table_columns",
]


def run_names(paths: Sequence[str]) -> list[str]:
    """What the runs are called: the file's name without extensions; where two clash, with the folder.

    Examples:
        >>> run_names(["a/bm25.run", "b/bm25.run.gz", "b/dense.run"])
        ['a/bm25', 'b/bm25', 'dense']
    """
    names = [run_name(path) for path in paths]
    counts = Counter(names)
    longer = [
        f"{Path(path).parent.name or '.'}/{name}" if counts[name] > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]
    counts = Counter(longer)
    whole = [path if counts[name] > 1 else name for path, name in zip(paths, longer, strict=True)]
    for path, count in Counter(whole).items():
        if count > 1:
            raise UsageError(f"run '{path}' is given twice")
    return whole


def read_runs(
    paths: Sequence[str],
    *,
    form: Format | None = None,
    columns: Mapping[str, str] | None = None,
    name: Literal["file", "tag"] = "file",
    note: Callable[[str], None],
) -> Iterator[Run]:
    """The runs, one at a time, so that only one has to be in memory."""
    names = run_names(paths)
    size = sum(Path(path).stat().st_size for path in paths if Path(path).is_file())
    with progress_bar(size, what="reading") as advance:
        for path, called in zip(paths, names, strict=True):
            run = read_run(path, form=form, columns=columns, note=note, progress=advance)
            yield run.called(run.tag if name == "tag" and run.tag else called)


def named_column(table: pl.DataFrame, name: str, path: str) -> str:
    """The column that somebody named as the file does; a topic's only text is its title here, whatever its name."""
    if name in table.columns:
        return name
    if name == "text" and "title" in table.columns:
        return "title"
    near = did_you_mean(name, table.columns) or "; there is " + ", ".join(table.columns)
    raise UsageError(f"{path}: no column '{name}' to split by{near}; --topics names a table with a row for each query")


def known_format(word: str | None) -> Format | None:
    """A format that somebody named, or an error with the near miss."""
    known: dict[str, Format] = {form: form for forms in FORMATS.values() for form in forms}
    if word is None or word in known:
        return word if word is None else known[word]
    near = did_you_mean(word, known) or "; there is " + ", ".join(known)
    raise UsageError(f"no format '{word}'{near}")


def forms_for(kinds: Sequence[Kind], forced: Sequence[str]) -> dict[Kind, Format | None]:
    """The format that `--as` forces for each kind of file that a command reads, where one of those given fits."""
    named = [known_format(word) for word in forced]
    for form in named:
        if not any(form in FORMATS[kind] for kind in kinds):
            raise UsageError(f"--as {form}: this command reads {' and '.join(kinds)}, which have no such format")
    return {kind: next((form for form in FORMATS[kind] if form in named), None) for kind in kinds}


class Sources(dict[str, "Source"]):
    """Files by their names, each opened once: standard input can be read only once.

    Examples:
        >>> sources = Sources()
        >>> sources["votes.csv"] is sources["votes.csv"]
        True
    """

    def __missing__(self, path: str) -> Source:
        from ringtrue.files.source import Source

        return self.setdefault(path, Source(path))


def same_file(one: str, other: str) -> bool:
    """Whether two paths, or links, lead to one file."""
    return one == other or (Path(one).exists() and Path(other).exists() and Path(one).samefile(other))


def asked_of(columns: Mapping[str, str], where: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What was asked of a file, without what makes no difference: a column's own name; labels that are not empty."""
    label = columns.get("label", "label")
    return (
        {ours: theirs for ours, theirs in columns.items() if ours != theirs},
        {name: value for name, value in where.items() if (name, value) != (f"{label}!", "")},
    )


def shared_out(
    files: Sequence[Source],
    columns: Mapping[str, str],
    where: Mapping[str, str],
    form: Format | None,
    *,
    strict: bool = True,
    prefix: str = "--",
) -> list[tuple[dict[str, str], dict[str, str]]]:
    """What `--columns` and `--where` say about each file: a column is meant in every file that has it."""
    if not columns and not where:
        return [({}, {}) for _ in files]
    names = [table_columns(file, columns.values(), form) for file in files]
    everywhere = list(dict.fromkeys(name for some in names for name in some))
    for option, wanted in (("columns", columns.values()), ("where", [name.removesuffix("!") for name in where])):
        for name in wanted:
            if strict and name not in everywhere:
                near = did_you_mean(name, everywhere) or "; there is " + (", ".join(everywhere) or "no named column")
                shown = " or ".join(dict.fromkeys(file.shown for file in files))
                raise UsageError(f"{prefix}{option}: no column '{name}' in {shown}{near}")
    return [
        (
            {ours: theirs for ours, theirs in columns.items() if theirs in some},
            {name: value for name, value in where.items() if name.removesuffix("!") in some},
        )
        for some in names
    ]


def table_columns(source: Source, further: Iterable[str], form: Format | None) -> list[str]:
    """The columns of a table; none where the file is no table."""
    from ringtrue.files.formats import TABLES, recognise
    from ringtrue.files.tabular import column_names

    source.head()
    form = form or recognise(source, "judgments", columns=further)
    return column_names(source, form) if form in TABLES else []


def refuse_to_overwrite(paths: Iterable[str], output: str) -> None:
    """Refuse to write onto a file that is read."""
    for path in paths:
        if same_file(path, output):
            raise UsageError(f"-o {output} would overwrite a file that is read here; choose another name")


def require_table(output: str) -> None:
    """Refuse to write a table under a name that promises something else."""
    from ringtrue.files.formats import TABLES
    from ringtrue.files.write import form_of

    if form_of(output) not in TABLES:
        raise UsageError(f"-o {output}: a table is written here, as .csv, .tsv, .jsonl or .parquet; choose such a name")


def refuse_to_lose(column: Literal["label", "winner"], output: str, *, instead: str) -> None:
    """Refuse to write over a table of which somebody has begun to fill in this column."""
    from ringtrue.files.formats import TABLES, recognise
    from ringtrue.files.source import Source
    from ringtrue.files.tabular import read_table

    source = Source(output)
    try:
        form = recognise(source, "judgments" if column == "label" else "preferences")
        frame = read_table(source, form) if form in TABLES else None
    except InputError:  # no such file, or nothing like such a table
        return
    if frame is None or column not in frame.columns:
        return
    filled = sum(cell is not None and str(cell).strip() != "" for cell in frame[column])
    if filled:
        raise UsageError(
            f"-o {output} has {filled:,} {column}s, which would be lost; choose another name, or {instead}"
        )
