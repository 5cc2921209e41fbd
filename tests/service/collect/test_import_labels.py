"""Labels from elsewhere count like those that were given here."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ringtrue.errors import InputError, NotFoundError
from ringtrue.service.collect.export import export_project
from ringtrue.service.collect.import_labels import LabelImportSummary, import_labels, revert_import
from ringtrue.service.collect.uploads import UploadedFile, load_project_uploads, read_upload_file
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import erase_account
from ringtrue.service.store.label_queries import load_collected, stream_history
from ringtrue.service.store.progress import load_judge_progress, load_progress
from ringtrue.service.store.records import Project
from service.collect.worlds import NOW, account, given, graded, judge_all, pairs, rng
from service.small_projects import rows

POOL = [given("pool.csv", "query,doc\nq1,d1\nq1,d2\nq2,d1\n")]
LABELS = (
    "query,doc,judge,label,time,seconds,batch\n"
    "q1,d1,ann,2,2024-05-01T10:00:00Z,4.5,a\nq1,d2,ann,0,2024-05-01T10:00:09Z,,a\n"
    "q1,d1,Bob Ray,1,2024-05-01T11:00:00Z,3,b\nq2,d1,Bob Ray,1,,x,c\n"
)


def taken(store: Store, project: Project, text: str | UploadedFile, name: str = "labels.csv") -> LabelImportSummary:
    file = given(name, text) if isinstance(text, str) else text
    return import_labels(store, project, file, now=NOW, rng=rng())


def told_in(connection, where) -> list[dict]:
    return pl.concat(stream_history(connection, where)).to_dicts()


def small(store: Store, **changes) -> Project:
    return graded(store, ask=POOL, topics=None, documents=[], **changes).project


def test_labels_count_with_their_judges_times_and_batches(store: Store) -> None:
    project = small(store, judges=3)
    found = taken(store, project, LABELS)
    assert (found.new, found.known, found.judges, found.notes) == (4, 0, 2, ())
    with store.read() as connection:
        table = load_collected(connection, project)
        so_far = load_progress(connection, project.id)
        judges = load_judge_progress(connection, project)
    assert table.frame.select("query", "doc", "judge", "label", "time", "seconds").rows() == [
        ("q1", "d1", "ann", 2, "2024-05-01T10:00:00.000Z", 4.5),
        ("q1", "d2", "ann", 0, "2024-05-01T10:00:09.000Z", None),
        ("q1", "d1", "Bob Ray", 1, "2024-05-01T11:00:00.000Z", 3.0),
        ("q2", "d1", "Bob Ray", 1, "2023-11-14T22:13:20.000Z", None),
    ]  # fmt: skip
    assert table.frame["batch"].n_unique() == 3
    assert (so_far.done, so_far.wanted, so_far.judges) == (4, 9, 2)
    assert {(one.handle, one.kind, one.tasks) for one in judges} == {("ann", "imported", 1), ("Bob Ray", "imported", 2)}
    assert rows(store, "SELECT DISTINCT outcome FROM task") == [("imported",)]


def test_the_same_file_twice_changes_nothing(store: Store) -> None:
    project = small(store)
    taken(store, project, LABELS)
    before = rows(store, "SELECT COUNT(*), MAX(id) FROM judgment"), rows(store, "SELECT id, given, wanted FROM item")
    again = taken(store, project, LABELS)
    assert (again.new, again.known) == (0, 4)
    after = rows(store, "SELECT COUNT(*), MAX(id) FROM judgment"), rows(store, "SELECT id, given, wanted FROM item")
    assert after == before
    assert rows(store, "SELECT COUNT(*) FROM upload WHERE kind = 'labels'") == [(1,)]


def test_an_item_with_more_labels_than_wanted_wants_as_many_as_it_has(store: Store) -> None:
    project = small(store, judges=1)
    taken(store, project, LABELS)
    assert sorted(rows(store, "SELECT given, wanted FROM item")) == [(1, 1), (1, 1), (2, 2)]
    assert judge_all(store, project, account(store, "cid")) == 0  # nothing is left to ask


def test_people_are_asked_for_what_is_still_missing(store: Store) -> None:
    project = small(store, judges=2)
    taken(store, project, LABELS)
    assert judge_all(store, project, account(store, "cid")) == 2
    with store.read() as connection:
        assert load_progress(connection, project.id).complete == 3


def test_documents_that_nobody_was_asked_about_are_kept_and_asked_of_nobody(store: Store) -> None:
    project = small(store)
    found = taken(store, project, "q9 0 d7 1\nq9 0 d8 1\n", "old.qrels")
    (note,) = found.notes
    assert (note.code, note.subject, note.text[:7]) == ("items-not-asked", "old.qrels", "2 items")
    assert rows(store, "SELECT COUNT(*) FROM item WHERE given = 1 AND wanted = 1") == [(2,)]
    assert rows(store, "SELECT handle, kind FROM account") == [("0", "imported")]


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("query,doc,label\nq1,d1,1\nq1,d2,5\n", "unknown-answer", ":3: label 5"),
        ("query,doc,label\nq1,d1,-1\n", "unknown-answer", ":2: label -1"),
        ("query,doc,label\nq1,d1,good\n", "bad-label", "'good'"),
        ("query,doc,label,time\nq1,d1,1,01/02/2024\n", "ambiguous-date", "'01/02/2024'"),
        ("query,left,right,winner\nq1,a,b,a\n", "other-kind", "preferences"),
        ("q1 Q0 d1 1 2.5 bm25\n", "other-kind", "a run"),
    ],
)
def test_what_is_no_label_of_this_scale_is_refused_with_its_row(quick: Store, text: str, code: str, named: str) -> None:
    project = small(quick)
    with pytest.raises(InputError) as refused:
        taken(quick, project, text)
    assert (refused.value.code, refused.value.file) == (code, "labels.csv")
    assert named in str(refused.value)
    assert rows(quick, "SELECT (SELECT COUNT(*) FROM account) + (SELECT COUNT(*) FROM task)") == [(0,)]


def test_a_judge_who_changed_a_label_has_two_versions_and_the_last_counts(store: Store) -> None:
    project = small(store)
    taken(store, project, "query,doc,judge,label\nq1,d1,ann,0\nq1,d1,ann,2\n")
    later = taken(store, project, "query,doc,judge,label\nq1,d1,ann,1\nq1,d1,ann,0\n")
    assert (later.new, later.known) == (1, 1)
    with store.read() as connection:
        assert load_collected(connection, project).frame["label"].to_list() == [1]
        told = [(row["version"], row["label"], row["counts"]) for row in told_in(connection, project)]
    assert told == [(1, "0", False), (2, "2", False), (3, "1", True)]
    assert rows(store, "SELECT MAX(given), COUNT(*) FROM item") == [(1, 3)]


def test_a_judge_of_the_file_is_not_taken_for_somebody_here_of_the_same_name(store: Store) -> None:
    project = small(store)
    account(store, "ann")
    taken(store, project, LABELS)
    taken(store, project, LABELS)
    assert sorted(rows(store, "SELECT handle, kind FROM account")) == [
        ("Bob Ray", "imported"), ("ann", "named"), ("ann-imported", "imported"),
    ]  # fmt: skip
    with store.read() as connection:
        assert sorted(set(load_collected(connection, project).frame["judge"])) == ["Bob Ray", "ann-imported"]


@pytest.mark.parametrize("key", ["csv", "jsonl", "parquet"])
def test_an_export_read_back_changes_nothing_in_the_same_project(store: Store, tmp_path: Path, key: str) -> None:
    project = graded(store, judges=1).project
    judge_all(store, project, account(store, "ann"))
    file = export_project(store, project, key, tmp_path)
    found = taken(store, project, UploadedFile(name=file.name, content=file.path.read_bytes()))
    assert (found.new, found.known) == (0, file.rows)
    other = graded(store, name="other", judges=1).project
    assert taken(store, other, UploadedFile(name=file.name, content=file.path.read_bytes())).new == file.rows


def test_preferences_keep_who_stood_left(store: Store) -> None:
    project = pairs(store, ask=[given("pairs.csv", "query,left,right\nq1,a,b\nq1,c,a\n")]).project
    table = "query,left,right,judge,winner\nq1,b,a,ann,left\nq1,a,c,ann,tie\nq1,a,b,bob,b\nq1,a,b,ann,left\n"
    found = taken(store, project, table)
    assert (found.new, found.known, found.judges) == (4, 0, 2)
    assert taken(store, project, table).new == 0
    with store.read() as connection:
        frame = load_collected(connection, project).frame
        told = [(row["left"], row["right"], row["winner"], row["judge"]) for row in told_in(connection, project)]
    assert sorted(frame.select("left", "right", "winner", "judge").rows()) == [
        ("a", "b", "right", "bob"), ("a", "c", "tie", "ann"), ("b", "a", "right", "ann"),
    ]  # fmt: skip
    assert ("b", "a", "left", "ann") in told


def test_answers_to_traps_are_left_out(store: Store) -> None:
    project = small(store)
    found = taken(store, project, "query,doc,judge,label,trap\nq1,d1,ann,1,false\nq1,d2,ann,1,true\n")
    (note,) = found.notes
    assert (found.new, note.code, note.subject, note.text[:8]) == (1, "traps-left-out", "labels.csv", "1 answer")
    with pytest.raises(InputError) as refused:
        taken(store, project, "query,doc,judge,label,trap\nq1,d1,ann,1,true\n")
    assert refused.value.code == "only-traps-answered"


NAMED = "query,doc,judge,label{more}\nq1,d1,anna@example.org,1{time}\nq1,d2,anna@example.org,0{time}\n"


def named(*, timed: bool) -> UploadedFile:
    time = {"more": ",time", "time": ",2024-05-01T10:00:00Z"} if timed else {"more": "", "time": ""}
    return given("anna.csv", NAMED.format(**time))


@pytest.mark.parametrize("timed", [True, False])
def test_a_name_that_was_erased_does_not_come_back_with_the_same_file(store: Store, timed: bool) -> None:
    project = graded(store).project
    file = named(timed=timed)
    import_labels(store, project, file, now=NOW, rng=rng())
    ((who,),) = rows(store, "SELECT id FROM account WHERE kind = 'imported'")
    store.write(lambda c: erase_account(c, who, NOW))
    again = import_labels(store, project, file, now=NOW, rng=rng())
    assert (again.new, again.known) == (0, 2)
    assert "erased-judges" in [note.code for note in again.notes]
    assert rows(store, "SELECT COUNT(*) FROM judgment") == [(2,)]
    assert not [handle for (handle,) in rows(store, "SELECT handle FROM account") if "anna" in handle]
    if timed:  # more of the same judge goes to the same, who has no name
        more = given("more.csv", NAMED.format(more=",time", time=",2024-05-01T10:00:00Z") + MORE)
        assert import_labels(store, project, more, now=NOW, rng=rng()).new == 1
        assert rows(store, "SELECT COUNT(DISTINCT account) FROM assignment") == [(1,)]


MORE = "q1,d3,anna@example.org,1,2024-05-01T10:00:09Z\n"


def test_another_judge_is_not_taken_for_one_whose_data_was_erased(store: Store) -> None:
    project = graded(store).project
    import_labels(store, project, named(timed=True), now=NOW, rng=rng())
    ((who,),) = rows(store, "SELECT id FROM account WHERE kind = 'imported'")
    store.write(lambda c: erase_account(c, who, NOW))
    other = given("bob.csv", "query,doc,judge,label,time\nq1,d1,bob,1,2024-05-02T10:00:00Z\n")
    assert import_labels(store, project, other, now=NOW, rng=rng()).new == 1


def test_no_file_that_is_kept_has_the_name_of_a_judge(store: Store) -> None:
    project = graded(store, ask=[named(timed=False)], known=named(timed=True)).project
    import_labels(store, project, named(timed=True), now=NOW, rng=rng())
    kept = [one for one in store.write(lambda c: load_project_uploads(c, project.id)) if one.kind != "documents"]
    assert {one.kind for one in kept} == {"judgments", "topics", "traps", "labels"}
    for one in kept:
        assert b"anna" not in read_upload_file(store, project.id, one.id).content


def test_an_import_is_taken_back_and_made_again(store: Store) -> None:
    project = graded(store).project
    file = given("l.csv", "query,doc,judge,label\nq1,d1,zoe,1\nq1,elsewhere,zoe,0\n")
    for _ in range(2):
        assert import_labels(store, project, file, now=NOW, rng=rng()).new == 2
        (upload,) = [one for one in store.write(lambda c: load_project_uploads(c, project.id)) if one.kind == "labels"]
        look = revert_import(store, project, upload.id, preview=True)
        assert (look.labels, look.items) == (2, 1)
        assert revert_import(store, project, upload.id) == look
        assert rows(store, "SELECT COUNT(*) FROM assignment WHERE state = 'done'") == [(0,)]
    with pytest.raises(NotFoundError):
        revert_import(store, project, upload.id)
    run = store.write(lambda c: load_project_uploads(c, project.id))[0]
    with pytest.raises(NotFoundError) as refused:
        revert_import(store, project, run.id)
    assert refused.value.code == "no-labels-imported"
