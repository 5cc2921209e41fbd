from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from ringtrue.errors import FormatError
from ringtrue.files import (
    read_documents,
    read_judgments,
    read_preferences,
    read_run,
    read_topics,
    recognise_kind,
)
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import FORMATS, Format, find_separator, recognise_format


def made(tmp_path: Path, text: str) -> Source:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    return Source(str(path))


@pytest.mark.parametrize(
    ("kind", "text", "form"),
    [
        ("run", "q1 Q0 d1 1 1.5 t\n", "trec-run"),
        ("run", "q1 Q0 d1 1 1.5 t and more\n", "trec-run"),
        ("run", "\ufeff# c\n\n\tq1\tQ0\td1\t1\t1.5\tt\r\n", "trec-run"),
        ("run", "1\t2\t1\n", "msmarco-run"),
        ("run", "1\tdoc\u00a0a\t1\n", "msmarco-run"),
        ("run", "q_id\tdoc_id\tscore\n", "tsv"),
        ("judgments", "q1 0 d1 1\n", "trec-qrels"),
        ("judgments", "1\t0\t7\t1\n", "trec-qrels"),
        ("judgments", "1 184 2 \n", "qrels-3"),
        ("judgments", "q1,0 0 d,1 1\n", "trec-qrels"),
        ("judgments", "topic,doc,worker,label\n", "csv"),
        ("judgments", '"query";"doc";"label"\n', "csv"),
        ("judgments", "query-id\tcorpus-id\tscore\n", "tsv"),
        ("judgments", '\n{"query": "q1"}\n', "jsonl"),
        ("preferences", "q1 a b a\n", "pairs"),
        ("preferences", "q1 0 g d\u2028x 1\n", "trec-prefs"),
        ("preferences", "left,right,winner\n", "csv"),
        ("topics", "<top>\n<num> 1\n", "trec-topics"),
        ("topics", ".I 1\n", "cranfield"),
        ("topics", "1\twhat, why, which doc, which query\n", "id-text"),
        ("topics", '{"_id": "1", "text": "x"}\n', "jsonl"),
        ("documents", "D1\thttps://a.org\tA title\tA body\n", "id-text"),
        ("documents", "_id,title,text\n", "csv"),
    ],
)
def test_a_format_is_recognised_from_the_first_line(tmp_path: Path, kind: Any, text: str, form: str) -> None:
    assert recognise_format(made(tmp_path, text), kind) == form


def test_a_table_is_recognised_by_names_that_the_caller_knows(tmp_path: Path) -> None:
    source = made(tmp_path, "Anfrage,Dokument,Urteil\na,b,1\n")
    assert recognise_format(source, "judgments", columns=["Anfrage", "Dokument", "Urteil"]) == "csv"
    with pytest.raises(FormatError, match="Anfrage, Dokument, Urteil") as refused:
        recognise_format(source, "judgments")
    assert refused.value.code == "unknown-columns"
    (hint,) = refused.value.note.suggestions
    assert list(hint.arguments["columns"]) == ["query", "doc", "label"]  # type: ignore[arg-type]


def test_a_file_of_another_kind_is_called_what_it_looks_like(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"run .* judgments") as refused:
        recognise_format(made(tmp_path, "q1 Q0 d1 1 1.5 t\n"), "judgments")
    assert refused.value.code == "other-kind"
    with pytest.raises(FormatError, match=r"judgments .* run") as refused:
        recognise_format(made(tmp_path, "q1 0 d1 1\n"), "run")
    assert refused.value.code == "other-kind"


def test_text_in_no_known_format_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"<top>.*'just words'") as refused:
        recognise_format(made(tmp_path, "just words\n"), "topics")
    assert refused.value.code == "unknown-content"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("301 0 CR93E-10279 0\n", "judgments"),
        ("301 0 a 0\n301 0 b 0\n301 0 c 1\n", "judgments"),
        ("1 0 1 1\n1 0 2 0\n", "judgments"),
        ("301 0 a x\n", "judgments"),
        ("1\t0\t7\t1\n", "judgments"),
        ("1 184 2 \n1 29 2 \n", "judgments"),
        ("1\t184\t0\n1\t29\t2\n", "judgments"),
        ("q1 Q0 d1 1 1.5 t\n", "run"),
        ("7\t11\t1\n7\t12\t2\n8\t1\t1\n", "run"),
        ("q1 a b b\nq1 c a c\n", "preferences"),
        ("7 11 12 11\n7 12 13 13\n", "preferences"),
        ("q1 a b tie\nq1 a c a\n", "preferences"),
        ("q1 0 g d1 1\n", "preferences"),
        ("156493\tdo goldfish grow\n", "topics"),
        ("1\tthree words here now\n", "topics"),
        ("<top>\n", "topics"),
        (".I 1\n", "documents"),
        ("query,doc,judge,label\n", "judgments"),
        ("query-id\tcorpus-id\tscore\n", "judgments"),
        ("qid,docno,score,rank\n", "run"),
        ("left,right,winner\n", "preferences"),
        ("query,title\n", "topics"),
        ('{"_id": "1", "title": "t", "text": "x"}\n', "documents"),
        ("doc,text\n", "documents"),
    ],
)
def test_what_a_file_holds_is_told_from_its_first_lines(tmp_path: Path, text: str, kind: str) -> None:
    assert recognise_kind(made(tmp_path, text)) == kind


def test_a_file_of_no_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="2 fields") as refused:
        recognise_kind(made(tmp_path, "two words\n"))
    assert refused.value.code == "unknown-content"
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"form": ...}]


def test_the_separator_of_a_header_is_the_most_frequent_one() -> None:
    assert [find_separator(text) for text in ("a,b;c,d", "a;b;c", "a\tb,c\td", "abc")] == [",", ";", "\t", None]


JUDGMENTS = [
    ("dl19/human.qrels", "trec-qrels", 9260, 43, 1),
    ("dl19/llm-umbrela_gpt4.qrels", "trec-qrels", 9260, 43, 1),
    ("dl21/human.qrels", "trec-qrels", 10828, 53, 1),
    ("rf10/labels.csv", "csv", 98453, 100, 766),
    ("llmjudge/labels.csv", "csv", 33 * 4423, 25, 33),
    ("cast19/TREC-CAsT-2019.qrels", "trec-qrels", 29350, 173, 1),
    ("cranfield/cranqrel", "qrels-3", 1837, 225, 1),
    ("trec_eval/qrels.test", "trec-qrels", 3681, 3, 1),
    ("trec_eval/qrels.test.with-comments", "trec-qrels", 3681, 3, 1),
    ("trec_eval/qrels.comment.test", "trec-qrels", 5890, 31, 1),
    ("trec_eval/qrels.123", "trec-qrels", 10362, 3, 3),
    ("trec_eval/qrels.comments.123", "trec-qrels", 10362, 3, 3),
]


@pytest.mark.real
@pytest.mark.parametrize(("name", "form", "rows", "queries", "judges"), JUDGMENTS)
def test_real_judgments_are_read_whole(data: Path, name: str, form: str, rows: int, queries: int, judges: int) -> None:
    source = Source(str(data / name))
    assert recognise_format(source, "judgments") == form
    assert recognise_kind(source) == "judgments"
    judgments = read_judgments(data / name)
    frame = judgments.frame
    assert (frame.height, frame["query"].n_unique(), len(judgments.judges)) == (rows, queries, judges)


@pytest.mark.real
def test_crowd_labels_of_relevance_feedback_are_what_the_readme_says(data: Path) -> None:
    frame = read_judgments(data / "rf10/labels.csv").frame
    assert frame.columns == ["query", "doc", "judge", "label", "gold"]
    assert frame.select("query", "doc").n_unique() == 20_232
    assert set(frame["label"].unique()) == {-2, 0, 1, 2}


@pytest.mark.real
def test_float_labels_of_cast_are_grades(data: Path) -> None:
    labels = read_judgments(data / "cast19/TREC-CAsT-2019.qrels").frame["label"]
    assert set(range(5)) <= set(labels.unique()) <= {0, 1, 2, 3, 4, 10, 20, 30, 40, 50}


@pytest.mark.real
def test_cranfield_has_its_unjudged_rows(data: Path) -> None:
    assert (read_judgments(data / "cranfield/cranqrel").frame["label"] == -1).sum() == 225


@pytest.mark.real
def test_one_file_of_new_york_times_labels_is_read_by_setting_and_by_column(data: Path) -> None:
    labels = data / "nyt17/pilot_labels.csv"
    everything = read_judgments(labels).frame
    settings = everything["experiment"].unique().to_list()
    parts = [read_judgments(labels, where={"experiment": setting}).frame for setting in settings]
    assert [part["experiment"].unique().to_list() for part in parts] == [[setting] for setting in settings]
    assert sum(part.height for part in parts) == everything.height == 7913
    nist = read_judgments(data / "nyt17/pilot_docs.csv", columns={"label": "nist_rel"}).frame
    revised = read_judgments(data / "nyt17/pilot_docs.csv", columns={"label": "reviewers_revised"}).frame
    assert nist.height == revised.height == 120
    assert nist["query"].n_unique() == 10
    assert nist["label"].to_list() == [int(label) for label in revised["nist_rel"]]


PREFERENCES = [
    ("dl21/human.pref", "pairs", 11681, 50),
    ("cast19/TREC-CAsT-2019.pref", "pairs", 14573, 171),
    ("arena/llmfao.csv", "csv", 8931, 1),
    ("trec_eval/prefs.test", "trec-prefs", 331, 18),
    ("trec_eval/prefs.comment.test", "trec-prefs", 331, 18),
]


@pytest.mark.real
@pytest.mark.parametrize(("name", "form", "rows", "queries"), PREFERENCES)
def test_real_preferences_are_read_whole(data: Path, name: str, form: str, rows: int, queries: int) -> None:
    source = Source(str(data / name))
    assert recognise_format(source, "preferences") == form
    assert recognise_kind(source) == "preferences"
    frame = read_preferences(data / name).frame
    assert (frame.height, frame["query"].n_unique()) == (rows, queries)


@pytest.mark.real
def test_pairs_of_trec_evals_groups_are_those_counted_by_hand(data: Path) -> None:
    levels: dict[tuple[str, ...], list[tuple[str, float]]] = {}
    for line in (data / "trec_eval/prefs.test").read_text().splitlines():
        query, judge, group, doc, level = line.split()
        levels.setdefault((query, judge, group), []).append((doc, float(level)))
    expected = {
        (query, judge, better, worse)
        for (query, judge, _), docs in levels.items()
        for better, high in docs
        for worse, low in docs
        if high > low
    }
    found = read_preferences(data / "trec_eval/prefs.test").frame
    assert {
        (query, judge, left, right) if winner == "left" else (query, judge, right, left)
        for query, left, right, judge, winner in found.rows()
    } == expected


@pytest.mark.slow
@pytest.mark.real
def test_real_runs_are_read_whole(data: Path) -> None:
    paths = [*sorted((data / "dl19/runs").glob("*.run")), *sorted((data / "dl21/runs").glob("*.run"))]
    paths += [data / "trec_eval" / name for name in ("results.test", "results.trunc", "results.comment.test")]
    assert len(paths) == 37 + 3 + 3
    for path in paths:
        lines = path.read_text().splitlines()
        assert recognise_format(Source(str(path)), "run") == "trec-run"
        assert recognise_kind(Source(str(path))) == "run"
        run = read_run(path)
        assert run.frame.height == len(lines)
        assert sorted(run.frame.rows()) == sorted(
            (query, doc, float(score)) for query, _, doc, _, score, *_ in map(str.split, lines)
        )


@pytest.mark.real
def test_real_topics_and_documents_are_read_whole(data: Path) -> None:
    goldfish = read_topics(data / "dl19/topics.tsv")
    assert goldfish.height == 43
    assert goldfish.row(0) == ("156493", "do goldfish grow")
    assert recognise_kind(Source(str(data / "dl19/topics.tsv"))) == "topics"
    assert read_topics(data / "dl21/topics.tsv").height == 53
    assert read_topics(data / "cranfield/cran.qry").height == 225
    documents = read_documents(data / "cranfield/cran.all.1400")
    assert documents.columns == ["doc", "title", "author", "source", "text"]
    assert documents["doc"].to_list() == [str(n) for n in range(1, 1401)]


def test_a_line_cut_off_at_the_end_of_the_head_misleads_nobody(tmp_path: Path) -> None:
    lines = "".join(f"q1 doc-{n} doc-{n + 1} doc-{n + 1}\n" for n in range(5000))
    assert len(lines) > 1 << 16
    for shift in range(30):
        assert recognise_kind(made(tmp_path, "#" + "x" * shift + "\n" + lines)) == "preferences"


def test_every_format_belongs_to_a_kind_of_file() -> None:
    assert set(get_args(Format)) == {form for forms in FORMATS.values() for form in forms}


def test_three_words_are_a_broken_line_and_not_a_run_of_ranks(tmp_path: Path) -> None:
    assert recognise_format(made(tmp_path, "q1 Q0 d1\n"), "run") == "trec-run"
    assert recognise_format(made(tmp_path, "q1 0 d1\n"), "judgments") == "trec-qrels"
    assert recognise_format(made(tmp_path, "q1 d1 1\n"), "run") == "msmarco-run"
