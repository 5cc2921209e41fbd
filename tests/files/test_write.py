from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings, strategies as st
from polars.testing import assert_frame_equal

from ringtrue.errors import FileError, RingtrueError, TableError, UsageError
from ringtrue.files import read_documents, read_judgments, read_preferences, read_run, read_topics, write_table
from ringtrue.messages import Note
from ringtrue.tables import Judgments, Preferences, Run
from strategies import any_ids, examples, judgments, preferences, runs

TABULAR = ["csv", "tsv", "jsonl", "parquet"]
PACKING = st.sampled_from(["", ".gz", ".zst"])
plain_ids = any_ids.filter(lambda text: not any(c <= " " for c in text) and not text.startswith(("#", "\ufeff")))
id_words = plain_ids.filter(lambda text: text == text.strip())
fresh = settings(examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
JUDGED = Judgments.of({"q1": {"d1": 1, "d2": 0}})


@pytest.mark.parametrize("form", TABULAR)
@fresh
@given(table=runs(), packing=PACKING)
def test_a_run_comes_back_from_a_table(tmp_path: Path, form: Any, table: Run, packing: str) -> None:
    path = tmp_path / f"copy.{form}{packing}"
    assert write_table(table, path) == form
    assert_frame_equal(read_run(path).ranked(), table.ranked(), check_exact=True)


@fresh
@given(table=runs(plain_ids), packing=PACKING)
def test_a_run_comes_back_from_trec_format(tmp_path: Path, table: Run, packing: str) -> None:
    path = tmp_path / f"copy.run{packing}"
    assert write_table(table, path) == "trec-run"
    again = read_run(path, form="trec-run")
    assert_frame_equal(again.ranked(), table.ranked(), check_exact=True)
    assert (again.name, again.tag) == ("copy", "run")


@pytest.mark.parametrize("form", TABULAR)
@fresh
@given(table=judgments(), packing=PACKING)
def test_judgments_come_back_from_a_table(tmp_path: Path, form: Any, table: Judgments, packing: str) -> None:
    path = tmp_path / f"copy.{form}{packing}"
    write_table(table, path)
    assert_frame_equal(read_judgments(path).frame, table.frame)


@fresh
@given(table=judgments(plain_ids), packing=PACKING)
def test_judgments_come_back_from_qrels(tmp_path: Path, table: Judgments, packing: str) -> None:
    path = tmp_path / f"copy.qrels{packing}"
    assert write_table(table, path) == "trec-qrels"
    assert_frame_equal(read_judgments(path, form="trec-qrels").frame, table.frame)
    write_table(table, path, form="qrels-3")
    assert_frame_equal(read_judgments(path, form="qrels-3").frame.drop("judge"), table.frame.drop("judge"))


@pytest.mark.slow
@pytest.mark.parametrize("form", TABULAR)
@fresh
@given(table=preferences(), packing=PACKING)
def test_preferences_come_back_from_a_table(tmp_path: Path, form: Any, table: Preferences, packing: str) -> None:
    path = tmp_path / f"copy.{form}{packing}"
    write_table(table, path)
    assert_frame_equal(read_preferences(path).frame, table.frame)


@pytest.mark.slow
@fresh
@given(table=preferences(plain_ids), packing=PACKING)
def test_preferences_come_back_from_pairs(tmp_path: Path, table: Preferences, packing: str) -> None:
    path = tmp_path / f"copy.pref{packing}"
    assert write_table(table, path) == "pairs"
    assert_frame_equal(read_preferences(path, form="pairs").frame.drop("judge"), table.frame.drop("judge"))


@pytest.mark.slow
@fresh
@given(table=preferences(plain_ids, ties=False), packing=PACKING)
def test_preferences_come_back_from_trec_prefs(tmp_path: Path, table: Preferences, packing: str) -> None:
    path = tmp_path / f"copy.prefs{packing}"
    assert write_table(table, path) == "trec-prefs"
    assert_frame_equal(read_preferences(path, form="trec-prefs").frame, table.frame)


@pytest.mark.parametrize("form", TABULAR)
def test_every_outcome_judge_and_further_column_of_preferences_comes_back(tmp_path: Path, form: Any) -> None:
    table = Preferences.of(
        {
            "query": ["q"] * 5,
            "left": [*"abcde"],
            "right": [*"bcdea"],
            "judge": [*"xyxyx"],
            "winner": ["left", "right", "tie", "both_good", "both_bad"],
            "trap": ["yes", "no", "true", "0", "1"],
        }
    )
    notes: list[Note] = []
    write_table(table, tmp_path / f"copy.{form}", note=notes.append)
    assert_frame_equal(read_preferences(tmp_path / f"copy.{form}", note=notes.append).frame, table.frame)
    assert notes == []


def test_the_only_judge_of_pairs_is_told_where_he_has_a_name(tmp_path: Path) -> None:
    pairs = {"query": ["q"], "left": ["a"], "right": ["b"], "winner": ["both_bad"]}
    notes: list[Note] = []
    write_table(Preferences.of(pairs), tmp_path / "a.pref", note=notes.append)
    assert notes == []
    assert (tmp_path / "a.pref").read_text() == "q a b both_bad\n"
    write_table(Preferences.of(pairs | {"judge": ["ann"]}), tmp_path / "a.pref", note=notes.append)
    assert [note.code for note in notes] == ["lost-columns"]
    assert "judge" in notes[0]


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
words = st.text(st.sampled_from("ab \"'#,;é\u00a0\\漢"), max_size=8)


@pytest.mark.parametrize("form", TABULAR)
@fresh
@given(table=st.dictionaries(any_ids, st.one_of(words, texts, st.none()), min_size=1, max_size=4))
def test_texts_come_back_from_a_table(tmp_path: Path, form: Any, table: dict[str, str | None]) -> None:
    for key, text, reader in (("query", "title", read_topics), ("doc", "text", read_documents)):
        frame = pl.DataFrame({key: list(table), text: list(table.values())}, schema={key: pl.String, text: pl.String})
        write_table(frame, tmp_path / f"copy.{form}")
        again = reader(tmp_path / f"copy.{form}", form=form)
        assert_frame_equal(again.with_columns(pl.col(text).cast(pl.String)), frame)


@fresh
@given(table=st.dictionaries(id_words, words.map(str.strip), min_size=1, max_size=4), packing=PACKING)
def test_texts_come_back_from_lines_of_id_and_text(tmp_path: Path, table: dict[str, str], packing: str) -> None:
    path = tmp_path / f"copy{packing}"
    frame = pl.DataFrame({"query": list(table), "title": list(table.values())})
    assert write_table(frame, path, form="id-text") == "id-text"
    assert_frame_equal(read_topics(path, form="id-text"), frame)


def test_further_columns_come_back(tmp_path: Path) -> None:
    columns = {"query": ["q1"], "doc": ["d1"], "label": [1], "prob": [0.1 + 0.2], "stratum": ["top"], "time": ["noon"]}
    table = Judgments.of(columns)
    for form in TABULAR:
        write_table(table, tmp_path / f"copy.{form}")
        assert_frame_equal(read_judgments(tmp_path / f"copy.{form}").frame, table.frame, check_exact=True)


def test_a_packed_file_is_really_packed(tmp_path: Path) -> None:
    write_table(JUDGED, tmp_path / "a.qrels.gz")
    write_table(JUDGED, tmp_path / "a.qrels.zst")
    expected = b"q1 0 d1 1\nq1 0 d2 0\n"
    assert gzip.decompress((tmp_path / "a.qrels.gz").read_bytes()) == expected
    with zstandard.open(tmp_path / "a.qrels.zst", "rb") as stream:
        assert stream.read() == expected


def test_what_a_format_cannot_hold_is_told(tmp_path: Path) -> None:
    notes: list[Note] = []
    columns = {"query": ["q1", "q1"], "doc": ["a", "b"], "judge": ["x", "y"], "label": [1, 0], "prob": [0.5, 1.0]}
    write_table(Judgments.of(columns), tmp_path / "a.qrels", note=notes.append)
    write_table(Judgments.of(columns), tmp_path / "b.qrels", form="qrels-3", note=notes.append)
    pairs = {
        "left": ["a", "c"],
        "right": ["b", "d"],
        "winner": ["left", "tie"],
        "judge": ["x", "y"],
        "subgroup": [1, 2],
    }
    write_table(Preferences.of(pairs), tmp_path / "a.pref", note=notes.append)
    write_table(Preferences.of(pairs), tmp_path / "a.prefs", note=notes.append)
    topics = pl.DataFrame({"query": ["1"], "title": ["t"], "narrative": ["n"]})
    write_table(topics, tmp_path / "a.tsv", form="id-text", note=notes.append)
    lost = ["trec-qrels", "prob"], ["qrels-3", "judge, prob"], ["pairs", "judge, subgroup"], ["trec-prefs", "1 pair"]
    lost += ["trec-prefs", "subgroup"], ["id-text", "narrative"]
    assert [note.code for note in notes] == ["lost-columns"] * 3 + ["lost-ties"] + ["lost-columns"] * 2
    assert all(word in note for note, words in zip(notes, lost, strict=True) for word in words)
    assert (tmp_path / "a.prefs").read_text() == "0 x 0 a 2\n0 x 0 b 1\n"
    assert (tmp_path / "a.tsv").read_text() == "1\tt\n"


@pytest.mark.parametrize(
    ("table", "name", "code", "found"),
    [
        (Judgments.of({"q 1": {"d1": 1}}), "a.qrels", "unwritable-cell", "'q 1'"),
        (Judgments.of({"q1": {"d\t1": 1}}), "a.qrels", "unwritable-cell", r"'d\t1'"),
        (Judgments.of({"#1": {"d1": 1}}), "a.qrels", "unwritable-cell", "'#1'"),
        (Run.of({"q1": {"d 1": 1}}), "a.run", "unwritable-cell", "'d 1'"),
        (Run.of({"#q": {"d1": 1}}), "a.run.gz", "unwritable-cell", "'#q'"),
        (Preferences.of({"left": ["a b"], "right": ["c"], "winner": ["c"]}), "a.pref", "unwritable-cell", "'a b'"),
        (Preferences.of({"left": ["a b"], "right": ["c"], "winner": ["c"]}), "a.prefs", "unwritable-cell", "'a b'"),
        (Preferences.of({"left": ["a"], "right": ["c"], "winner": ["tie"]}), "a.prefs", "only-ties", "ties"),
        (pl.DataFrame({"query": ["1"], "tags": [["x"]]}), "a.csv", "unwritable-table", "csv"),
    ],
)
def test_what_would_come_back_as_something_else_is_refused(
    tmp_path: Path, table: Any, name: str, code: str, found: str
) -> None:
    with pytest.raises(TableError) as refused:
        write_table(table, tmp_path / name)
    assert refused.value.code == code
    assert found in refused.value.text
    assert list(tmp_path.iterdir()) == []


def test_lines_of_id_and_text_need_both(tmp_path: Path) -> None:
    with pytest.raises(TableError) as refused:
        write_table(pl.DataFrame({"doc": ["1"], "url": ["u"]}), tmp_path / "a", form="id-text")
    assert (refused.value.code, refused.value.columns) == ("missing-column", ("text",))
    with pytest.raises(TableError) as refused:
        write_table(pl.DataFrame({"doc": ["1"], "text": ["two\nlines"]}), tmp_path / "a", form="id-text")
    assert refused.value.code == "unwritable-cell"


def test_a_tag_with_blanks_or_none_at_all_is_made_one_word(tmp_path: Path) -> None:
    for name, tag in (("my \t run", "my_run"), ("", "run")):
        write_table(Run.of({"q1": {"d1": 1}}, name=name), tmp_path / "a.run")
        assert (tmp_path / "a.run").read_text() == f"q1 Q0 d1 1 1.0 {tag}\n"


@pytest.mark.parametrize(
    ("name", "form", "code", "found"),
    [
        ("a.txt", None, "unknown-extension", ".qrels, .qrel, .prefs, .csv"),
        ("a", None, "unknown-extension", ".qrels"),
        ("a.gz", None, "unknown-extension", ".qrels"),
        ("a.run", None, "wrong-format", "trec-run"),
        ("a.pref", None, "wrong-format", "pairs"),
        ("a.txt", "cranfield", "wrong-format", "cranfield"),
        ("a.txt", "trec-qrel", "wrong-format", "trec-qrels"),
    ],
)
def test_a_format_that_cannot_be_written_is_refused(
    tmp_path: Path, name: str, form: Any, code: str, found: str
) -> None:
    with pytest.raises(UsageError) as refused:
        write_table(JUDGED, tmp_path / name, form=form)
    error = refused.value
    assert (error.code, error.file) == (code, str(tmp_path / name))
    assert found in error.text
    hints = [hint.function for hint in error.note.suggestions]
    assert hints == (["implied_preferences"] if name == "a.pref" else [])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "a.qrels"
    with pytest.raises(FileError, match="nowhere'") as refused:
        write_table(JUDGED, path)
    assert (refused.value.code, refused.value.file) == ("no-such-folder", str(path))


def test_a_folder_is_no_target(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").mkdir()
    with pytest.raises(FileError, match="Is a directory") as refused:
        write_table(JUDGED, tmp_path / "a.qrels")
    assert refused.value.code == "unwritable-file"
    assert list(tmp_path.iterdir()) == [tmp_path / "a.qrels"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst"])
def test_a_failure_leaves_the_old_file_as_it_was(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("old")
    with pytest.raises(RingtrueError):
        write_table(pl.DataFrame({"query": ["1"], "tags": [["x"]]}), tmp_path / name)
    assert (tmp_path / name).read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").symlink_to("/dev/full")
    with pytest.raises(FileError, match="No space") as refused:
        write_table(JUDGED, tmp_path / "a.qrels")
    assert refused.value.code == "unwritable-file"


def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_table(JUDGED, tmp_path / "a.qrels")
    finally:
        os.umask(old)
    assert (tmp_path / "a.qrels").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "old.qrels").write_text("old")
    (tmp_path / "link.qrels").symlink_to("old.qrels")
    write_table(JUDGED, tmp_path / "link.qrels")
    assert (tmp_path / "link.qrels").is_symlink()
    assert (tmp_path / "old.qrels").read_text() == "q1 0 d1 1\nq1 0 d2 0\n"


@pytest.mark.parametrize("name", ["pipe.qrels", "pipe.qrels.gz", "pipe.qrels.zst"])
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    write_table(JUDGED, path)
    reader.join(timeout=5)
    (tmp_path / "copy").write_bytes(read[0])
    assert path.is_fifo()
    assert_frame_equal(read_judgments(tmp_path / "copy").frame, JUDGED.frame)


def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kept.qrels"
    path.write_text("q 0 d 9\n")
    path.chmod(0o444)
    with pytest.raises(FileError) as refused:
        write_table(Judgments.of({"q1": {"d1": 1}}), path)
    assert refused.value.code == "read-only-file"
    assert path.read_text() == "q 0 d 9\n"
