"""What a file is, by what is in it."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import ringtrue as rt
from ringtrue.doctor.recognise import recognise_file_kind
from ringtrue.errors import FormatError
from ringtrue.files.byte_source import Source

TEXTS = {
    "run": "q1 Q0 d1 1 3.5 BM25\nq1 Q0 d2 2 3.1 BM25\n",
    "judgments": "q1 0 d1 2\nq1 0 d2 0\n",
    "preferences": "q1 d1 d2 d2\n",
    "topics": "<top><num> 301 <title> goldfish </top>\n",
    "documents": ".I 1\n.T\nwings\n.W\nof a wing\n",
    "pool": "query,doc,runs,best_rank\nq1,d1,2,1\n",
    "sample": "query,doc,prob,stratum,design\nq1,d1,0.5,q1,pool_stratified\n",
    "frame": "query,doc,prob,drawn\nq1,d1,0.5,true\n",
    "pairs": "query,left,right\nq1,d1,d2\n",
    "confusion": '{"labels": [0, 1],\n "counts": [[80, 20], [5, 45]]}\n',
    "gains": '{"gains": {"0": 0, "1": 0.28, "2": 1}}\n',
    "scores": "run,query,measure,value\na,q1,AP,0.5\n",
}


def kind_of(folder: Path, text: str | bytes, name: str = "file") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return recognise_file_kind(Source(str(path)))


@pytest.mark.parametrize("kind", TEXTS)
def test_every_kind_is_told_by_its_content(kind: str, tmp_path: Path) -> None:
    assert kind_of(tmp_path, TEXTS[kind]) == kind


@pytest.mark.parametrize("kind", TEXTS)
def test_every_kind_is_told_when_it_is_packed(kind: str, tmp_path: Path) -> None:
    assert kind_of(tmp_path, gzip.compress(TEXTS[kind].encode())) == kind


def test_tables_are_told_whatever_their_format(tmp_path: Path) -> None:
    frame = pl.DataFrame({"qid": ["q1"], "docno": ["d1"], "annotator": ["ann"], "grade": [2]})
    frame.write_csv(tmp_path / "a.tsv", separator="\t")
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.jsonl")
    assert {recognise_file_kind(Source(str(tmp_path / f"a.{end}"))) for end in ("tsv", "parquet", "jsonl")} == {
        "judgments"
    }


def test_what_a_command_estimated_is_a_confusion_matrix_too(tmp_path: Path) -> None:
    matrix = rt.Confusion(rows="gold", columns="ann", labels=(0, 1), counts=[[8, 2], [1, 9]])
    rt.write_confusion(tmp_path / "m.json", matrix)
    assert recognise_file_kind(Source(str(tmp_path / "m.json"))) == "confusion"


def test_names_tell_queries_from_documents_where_their_lines_look_alike(tmp_path: Path) -> None:
    assert kind_of(tmp_path, "7\tdo goldfish grow\n", "queries.tsv") == "topics"
    assert kind_of(tmp_path, "7\tgoldfish grow to the size of a hand\n", "collection.tsv") == "documents"
    assert kind_of(tmp_path, TEXTS["documents"], "cran.qry") == "topics"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("hello world\n", "unknown-file"),
        ("q1 Q0 d1 1 high BM25\n", "bad-score"),
        ("clicks,views,price\n1,2,3\n", "unknown-columns"),
        ("1,2,3\n4,5,6\n", "unnamed-columns"),
        ('[{"query": "q1"}]\n', "json-list"),
        ('{"runs": {},\n "notes": []}\n', "unknown-json"),
        ('{"queries": 3, "seed": 1}\n', "unknown-columns"),
        ("query,doc,rating,low,high,matches,votes\nq1,d1,0.5,0,1,2,3\n", "ratings-file"),
        ("<!DOCTYPE html>\n<html></html>\n", "web-page"),
        ("%PDF-1.4\nstream\n", "binary-file"),
        (b"\0\1\2\3", "binary-file"),
        (b"PK\3\4sheet", "unknown-compression"),
        (b"\xff\xfeq\0", "not-utf8"),
        ("", "empty-file"),
        (gzip.compress(b"", mtime=0), "empty-file"),
    ],
)
def test_what_is_none_of_ours_is_told_for_what_it_looks_like(text: str | bytes, code: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as error:
        kind_of(tmp_path, text)
    assert (error.value.code, error.value.file) == (code, str(tmp_path / "file"))


def test_a_spreadsheet_and_a_database_are_told_by_their_names(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as sheet:
        kind_of(tmp_path, b"PK\3\4sheet", "labels.xlsx")
    with pytest.raises(FormatError) as database:
        kind_of(tmp_path, b"SQLite format 3\0", "ringtrue.db")
    assert (sheet.value.code, database.value.code) == ("spreadsheet", "database-file")
