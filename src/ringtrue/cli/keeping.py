"""Files that must not be lost: what a command reads, and what people have filled in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ringtrue.cli.sharing import same_file
from ringtrue.errors import InputError, UsageError

__all__ = ["refuse_to_lose", "refuse_to_overwrite", "require_table"]


def refuse_to_overwrite(paths: Iterable[str], output: str) -> None:
    """Refuse to write onto a file that is read."""
    for path in paths:
        if same_file(path, output):
            raise UsageError(f"-o {output} would overwrite a file that is read here; choose another name")


def require_table(output: str) -> None:
    """Refuse to write a table under a name that promises something else."""
    from ringtrue.files.formats import TABLES
    from ringtrue.files.writing import form_of

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
