"""Gold: drawn from the project's runs, judged in its own queue, and read by the real command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import Connection

from ringtrue.cli import main
from ringtrue.errors import ConflictError, InputError, NotFoundError, UsageError
from ringtrue.messages import Note
from ringtrue.service.collect.export import export_project
from ringtrue.service.collect.gold_queue import GoldDrawSummary, draw_gold, load_gold_frame
from ringtrue.service.collect.uploads import load_project_uploads, read_upload_file
from ringtrue.service.store import Answer, Store
from ringtrue.service.store.adjudication import record_verdict
from ringtrue.service.store.answers import record_answer
from ringtrue.service.store.items import load_undecided_gold, withdraw_gold_draw
from ringtrue.service.store.progress import load_progress
from ringtrue.service.store.records import Project, ShownQuestion
from ringtrue.service.store.tasks import get_or_create_task, load_next_question
from service.collect.worlds import NOW, account, given, graded, judge_all, pairs, right, rng, runs, truth
from service.small_projects import rows


@pytest.fixture
def bronze(store: Store) -> Project:
    """One judge who takes every d1 for relevant."""
    project = graded(store, judges=1).project
    judge_all(store, project, account(store, "crowd"), {"d1": "2"})
    return project


def drawn(store: Store, project: Project, **changes) -> GoldDrawSummary:
    options = {"measures": ["P@5"], "budget": 20} | changes
    return draw_gold(store, project, now=NOW + 100, rng=rng(3), **options)


def evaluated(store: Store, project: Project, folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    """What `ringtrue evaluate` says to the project's runs, the bronze labels of the draw, and the export of gold."""
    for file in runs():
        (folder / file.name).write_bytes(file.content)
    last = [one for one in store.write(lambda c: load_project_uploads(c, project.id)) if one.kind == "bronze"][-1]
    (folder / "bronze.csv").write_bytes(read_upload_file(store, project.id, last.id).content)
    gold = export_project(store, project, "gold", folder)
    capsys.readouterr()
    files = [str(folder / name) for name in ("bm25.run", "dense.run", "bronze.csv")]
    asked = ["evaluate", *files[:2], "--judgments", files[2], "--gold", str(gold.path), "--json", *words]
    with pytest.raises(SystemExit) as stop:
        main(asked)
    printed = capsys.readouterr()
    assert not stop.value.code, printed.err
    return json.loads(printed.out)


def true_precision(name: str) -> float:
    """P@5 by a perfect judge."""
    file = next(one for one in runs() if one.name == f"{name}.run")
    found = [line.split() for line in file.content.decode().splitlines()]
    return sum(truth(line[0], line[2]) >= 1 for line in found if int(line[3]) <= 5) / 30


def test_a_draw_of_documents_is_evaluated_by_the_real_command(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = drawn(store, bronze)
    assert (found.design, found.documents, found.new) == ("pool_stratified", 20, 20)
    assert set(found.expected) == {"bm25", "dense"}
    with store.read() as connection:
        assert load_progress(connection, bronze.id, "gold").wanted == 20
    assert judge_all(store, bronze, account(store, "expert"), right, queue="gold") == 20
    answer = evaluated(store, bronze, tmp_path, capsys, "-m", "P@5")
    for name in ("bm25", "dense"):
        estimate = answer["corrected"][name]["P@5"]
        assert estimate["low"] <= true_precision(name) <= estimate["high"]
        assert estimate["method"].startswith("difference")
    assert answer["design"] == "pool_stratified"
    assert answer["judge"]["confusion"]["rows"] == "gold"
    assert not {"lost-labels", "lost-left-out", "too-few-gold"} & set(answer["note_codes"])


def test_all_of_the_runs_drawn_gives_the_truth_itself(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(store, bronze, budget=48)
    judge_all(store, bronze, account(store, "expert"), right, queue="gold")
    answer = evaluated(store, bronze, tmp_path, capsys, "-m", "P@5", "--population", "these")
    for name in ("bm25", "dense"):
        assert answer["corrected"][name]["P@5"]["value"] == pytest.approx(true_precision(name))


def test_whole_queries_serve_ndcg(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = drawn(store, bronze, measures=["nDCG@5"], budget=None, queries=4)
    assert (found.design, found.queries, set(found.expected)) == ("whole_queries", 4, {"bm25", "dense"})
    judge_all(store, bronze, account(store, "expert"), right, queue="gold")
    answer = evaluated(store, bronze, tmp_path, capsys, "-m", "nDCG@5")
    assert answer["corrected"]["bm25"]["nDCG@5"]["value"] > 0


def test_a_draw_to_compare_says_so_in_the_export(store: Store, bronze: Project) -> None:
    drawn(store, bronze, compare=True, budget=10)
    with store.read() as connection:
        assert load_gold_frame(connection, bronze)["drawn_for"].unique().to_list() == ["differences of P@5"]


@pytest.mark.slow
def test_a_second_draw_continues_the_first_with_probabilities_for_both(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(store, bronze, budget=12)
    with pytest.raises(InputError) as refused:
        drawn(store, bronze, budget=12)
    assert refused.value.code == "draw-not-judged"
    assert "12 documents" in refused.value.text
    expert = account(store, "expert")
    judge_all(store, bronze, expert, right, queue="gold")
    with store.read() as connection:
        before = load_gold_frame(connection, bronze)
    more = drawn(store, bronze, budget=12)
    assert (more.documents, more.new) == (24, 12)
    assert judge_all(store, bronze, expert, right, queue="gold") == 12
    with store.read() as connection:
        after = load_gold_frame(connection, bronze)
    both = before.join(after, on=["query", "doc"], suffix="_after")
    assert both.height == 12
    assert (both["prob"] != both["prob_after"]).any()
    assert after["drawn"].unique().to_list() == [24]
    answer = evaluated(store, bronze, tmp_path, capsys, "-m", "P@5")
    assert answer["corrected"]["bm25"]["P@5"]["low"] <= true_precision("bm25")


@pytest.mark.slow
def test_a_run_that_comes_later_extends_the_draw(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(store, bronze, budget=12, measures=["P@2"])
    expert = account(store, "expert")
    judge_all(store, bronze, expert, right, queue="gold")
    (frame,) = [one for one in store.write(lambda c: load_project_uploads(c, bronze.id)) if one.kind == "frame"]
    before = pl.read_csv(read_upload_file(store, bronze.id, frame.id).content)
    assert before["drawn"].sum() == 12
    more = drawn(store, bronze, budget=8, measures=["P@5"])  # what a deeper cutoff shows is new, too
    assert (more.documents, more.new) == (20, 8)
    assert "new-stratum" in [note.code for note in more.notes]
    judge_all(store, bronze, expert, right, queue="gold")
    (frame,) = [one for one in store.write(lambda c: load_project_uploads(c, bronze.id)) if one.kind == "frame"]
    after = read_upload_file(store, bronze.id, frame.id)
    assert pl.read_csv(after.content).height > before.height
    (tmp_path / after.name).write_bytes(after.content)
    answer = evaluated(store, bronze, tmp_path, capsys, "-m", "P@5")
    assert all(row["P@5"]["low"] <= true_precision(name) <= row["P@5"]["high"]
               for name, row in answer["corrected"].items())  # fmt: skip
    with store.transaction() as connection, pytest.raises(ConflictError):
        withdraw_gold_draw(connection, bronze)


def test_a_draw_that_is_not_judged_to_its_end_is_told_and_refused_by_the_command(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(store, bronze)
    judge_all(store, bronze, account(store, "expert"), right, queue="gold", tasks=1)
    found = export_project(store, bronze, "gold", tmp_path)
    (note,) = found.notes
    assert (note.code, note[:7]) == ("gold-not-judged", "8 of 20")
    with pytest.raises(AssertionError, match="too-many-lost"):
        evaluated(store, bronze, tmp_path, capsys, "-m", "P@5")


def test_what_gold_cannot_decide_is_not_judged(store: Store, bronze: Project) -> None:
    drawn(store, bronze)
    unsure: list[str] = []

    def says(shown: ShownQuestion) -> str:
        if not unsure:
            unsure.append(shown.left.name)
            return "unsure"
        return right(shown)

    judge_all(store, bronze, account(store, "expert"), says, queue="gold")
    notes: list[Note] = []
    with store.read() as connection:
        frame = load_gold_frame(connection, bronze, notes.append)
    assert (frame["label"] == -1).sum() == 1
    assert frame.filter(pl.col("label") == -1)["reason"].to_list() == ["can't tell"]
    assert frame["reason"].null_count() == 19
    assert [(note.code, note[:7]) for note in notes] == [("gold-undecided", "1 of 20")]


def test_several_gold_judges_give_one_label(store: Store, bronze: Project) -> None:
    drawn(store, bronze, wanted=2)
    judge_all(store, bronze, account(store, "one"), right, queue="gold")
    judge_all(store, bronze, account(store, "two"), right, queue="gold")
    with store.read() as connection:
        frame = load_gold_frame(connection, bronze)
        assert load_progress(connection, bronze.id, "gold").done == 40
    assert frame.select("query", "doc").is_unique().all()
    assert all(label == truth(query, doc) for query, doc, label in frame.select("query", "doc", "label").rows())


def test_bronze_labels_may_come_from_a_file(store: Store) -> None:
    project = graded(store).project
    with pytest.raises(InputError) as refused:
        drawn(store, project)
    assert refused.value.code == "no-bronze-labels"
    labels = given("llm.qrels", "".join(f"q{q} 0 d{d} {truth(f'q{q}', f'd{d}')}\n" for q in range(6) for d in range(8)))
    assert drawn(store, project, bronze=labels).new == 20


def test_wrong_wishes_are_refused(store: Store, bronze: Project) -> None:
    for changes, code in (
        ({"budget": None}, "documents-or-queries"),
        ({"queries": 3}, "documents-or-queries"),
        ({"compare": True, "budget": None, "queries": 3}, "comparison-draws-documents"),
        ({"wanted": 0}, "no-gold-judge"),
        ({"measures": ["nDCG@5"]}, "needs-whole-queries"),
    ):
        with pytest.raises(UsageError) as refused:
            drawn(store, bronze, **changes)
        assert refused.value.code == code
    with pytest.raises(UsageError) as refused:
        drawn(store, pairs(store).project)
    assert refused.value.code == "gold-needs-documents"
    no_runs = graded(store, name="pooled", ask=[given("pool.csv", "query,doc\nq1,d1\n")], documents=[]).project
    with pytest.raises(InputError) as refused:
        drawn(store, no_runs)
    assert refused.value.code == "no-runs-in-project"
    assert rows(store, "SELECT COUNT(*) FROM item WHERE queue = 'gold'") == [(0,)]


@pytest.mark.slow
def test_what_the_only_gold_judge_skipped_is_not_judged_and_does_not_stop_the_draw(
    store: Store, bronze: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(store, bronze)
    expert = account(store, "expert")
    skip_one(store, bronze, expert)
    judge_all(store, bronze, expert, right, queue="gold")
    with store.read() as connection:
        assert (load_gold_frame(connection, bronze)["label"] == -1).sum() == 1
        ((item, query, doc),) = load_undecided_gold(connection, bronze)
    answer = evaluated(store, bronze, tmp_path, capsys, "-m", "P@5")
    assert answer["corrected"]["bm25"]["P@5"]["value"] is not None
    for budget in (5, 10):  # the draw is continued
        assert drawn(store, bronze, budget=budget).new > 0
        judge_all(store, bronze, expert, right, queue="gold")
        again = evaluated(store, bronze, tmp_path, capsys, "-m", "P@5")
        assert again["corrected"]["bm25"]["P@5"]["se"] > 0
    store.write(lambda c: record_verdict(c, bronze, item, expert, "2", None, NOW))
    with store.read() as connection:
        frame = load_gold_frame(connection, bronze)
        assert load_undecided_gold(connection, bronze) == []
    assert frame.filter(query=query, doc=doc)["label"].to_list() == [2]


def skip_one(store: Store, project: Project, who: int) -> None:
    def work(connection: Connection) -> None:
        task = get_or_create_task(connection, project, who, queue="gold", now=NOW, rng=rng())
        assert task is not None
        shown = load_next_question(connection, task.id, who)
        assert shown is not None
        record_answer(connection, who, shown.assignment, shown.version, Answer(kind="skip"), now=NOW)

    store.write(work)


def test_a_draw_that_nobody_has_judged_can_be_withdrawn(store: Store, bronze: Project) -> None:
    drawn(store, bronze)
    expert = account(store, "expert")
    store.write(lambda c: get_or_create_task(c, bronze, expert, queue="gold", now=NOW, rng=rng()))
    assert store.write(lambda c: withdraw_gold_draw(c, bronze)) == 20
    assert not [one for one in store.write(lambda c: load_project_uploads(c, bronze.id)) if one.kind == "bronze"]
    assert rows(store, "SELECT COUNT(*) FROM item WHERE queue = 'gold'") == [(0,)]
    with pytest.raises(NotFoundError) as refused:
        store.write(lambda c: withdraw_gold_draw(c, bronze))
    assert refused.value.code == "no-gold-drawn"
    drawn(store, bronze, budget=10)
    judge_all(store, bronze, expert, right, queue="gold", tasks=1)
    with pytest.raises(ConflictError) as refused:
        store.write(lambda c: withdraw_gold_draw(c, bronze))
    assert refused.value.code == "gold-begun"


def test_labels_of_some_queries_only_are_told_before_gold_is_judged(store: Store, bronze: Project) -> None:
    assert "queries-without-labels" not in [note.code for note in drawn(store, bronze).notes]
    store.write(lambda c: withdraw_gold_draw(c, bronze))
    some = given("some.qrels", "".join(f"q{q} 0 d{d} 1\n" for q in range(4) for d in range(8)))
    (note,) = [note for note in drawn(store, bronze, bronze=some).notes if note.code == "queries-without-labels"]
    assert "4 of 6 queries" in note
    assert "'q4'" in note


def test_bronze_labels_are_kept_without_the_names_of_their_judges(store: Store, bronze: Project) -> None:
    labels = "query,doc,judge,label\n" + "".join(f"q{q},d{d},Anna Lindh,1\n" for q in range(6) for d in range(8))
    drawn(store, bronze, bronze=given("llm.csv", labels))
    for one in store.write(lambda c: load_project_uploads(c, bronze.id)):
        if one.kind == "bronze":
            assert b"Anna" not in read_upload_file(store, bronze.id, one.id).content
