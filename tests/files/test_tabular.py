from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ringtrue.errors import FormatError, RingtrueError, TableError, UsageError
from ringtrue.files import read_judgments, read_run, tabular
from ringtrue.files.byte_source import Source
from ringtrue.files.tabular import guard_formulas, map_columns, read_column_names, read_table
from ringtrue.messages import Note
from strategies import any_ids, number_texts


def made(tmp_path: Path, content: str | bytes) -> Source:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Source(str(path))


def parquet(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("query,doc,label\nq1,d1,1\nq1,d2,0\n", "csv"),
        ("query;doc;label\nq1;d1;1\nq1;d2;0\n", "csv"),
        ('\ufeff"query","doc","label"\r\n"q1","d1",1\r\nq1,d2,"0"\r\n\r\n\n', "csv"),
        ("query\tdoc\tlabel\nq1\td1\t1\nq1\td2\t0", "tsv"),
        ('{"query": "q1", "doc": "d1", "label": 1}\n\n{"doc": "d2", "label": "0", "query": "q1"}', "jsonl"),
        (parquet(query=["q1", "q1"], doc=["d1", "d2"], label=[1, 0]), "parquet"),
    ],
)
def test_one_table_in_every_form_is_the_same_judgments(tmp_path: Path, text: str | bytes, form: Any) -> None:
    source = made(tmp_path, text)
    assert read_column_names(source, form) == ["query", "doc", "label"]
    assert read_judgments(source.path).frame.rows() == [("q1", "d1", "0", 1), ("q1", "d2", "0", 0)]


@pytest.mark.parametrize(
    ("text", "form", "code", "line"),
    [
        ("a,b\n1,2\n3,4,5\n", "csv", "too-many-fields", 3),
        ('a,b\n1,"2\n3,4\n', "csv", "unreadable-table", 3),
        ("a,b,a\n1,2,3\n", "csv", "duplicate-column", 1),
        ("a,b\n", "csv", "no-data", None),
        ("a,b", "csv", "no-data", None),
        ("a,b\r1,2\r", "csv", "carriage-return", 1),
        (b"a,b\n1,2\n3,\xff\n", "csv", "not-utf8", 3),
        (b"a,\xff\n1,2\n", "csv", "not-utf8", 1),
        ("a,b\n" + "1,2\n" * 20_000 + "3,\0\n", "csv", "binary-file", 20_002),
        ('{"a": 1}\n{"a": \n', "jsonl", "bad-json", 2),
        ('{"a": 1}\n[1, 2]\n', "jsonl", "not-an-object", 2),
        ('{"a": 1}\n{"a": ' + "[" * 100_000, "jsonl", "bad-json", 2),
        ('{"a": "\\ud800"}\n', "jsonl", "not-a-table", None),
        ('{"a": 1}\n{"a": [1]}\n', "jsonl", "unreadable-table", None),
        ("\n \n", "jsonl", "no-data", None),
        (parquet(a=[1] * 500)[:-1], "parquet", "unreadable-table", None),
        (parquet(a=[1] * 500)[:200], "parquet", "unreadable-table", None),
        ("PAR1", "parquet", "unreadable-table", None),
        ("a,b\n1,2\n", "parquet", "unreadable-table", None),
    ],
)
def test_a_damaged_table_says_what_is_wrong_and_where(
    tmp_path: Path, text: str | bytes, form: Any, code: str, line: int | None
) -> None:
    source = made(tmp_path, text)
    with pytest.raises(FormatError) as refused:
        read_table(source, form)
    assert (refused.value.code, refused.value.file, refused.value.line) == (code, source.path, line)


@pytest.mark.parametrize(
    ("text", "code", "subject", "column"),
    [
        ("query,doc,label\nq1,d1,1\nq1,d2\n", "empty-cell", "row 2", "label"),
        ("query,doc,label\nq1,d1,1\nq1,,1\n", "empty-cell", "row 2", "doc"),
        ("query,doc,label\nq1,d1,1\n\nq1,d2,1\n", "empty-cell", "row 2", "query"),
        ("query,doc,label\nq1,d1,high\n", "bad-label", "row 1", "label"),
        ("query,doc,label\nq1,d1,0.5\n", "bad-label", "row 1", "label"),
        ("query,doc,grad\nq1,d1,1\n", "missing-column", None, "label"),
        ("query,,label\nq1,d1,1\n", "missing-column", None, "doc"),
        ('{"query": "q", "doc": {"a": 1}, "label": 1}\n', "bad-column-type", "column 'doc'", "doc"),
        ('{"query": "q", "doc": ["a"], "label": 1}\n', "bad-column-type", "column 'doc'", "doc"),
        ('{"query": "q", "doc": "a", "label": [1]}\n', "bad-column-type", "column 'label'", "label"),
        ('{"query": null, "doc": "a", "label": 1}\n', "empty-cell", "row 1", "query"),
        ('{"query": "q", "doc": "a", "label": 1}\n{"query": "q", "doc": "b"}\n', "empty-cell", "row 2", "label"),
        ('{"query": "q", "doc": "a", "label": NaN}\n', "bad-label", "row 1", "label"),
    ],
)
def test_a_bad_cell_names_its_file_row_and_column(
    tmp_path: Path, text: str, code: str, subject: str | None, column: str
) -> None:
    source = made(tmp_path, text)
    with pytest.raises(TableError) as refused:
        read_judgments(source.path)
    error = refused.value
    assert (error.code, error.file, error.note.subject, error.columns) == (code, source.path, subject, (column,))


def test_empty_cells_in_a_file_can_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(TableError) as refused:
        read_judgments(made(tmp_path, "query,doc,label\nq1,d1,\n").path)
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"where": {"COLUMN!": ""}}]


def test_where_keeps_the_rows_with_the_value(tmp_path: Path) -> None:
    source = made(tmp_path, "query,doc,label,setting\nq1,d1,1,a\nq1,d1,0,b\nq2,d1,2,a\nq3,d1,1,\n")
    assert read_table(source, "csv", where={"setting": "a"})["query"].to_list() == ["q1", "q2"]
    assert read_table(source, "csv", where={"setting": "a", "label": "2"})["query"].to_list() == ["q2"]


def test_where_compares_numbers_by_what_they_look_like(tmp_path: Path) -> None:
    source = made(tmp_path, parquet(query=["q1", "q2"], level=[1, 2]))
    assert read_table(source, "parquet", where={"level": "2"})["query"].to_list() == ["q2"]


@pytest.mark.parametrize(
    ("options", "code", "found"),
    [
        ({"where": {"setting": "c"}}, "no-such-rows", "a, b"),
        ({"where": {"seting": "a"}}, "unknown-column", "'setting'?"),
        ({"where": {"empty": "a"}}, "no-such-rows", "empty=a"),
        ({"columns": {"label": "lable"}}, "unknown-column", "'label'?"),
        ({"columns": {"label": "xyz"}}, "unknown-column", "query, doc, label, setting, empty"),
    ],
)
def test_an_option_that_fits_no_column_or_row_says_what_there_is(
    tmp_path: Path, options: dict[str, Any], code: str, found: str
) -> None:
    source = made(tmp_path, "query,doc,label,setting,empty\nq1,d1,1,a,\nq1,d1,0,b,\n")
    with pytest.raises(UsageError) as refused:
        read_table(source, "csv", **options)
    error = refused.value
    assert (error.code, error.file, error.parameter) == (code, source.path, next(iter(options)))
    assert found in error.text


def test_where_cannot_look_into_lists(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'m'") as refused:
        read_table(made(tmp_path, '{"query": "q", "m": [1]}\n'), "jsonl", where={"m": "1"})
    assert (refused.value.code, refused.value.parameter) == ("nested-column", "where")


def test_a_mapped_column_takes_the_place_of_the_one_with_its_name() -> None:
    frame = pl.DataFrame({"label": [1], "label_before": [2], "nist": [3]})
    assert map_columns(frame, {"label": "nist"}).to_dicts() == [{"label": 3, "label_before_2": 1, "label_before": 2}]
    assert map_columns(frame, {}).equals(frame)


def test_two_columns_can_change_places() -> None:
    frame = pl.DataFrame({"query": ["d1"], "doc": ["q1"]})
    assert map_columns(frame, {"query": "doc", "doc": "query"}).to_dicts() == [{"query": "q1", "doc": "d1"}]


@given(text=number_texts.filter(lambda text: "," not in text))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_score_in_a_table_is_the_number_that_python_reads_or_refused(tmp_path: Path, text: str) -> None:
    try:
        run = read_run(made(tmp_path, f"query,doc,score\nq1,d1,{text}\n").path)
    except RingtrueError:
        return
    assert run.frame["score"].to_list() == [float(text)]
    assert "_" not in text
    assert text.isascii()


@given(st.lists(st.tuples(any_ids, any_ids, st.integers(-5, 5)), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_lines_by_another_hand_are_read(tmp_path: Path, rows: list[tuple[str, str, int]]) -> None:
    lines = [json.dumps({"query_id": query, "doc_id": doc, "relevance": label}) for query, doc, label in rows]
    read = read_judgments(made(tmp_path, "\n".join(lines)).path)
    assert read.frame.select("query", "doc", "label").rows() == rows


def test_a_number_is_the_same_number_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "folds.parquet"
    pl.DataFrame({"fold": [1.0, 2.0], "doc": ["a", "b"]}).write_parquet(path)
    assert read_table(Source(str(path)), "parquet", where={"fold": "1"})["doc"].to_list() == ["a"]
    with pytest.raises(UsageError, match="fold=x") as refused:
        read_table(Source(str(path)), "parquet", where={"fold": "x"})
    assert refused.value.code == "no-such-rows"


@pytest.mark.parametrize(
    ("where", "docs"),
    [({"gold": "1"}, ["a"]), ({"gold!": "1"}, ["b", "c"]), ({"gold!": ""}, ["a", "c"]), ({"gold": ""}, ["b"])],
)
def test_rows_can_be_kept_by_what_they_are_not(tmp_path: Path, where: dict[str, str], docs: list[str]) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("doc,gold,query\na,1,q\nb,,q\nc,2,q\n")
    assert read_table(Source(str(path)), "csv", where=where)["doc"].to_list() == docs


@pytest.mark.parametrize(
    ("text", "line", "fields", "more"),
    [
        ("query,doc,judge,label\nq,a,x,1\nq,b\n", 3, "4 fields", ""),
        ('query,doc,note\nq,"a\nb"\nq,c\n', 3, "3 fields", "1 more row"),
        ("a,b,c\n1,2\n1,2,3\n1,2\n\n1\n", 2, "3 fields", "2 more rows"),
    ],
)
def test_rows_that_end_early_are_told(tmp_path: Path, text: str, line: int, fields: str, more: str) -> None:
    notes: list[Note] = []
    source = made(tmp_path, text)
    read_table(source, "csv", note=notes.append)
    assert [(note.code, note.subject) for note in notes] == [("short-rows", f"{source.path}:{line}")]
    assert fields in notes[0]
    assert more in notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "query,doc,label\nq,a,\nq,b,1\n",
        'query,doc,label\nq,"a,b",\nq,b,1\n',
        "query\tdoc\tlabel\nq\ta\t\n",
        'query,doc,label\nq,"' + "long " * 50_000 + '"\n',
    ],
)
def test_rows_whose_last_cell_is_empty_are_whole(tmp_path: Path, text: str) -> None:
    notes: list[Note] = []
    read_table(made(tmp_path, text), "tsv" if "\t" in text else "csv", note=notes.append)
    assert notes == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"query,doc" + b",x" * 40_000 + b"\n", "65,536 bytes"),
        (b"query,doc," + b",".join(b"%x" % at for at in range(11_000)) + b"\nq,d\n", "10,000 columns"),
        (b"{" + b", ".join(b'"k%d": 1' % at for at in range(10_500)) + b"}", "10,500"),
    ],
)
def test_what_has_too_many_columns_is_no_table(tmp_path: Path, content: bytes, found: str) -> None:
    path = tmp_path / "wide"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=found) as refused:
        read_judgments(path)
    assert refused.value.code == "too-many-columns"


def test_objects_with_names_of_their_own_make_no_table_of_empty_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular, "MAX_EMPTY_CELLS", 1_000)
    path = tmp_path / "sparse.jsonl"
    path.write_bytes(b"".join(b'{"query": "q", "k%d": 1}\n' % at for at in range(100)))
    with pytest.raises(FormatError) as refused:
        read_judgments(path)
    assert (refused.value.code, refused.value.line) == ("sparse-objects", 40)


def test_objects_of_which_each_has_some_of_many_names_are_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular, "MAX_EMPTY_CELLS", 1_000)
    path = tmp_path / "optional.jsonl"
    line = b'{"query": "q%d", "doc": "d", "label": 1, "k%d": 1}\n'
    path.write_bytes(b"".join(line % (at, at % 20) for at in range(200)))
    assert read_judgments(path).frame.height == 200


FORMULA_LIKE = st.builds(
    lambda guards, start, rest: "'" * guards + start + rest,
    st.integers(0, 3),
    st.sampled_from(["=", "+", "-", "@", "\t", "\r", "\n", "＝", "", "x"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ids=st.lists(st.one_of(FORMULA_LIKE, any_ids), min_size=1, max_size=6, unique=True),
    form=st.sampled_from(["csv", "tsv"]),
)
def test_a_guarded_table_has_no_formula_and_comes_back_with_the_same_ids(
    tmp_path: Path, ids: list[str], form: str
) -> None:
    frame = pl.DataFrame({"query": ids, "doc": ids[::-1], "judge": ids, "label": [1] * len(ids)})
    separator = "," if form == "csv" else "\t"
    content = guard_formulas(frame).write_csv(separator=separator)
    cells = [cell for row in csv.reader(io.StringIO(content, newline=""), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    found = read_table(made(tmp_path, content), form)  # type: ignore[arg-type]
    for name in ("query", "doc", "judge"):
        assert found[name].to_list() == frame[name].to_list()
