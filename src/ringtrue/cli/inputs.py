"""Files that commands read, by the names that people gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from ringtrue.cli.output import progress_bar
from ringtrue.errors import UsageError, did_you_mean
from ringtrue.files import FORMATS, Format, Kind, read_run
from ringtrue.files.reading import run_name
from ringtrue.tables import Run

__all__ = ["forms_for", "known_format", "named_column", "read_runs", "run_names"]


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
