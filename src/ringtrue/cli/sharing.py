"""Several files of one command, and which of them `--columns` and `--where` are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from ringtrue.files import Format
    from ringtrue.files.source import Source

__all__ = ["Sources", "asked_of", "same_file", "shared_out", "table_columns"]


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
