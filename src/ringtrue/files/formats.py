"""Which formats there are, and which one a file is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import HEAD_SIZE, PARQUET, Source
from ringtrue.files.whitespace_fields import NUMBER, Layout, split_fields
from ringtrue.messages import Suggestion
from ringtrue.tables.columns import COLUMN_ALIASES
from ringtrue.tables.preferences import OUTCOMES

TableKind: TypeAlias = Literal["run", "judgments", "preferences", "topics", "documents"]
Format: TypeAlias = Literal[
    "trec-run", "msmarco-run", "trec-qrels", "qrels-3", "pairs", "trec-prefs",
    "trec-topics", "cranfield", "id-text", "csv", "tsv", "jsonl", "parquet",
]  # fmt: skip

LAYOUTS: dict[Format, Layout] = {
    "trec-run": Layout(
        fields=("query", "_", "doc", "_", "score", "_"), description="query Q0 doc rank score tag", allows_extra=True
    ),
    "msmarco-run": Layout(fields=("query", "doc", "score"), description="query doc rank"),
    "trec-qrels": Layout(fields=("query", "judge", "doc", "label"), description="query iteration doc label"),
    "qrels-3": Layout(fields=("query", "doc", "label"), description="query doc label"),
    "pairs": Layout(fields=("query", "left", "right", "winner"), description="query doc doc winner"),
    "trec-prefs": Layout(
        fields=("query", "judge", "subgroup", "doc", "score"), description="query judge subgroup doc level"
    ),
}

TABLE_FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "parquet")
FORMATS: dict[TableKind, tuple[Format, ...]] = {
    "run": ("trec-run", "msmarco-run", *TABLE_FORMATS),
    "judgments": ("trec-qrels", "qrels-3", *TABLE_FORMATS),
    "preferences": ("pairs", "trec-prefs", *TABLE_FORMATS),
    "topics": ("trec-topics", "cranfield", "id-text", *TABLE_FORMATS),
    "documents": ("cranfield", "id-text", *TABLE_FORMATS),
}
SIGNATURE_COLUMNS: dict[TableKind, set[str]] = {  # a column that only this kind of table has
    "preferences": set(COLUMN_ALIASES["winner"]),
    "judgments": {*COLUMN_ALIASES["label"], "corpus-id"},  # in BEIR's qrels, which call the label score
    "run": set(COLUMN_ALIASES["score"]),
}


def recognise_format(source: Source, kind: TableKind, *, columns: Iterable[str] = ()) -> Format:
    """The format of a file that is known to hold runs, judgments, … ; `columns` are further known names."""
    head = source.read_head()
    if (table_format := _recognise_table(head, columns)) is not None:
        return table_format
    lines = _data_lines(head)
    if kind in ("topics", "documents"):
        return _recognise_text_format(lines[0], source, kind)
    fields = split_fields(lines[0])
    count = len(fields)
    by_count: dict[TableKind, dict[int, Format]] = {
        "run": {6: "trec-run", 3: "msmarco-run"},
        "judgments": {4: "trec-qrels", 3: "qrels-3"},
        "preferences": {4: "pairs", 5: "trec-prefs"},
    }
    if kind == "run" and count > 6:  # further fields after the tag
        return "trec-run"
    if count in by_count[kind] and (count != 3 or NUMBER.fullmatch(fields[2])):
        return by_count[kind][count]
    _refuse_other_kinds(source, kind, lines[0], count)
    # With no better guess, the usual format of this kind: reading it says what is wrong and where.
    return next(iter(by_count[kind].values()))


def _refuse_other_kinds(source: Source, kind: TableKind, first_line: str, field_count: int) -> None:
    """Say what a file looks like, when it does not look like what it should hold."""
    separator = find_separator(first_line)
    if separator in (",", ";") and first_line.count(separator) > 1:
        names = [name.strip() for name in first_line.split(separator)]
        needed = {"query": "…", "doc": "…", "score" if kind == "run" else "label": "…"}
        raise FormatError(
            "unknown-columns",
            f"this looks like a table with the columns {', '.join(names)[:80]}",
            file=source.display_name,
            suggestions=[Suggestion("says what they are", columns=needed)],
        )
    apparent_kind = {6: "a run (6 fields a line)", 4: "judgments (4 fields a line)"}.get(field_count)
    if apparent_kind:
        raise FormatError(
            "other-kind",
            f"this looks like {apparent_kind}, expected {'a run' if kind == 'run' else kind}",
            file=source.display_name,
        )


def recognise_kind(source: Source, *, columns: Mapping[str, str] | None = None) -> TableKind:
    """What a file holds, when nobody said; `columns` maps our names to the file's."""
    head, column_map = source.read_head(), columns or {}
    if (table_format := _recognise_table(head, column_map.values())) is not None:
        from ringtrue.files.tabular import read_column_names

        names = {name.lower() for name in [*read_column_names(source, table_format), *column_map]}
        for kind, signature in SIGNATURE_COLUMNS.items():
            if names & signature:
                return kind
        return "topics" if names & set(COLUMN_ALIASES["query"]) else "documents"
    lines = _data_lines(head)
    fields = split_fields(lines[0])
    if lines[0].lstrip().startswith("<") or lines[0].startswith(".I"):
        return "topics" if lines[0].lstrip().startswith("<") else "documents"
    if len(fields) >= 6 and NUMBER.fullmatch(fields[4]):
        return "run"
    if len(fields) == 5 and NUMBER.fullmatch(fields[4]):
        return "preferences"
    if len(fields) == 4 and ("\t" not in lines[0] or _have_winners(lines) or NUMBER.fullmatch(fields[3])):
        return "preferences" if _have_winners(lines) else "judgments"
    if len(fields) == 3 and lines[0].count("\t") in (0, 2) and NUMBER.fullmatch(fields[2]):
        return "run" if _have_ranks(lines) else "judgments"
    if "\t" in lines[0]:
        return "topics"
    raise FormatError(
        "unknown-content",
        f"neither run, judgments nor preferences: the first line has {len(fields)} fields",
        file=source.display_name,
        suggestions=[Suggestion("says what it is", form=...)],
    )


def _data_lines(head: bytes) -> list[str]:
    lines = head.decode("utf-8", "replace").split("\n")
    if len(head) > HEAD_SIZE - 4:  # the last line is cut off
        lines = lines[:-1] or lines
    return [line for line in lines if line.strip() and not line.startswith("#")] or [""]


def _have_winners(lines: list[str]) -> bool:
    """Whether lines of four fields end with one of the two before or with an outcome; `301 0 doc 0` are qrels."""
    rows = [row for line in lines if len(row := split_fields(line)) == 4]
    if all(NUMBER.fullmatch(row[3]) and row[1] == rows[0][1] for row in rows):
        return False
    return all(row[3] in (row[1], row[2], *OUTCOMES) for row in rows)


def _have_ranks(lines: list[str]) -> bool:
    """Whether lines of three fields end with 1, 2, … under the first query: MS MARCO's runs; others are labels."""
    rows = [row for line in lines[:50] if len(row := split_fields(line)) == 3]
    ranks = [row[2] for row in rows if row[0] == rows[0][0]]
    return len(ranks) > 1 and ranks == [str(rank) for rank in range(1, len(ranks) + 1)]


def find_separator(header: str) -> str | None:
    """What separates the columns of a header line."""
    counts = {separator: header.count(separator) for separator in ("\t", ",", ";")}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else None


def _recognise_table(head: bytes, columns: Iterable[str]) -> Format | None:
    if head.startswith(PARQUET):
        return "parquet"
    if head.lstrip().startswith(b"{"):
        return "jsonl"
    header = head.decode("utf-8", "replace").split("\n")[0]
    separator = find_separator(header)
    if separator is None:
        return None
    known_names = {name for names in COLUMN_ALIASES.values() for name in names} | {name.lower() for name in columns}
    known_names |= {"title", "text", "description", "narrative", "url", "snippet", "_id"}
    names = [name.strip().strip('"').lower() for name in header.split(separator)]
    # One known name may be a word of the data, unless it is an id and stands first.
    if (
        sum(name in known_names for name in names) < 2
        and names[0] not in COLUMN_ALIASES["query"] + COLUMN_ALIASES["doc"]
    ):
        return None
    return "tsv" if separator == "\t" else "csv"


def _recognise_text_format(first_line: str, source: Source, kind: TableKind) -> Format:
    if first_line.lstrip().startswith("<"):
        return "trec-topics"
    if first_line.startswith(".I"):
        return "cranfield"
    if "\t" in first_line:
        return "id-text"
    raise FormatError(
        "unknown-content",
        f"expected {kind} as <top>…</top>, as Cranfield's .I, as lines of id, tab, text, "
        f"or as a table with named columns; found '{first_line[:40]}'",
        file=source.display_name,
    )
