"""A project from files: what is taken, what is told, and what is refused."""

from __future__ import annotations

import gzip

import pytest

from ringtrue.errors import ConflictError, InputError, MismatchError, NotFoundError, TableError, UsageError
from ringtrue.service.collect import UploadedFile
from ringtrue.service.collect.project_setup import extend_project, make_project
from ringtrue.service.collect.uploads import load_project_uploads, read_upload_file
from ringtrue.service.store import Settings, Store
from service.collect.worlds import (
    DOCS,
    GRADED,
    NOW,
    QUERIES,
    documents,
    given,
    graded,
    pairs,
    rng,
    runs,
    settings,
    topics,
)
from service.small_projects import rows


def items(store: Store) -> list[tuple]:
    return rows(
        store,
        "SELECT q.name, d.name, o.name, i.queue, i.wanted, i.expected FROM item i JOIN query q ON q.id = i.query "
        "JOIN document d ON d.id = i.doc LEFT JOIN document o ON o.id = i.other ORDER BY q.name, d.name, o.name",
    )


def test_runs_are_pooled_at_a_depth_and_texts_come_with_them(store: Store) -> None:
    made = graded(store, depth=3)
    assert made.items == len({(query, doc) for query, doc, *_ in items(store)})
    assert len(QUERIES) * 3 <= made.items < len(QUERIES) * 6
    assert (made.queries, made.documents, made.traps, made.notes) == (6, 8, 0, ())
    assert {row[4] for row in items(store)} == {2}
    assert rows(store, "SELECT text FROM query WHERE name = 'q3'") == [("what is q3",)]
    assert rows(store, "SELECT title, text FROM document WHERE name = 'd2'") == [("T d2", "about d2")]


def test_a_pool_a_judged_table_and_packed_files_do_as_well(store: Store) -> None:
    pool = given("pool.csv", "query,doc,runs,best_rank\nq1,d1,2,1\nq1,d2,1,2\n")
    packed = UploadedFile(name="pool.csv.gz", content=gzip.compress(pool.content))
    qrels = given("old.qrels", "q1 0 d1 2\nq1 0 d2 0\n")
    for place, file in enumerate((pool, packed, qrels)):
        made = graded(store, name=f"p{place}", ask=[file], topics=None, documents=[])
        assert made.items == 2
        without = {note.code: note for note in made.notes}
        assert "1 query of 1" in without["queries-without-text"]
        assert "2 documents of 2" in without["documents-without-text"]
    assert without["labels-not-imported"].subject == "old.qrels"


def test_a_pool_may_say_what_its_documents_are(store: Store) -> None:
    pool = given("pool.csv", "query,doc,title,url,snippet\nq1,d1,One,https://one.example,so short\n")
    made = graded(store, ask=[pool], topics=None, documents=[])
    assert "documents-without-text" not in [note.code for note in made.notes]
    assert rows(store, "SELECT title, url, snippet FROM document") == [("One", "https://one.example", "so short")]


def test_pairs_are_asked_once_each_with_the_lesser_name_first(store: Store) -> None:
    table = "batch,query,left,right,trap,winner\n1,q1,b,a,false,\n1,q1,a,c,false,\n2,q1,a,b,false,\n1,q1,x,y,true,\n"
    made = pairs(store, ask=[given("pairs.csv", table)])
    assert [row[:3] for row in items(store)] == [("q1", "a", "b"), ("q1", "a", "c")]
    notes = {note.code: note for note in made.notes if note.subject == "pairs.csv"}
    assert "1 trap" in notes["traps-left-out"]
    assert "2 pairs" in notes["pairs-repeated"]


def test_a_run_in_a_project_of_pairs_gives_the_published_design(store: Store) -> None:
    made = pairs(store, depth=6)
    assert made.items == 6 * 15
    (note,) = [note for note in made.notes if note.code == "pairs-chosen"]
    assert "90 pairs" in note
    assert {row[4] for row in items(store)} == {2}


def test_an_active_project_begins_with_pairs_that_want_one_judge_each(store: Store) -> None:
    made = pairs(store, active=True, depth=8)
    assert made.items > 0
    assert sum(row[4] for row in items(store)) == made.items
    kept = store.write(lambda c: load_project_uploads(c, made.project.id))
    assert [one.kind for one in kept] == ["run", "candidates"]


def test_traps_are_kept_apart_with_their_answers(store: Store) -> None:
    made = graded(store, known=given("traps.csv", "query,doc,label\nq1,t1,2\nq1,t2,0\n"))
    assert made.traps == 2
    assert [row for row in items(store) if row[3] == "trap"] == [
        ("q1", "t1", None, "trap", None, "2"), ("q1", "t2", None, "trap", None, "0"),
    ]  # fmt: skip


def test_traps_of_pairs_keep_who_wins_whichever_side_it_stands_on(store: Store) -> None:
    traps = given("traps.csv", "query,left,right,winner\nq1,z,a,z\nq1,b,c,both_bad\n")
    pairs(store, known=traps)
    assert [row[:3] + row[5:] for row in items(store) if row[3] == "trap"] == [
        ("q1", "a", "z", "right"), ("q1", "b", "c", "both_bad"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("traps", "code", "line"),
    [
        ("query,doc,label\nq1,t1,2\nq1,t2,7\n", "unknown-answer", 3),
        ("query,doc,label\nq1,t1,2\nq1,t1,0\n", "trap-with-two-answers", 3),
        ("query,left,right,winner\nq1,a,b,a\n", "other-kind", None),
    ],
)
def test_traps_that_nobody_can_pass_are_refused(quick: Store, traps: str, code: str, line: int | None) -> None:
    with pytest.raises(InputError) as refused:
        graded(quick, known=given("traps.csv", traps))
    assert (refused.value.code, refused.value.file, refused.value.line) == (code, "traps.csv", line)
    assert rows(quick, "SELECT COUNT(*) FROM project") == [(0,)]


def test_a_tie_is_no_answer_to_a_trap_since_there_is_no_such_button(quick: Store) -> None:
    with pytest.raises(InputError) as refused:
        pairs(quick, known=given("traps.csv", "query,left,right,winner\nq1,a,b,tie\n"))
    assert refused.value.code == "unknown-answer"
    assert "'tie'" in refused.value.text


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (given("t.tsv", "q1\twhat is it\n"), "other-kind"),
        (given("x.bin", "\0\1\2"), "binary-file"),
        (given("e.csv", ""), "empty-file"),
        (given("h.csv", "query,doc\n"), "no-data"),
        (given("w.txt", "one two\n"), "unknown-content"),
        (given("p.csv", "query,left,right\nq1,a,b\n"), "other-kind"),
        (given("b.run", "q1 Q0 d1 1 x A\n"), "unknown-content"),
    ],
)
def test_a_file_that_is_of_no_use_is_refused_by_its_name(quick: Store, file: UploadedFile, code: str) -> None:
    with pytest.raises(InputError) as refused:
        graded(quick, ask=[file])
    assert (refused.value.code, refused.value.file) == (code, file.name)
    assert rows(quick, "SELECT COUNT(*) FROM project") == [(0,)]


def test_a_pair_of_one_document_is_refused(quick: Store) -> None:
    with pytest.raises(TableError) as refused:
        pairs(quick, ask=[given("p.csv", "query,left,right\nq1,a,a\n")])
    assert refused.value.code == "self-comparison"


def test_several_files_are_put_together_only_if_all_are_runs(quick: Store) -> None:
    with pytest.raises(UsageError) as refused:
        graded(quick, ask=[runs()[0], given("p.csv", "query,doc\nq1,d1\n")])
    assert refused.value.code == "mixed-files"


def test_pairs_for_a_project_that_chooses_its_own_are_refused(quick: Store) -> None:
    with pytest.raises(UsageError) as refused:
        pairs(quick, active=True, ask=[given("p.csv", "query,left,right\nq1,a,b\n")])
    assert refused.value.code == "pairs-are-chosen"


def test_texts_of_other_ids_are_refused(quick: Store) -> None:
    strange = given("docs.jsonl", '{"doc": "x1", "text": "about x1"}\n')
    with pytest.raises(MismatchError) as refused:
        graded(quick, documents=[strange])
    assert (refused.value.code, refused.value.file) == ("none-asked-about", "docs.jsonl")
    with pytest.raises(MismatchError) as refused:
        graded(quick, topics=given("t.tsv", "z9\twhat\n"))
    assert (refused.value.code, refused.value.file) == ("none-asked-about", "t.tsv")


def test_a_name_that_is_taken_makes_nothing(store: Store) -> None:
    graded(store)
    with pytest.raises(ConflictError) as refused:
        graded(store)
    assert refused.value.code == "project-name-taken"


def test_more_can_be_added_and_what_is_there_stays(store: Store) -> None:
    made = graded(store, ask=[given("pool.csv", "query,doc\nq1,d1\n")], topics=None, documents=[])
    more = extend_project(
        store, made.project, ask=[given("more.csv", "query,doc\nq1,d1\nq1,d2\n")], topics=topics(),
        documents=[documents()], now=NOW, rng=rng(),
    )  # fmt: skip
    assert (more.items, more.queries, more.documents, more.notes) == (1, 6, 8, ())
    again = extend_project(store, made.project, documents=[documents()], now=NOW, rng=rng())
    assert (again.items, again.documents) == (0, 8)
    assert rows(store, "SELECT COUNT(*) FROM document") == [(len(DOCS),)]


def test_the_files_are_kept_as_they_were_sent(store: Store) -> None:
    made = graded(store)
    found = store.write(lambda c: load_project_uploads(c, made.project.id))
    assert [(one.kind, one.name) for one in found] == [
        ("run", "bm25.run"), ("run", "dense.run"), ("topics", "topics.tsv"), ("documents", "docs.jsonl"),
    ]  # fmt: skip
    assert read_upload_file(store, made.project.id, found[0].id) == runs()[0]
    given_sizes = [len(file.content) for file in (*runs(), topics(), documents())]
    assert [one.size for one in found] == given_sizes  # and not what they take in the database
    with pytest.raises(NotFoundError) as refused:
        read_upload_file(store, made.project.id, found[3].id)
    assert refused.value.code == "documents-not-kept"
    with pytest.raises(NotFoundError):
        read_upload_file(store, made.project.id, 999)


def test_a_project_can_be_made_before_there_is_anything_to_judge(quick: Store) -> None:
    made = make_project(quick, name="bare", title="", scale=GRADED, settings=settings(), now=NOW, rng=rng())
    assert (made.items, made.notes, made.project.title) == (0, (), "bare")


def test_traps_and_settings_that_do_not_fit_are_told(quick: Store) -> None:
    usual = {"traps": 5, "traps_needed": 4}
    ask = [given("pool.csv", "query,doc,title\nq1,d1,One\n")]
    common = {"title": "", "scale": GRADED, "ask": ask, "topics": topics(), "now": NOW, "rng": rng()}
    one = make_project(quick, name="a", settings=Settings(task_size=20, **usual), **common)
    assert [note.code for note in one.notes] == ["no-traps-yet"]
    few = given("t.csv", "query,doc,label,title\nq1,d1,2,T\n")
    two = make_project(quick, name="b", settings=Settings(task_size=20, **usual), traps=few, **common)
    assert [(note.code, note[:12]) for note in two.notes] == [("few-traps", "1 trap for 5")]
    three = make_project(quick, name="c", settings=settings(), traps=few, **common)
    assert [note.code for note in three.notes] == ["traps-not-used"]


def test_a_file_has_a_plain_name_wherever_it_came_from() -> None:
    names = ["../../etc/passwd", "C:\\runs\\a.run", "a\r\nb.run", "", "-"]
    assert [UploadedFile(name=name, content=b"").name for name in names] == [
        "passwd",
        "a.run",
        "ab.run",
        "file",
        "file",
    ]
