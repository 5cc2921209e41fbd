"""Every file that an export writes is one that ringtrue reads."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ringtrue as rt
from ringtrue.cli import main
from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.errors import InputError, TableError, UsageError
from ringtrue.files import FORMATS, read_judgments, read_preferences
from ringtrue.messages import Call
from ringtrue.service.collect.export import export_project, write_safe_csv
from ringtrue.service.collect.export_formats import list_export_formats, make_export_call
from ringtrue.service.collect.gold_queue import draw_gold
from ringtrue.service.collect.quality import assess_quality, resolve_labels
from ringtrue.service.store import Label, Scale, Store
from ringtrue.service.store.adjudication import load_disagreements, record_verdict
from ringtrue.service.store.records import Project, ShownQuestion
from service.collect.worlds import NOW, QUERIES, account, given, graded, judge_all, pairs, right, rng, run_file, truth


@pytest.fixture
def labelled(store: Store) -> Project:
    """Two judges, of whom bob takes d1 of every query for relevant."""
    return labels_in(store)


def labels_in(store: Store) -> Project:
    project = graded(store, known=given("t.csv", "query,doc,label\nq0,x0,0\n"), traps=1, task_size=13).project
    judge_all(store, project, account(store, "ann"))
    judge_all(store, project, account(store, "bob"), {"d1": "2"})
    return project


@pytest.fixture
def preferred(store: Store) -> Project:
    """Two judges, of whom bob always prefers the left."""
    return preferences_in(store)


def preferences_in(store: Store) -> Project:
    project = pairs(store).project
    judge_all(store, project, account(store, "ann"))
    judge_all(store, project, account(store, "bob"), lambda shown: "left")
    return project


def test_every_format_that_files_writes_is_offered(quick: Store) -> None:
    offered = {form.form for form in list_export_formats(graded(quick).project)}
    assert set(FORMATS["judgments"]) | {"trec-prefs", None} == offered
    assert set(FORMATS["preferences"]) | {None} == {form.form for form in list_export_formats(pairs(quick).project)}


@pytest.mark.parametrize("key", ["qrels", "csv", "tsv", "jsonl", "parquet"])
def test_labels_are_read_back_with_their_judges(quick: Store, tmp_path: Path, key: str) -> None:
    found = export_project(quick, labels_in(quick), key, tmp_path)
    table = read_judgments(found.path)
    assert found.rows == table.frame.height == 2 * 48
    assert sorted(table.judges) == ["ann", "bob"]
    by_ann = table.by("ann").frame
    assert all(label == truth(query, doc) for query, doc, label in by_ann.select("query", "doc", "label").rows())
    if key != "qrels":
        assert {"time", "seconds", "batch", "place"} <= set(table.frame.columns)
        assert rt.agree(table, resamples=0).votes == 96  # times are understood too


@pytest.mark.parametrize("key", ["pairs", "trec-prefs", "csv", "tsv", "jsonl", "parquet"])
def test_preferences_are_read_back(quick: Store, tmp_path: Path, key: str) -> None:
    found = export_project(quick, preferences_in(quick), key, tmp_path, judge="bob" if key == "trec-prefs" else None)
    table = read_preferences(found.path)
    if key in ("csv", "tsv", "jsonl", "parquet"):
        assert sorted(table.frame["judge"].unique()) == ["ann", "bob"]
        assert set(table.frame.filter(pl.col("judge") == "bob")["winner"]) == {"left"}
    if key != "trec-prefs":
        assert table.frame.height == found.rows
    assert rt.rate(table).frame.height > 0


def test_one_label_is_the_verdict_or_what_most_said(store: Store, labelled: Project, tmp_path: Path) -> None:
    with store.read() as connection:
        first = load_disagreements(connection, labelled)[0]
    who = account(store, "cid")
    store.write(lambda c: record_verdict(c, labelled, first.item, who, "1", "=1+1", 1.7e9))
    found = export_project(store, labelled, "qrels", tmp_path, which="one")
    table = read_judgments(found.path)
    table.require_one_label_each()
    assert (found.rows, table.judges) == (48, ("0",))
    labels = {(query, doc): label for query, doc, label in table.frame.select("query", "doc", "label").rows()}
    assert labels.pop((first.query, first.left.name)) == 1
    assert all(label == truth(query, doc) or doc == "d1" for (query, doc), label in labels.items())
    by = read_judgments(export_project(store, labelled, "csv", tmp_path, which="one").path).frame
    assert by["by"].value_counts().sort("by").rows() == [("majority", 43), ("tie", 4), ("verdict", 1)]
    assert "lost-columns" in [note.code for note in found.notes]


def test_one_preference_for_each_pair(store: Store, preferred: Project, tmp_path: Path) -> None:
    with store.read() as connection:
        cases = load_disagreements(connection, preferred)
        before = resolve_labels(connection, preferred)
    assert isinstance(before, rt.Preferences)
    assert before.frame.select("query", "left", "right").is_unique().all()
    who = account(store, "cid")
    store.write(lambda c: record_verdict(c, preferred, cases[0].item, who, "right", None, 1.7e9))
    table = read_preferences(export_project(store, preferred, "csv", tmp_path, which="one").path).frame
    row = table.filter((pl.col("query") == cases[0].query) & (pl.col("left") == cases[0].left.name)
                       & (pl.col("right") == cases[0].right.name))  # fmt: skip
    assert row["winner"].to_list() == ["right"]


def test_one_judge_alone_and_who_that_could_be(store: Store, labelled: Project, tmp_path: Path) -> None:
    table = read_judgments(export_project(store, labelled, "qrels", tmp_path, judge="bob").path)
    assert table.judges == ("bob",)
    with pytest.raises(UsageError) as refused:
        export_project(store, labelled, "csv", tmp_path, judge="bod")
    assert refused.value.code == "unknown-judge"


def test_traps_come_along_where_they_are_asked_for(store: Store, labelled: Project, tmp_path: Path) -> None:
    table = read_judgments(export_project(store, labelled, "csv", tmp_path, traps=True).path).frame
    assert table["trap"].value_counts().sort("trap").rows() == [("false", 96), ("true", 2)]


def test_wrong_wishes_are_refused(store: Store, labelled: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        export_project(store, labelled, "qrel", tmp_path)
    assert refused.value.code == "unknown-export"
    with pytest.raises(UsageError) as refused:
        export_project(store, labelled, "csv", tmp_path, which="one", judge="ann")
    assert refused.value.code == "one-label-of-no-judge"
    with pytest.raises(InputError) as refused:
        export_project(store, graded(store, name="new").project, "csv", tmp_path)
    assert refused.value.code == "nothing-collected"
    with pytest.raises(InputError) as refused:
        export_project(store, labelled, "gold", tmp_path)
    assert refused.value.code == "no-gold-drawn"


def test_the_history_has_every_answer_and_ringtrue_reads_those_that_count(store: Store, tmp_path: Path) -> None:
    project = graded(store, judges=1).project

    def says(shown: ShownQuestion) -> str:
        return "unsure" if shown.left.name == "d3" else right(shown)

    judge_all(store, project, account(store, "ann"), says)
    found = export_project(store, project, "history", tmp_path)
    lines = list(csv.DictReader(io.StringIO(found.path.read_text())))
    assert len(lines) == found.rows == 48
    assert {line["reason"] for line in lines if line["kind"] == "unsure"} == {"why"}
    kept = read_judgments(found.path, where={"counts": "true"})
    assert kept.frame.height == 42


def test_what_people_wrote_is_no_formula_in_a_spreadsheet(store: Store, tmp_path: Path) -> None:
    from ringtrue.service.store import Answer
    from ringtrue.service.store.answers import record_answer
    from service.small_projects import NOW, begin, judge, project, question

    where, ann = project(store, items=6, task_size=6), judge(store)
    task = begin(store, where, ann)
    reasons = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "plain", "＝1"]
    for reason in reasons:
        shown = question(store, task, ann)
        said = Answer(kind="unsure", reason=reason)
        store.write(lambda c, s=shown, a=said: record_answer(c, ann, s.assignment, s.version, a, now=NOW))
    lines = list(csv.DictReader(io.StringIO(export_project(store, where, "history", tmp_path).path.read_text())))
    assert [line["reason"] for line in lines] == ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(A1)", "plain", "'＝1"]


def test_what_begins_like_a_formula_is_guarded_and_nothing_else_is(tmp_path: Path) -> None:
    reasons = ["\tx", "\rx", "", "a=b", "'x", None, "=1"]
    write_safe_csv(tmp_path / "a.csv", [pl.DataFrame({"reason": reasons, "label": ["-1"] * 7})], lambda _: None)
    with open(tmp_path / "a.csv", newline="") as stream:
        rows = list(csv.reader(stream))
    assert [row[0] for row in rows[1:]] == ["'\tx", "'\rx", "", "a=b", "'x", "", "'=1"]
    assert {row[1] for row in rows[1:]} == {"-1"}


@pytest.mark.parametrize("key", ["csv", "tsv", "jsonl", "parquet", "qrels", "history"])
def test_an_id_that_begins_like_a_formula_comes_back_the_same(quick: Store, tmp_path: Path, key: str) -> None:
    pool = given("pool.csv", "query,doc\n=q,+d\n=q,-1\n=q,@d\n")
    project = graded(quick, ask=[pool], topics=None, documents=[], judges=1).project
    judge_all(quick, project, account(quick, "ann"), lambda shown: "1")
    found = export_project(quick, project, key, tmp_path)
    table = read_judgments(found.path)
    assert sorted(table.frame["doc"]) == ["+d", "-1", "@d"]
    assert set(table.frame["query"]) == {"=q"}
    warned = [note for note in found.notes if note.code == "guarded-ids" and "4 ids" in note]
    assert len(warned) == (key in ("csv", "tsv", "history"))


def test_no_cell_of_any_csv_begins_like_a_formula_and_ringtrue_takes_the_ids_back(quick: Store, tmp_path: Path) -> None:
    from ringtrue.service.collect.import_labels import import_labels
    from service.collect.worlds import NOW, rng

    pool = given("pool.csv", "query,doc\n=q,+d\n=q,-1\n=q,@d\n=q,''=x\n=q,d\n")
    traps = given("traps.csv", "query,doc,label\n=q,-t,0\n")
    project = graded(quick, ask=[pool], topics=None, documents=[], judges=9, known=traps, traps=1, task_size=6).project
    labels = given("l.csv", "query,doc,judge,label\n=q,d,=cmd|' /C calc'!A0,1\n=q,+d,-eve,0\n")
    import_labels(quick, project, labels, now=NOW, rng=rng())
    judge_all(quick, project, account(quick, "ann"), lambda shown: "1")
    keys = [one.key for one in list_export_formats(project) if one.ending.endswith((".csv", ".tsv", ".zip"))]
    found = {key: export_project(quick, project, key, tmp_path).path for key in keys if key != "gold"}
    with zipfile.ZipFile(found.pop("all")) as archive:
        archive.extractall(tmp_path / "out")
    for path in (*found.values(), *(tmp_path / "out").glob("*.csv")):
        with open(path, newline="") as stream:
            rows = list(csv.reader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))], (
            path.name
        )
    for name in ("csv", "tsv", "answers"):
        frame = read_judgments(found[name]).frame
        assert set(frame["doc"]) - {"-t"} == {"+d", "-1", "@d", "'=x", "d"}  # one apostrophe of the pool's is a guard
        assert {"ann", "=cmd|' /C calc'!A0", "-eve"} == set(frame["judge"])


def test_a_format_that_cannot_hold_a_name_says_so(quick: Store, tmp_path: Path) -> None:
    from ringtrue.service.collect.import_labels import import_labels
    from service.collect.worlds import NOW, rng

    project = graded(quick).project
    labels = given("l.csv", "query,doc,judge,label\nq1,d1,Bob Ray,1\n")
    import_labels(quick, project, labels, now=NOW, rng=rng())
    with pytest.raises(TableError) as refused:
        export_project(quick, project, "qrels", tmp_path)
    assert refused.value.code == "unwritable-cell"
    assert "'Bob Ray'" in refused.value.text


@pytest.mark.slow
def test_everything_is_one_archive(store: Store, labelled: Project, tmp_path: Path) -> None:
    found = export_project(store, labelled, "all", tmp_path)
    with zipfile.ZipFile(found.path) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "out")
    assert names == ["labels.csv", "one_labels.csv", "answers.csv", "traps.csv", "history.csv", "README.txt"]
    assert [path.name for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".db"][:1]
    quality = rt.judge_quality(
        read_judgments(tmp_path / "out/labels.csv"), gold=read_judgments(tmp_path / "out/one_labels.csv")
    )
    assert [one.judge for one in quality] == ["ann", "bob"]
    empty = export_project(store, graded(store, name="new").project, "all", tmp_path)
    assert empty.rows == 0
    assert ("nothing-collected", "labels.csv") in [(note.code, note.subject) for note in empty.notes]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".zip", ".parts")) == [
        "graded.zip", "new.zip",
    ]  # fmt: skip


def test_tasks_that_failed_their_traps_can_be_left_out(store: Store, tmp_path: Path) -> None:
    project = graded(
        store, known=given("t.csv", "query,doc,label\nq0,x1,0\n"), traps=1, traps_needed=1, task_size=49, judges=2
    ).project
    judge_all(store, project, account(store, "ann"), {"x1": "0"})
    judge_all(store, project, account(store, "bob"), {"x1": "2"})
    everybody = read_judgments(export_project(store, project, "csv", tmp_path).path)
    careful = read_judgments(export_project(store, project, "csv", tmp_path, failed=False).path)
    assert (sorted(everybody.judges), careful.judges) == (["ann", "bob"], ("ann",))


@pytest.mark.slow
@pytest.mark.parametrize("make", [graded, pairs])
def test_the_commands_in_the_archive_run_and_find_every_trap_that_was_met(
    quick: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    known = "query,doc,label\nq0,x0,0\nq1,x1,1\n" if make is graded else PAIRS_KNOWN
    project = make(quick, known=given("t.csv", known), traps=2, traps_needed=2, task_size=30).project
    judge_all(quick, project, account(quick, "ann"))
    judge_all(quick, project, account(quick, "bob"), lambda shown: "0" if shown.right is None else "left")
    with zipfile.ZipFile(export_project(quick, project, "all", tmp_path, spelling=ShellSpelling()).path) as archive:
        archive.extractall(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    Path("my.run").write_bytes(run_file("my", 3).content)
    commands = [line.split()[1:] for line in Path("README.txt").read_text().splitlines() if " ringtrue " in line]
    if make is graded:
        commands.append(["aggregate", "labels.csv", "-o", "one.qrels"])
    found = {}
    for words in commands:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([*words, "--json"])
        printed = capsys.readouterr()
        assert not stop.value.code, (words, printed.err)
        found[words[0]] = json.loads(printed.out)
        if words[0] == "judges":
            scale = ["--scale", "0-2"] if make is graded else []
            assert words[2:] == ["--traps", "traps.csv", "--accept", "2/2", *scale]
    assert {one["judge"]: one["traps"]["n"] for one in found["judges"]["judges"]} == {"ann": 2, "bob": 2}
    assert found.keys() >= ({"agree", "judges", "evaluate", "aggregate"} if make is graded else {"agree", "rate"})
    labels = pl.read_csv("labels.csv" if make is graded else "preferences.csv")
    assert "trap" not in labels.columns
    assert not labels["query"].is_null().any()


PAIRS_KNOWN = "query,left,right,winner\nq0,x0,x1,x1\nq1,x0,x2,x0\n"


def test_a_question_that_a_judge_met_both_ways_keeps_the_ordinary_answer(quick: Store, tmp_path: Path) -> None:
    from sqlalchemy import text

    project = labels_in(quick)
    same = "UPDATE item SET doc = (SELECT id FROM document WHERE name = 'd0') WHERE queue = 'trap'"
    quick.write(lambda c: c.execute(text(same)))
    table = read_judgments(export_project(quick, project, "answers", tmp_path).path).frame
    assert table.height == 96
    assert table["trap"].unique().to_list() == ["false"]


def test_ties_are_counted_and_it_is_told_which_way_they_went(store: Store, labelled: Project, tmp_path: Path) -> None:
    from ringtrue.service.store.adjudication import count_ties

    found = export_project(store, labelled, "csv", tmp_path, which="one")
    frame = read_judgments(found.path).frame
    with store.read() as connection:
        tied = count_ties(connection, labelled)
        cases = load_disagreements(connection, labelled)
    assert tied == len(cases) == frame.filter(pl.col("by") == "tie").height > 0
    (note,) = [note for note in found.notes if note.code == "judges-tie"]
    assert f"{tied} items" in note
    lower = {(one.query, one.left.name): min(int(answer) for answer, _ in one.votes) for one in cases}
    rows = frame.filter(pl.col("by") == "tie").select("query", "doc", "label").rows()
    assert {(query, doc): label for query, doc, label in rows} == lower
    who = account(store, "cid")
    store.write(lambda c: record_verdict(c, labelled, cases[0].item, who, "1", None, 1.7e9))
    with store.read() as connection:
        assert count_ties(connection, labelled) == tied - 1


def test_files_that_differ_have_different_names(quick: Store, tmp_path: Path) -> None:
    project = labels_in(quick)
    wishes = [
        ("qrels", {}), ("qrels-3", {}), ("qrels", {"which": "one"}), ("qrels-3", {"judge": "ann"}), ("csv", {}),
        ("csv", {"which": "one"}), ("csv", {"judge": "ann"}), ("csv", {"traps": True}), ("csv", {"failed": False}),
        ("answers", {}), ("traps", {}), ("history", {}),
    ]  # fmt: skip
    names = [export_project(quick, project, key, tmp_path, **options).name for key, options in wishes]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"graded\.[\w.-]+", name) for name in names)
    assert names[0] == "graded.qrels"


@pytest.mark.slow
@pytest.mark.parametrize("with_gold", [False, True])
def test_the_printed_command_gives_the_numbers_of_the_page_quality(
    store: Store, tmp_path: Path, with_gold: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody gave the highest label of the scale, which makes guessing easier than it is."""
    known = given("t.csv", "query,doc,label\n" + "".join(f"{query},t9,0\n" for query in QUERIES))
    project = graded(store, known=known, traps=3, traps_needed=2, task_size=12, judges=4).project
    draws = rng()
    for handle in ("ann", "bob"):
        judge_all(store, project, account(store, handle), lambda shown: str(min(int(right(shown)), 1)))
    for handle in ("guess-1", "guess-2"):
        judge_all(store, project, account(store, handle), lambda _: str(draws.integers(2)))
    if with_gold:
        draw_gold(store, project, measures=["P@5"], budget=20, now=NOW, rng=rng())
        unsure_once = {"d1": "unsure"}
        judge_all(store, project, account(store, "expert"), unsure_once, queue="gold")
    monkeypatch.chdir(tmp_path)
    for key in ("answers", "traps", *(["gold"] if with_gold else [])):
        export_project(store, project, key, tmp_path)
    gold = "graded.gold.csv" if with_gold else None
    call = make_export_call("traps", project, name="graded.answers.csv", traps="graded.traps.csv", gold=gold)
    assert call.arguments["scale"] == "0-2"
    with pytest.raises(SystemExit) as stop:
        main([*ShellSpelling().call(call).split()[1:], "--json"])
    assert not stop.value.code
    printed = json.loads(capsys.readouterr().out)
    quality = assess_quality(store, project, rng=rng()).judges
    assert quality is not None
    shown = json.loads(json.dumps(quality.as_dict()))
    assert printed["judges"] == shown["judges"]
    assert {report["against"] for report in shown["judges"]} == {"gold" if with_gold else "consensus"}


@pytest.mark.parametrize(("values", "labels"), [("0123", "0-3"), ("025", "0,2,5")])
def test_a_call_carries_the_labels_of_the_scale(quick: Store, values: str, labels: str) -> None:
    scale = Scale(kind="graded", labels=tuple(Label(value=value, name=f"L{value}") for value in values))
    project = replace(graded(quick).project, scale=scale)
    assert make_export_call("agree", project, name="n.csv", traps="") == Call("agree", ["n.csv"], {"scale": labels})
    pair_project = pairs(quick).project
    assert make_export_call("agree", pair_project, name="n.csv", traps="") == Call("agree", ["n.csv"])


@pytest.mark.parametrize("make", [graded, pairs])
def test_every_call_is_one_of_the_command_line(quick: Store, make: Any) -> None:
    project = make(quick).project
    for one in list_export_formats(project):
        if one.use is not None:
            spelled = ShellSpelling().call(
                make_export_call(one.use, project, name="n.csv", traps="t.csv", gold="g.csv")
            )
            assert "n.csv" in spelled.split()
