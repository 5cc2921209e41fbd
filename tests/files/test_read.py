from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings, strategies as st

from ringtrue.errors import DuplicateError, FormatError, RingtrueError, TableError, UsageError
from ringtrue.files import (
    FORMATS,
    read_documents,
    read_judgments,
    read_preferences,
    read_run,
    read_topics,
    recognise_kind,
)
from ringtrue.files.byte_source import Source
from ringtrue.files.read import derive_run_name, explain_duplicate
from ringtrue.messages import Note
from strategies import examples, messy_texts

READERS: dict[str, Callable[..., Any]] = {
    "run": read_run,
    "judgments": read_judgments,
    "preferences": read_preferences,
    "topics": read_topics,
    "documents": read_documents,
}


def made(tmp_path: Path, content: str | bytes, name: str = "file") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_run_is_read_packed_or_not(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    run = read_run(made(tmp_path, pack(b"q1 Q0 d1 1 3.5 BM25\nq1 Q0 d2 2 -1e-3 BM25\n")))
    assert run.frame.rows() == [("q1", "d1", 3.5), ("q1", "d2", -0.001)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/bm25.run", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("bm25.tuned.run.zst", "bm25.tuned"),
        ("bm25", "bm25"),
        ("-", "stdin"),
        (".hidden", ".hidden"),
    ],
)
def test_a_run_is_named_after_its_file(path: str, name: str) -> None:
    assert derive_run_name(path) == name


def test_a_run_can_be_named_by_its_tag(tmp_path: Path) -> None:
    path = made(tmp_path, "# comment\n\nq1  Q0 d\u00a01 1 3.5 my\u00a0tag\nq1 Q0 d2 2 2.5 other\n", "file.run")
    run = read_run(path, name="tag")
    assert run.name == run.tag == "my\u00a0tag"
    assert read_run(path).name == "file"


def test_notes_of_the_reader_reach_the_caller(tmp_path: Path) -> None:
    notes: list[Note] = []
    read_run(made(tmp_path, "q1 Q0 d1 1 3.5 t more\n"), note=notes.append)
    assert [note.code for note in notes] == ["extra-fields"]


def test_the_best_rank_of_an_msmarco_run_is_the_highest_score(tmp_path: Path) -> None:
    run = read_run(made(tmp_path, "7\t11\t2\n7\t12\t1\n7\t13\t3\n"))
    assert run.ranked()["doc"].to_list() == ["12", "11", "13"]


def test_the_iteration_of_qrels_is_the_judge(tmp_path: Path) -> None:
    judgments = read_judgments(made(tmp_path, "q1 anna d1 2\nq1 ben d1 0\n"))
    assert judgments.judges == ("anna", "ben")
    assert judgments.frame.columns == ["query", "doc", "judge", "label"]


def test_a_document_that_stands_twice_in_a_run_names_both_lines(tmp_path: Path) -> None:
    path = made(tmp_path, "# c\nq1 Q0 d1 1 3 t\nq2 Q0 d1 1 3 t\n\nq1 Q0 d1 2 1 t\n", "a.run")
    with pytest.raises(DuplicateError, match=r"\(lines 2, 5\)") as refused:
        read_run(path)
    error = refused.value
    assert (error.code, error.file, error.query, error.doc) == ("duplicate-document", str(path), "q1", "d1")


def test_a_document_that_stands_twice_in_a_table_names_the_file(tmp_path: Path) -> None:
    path = made(tmp_path, "query,doc,score\nq1,d1,3\nq1,d1,3\n", "a.csv")
    with pytest.raises(DuplicateError, match=r"\(rows 1, 2\)") as refused:
        read_run(path)
    assert (refused.value.code, refused.value.file) == ("duplicate-document", str(path))


def test_two_labels_of_a_document_are_explained_by_their_lines(tmp_path: Path) -> None:
    path = made(tmp_path, "q1 0 d1 1\nq1 0 d2 0\nq1 0 d1 2\n", "a.qrels")
    with pytest.raises(DuplicateError) as caught:
        read_judgments(path).require_one_label_each()
    explained = explain_duplicate(caught.value, path)
    assert (explained.code, explained.file) == ("repeated-label", str(path))
    assert "(lines 1, 3)" in explained.text


def test_a_judges_own_repeats_are_explained_by_that_judges_rows(tmp_path: Path) -> None:
    text = "item,worker,label\na,x,1\na,y,1\nb,y,0\na,x,2\n"
    path = made(tmp_path, text, "l.csv")
    error = DuplicateError("repeated-label", "twice", table="judgments", query="0", doc="a", judge="x")
    told = explain_duplicate(error, path)
    assert str(told) == f"{path}: twice (rows 1, 4)"
    assert (told.code, told.query, told.doc, told.judge) == ("repeated-label", "0", "a", "x")
    lines = made(tmp_path, "0 x a 1\n0 y a 1\n0 x a 2\n", "l.qrels")
    assert str(explain_duplicate(error, lines)) == f"{lines}: twice (lines 1, 3)"
    anybody = DuplicateError("several-judges", "twice", table="judgments", query="0", doc="a")
    assert str(explain_duplicate(anybody, path)) == f"{path}: twice (rows 1, 2, 4)"


def test_a_pair_that_stands_twice_is_explained_by_its_file(tmp_path: Path) -> None:
    path = made(tmp_path, "left,right,winner\na,b,a\nb,a,a\n", "p.csv")
    error = DuplicateError("repeated-label", "twice", table="judgments", query="0", doc="a", judge="0")
    assert str(explain_duplicate(error, path, kind="preferences")) == f"{path}: twice"


def test_judgments_without_queries_are_read_with_a_word_where_none_is_needed(tmp_path: Path) -> None:
    path = made(tmp_path, "item,worker,label\na,x,1\n", "l.csv")
    notes: list[Note] = []
    found = read_judgments(path, needs_query=False, note=notes.append)
    assert found.frame.rows() == [("0", "a", "x", 1)]
    assert [(note.code, note.subject, note.suggestions) for note in notes] == [("no-query-column", str(path), ())]
    with pytest.raises(TableError) as refused:
        read_judgments(path)
    error = refused.value
    assert (error.code, error.file, error.columns) == ("missing-column", str(path), ("query",))
    assert [hint.arguments for hint in error.note.suggestions] == [{"columns": {"query": "NAME"}}]


@pytest.mark.parametrize(
    ("header", "hints"),
    [
        ("qery,url", [{"columns": {"query": "qery"}}]),
        ("prompt,url", [{"columns": {"query": "NAME"}}]),
        ("seconds,batch", []),
    ],
)
def test_a_table_without_queries_is_told_with_the_column_that_may_have_them(
    tmp_path: Path, header: str, hints: list[dict[str, Any]]
) -> None:
    notes: list[Note] = []
    labels = made(tmp_path, f"item,worker,label,{header}\na,x,1,1,2\n", "l.csv")
    read_judgments(labels, needs_query=False, note=notes.append)
    pairs = made(tmp_path, f"left,right,winner,{header}\na,b,a,1,2\n", "p.csv")
    read_preferences(pairs, note=notes.append)
    assert [(note.code, note.subject) for note in notes] == [
        ("no-query-column", str(labels)),
        ("no-query-column", str(pairs)),
    ]
    assert all([suggestion.arguments for suggestion in note.suggestions] == hints for note in notes)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Topic,item,label\nq,a,1\n", {}),
        ("frage,item,label\nq,a,1\n", {"query": "frage"}),
        ("q 0 a 1\n", {}),
        ("q a 1\n", {}),
        ('{"query_id": "q", "doc": "a", "label": 1}\n', {}),
    ],
)
def test_a_query_that_is_there_needs_no_word(tmp_path: Path, text: str, columns: dict[str, str]) -> None:
    notes: list[str] = []
    found = read_judgments(made(tmp_path, text), columns=columns, needs_query=False, note=notes.append)
    assert found.frame["query"].to_list() == ["q"]
    assert notes == []


def test_every_pair_of_different_level_in_a_group_is_a_preference(tmp_path: Path) -> None:
    text = "q1 j g a 2\nq1 j g b 0\nq1 j g c 2\nq1 j h a 0\nq1 j h c 1\nq2 j g a 1\nq2 j g b 1\n"
    assert read_preferences(made(tmp_path, text)).frame.rows() == [
        ("q1", "a", "b", "j", "left"),
        ("q1", "b", "c", "j", "right"),
        ("q1", "a", "c", "j", "right"),
    ]
    with pytest.raises(TableError) as refused:
        read_preferences(made(tmp_path, "q1 j g a 1\nq1 j g b 1\n"))
    assert refused.value.code == "equal-levels"


def test_pairs_that_are_still_to_be_asked_are_left_out_with_a_word(tmp_path: Path) -> None:
    text = "query,left,right,winner,trap\nq,a,b,left,false\nq,b,c,,true\nq,c,d, ,true\nq,d,e,e,true\n"
    path, notes = made(tmp_path, text, "asked.csv"), list[Note]()
    found = read_preferences(path, note=notes.append)
    assert found.frame.select("left", "winner", "trap").rows() == [("a", "left", "false"), ("d", "right", "true")]
    assert [(note.code, note.subject) for note in notes] == [("unanswered-pairs", str(path))]
    assert "2 of 4" in notes[0]
    lines = '{"left": "a", "right": "b", "winner": null}\n{"left": "a", "right": "c", "winner": "c"}\n'
    assert read_preferences(made(tmp_path, lines, "asked.jsonl")).frame["winner"].to_list() == ["right"]


def test_pairs_of_which_none_was_asked_yet_are_refused(tmp_path: Path) -> None:
    path = made(tmp_path, "query,left,right,winner\nq,a,b,\nq,b,c,\n", "asked.csv")
    with pytest.raises(TableError) as refused:
        read_preferences(path)
    assert (refused.value.code, refused.value.file) == ("no-winner", str(path))


def test_a_bad_row_after_an_open_one_keeps_its_number(tmp_path: Path) -> None:
    path = made(tmp_path, "query,left,right,winner\nq,a,b,\nq,b,c,left\nq,c,d,rigth\n", "asked.csv")
    with pytest.raises(TableError, match=r"'rigth'.*'right'\?") as refused:
        read_preferences(path)
    error = refused.value
    assert (error.code, error.file, error.note.subject) == ("bad-winner", str(path), "row 3")


@pytest.mark.parametrize(
    ("text", "line", "code", "found"),
    [
        ("# comment\nq a b a\n\nq c c tie\n", 4, "self-comparison", "'c'"),
        ("q a b a\nq a b c\n", 2, "bad-winner", "'c'"),
        ("q a b a\nq c d LEFT\n", 2, "bad-winner", "'left'?"),
        ("q a b a\nq tie d tie\n", 2, "ambiguous-winner", "'tie'"),
    ],
)
def test_a_line_that_is_no_preference_is_named(tmp_path: Path, text: str, line: int, code: str, found: str) -> None:
    path = made(tmp_path, text, "bad.pref")
    with pytest.raises(FormatError) as refused:
        read_preferences(path, form="pairs")
    error = refused.value
    assert (error.code, error.file, error.line) == (code, str(path), line)
    assert found in error.text


def test_a_format_of_another_kind_suggests_the_near_one(tmp_path: Path) -> None:
    path = made(tmp_path, "q1 0 d1 1\n")
    with pytest.raises(UsageError, match=r"'trec-qrel'.*'trec-qrels'") as refused:
        read_judgments(path, form="trec-qrel")  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.parameter, refused.value.file) == ("unknown-format", "form", str(path))
    with pytest.raises(UsageError, match=r"'cranfield'.*trec-qrels, qrels-3") as refused:
        read_judgments(path, form="cranfield")
    assert refused.value.code == "unknown-format"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("judgments", "q1 0 d1 1\n"),
        ("run", "q1 Q0 d1 1 1 t\n"),
        ("preferences", "q1 a b a\n"),
        ("topics", "1\ttext\n"),
        ("documents", ".I 1\n.W\ntext\n"),
    ],
)
@pytest.mark.parametrize("option", ["columns", "where"])
def test_options_for_tables_are_refused_for_files_without_columns(
    tmp_path: Path, kind: str, text: str, option: str
) -> None:
    with pytest.raises(UsageError) as refused:
        READERS[kind](made(tmp_path, text), **{option: {"label": "grade"}})
    assert (refused.value.code, refused.value.parameter) == ("no-column-names", option)


def test_a_column_can_be_mapped_although_another_has_a_usual_name(tmp_path: Path) -> None:
    path = made(tmp_path, "qid,my_query,docno,other_doc,label\n1,one,d1,e1,1\n2,two,d2,e2,0\n")
    judgments = read_judgments(path, columns={"query": "my_query", "doc": "other_doc"})
    assert judgments.frame.select("query", "doc", "label").rows() == [("one", "e1", 1), ("two", "e2", 0)]


def test_a_bad_row_of_a_filtered_table_says_how_it_was_filtered(tmp_path: Path) -> None:
    path = made(tmp_path, "query,doc,label,setting\nq1,d1,1,a\nq1,d1,1,b\nq1,d2,x,b\n", "a.csv")
    with pytest.raises(TableError, match=r"setting=b: row 2: .*'x'") as refused:
        read_judgments(path, where={"setting": "b"})
    assert (refused.value.code, refused.value.file) == ("bad-label", str(path))


@pytest.mark.parametrize("reader", [read_topics, read_documents])
def test_ids_of_texts_in_a_table_are_checked(tmp_path: Path, reader: Callable[..., pl.DataFrame]) -> None:
    column = "query" if reader is read_topics else "doc"
    with pytest.raises(FormatError, match=f"{column} '7'") as repeated:
        reader(made(tmp_path, f"{column},title\n7,one\n7,two\n"))
    assert repeated.value.code == "duplicate-id"
    with pytest.raises(TableError) as refused:
        reader(made(tmp_path, f"{column},title\n7,one\n,two\n"))
    error = refused.value
    assert (error.code, error.note.subject, error.columns) == ("empty-cell", "row 2", (column,))
    assert reader(made(tmp_path, f'{{"{column}": 7, "title": "one"}}\n'))[column].to_list() == ["7"]


def test_the_id_of_beir_files_is_their_underscore_id(tmp_path: Path) -> None:
    corpus = '{"_id": "d1", "title": "T", "text": "one", "metadata": {}, "doc": "x"}\n{"_id": "d2", "text": "two"}\n'
    frame = read_documents(made(tmp_path, corpus, "corpus.jsonl"))
    assert frame.select("doc", "text").rows() == [("d1", "one"), ("d2", "two")]
    queries = '{"_id": "q1", "text": "why", "query": "other"}\n'
    assert read_topics(made(tmp_path, queries, "queries.jsonl"))["query"].to_list() == ["q1"]
    qrels = made(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t2\n", "test.tsv")
    assert read_judgments(qrels).frame.rows() == [("q1", "d1", "0", 2)]


def _parquet() -> bytes:
    stream = io.BytesIO()
    pl.DataFrame({"query": ["q1", "q1"], "doc": ["d1", "d2"], "label": [1, 2]}).write_parquet(stream)
    return stream.getvalue()


VALID: dict[str, bytes] = {
    "trec-run": b"q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 2.5 tag\n",
    "msmarco-run": b"1\t2\t1\n1\t3\t2\n",
    "trec-qrels": b"q1 0 d1 1\nq1 0 d2 0\n",
    "pairs": b"q1 d1 d2 d1\nq1 d1 d3 tie\n",
    "trec-prefs": b"q1 0 g d1 1\nq1 0 g d2 0\n",
    "trec-topics": b"<top>\n<num> Number: 301\n<title> T\n<desc> Description:\nD\n</top>\n",
    "cranfield": b".I 1\n.T\nt\n.A\na\n.B\nb\n.W\nw\n.I 2\n.W\nx\n",
    "id-text": b"1\tone\n2\ttwo\n",
    "csv": b'query,doc,score,label\nq1,d1,1,1\n"q""2","d,2",2.5,0\n',
    "tsv": b"query-id\tcorpus-id\tscore\n1\t2\t1\n3\t4\t0\n",
    "prefs csv": b"query,left,right,winner,judge\nq1,a,b,left,x\n",
    "jsonl": b'{"query": "q", "doc": "d", "label": 1}\n{"query": 2, "doc": ["d"], "score": {"a": null}}\n',
    "beir": b'{"_id": "d1", "title": "T", "text": "x", "metadata": {}}\n',
    "parquet": _parquet(),
    "gz": gzip.compress(b"q1 0 d1 1\n" * 50, mtime=0),
    "zst": zstandard.compress(b"q1 0 d1 1\n" * 50),
}
SCRAPS = [
    b"\n", b"\r", b"\t", b" ", b",", b'"', b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"#", b"{", b"}", b"[",
    b"]", b":", b"<", b"</top>", b"<num>", b"<top>", b".I", b".W\n", b"nan", b"1e999", b"-", b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b'"\\ud800"', b"null", b"NaN", b"9" * 30, b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"[" * 2000,
    b'{"a":' * 300,
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid file with a few things cut out, put in or doubled."""
    text = draw(st.sampled_from(list(VALID.values())))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 8)))
        middle = draw(st.one_of(st.sampled_from(SCRAPS), st.binary(max_size=3), st.just(text[start:stop] * 2)))
        text = text[:start] + middle + text[stop:]
    return draw(st.sampled_from([text, text, text[: draw(st.integers(0, len(text)))]]))


anything = st.one_of(st.binary(max_size=200), mutated(), messy_texts((False, False, False, True)))
choices = [(kind, form) for kind, forms in FORMATS.items() for form in (None, *forms)]


@settings(examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=anything, choice=st.sampled_from(choices))
@example(content=b'{"query": "q", "doc": ' + b"[" * 100_000, choice=("judgments", None))
@example(content=b'{"query": "\\ud800", "doc": "d", "label": 1}', choice=("judgments", None))
@example(content=b"\n\n", choice=("topics", "id-text"))
@example(content=b'{"query": "q", "doc": ["d"], "label": 1}', choice=("judgments", "jsonl"))
@example(content=b"PAR1\xff\xff\xff\xffPAR1", choice=("run", "parquet"))
def test_whatever_a_file_holds_only_our_own_errors_come_out(
    tmp_path: Path, content: bytes, choice: tuple[str, Any]
) -> None:
    kind, form = choice
    path = made(tmp_path, content)
    if kind == "judgments":
        with suppress(RingtrueError):
            read_judgments(path, form=form, needs_query=False)
    try:
        table = READERS[kind](path, form=form)
    except RingtrueError:
        return
    frame = table if isinstance(table, pl.DataFrame) else table.frame
    assert frame.height


@settings(examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=anything)
@example(content=b"query,doc,query\n")
def test_whatever_a_file_holds_its_kind_is_told_or_refused(tmp_path: Path, content: bytes) -> None:
    try:
        kind = recognise_kind(Source(str(made(tmp_path, content))))
    except RingtrueError:
        return
    assert kind in FORMATS


@settings(examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=mutated(),
    columns=st.dictionaries(
        st.sampled_from(["query", "doc", "label", "x"]), st.sampled_from(["query", "doc", "label", "_id"]), max_size=2
    ),
    where=st.sampled_from([{}, {"label": "1"}, {"doc": "d1"}]),
)
def test_columns_and_where_let_only_our_own_errors_out(
    tmp_path: Path, content: bytes, columns: dict[str, str], where: dict[str, str]
) -> None:
    path = made(tmp_path, content)
    for reader in READERS.values():
        with suppress(RingtrueError):
            reader(path, columns=columns, where=where)


def test_every_valid_file_of_the_fuzz_is_read(tmp_path: Path) -> None:
    """The mutations begin with files that get through, so they reach the far corners of the readers."""
    for name, content in VALID.items():
        if name != "jsonl":  # which is odd on purpose
            path = made(tmp_path, content)
            assert READERS[recognise_kind(Source(str(path)))](path) is not None


def test_scores_in_the_place_of_ranks_are_refused_and_not_turned_around(tmp_path: Path) -> None:
    path = tmp_path / "scores.run"
    path.write_text("q1 d1 1\nq1 d2 0.9\n")
    with pytest.raises(FormatError, match=r"0\.9") as refused:
        read_run(path)
    assert (refused.value.code, refused.value.file, refused.value.line) == ("bad-rank", str(path), 2)


def test_the_only_text_of_a_topic_is_its_title(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"_id": "7", "text": "do goldfish grow"}\n')
    assert read_topics(path).rows() == [("7", "do goldfish grow")]
    assert read_topics(path).columns == ["query", "title"]


def test_a_judge_of_blanks_is_nobody(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_text("query,left,right,judge,winner\nq,a,b,\t,left\n")
    assert read_preferences(path).frame["judge"].to_list() == ["0"]
