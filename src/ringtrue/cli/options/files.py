"""Files that commands read and write: names of runs, which file `--columns` is about, and what must not be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from ringtrue.cli.errors import OptionError
from ringtrue.cli.output import progress_bar
from ringtrue.errors import InputError, UsageError, did_you_mean
from ringtrue.files import FORMATS, Format, TableKind, read_run
from ringtrue.files.read import derive_run_name
from ringtrue.messages import Note
from ringtrue.tables import Run

if TYPE_CHECKING:
    from ringtrue.files.byte_source import Source

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
QRELS_SUFFIXES = (".qrels", ".qrel")


def name_runs(paths: Sequence[str]) -> list[str]:
    """What the runs are called: the file's name without extensions; where two clash, with the folder.

    Examples:
        >>> name_runs(["a/bm25.run", "b/bm25.run.gz", "b/dense.run"])
        ['a/bm25', 'b/bm25', 'dense']
    """
    names = [derive_run_name(path) for path in paths]
    counts = Counter(names)
    names_with_folder = [
        f"{Path(path).parent.name or '.'}/{name}" if counts[name] > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]
    counts = Counter(names_with_folder)
    unique_names = [path if counts[name] > 1 else name for path, name in zip(paths, names_with_folder, strict=True)]
    for path, count in Counter(unique_names).items():
        if count > 1:
            raise OptionError("repeated-run", f"run '{path}' is given twice", parameter="runs")
    return unique_names


def read_runs(
    paths: Sequence[str],
    *,
    form: Format | None = None,
    columns: Mapping[str, str] | None = None,
    name: Literal["file", "tag"] = "file",
    note: Callable[[Note], None],
) -> Iterator[Run]:
    """The runs, one at a time, so that only one has to be in memory."""
    names = name_runs(paths)
    size = sum(Path(path).stat().st_size for path in paths if Path(path).is_file())
    with progress_bar(size, description="reading") as advance:
        for path, name_of_file in zip(paths, names, strict=True):
            run = read_run(path, form=form, columns=columns, note=note, progress=advance)
            yield run.called(run.tag if name == "tag" and run.tag else name_of_file)


def find_column(table: pl.DataFrame, name: str, path: str) -> str:
    """The column that somebody named as the file does; a topic's only text is its title here, whatever its name."""
    if name in table.columns:
        return name
    if name == "text" and "title" in table.columns:
        return "title"
    suggestion = did_you_mean(name, table.columns) or "; there is " + ", ".join(table.columns)
    raise OptionError(
        "unknown-column",
        f"no column '{name}' to split by{suggestion}; --topics names a table with a row for each query",
        parameter="by",
        file=path,
    )


def parse_format(word: str | None) -> Format | None:
    """A format that somebody named, or an error with the near miss."""
    formats_by_name: dict[str, Format] = {form: form for forms in FORMATS.values() for form in forms}
    if word is None or word in formats_by_name:
        return word if word is None else formats_by_name[word]
    suggestion = did_you_mean(word, formats_by_name) or "; there is " + ", ".join(formats_by_name)
    raise OptionError("unknown-format", f"no format '{word}'{suggestion}", parameter="as")


def formats_by_kind(kinds: Sequence[TableKind], forced: Sequence[str]) -> dict[TableKind, Format | None]:
    """The format that `--as` forces for each kind of file that a command reads, where one of those given fits."""
    forced_formats = [parse_format(word) for word in forced]
    for form in forced_formats:
        if not any(form in FORMATS[kind] for kind in kinds):
            raise OptionError(
                "wrong-format",
                f"--as {form}: this command reads {' and '.join(kinds)}, which have no such format",
                parameter="as",
            )
    return {kind: next((form for form in FORMATS[kind] if form in forced_formats), None) for kind in kinds}


class Sources(dict[str, "Source"]):
    """Files by their names, each opened once: standard input can be read only once.

    Examples:
        >>> sources = Sources()
        >>> sources["votes.csv"] is sources["votes.csv"]
        True
    """

    def __missing__(self, path: str) -> Source:
        from ringtrue.files.byte_source import Source

        return self.setdefault(path, Source(path))


def is_same_file(path: str, other_path: str) -> bool:
    """Whether two paths, or links, lead to one file."""
    return path == other_path or (Path(path).exists() and Path(other_path).exists() and Path(path).samefile(other_path))


def normalise_selection(columns: Mapping[str, str], where: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What was asked of a file, without what makes no difference: a column's own name; labels that are not empty."""
    label = columns.get("label", "label")
    return (
        {ours: theirs for ours, theirs in columns.items() if ours != theirs},
        {name: value for name, value in where.items() if (name, value) != (f"{label}!", "")},
    )


def columns_per_file(
    files: Sequence[Source],
    columns: Mapping[str, str],
    where: Mapping[str, str],
    form: Format | None,
    *,
    strict: bool = True,
    prefix: str = "",
) -> list[tuple[dict[str, str], dict[str, str]]]:
    """What `--columns` and `--where` say about each file: a column is meant in every file that has it."""
    if not columns and not where:
        return [({}, {}) for _ in files]
    columns_by_file = [list_table_columns(file, columns.values(), form) for file in files]
    all_columns = list(dict.fromkeys(name for file_columns in columns_by_file for name in file_columns))
    for option, column_names in (("columns", columns.values()), ("where", [name.removesuffix("!") for name in where])):
        for name in column_names:
            if strict and name not in all_columns:
                suggestion = did_you_mean(name, all_columns) or "; there is " + (
                    ", ".join(all_columns) or "no named column"
                )
                file_names = " or ".join(dict.fromkeys(file.display_name for file in files))
                parameter = f"{prefix}{option}"
                raise UsageError(
                    "unknown-column", f"no column '{name}'{suggestion}", parameter=parameter, file=file_names
                )
    return [
        (
            {ours: theirs for ours, theirs in columns.items() if theirs in file_columns},
            {name: value for name, value in where.items() if name.removesuffix("!") in file_columns},
        )
        for file_columns in columns_by_file
    ]


def list_table_columns(source: Source, named_columns: Iterable[str], form: Format | None) -> list[str]:
    """The columns of a table; none where the file is no table."""
    from ringtrue.files.formats import TABLE_FORMATS, recognise_format
    from ringtrue.files.tabular import read_column_names

    source.read_head()
    form = form or recognise_format(source, "judgments", columns=named_columns)
    return read_column_names(source, form) if form in TABLE_FORMATS else []


def refuse_to_overwrite(paths: Iterable[str], output: str) -> None:
    """Refuse to write onto a file that is read."""
    for path in paths:
        if is_same_file(path, output):
            raise OptionError(
                "overwrites-input",
                f"-o {output} would overwrite a file that is read here; choose another name",
                parameter="output",
            )


def refuse_to_overwrite_source(paths: Iterable[str | None], output: str) -> None:
    """The same where every file that is read goes into the answer."""
    if any(path is not None and is_same_file(path, output) for path in paths):
        raise OptionError(
            "overwrites-input",
            "the answer cannot be written onto what it is made from; write to another file",
            parameter="output",
            file=output,
        )


def format_suffix(path: str) -> str:
    """What the name of a file ends with, apart from how it is packed.

    Examples:
        >>> format_suffix("gold.QRELS.gz")
        '.qrels'
    """
    file_path = Path(path)
    return (file_path.with_suffix("") if file_path.suffix in (".gz", ".zst") else file_path).suffix.lower()


def require_table(output: str) -> None:
    """Refuse to write a table under a name that promises something else."""
    from ringtrue.files.formats import TABLE_FORMATS
    from ringtrue.files.write import format_from_extension

    if format_from_extension(output) not in TABLE_FORMATS:
        raise OptionError(
            "wrong-format",
            f"-o {output}: a table is written here, as .csv, .tsv, .jsonl or .parquet; choose such a name",
            parameter="output",
        )


def refuse_to_overwrite_filled(column: Literal["label", "winner"], output: str, *, instead: str) -> None:
    """Refuse to write over a table of which somebody has begun to fill in this column."""
    from ringtrue.files.byte_source import Source
    from ringtrue.files.formats import TABLE_FORMATS, recognise_format
    from ringtrue.files.tabular import read_table

    source = Source(output)
    try:
        form = recognise_format(source, "judgments" if column == "label" else "preferences")
        frame = read_table(source, form) if form in TABLE_FORMATS else None
    except InputError:  # no such file, or nothing like such a table
        return
    if frame is None or column not in frame.columns:
        return
    filled = sum(cell is not None and str(cell).strip() != "" for cell in frame[column])
    if filled:
        raise OptionError(
            "overwrites-answers",
            f"-o {output} has {filled:,} {column}s, which would be lost; choose another name, or {instead}",
            parameter="output",
        )
