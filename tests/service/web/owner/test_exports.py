"""Exports, imports, gold, backups and tokens through the pages."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import add_member
from ringtrue.service.store.backup import restore_backup
from ringtrue.service.store.projects import get_project_by_name
from service.web.owner.stories import (
    DOCUMENTS,
    RUN,
    beside,
    files,
    judge_all,
    ringtrue,
    said,
    send_new,
    title_shown,
    whole,
)
from service.web.pages import (
    code_beside,
    codes_on,
    element_text,
    figures,
    has_element,
    notices,
    numbers,
    table_rows,
    words_of,
)

GRADED = ("qrels", "qrels-3", "trec-prefs", "csv", "tsv", "jsonl", "parquet", "answers", "traps", "history", "all")


@pytest.fixture
def judged(owner: Any, visit: Callable[..., Any], account: Callable[..., int], web_store: Store) -> Any:
    """The small project, judged by Ann and Bob, who differ on one document."""
    send_new(owner, whole())
    with web_store.read() as connection:
        project = get_project_by_name(connection, "sea-bees")
    for name, good in (("Ann", "ab"), ("Bob", "abc")):
        judge = visit(account(name, project, "judge"))
        judge_all(judge, "sea-bees", lambda page, good=good: "1" if title_shown(page) in good else "0")
    return project


@pytest.mark.slow
@pytest.mark.parametrize("key", GRADED)
def test_every_export_is_a_file_with_a_name_and_a_type(owner: Any, judged: Any, key: str) -> None:
    answer = owner.get(f"/p/sea-bees/exports/{key}")
    assert answer.status_code == 200, answer.text
    assert 'filename="sea-bees.' in answer.headers["content-disposition"]
    assert "html" not in answer.headers["content-type"]
    assert answer.headers["cache-control"] == "no-store"
    assert len(answer.content) > 20


@pytest.mark.slow
def test_the_commands_on_the_page_read_their_exports(
    owner: Any, judged: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.run").write_text(RUN)
    page = owner.get("/p/sea-bees/exports").text
    page = re.sub(r'</?span class="word">|(?<=[\w-])</span>(?=[ <])', "", page)
    commands = re.findall(r"<code>ringtrue ([^<]*)</code>.*?formaction=\"([^\"]*)\"", page, re.DOTALL)
    assert len(commands) == 8
    Path("sea-bees.traps.csv").write_bytes(owner.get("/p/sea-bees/exports/traps").content)
    for command, address in commands:
        if address.endswith("/gold"):
            continue  # see below
        answer = owner.get(address)
        name = re.search(r'filename="([^"]+)"', answer.headers["content-disposition"])
        assert name is not None
        Path(name[1]).write_bytes(answer.content)
        found = ringtrue(capsys, *command.split())
        if "--traps" in command:
            name, *options = command.split()[1:]
            assert name == "sea-bees.answers.csv"
            assert options == ["--traps", "sea-bees.traps.csv", "--accept", "2/2", "--scale", "0-1"]
            assert {one["judge"]: one["traps"]["n"] for one in found["judges"]} == {"ann": 2, "bob": 2}


def test_commands_are_shown_as_code(owner: Any) -> None:
    send_new(owner, whole())
    page = re.sub("</?span[^>]*>", "", owner.get("/p/sea-bees/exports").text)
    assert re.search("<code>ringtrue evaluate [^<]*--gold[^<]*</code>", page)
    assert "`" not in page


def test_traps_failed_tasks_and_single_judges_are_chosen(owner: Any, judged: Any) -> None:
    def rows(**asked: str) -> list[str]:
        return owner.get("/p/sea-bees/exports/csv", params=asked).text.strip().splitlines()[1:]

    assert len(rows(which="every", failed="on")) == 16
    assert len(rows(which="every", failed="on", traps="on")) == 20
    assert len(rows(which="every", failed="on", judge="ann")) == 8
    assert len(rows(which="one", failed="on")) == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("csv?judge=nobody", "unknown-judge"),
        ("csv?which=two", "unknown-selection"),
        ("csv?which=one&traps=on", "one-label-of-no-judge"),
        ("cvs", "unknown-export"),
        ("gold", "no-gold-drawn"),
    ],
)
def test_an_export_that_cannot_be_had_is_told_on_the_page(owner: Any, judged: Any, path: str, code: str) -> None:
    answer = owner.get(f"/p/sea-bees/exports/{path}")
    assert (answer.status_code, code in codes_on(answer)) == (422, True)


@pytest.mark.slow
def test_ties_are_told_where_one_answer_is_chosen(owner: Any, judged: Any) -> None:
    page = owner.get("/p/sea-bees/exports")
    assert numbers(words_of(page, "judges-tie")) == [2]


def test_an_import_is_taken_back_after_a_look_at_what_it_takes(owner: Any) -> None:
    send_new(owner, whole())
    owner.get("/p/sea-bees/import")
    owner.post(
        "/p/sea-bees/import", owner.hidden(), files=files(labels="query,doc,judge,label\nq1,a,zoe,1\nq1,z,zoe,0\n")
    )
    address = re.search(r'href="([^"]+/take-back)"', owner.get("/p/sea-bees/files").text)
    assert address is not None
    page = owner.get(address[1])
    assert numbers(element_text(page, "taken-back")) == [2, 1]
    assert owner.send(address[1]).status_code == 303
    page = owner.get("/p/sea-bees/files")
    assert numbers(notices(page)[0]) == [2, 1]
    assert "imported labels" not in said(page)
    assert numbers(figures(owner.get("/p/sea-bees"))["Judgments"]) == [0, 16]


def test_a_draw_is_withdrawn_by_a_button_while_nobody_has_judged_it(owner: Any, judged: Any) -> None:
    form = {"how": "documents", "number": "6", "measures": "P@4", "wanted": "1"}
    owner.get("/p/sea-bees/gold")
    owner.post("/p/sea-bees/gold", form | owner.hidden())
    assert "/gold/withdraw" in owner.get("/p/sea-bees/gold").text
    assert owner.send("/p/sea-bees/gold/withdraw").status_code == 303
    page = owner.get("/p/sea-bees/gold")
    assert numbers(notices(page)[0]) == [6]
    assert "/gold/withdraw" not in page.text


def test_the_files_are_listed_with_documents_and_their_sizes(owner: Any) -> None:
    send_new(owner, whole())
    listed = {row[0]: row[1:3] for row in table_rows(owner.get("/p/sea-bees/files"))}
    assert listed["ask.run"] == ["run", f"{len(RUN)} bytes"]
    assert listed["documents.csv"] == ["documents", f"{len(DOCUMENTS)} bytes"]


def test_an_empty_project_exports_nothing_and_says_so(owner: Any) -> None:
    send_new(owner, whole())
    assert 'class="empty"' in owner.get("/p/sea-bees/exports").text
    answer = owner.get("/p/sea-bees/exports/csv")
    assert (answer.status_code, codes_on(answer)) == (422, ["nothing-collected"])


def test_labels_from_elsewhere_count_and_wrong_ones_change_nothing(owner: Any) -> None:
    send_new(owner, whole())
    for text, code in (
        ("", "empty-file"),
        ("q1 0 a 7\n", "unknown-answer"),
        ("not,a,table\n1,2,3\n", "unknown-columns"),
        ("query,left,right,winner\nq1,a,b,left\n", "other-kind"),
    ):
        owner.get("/p/sea-bees/import")
        answer = owner.post("/p/sea-bees/import", owner.hidden(), files=files(labels=text))
        assert (answer.status_code, code_beside(answer, "labels")) == (422, code)
        assert beside(answer, "labels").startswith("labels.csv:")
    assert owner.post("/p/sea-bees/import", owner.hidden()).status_code == 422
    assert numbers(figures(owner.get("/p/sea-bees"))["Judgments"]) == [0, 16]
    labels = "query,doc,judge,label\nq1,a,zoe,1\nq1,b,zoe,0\n"
    for new, known in ((2, 0), (0, 2)):
        owner.get("/p/sea-bees/import")
        done = owner.post("/p/sea-bees/import", owner.hidden(), files=files(labels=labels))
        assert done.status_code == 303, done.text
        page = owner.get(done.headers["location"])
        assert numbers(notices(page)[0]) == [new, 1, *([known] if known else [])]
        assert numbers(figures(page)["Judgments"]) == [2, 16]


@pytest.mark.slow
def test_gold_is_drawn_judged_and_read_by_evaluate(
    owner: Any, judged: Any, visit: Callable[..., Any], account: Callable[..., int], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    page = owner.get("/p/sea-bees/gold")
    for changed, field in (
        ({"number": "0"}, "number"),
        ({"measures": "P@@"}, "measures"),
        ({"wanted": "no"}, "wanted"),
    ):
        form = {"how": "documents", "number": "6", "measures": "P@4", "wanted": "1"} | changed
        answer = owner.post("/p/sea-bees/gold", form | owner.hidden())
        assert answer.status_code == 422
        assert beside(answer, field)
    form = {"how": "documents", "number": "6", "measures": "P@4", "wanted": "1"} | owner.hidden()
    done = owner.post("/p/sea-bees/gold", form)
    assert done.status_code == 303, done.text
    page = owner.get("/p/sea-bees/gold")
    assert numbers(notices(page)[0]) == [6, 2]
    assert has_element(page, "no-gold-judges")
    assert owner.post("/p/sea-bees/gold", form).status_code == 422
    greta = visit(account("Greta", judged, "gold"))
    assert judge_all(greta, "sea-bees", lambda page: "1" if title_shown(page) in "ab" else "0", "gold") == 6
    page = owner.get("/p/sea-bees/gold")
    bronze = re.search(r'href="(/p/sea-bees/files/\d+)">bronze', page.text)
    assert bronze is not None
    monkeypatch.chdir(tmp_path)
    Path("my.run").write_text(RUN)
    Path("bronze.csv").write_bytes(owner.get(bronze[1]).content)
    Path("gold.csv").write_bytes(owner.get("/p/sea-bees/exports/gold").content)
    found = ringtrue(capsys, "evaluate", "my.run", "--judgments", "bronze.csv", "--gold", "gold.csv", "-m", "P@4")
    assert found["corrected"]["my"]["P@4"]["value"] == pytest.approx(0.5, abs=0.2)


def test_gold_needs_runs_and_says_so(owner: Any) -> None:
    send_new(owner, [("ask", ("pool.csv", b"query,doc\nq1,a\nq1,b\n", "text/csv"))])
    assert has_element(owner.get("/p/sea-bees/gold"), "no-runs")
    form = {"how": "queries", "number": "1", "measures": "AP", "wanted": "1"} | owner.hidden()
    answer = owner.post("/p/sea-bees/gold", form)
    assert answer.status_code == 422


def test_a_backup_holds_everything_and_can_be_restored(owner: Any, judged: Any, tmp_path: Path) -> None:
    assert "--restore" in owner.get("/server/backup").text
    answer = owner.send("/server/backup")
    assert answer.headers["content-type"] == "application/zip"
    assert zipfile.is_zipfile(io.BytesIO(answer.content))
    (tmp_path / "b.zip").write_bytes(answer.content)
    with Store.open(str(tmp_path / "new.db")) as store:
        restore_backup(store, tmp_path / "b.zip", now=0.0)
        with store.read() as connection:
            assert get_project_by_name(connection, "sea-bees").title == "Sea & bees"
    assert "back up" in [row[2] for row in table_rows(owner.get("/server/audit"))]


def test_a_token_is_shown_once_works_and_is_revoked(owner: Any, nobody: Any, judged: Any) -> None:
    assert has_element(owner.get("/tokens"), "no-tokens")
    for changed, field in (({"label": " "}, "label"), ({"days": "0"}, "days")):
        wrong = owner.send("/tokens", **{"label": "x", "days": "9", "read": "on"} | changed)
        assert code_beside(wrong, field)
    assert code_beside(owner.send("/tokens", label="x", days="9"), "scopes") == "no-scope"
    page = owner.send("/tokens", label="nightly <b>", days="9", read="on")
    secret = re.search(r'id="token" value="([^"]+)"', page.text)
    assert secret is not None
    bearer = {"Authorization": f"Bearer {secret[1]}"}
    assert nobody.get("/api/v1/projects", headers=bearer).status_code == 200
    listed = owner.get("/tokens")
    assert secret[1] not in listed.text
    assert ["nightly <b>", "read"] in [row[:2] for row in table_rows(listed)]
    revoke = re.search(r"/tokens/\d+/revoke", listed.text)
    assert revoke is not None
    owner.send(revoke[0])
    assert nobody.get("/api/v1/projects", headers=bearer).status_code == 401
    assert "revoked" in said(owner.get("/tokens"))


def test_nobody_but_an_owner_makes_a_token_that_manages(viewer: Any) -> None:
    assert "manage" not in said(viewer.get("/tokens"))
    assert viewer.send("/tokens", label="x", days="9", manage="on").status_code == 422


@pytest.mark.slow
def test_temporary_files_are_deleted_when_they_were_sent(owner: Any, judged: Any, temporary: Path) -> None:
    assert owner.get("/p/sea-bees/exports/all").status_code == 200
    assert owner.get("/p/sea-bees/exports/gold").status_code == 422
    owner.get("/server/backup")
    assert owner.send("/server/backup").status_code == 200
    assert list(temporary.iterdir()) == []


def test_a_judge_who_becomes_a_viewer_sees_exports(judge: Any, project: Any, web_store: Store) -> None:
    assert judge.get("/p/news/exports").status_code == 403
    web_store.write(lambda c: add_member(c, project.id, judge.account, "viewer", 1.0))
    assert judge.get("/p/news/exports").status_code == 200
