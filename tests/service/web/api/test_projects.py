"""Projects by program: making, changing, closing, deleting; files as forms and as texts; what was collected."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ringtrue.cli import main
from ringtrue.service.store import Scale, Store
from ringtrue.service.web.owner.project_form import default_guidelines
from service.web.pages import code_of, numbers
from service.web.programs import Program, World, world

RUN = "".join(f"q{q} Q0 d{q}{d} {d} {10 - d} bm25\n" for q in (1, 2) for d in range(1, 6))
TOPICS = "q1\told bridges\nq2\tnew roads\n"
GRADED = {"kind": "graded", "labels": [{"name": "No"}, {"name": "Yes", "hint": "any of it"}]}
LABELS = "query,doc,judge,label\nq1,d0,ann,0\nq1,d2,ann,1\nq1,d0,bob,2\nq1,d2,bob,1\n"


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


@pytest.fixture
def owner(here: World) -> Program:
    return here.owner()


def test_a_project_is_made_with_small_files_in_json(owner: Program) -> None:
    body = {
        "name": "roads", "title": "Roads", "scale": GRADED, "settings": {"judges": 1, "traps": 0, "traps_needed": 0},
        "ask": [{"name": "bm25.run", "text": RUN}], "topics": {"name": "topics.tsv", "text": TOPICS}, "depth": 3,
    }  # fmt: skip
    made = owner.post("/projects", body)
    assert (made["items"], made["queries"], made["documents"]) == (6, 2, 0)
    assert made["note_codes"] == ["documents-without-text"]
    assert len(made["notes"]) == 1
    shown = owner.get("/projects/roads")
    assert shown["scale"]["labels"][1] == {"value": "1"} | GRADED["labels"][1]
    assert (shown["settings"]["judges"], shown["settings"]["task_size"], shown["closed"]) == (1, 20, None)
    assert [one["name"] for one in owner.get("/projects")] == ["roads", "sides", "news"]
    assert owner.get("/projects/roads/progress")["wanted"] == 6
    scale = Scale.graded(*(label["name"] for label in GRADED["labels"]))
    assert len(shown["guidelines"]) >= len(default_guidelines(scale))  # where none are given


def test_files_are_added_as_a_form_also_packed(owner: Program) -> None:
    owner.post("/projects", {"name": "roads", "title": "Roads", "scale": GRADED})
    documents = "\n".join(json.dumps({"_id": f"d{q}{d}", "text": f"text {d}"}) for q in (1, 2) for d in range(1, 6))
    files = [
        ("ask", ("bm25.run", RUN.encode())),
        ("ask", ("other.run.gz", gzip.compress(RUN.replace("bm25", "x").encode()))),
        ("topics", ("topics.tsv", TOPICS.encode())),
        ("documents", ("corpus.jsonl", documents.encode())),
    ]
    made = owner.post("/projects/roads/files", files=files, data={"depth": "2"})
    assert (made["items"], made["queries"]) == (4, 2)
    assert made["documents"] >= 4
    there = owner.get("/projects/roads/files")
    assert [(one["kind"], one["name"]) for one in there] == [
        ("run", "bm25.run"), ("run", "other.run.gz"), ("topics", "topics.tsv"), ("documents", "corpus.jsonl"),
    ]  # fmt: skip
    assert [there[0]["size"], there[3]["size"]] == [len(RUN), len(documents)]
    sent = owner("GET", f"/projects/roads/files/{there[0]['id']}")
    named = "attachment; filename=\"bm25.run\"; filename*=UTF-8''bm25.run"
    assert (sent.text, sent.headers["content-disposition"]) == (RUN, named)


@pytest.mark.parametrize(
    ("given", "code", "names"),
    [
        ({"json": {}}, "no-files", "ask"),
        ({"json": {"ask": [{"name": "a.run", "text": ""}]}}, "empty-file", "a.run"),
        ({"json": {"ask": [{"name": "a.run", "text": "x"}], "depth": 0}}, "invalid-request", "depth"),
        ({"files": [("ask", ("a.run", b""))]}, "empty-file", "a.run"),
        ({"files": [("runs", ("a.run", b"x"))]}, "unexpected-file", "runs"),
        ({"files": [("topics", ("a", b"x")), ("topics", ("b", b"x"))]}, "several-files", "topics"),
        ({"files": [("ask", ("a.run", b"x"))], "data": {"depth": "deep"}}, "not-a-whole-number", "depth"),
        ({"files": [("ask", ("a.run", b"x"))], "data": {"topics": "q1 old"}}, "no-file-in-field", "topics"),
        ({"files": [("ask", ("a.run", b"x"))], "data": {"width": "1"}}, "invalid-request", "width"),
    ],
)
def test_files_that_cannot_be_used_are_refused_and_named(
    owner: Program, given: dict[str, object], code: str, names: str
) -> None:
    refused = owner("POST", "/projects/news/files", **given)
    error = refused.json()["error"]
    assert (refused.status_code, error["kind"]) == (422, "invalid")
    assert error["code"] == code
    assert names in (error["parameter"], *re.findall(r"[\w.]+", error["message"]))
    assert owner.get("/projects/news/files") == []


def test_files_of_no_known_kind_of_body_are_refused(owner: Program) -> None:
    refused = owner("POST", "/projects/news/files", content=RUN, headers={"Content-Type": "text/plain"})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (415, "media_type")


def test_nothing_is_left_of_a_project_whose_files_cannot_be_used(owner: Program) -> None:
    body = {"name": "roads", "title": "Roads", "scale": GRADED, "ask": [{"name": "a.run", "text": "not a run"}]}
    assert owner("POST", "/projects", json=body).status_code == 422
    assert owner("GET", "/projects/roads").status_code == 404


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Roads"}, "name"),
        ({"title": ""}, "title"),
        ({"scale": {"kind": "graded"}}, "needs labels"),
        ({"scale": {"kind": "graded", "labels": [{"name": "a", "value": "1"}, {"name": "b", "value": "1"}]}}, "value"),
        ({"scale": {"kind": "preference", "labels": [{"name": "a"}, {"name": "b"}]}}, "left, right"),
        ({"settings": {"judges": 0}}, "settings.judges"),
        ({"settings": {"judges": True}}, "settings.judges"),
        ({"settings": {"task_size": 5, "traps": 5}}, "found 5 (traps)"),
        ({"settings": {"active": True}}, "only pairs"),
        ({"guidelines": "a\u0000b"}, "guidelines"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_project_that_cannot_be_is_refused_in_words(owner: Program, change: dict[str, object], words: str) -> None:
    body = {"name": "roads", "title": "Roads", "scale": GRADED} | change
    refused = owner("POST", "/projects", json=body)
    assert refused.status_code == 422
    assert words in refused.json()["error"]["message"]


def test_a_name_that_is_taken_is_a_conflict(owner: Program) -> None:
    refused = owner("POST", "/projects", json={"name": "news", "title": "News", "scale": GRADED})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "conflict")


def test_settings_change_one_by_one_and_the_rest_stays(owner: Program) -> None:
    changed = owner("PATCH", "/projects/news", json={"title": "Old news", "settings": {"minutes": None, "judges": 3}})
    assert changed.status_code == 200
    shown = owner.get("/projects/news")
    assert (shown["title"], shown["settings"]["minutes"], shown["settings"]["judges"]) == ("Old news", None, 3)
    assert shown["settings"]["task_size"] == 4
    assert owner.get("/projects/news/progress")["wanted"] == 18


def test_a_project_is_closed_and_opened(owner: Program) -> None:
    assert owner("PATCH", "/projects/news", json={"closed": True}).json()["closed"] == "2027-01-15T08:00:00Z"
    assert owner("PATCH", "/projects/news", json={"closed": False}).json()["closed"] is None
    assert [one["action"] for one in owner.get("/audit?project=news")] == ["open project", "close project"]


def test_a_project_is_deleted_by_saying_its_name_twice(owner: Program) -> None:
    assert owner("DELETE", "/projects/news").status_code == 422
    assert owner("DELETE", "/projects/news?confirm=sides").status_code == 422
    assert owner("DELETE", "/projects/news?confirm=news").status_code == 204
    assert owner("GET", "/projects/news").status_code == 404
    assert owner.get("/audit")[0]["detail"] == {"name": "news"}


def test_labels_are_imported_once_and_exported_for_the_command_line(
    owner: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = owner.post("/projects/news/imports", {"file": {"name": "old.csv", "text": LABELS}})
    assert (first["new"], first["known"], first["judges"]) == (4, 0, 2)
    again = owner.post("/projects/news/imports", files={"file": ("old.csv", LABELS.encode())})
    assert (again["new"], again["known"]) == (0, 4)
    sent = owner("GET", "/projects/news/exports/csv")
    assert sent.headers["content-type"].startswith("text/csv")
    (tmp_path / "labels.csv").write_bytes(sent.content)
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["agree", str(tmp_path / "labels.csv"), "--json"])
    assert not end.value.code
    assert json.loads(capsys.readouterr().out)["overall"]["agreement"]["value"] == 0.5


def test_exports_are_listed_and_an_unknown_one_is_refused_with_the_near_miss(owner: Program) -> None:
    keys = [one["key"] for one in owner.get("/projects/news/exports")]
    assert {"qrels", "csv", "jsonl", "parquet", "history", "all"} <= set(keys)
    refused = owner("GET", "/projects/news/exports/cvs")
    assert refused.status_code in (404, 422)
    assert "csv" in refused.json()["error"]["message"]


def test_answers_are_read_a_page_at_a_time(owner: Program) -> None:
    owner.post("/projects/news/imports", {"file": {"name": "old.csv", "text": LABELS}})
    first = owner.get("/projects/news/judgments?limit=3")
    rest = owner.get(f"/projects/news/judgments?limit=3&after={first['after']}")
    rows = [(one["judge"], one["left"], one["answer"]) for one in first["judgments"] + rest["judgments"]]
    assert sorted(rows) == [("ann", "d0", "0"), ("ann", "d2", "1"), ("bob", "d0", "2"), ("bob", "d2", "1")]
    assert rest["after"] is None


def test_disagreements_are_decided_and_the_verdict_counts(owner: Program) -> None:
    owner.post("/projects/news/imports", {"file": {"name": "old.csv", "text": LABELS}})
    found = owner.get("/projects/news/disagreements")
    (apart,) = found["disagreements"]
    assert (found["count"], apart["left"]["name"], apart["votes"]) == (
        1, "d0", [{"answer": "0", "count": 1}, {"answer": "2", "count": 1}],
    )  # fmt: skip
    assert owner("POST", "/projects/news/verdicts", json={"item": apart["item"], "answer": "2"}).status_code == 204
    assert owner.get("/projects/news/disagreements")["count"] == 0
    assert owner.get("/projects/news/verdicts")[0]["answer"] == "2"
    assert owner("GET", "/projects/news/exports/qrels-3?which=one").text.splitlines()[0] == "q1 d0 2"
    assert owner("POST", "/projects/sides/verdicts", json={"item": apart["item"], "answer": "left"}).status_code == 404


def test_quality_is_a_number_or_a_sentence(owner: Program) -> None:
    empty = owner.get("/projects/news/quality")
    assert (empty["agreement"], empty["judges"]) == (None, None)
    assert empty["agreement_note"]
    owner.post("/projects/news/imports", {"file": {"name": "old.csv", "text": LABELS}})
    found = owner.get("/projects/news/quality?resamples=20&level=0.9")
    assert found["agreement"]["overall"]["agreement"]["value"] == 0.5
    assert {one["judge"] for one in found["judges"]["judges"]} == {"ann", "bob"}


def test_gold_is_drawn_from_the_runs_of_the_project(owner: Program) -> None:
    body = {"name": "roads", "title": "Roads", "scale": GRADED, "ask": [{"name": "bm25.run", "text": RUN}], "depth": 5}
    owner.post("/projects", body)
    labels = "query,doc,judge,label\n" + "".join(f"q{q},d{q}{d},crowd,{d % 2}\n" for q in (1, 2) for d in range(1, 6))
    bronze = {"name": "bronze.csv", "text": labels}
    drawn = owner.post("/projects/roads/gold", {"measures": ["P@5"], "budget": 6, "bronze": bronze})
    assert (drawn["documents"], drawn["new"]) == (6, 6)
    assert owner.get("/projects/roads/progress?queue=gold")["items"] == 6
    nothing = owner("POST", "/projects/roads/gold", json={"measures": ["P@5"], "budget": 6})
    assert (nothing.status_code, code_of(nothing)) == (422, "no-bronze-labels")


def test_gold_for_an_unknown_measure_is_refused_with_the_near_miss(owner: Program) -> None:
    owner.post("/projects/news/files", {"ask": [{"name": "bm25.run", "text": RUN}]})
    owner.post("/projects/news/imports", {"file": {"name": "old.csv", "text": LABELS}})
    refused = owner("POST", "/projects/news/gold", json={"measures": ["nDGC@5"], "budget": 6})
    assert refused.status_code == 422
    assert "'nDCG@5'" in refused.json()["error"]["message"]


def test_a_failed_task_is_set_aside(here: World, owner: Program) -> None:
    owner("PATCH", "/projects/news", json={"settings": {"traps": 1, "traps_needed": 1}})
    owner.post("/projects/news/files", {"traps": {"name": "traps.csv", "text": "query,doc,label\nq1,d9,2\n"}})
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task = step["task"]["id"]
    while step["question"] is not None:
        said = {"assignment": step["question"]["assignment"], "version": 0, "answer": "0"}
        step = judge.post(f"/tasks/{task}/answers", said)
    judge.post(f"/tasks/{task}/hand-in")
    (failed,) = owner.get("/projects/news/failed-tasks")
    assert (failed["task"], failed["traps"], failed["passed"], failed["answers"]) == (task, 1, 0, 3)
    assert owner("POST", f"/projects/sides/tasks/{task}/set-aside").status_code == 404
    assert owner("POST", f"/projects/news/tasks/{task}/set-aside").status_code == 204
    assert owner.get("/projects/news/progress")["done"] == 0
    assert len(owner.get("/projects/news/judgments?counting=false")["judgments"]) == 3
    assert owner("POST", f"/projects/sides/tasks/{task}/count-again").status_code == 404
    assert owner.post(f"/projects/news/tasks/{task}/count-again") == {"again": 3, "not_again": 0}
    assert owner.get("/projects/news/progress")["done"] == 3
    assert owner("POST", f"/projects/news/tasks/{task}/count-again").status_code == 409


def test_progress_is_told_by_query_and_by_judge(here: World, owner: Program) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    question = step["question"]
    said = {"assignment": question["assignment"], "version": 0, "answer": "0", "seconds": 4}
    here.clock.now += 5
    judge.post(f"/tasks/{step['task']['id']}/answers", said)
    by_query = {one["query"]: one["done"] for one in owner.get("/projects/news/progress/queries")}
    assert (by_query[question["query"]], sum(by_query.values())) == (1, 1)
    (by_judge,) = owner.get("/projects/news/progress/judges")
    assert (by_judge["handle"], by_judge["done"], by_judge["seconds"]) == ("jan-judge", 1, 4)
    assert by_judge["last_seen"].startswith("2027-01-15T08:00:05")


@pytest.mark.slow
def test_everything_comes_in_one_zip(owner: Program) -> None:
    owner.post("/projects/news/imports", {"file": {"name": "old.csv", "text": LABELS}})
    sent = owner("GET", "/projects/news/exports/all")
    assert sent.headers["content-type"] == "application/zip"
    assert zipfile.ZipFile(io.BytesIO(sent.content)).namelist()


def test_ties_are_told_with_one_label_each(owner: Program) -> None:
    assert owner.get("/projects/news/disagreements")["ties"] == 0
    first, *_ = owner.get("/projects/news/progress/queries")
    pool = "query,doc\nq1,d11\n"
    owner.post(
        "/projects", {"name": "tied", "title": "Tied", "scale": GRADED, "ask": [{"name": "p.csv", "text": pool}]}
    )
    labels = "query,doc,judge,label\nq1,d11,x,0\nq1,d11,y,1\n"
    owner.post("/projects/tied/imports", {"file": {"name": "l.csv", "text": labels}})
    assert owner.get("/projects/tied/disagreements")["ties"] == 1
    answer = owner("GET", "/projects/tied/exports/csv?which=one")
    (told,) = json.loads(answer.headers["ringtrue-notes"])
    assert numbers(told) == [1]
    assert json.loads(answer.headers["ringtrue-note-codes"]) == ["judges-tie"]
    assert first["query"]


def test_labels_are_taken_back_and_gold_is_withdrawn(owner: Program) -> None:
    owner.post("/projects", {"name": "back", "title": "Back", "scale": GRADED, "ask": [{"name": "a.run", "text": RUN}]})
    labels = "query,doc,judge,label\n" + "".join(f"q{q},d{q}{d},x,{d % 2}\n" for q in (1, 2) for d in range(1, 6))
    owner.post("/projects/back/imports", {"file": {"name": "l.csv", "text": labels}})
    owner.post("/projects/back/gold", {"measures": ["P@2"], "budget": 3})
    assert owner("DELETE", "/projects/back/gold").status_code == 204
    assert owner("DELETE", "/projects/back/gold").status_code == 404
    (file,) = [one for one in owner.get("/projects/back/files") if one["kind"] == "labels"]
    assert owner.post(f"/projects/back/files/{file['id']}/take-back")["labels"] == 10
    assert owner.get("/projects/back/progress")["done"] == 0
    assert owner("POST", f"/projects/back/files/{file['id']}/take-back").status_code == 404


@pytest.mark.parametrize("scopes", [("judge",), ("read",), ("judge", "read")])
def test_a_judges_token_reads_no_settings_about_traps(here: World, owner: Program, scopes: tuple[str, ...]) -> None:
    settings = {"traps": 2, "traps_needed": 2, "failed_traps": "set_aside", "completion_traps": True}
    owner("PATCH", "/projects/news", json={"settings": settings})
    judge = here.program("Jan Judge", *scopes, role="judge")
    for shown in (judge.get("/projects/news"), *judge.get("/projects")):
        assert {name: shown["settings"][name] for name in settings} == dict.fromkeys(settings)
        assert shown["settings"]["task_size"] == 4
    viewer = here.program("Vera Viewer", "read", role="viewer")
    for reader in (owner, viewer):
        assert {name: reader.get("/projects/news")["settings"][name] for name in settings} == settings
    program = here.program("Olga's program", "judge", owner=True)
    assert program.get("/projects/news")["settings"]["traps"] is None


def test_handing_in_does_not_tell_what_the_traps_gave(here: World, owner: Program) -> None:
    settings = {"traps": 1, "traps_needed": 1, "failed_traps": "set_aside", "judges": 3}
    owner("PATCH", "/projects/news", json={"settings": settings})
    owner.post("/projects/news/files", {"traps": {"name": "traps.csv", "text": "query,doc,label\nq1,d9,2\n"}})
    told = []
    for name, answer in (("Good", "2"), ("Bad", "0"), ("Whole", "0")):
        judge = here.judge(name)
        whole = judge.post("/projects/news/whole-tasks", {})
        task = whole["task"]["id"]
        answers = [
            {"assignment": one["assignment"], "version": one["version"], "answer": answer} for one in whole["questions"]
        ]
        sent = judge.post(f"/whole-tasks/{task}", {"answers": answers, "hand_in": name == "Whole"})
        handed_in = judge.post(f"/tasks/{task}/hand-in")
        again = judge.get(f"/tasks/{task}/questions/{answers[0]['assignment']}")
        shown = [handed_in, judge.get(f"/tasks/{task}/next")["task"]]
        told.append([{**state, "id": 0} for state in shown] + [sent["task"].keys(), again["answer"] is None])
    assert told[0] == told[1] == told[2]
    assert told[0][0]["outcome"] == "handed_in"
    assert sorted(one["outcome"] for one in owner.get("/projects/news/failed-tasks")) == ["set_aside", "set_aside"]
